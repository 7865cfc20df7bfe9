class Program_weight_tensor_meta_L_self_modules_inputs_parameters_weight_:
    name = "L_self_modules_inputs_parameters_weight_"
    shape = [256, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0015714696
    std = 0.6224376
    data = None


class Program_weight_tensor_meta_L_self_modules_inputs_parameters_bias_:
    name = "L_self_modules_inputs_parameters_bias_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.013143626
    std = 0.4824095
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [4, 12, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.015846193
    std = 5.0331246
    data = None


class Program_weight_tensor_meta_L_self_modules_state_parameters_weight_:
    name = "L_self_modules_state_parameters_weight_"
    shape = [256, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0054057706
    std = 0.62217765
    data = None


class Program_weight_tensor_meta_L_h_:
    name = "L_h_"
    shape = [4, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.26841004
    std = 4.9563217
    data = None


class Program_weight_tensor_meta_L_c_:
    name = "L_c_"
    shape = [4, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.041411215
    std = 4.5890204
    data = None
