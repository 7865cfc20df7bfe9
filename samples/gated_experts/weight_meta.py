class Program_weight_tensor_meta_L_self_modules_gate_parameters_weight_:
    name = "L_self_modules_gate_parameters_weight_"
    shape = [8, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.020550811
    std = 0.64821615
    data = None


class Program_weight_tensor_meta_L_self_modules_gate_parameters_bias_:
    name = "L_self_modules_gate_parameters_bias_"
    shape = [8]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.082300338
    std = 0.4262225
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [48, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0081360689
    std = 4.956599
    data = None


class Program_weight_tensor_meta_L_self_parameters_up_:
    name = "L_self_parameters_up_"
    shape = [8, 64, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.002819853
    std = 0.62555975
    data = None


class Program_weight_tensor_meta_L_self_parameters_down_:
    name = "L_self_parameters_down_"
    shape = [8, 128, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00214967913
    std = 0.442229733
    data = None
