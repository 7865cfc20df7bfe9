class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [1, 64, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0125445857
    std = 5.0328227
    data = None


class Program_weight_tensor_meta_L_self_modules_q_parameters_weight_:
    name = "L_self_modules_q_parameters_weight_"
    shape = [128, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = -3.1664104e-05
    std = 0.43821033
    data = None


class Program_weight_tensor_meta_L_self_modules_k_parameters_weight_:
    name = "L_self_modules_k_parameters_weight_"
    shape = [32, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.007161288
    std = 0.44150024
    data = None


class Program_weight_tensor_meta_L_self_modules_v_parameters_weight_:
    name = "L_self_modules_v_parameters_weight_"
    shape = [32, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00629721234
    std = 0.44011748
    data = None


class Program_weight_tensor_meta_L_self_modules_out_parameters_weight_:
    name = "L_self_modules_out_parameters_weight_"
    shape = [128, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0002612128
    std = 0.44427315
    data = None
