class Program_weight_tensor_meta_L_self_modules_conv_parameters_weight_:
    name = "L_self_modules_conv_parameters_weight_"
    shape = [16, 8, 3, 3]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0191670069
    std = 0.5725401
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [8, 8, 16, 16]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.065540346
    std = 5.028491
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_buffers_running_mean_:
    name = "L_self_modules_norm_buffers_running_mean_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.169219
    std = 0.48430777
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_buffers_running_var_:
    name = "L_self_modules_norm_buffers_running_var_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0511136
    std = 0.26689596
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_norm_parameters_weight_:
    name = "L_self_modules_norm_parameters_weight_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.9164019
    std = 0.4618101
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_norm_parameters_bias_:
    name = "L_self_modules_norm_parameters_bias_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.02027683
    std = 0.5861409
    data = None


class Program_weight_tensor_meta_L_self_modules_head_parameters_weight_:
    name = "L_self_modules_head_parameters_weight_"
    shape = [16, 16]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.028739108
    std = 1.1772671
    data = None


class Program_weight_tensor_meta_L_self_modules_head_parameters_bias_:
    name = "L_self_modules_head_parameters_bias_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.01631309
    std = 0.35691608
    data = None


class Program_weight_tensor_meta_L_self_modules_norm2_buffers_running_mean_:
    name = "L_self_modules_norm2_buffers_running_mean_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.04363665
    std = 0.4499219
    data = None


class Program_weight_tensor_meta_L_self_modules_norm2_buffers_running_var_:
    name = "L_self_modules_norm2_buffers_running_var_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0591989
    std = 0.28210282
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_norm2_parameters_weight_:
    name = "L_self_modules_norm2_parameters_weight_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.81666696
    std = 0.66516377
    data = None


class Program_weight_tensor_meta_L_self_modules_norm2_parameters_bias_:
    name = "L_self_modules_norm2_parameters_bias_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.12697593
    std = 0.56611545
    data = None
