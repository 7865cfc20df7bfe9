class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [2, 48, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.04884354
    std = 5.023768
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_parameters_weight_:
    name = "L_self_modules_norm_parameters_weight_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.00422844
    std = 0.5467495
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_parameters_bias_:
    name = "L_self_modules_norm_parameters_bias_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.085567295
    std = 0.5181271
    data = None


class Program_weight_tensor_meta_L_self_modules_qkv_parameters_weight_:
    name = "L_self_modules_qkv_parameters_weight_"
    shape = [288, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0027041402
    std = 0.50757972
    data = None


class Program_weight_tensor_meta_L_self_modules_out_parameters_weight_:
    name = "L_self_modules_out_parameters_weight_"
    shape = [96, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00402162
    std = 0.5138581
    data = None
