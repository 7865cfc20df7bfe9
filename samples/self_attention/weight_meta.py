class Program_weight_tensor_meta_L_self_modules_qkv_parameters_weight_:
    name = "L_self_modules_qkv_parameters_weight_"
    shape = [384, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = 6.0756935e-05
    std = 0.44406431
    data = None


class Program_weight_tensor_meta_L_self_modules_qkv_parameters_bias_:
    name = "L_self_modules_qkv_parameters_bias_"
    shape = [384]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.05741077
    std = 0.48122046
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [2, 64, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.05689784
    std = 4.948806
    data = None


class Program_weight_tensor_meta_L_self_modules_out_parameters_weight_:
    name = "L_self_modules_out_parameters_weight_"
    shape = [128, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0083188375
    std = 0.4436066
    data = None


class Program_weight_tensor_meta_L_self_modules_out_parameters_bias_:
    name = "L_self_modules_out_parameters_bias_"
    shape = [128]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.02625946
    std = 0.43218983
    data = None
