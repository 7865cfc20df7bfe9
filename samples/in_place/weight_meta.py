class Program_weight_tensor_meta_L_self_modules_layer_parameters_weight_:
    name = "L_self_modules_layer_parameters_weight_"
    shape = [128, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.008113514
    std = 0.441423404
    data = None


class Program_weight_tensor_meta_L_self_modules_layer_parameters_bias_:
    name = "L_self_modules_layer_parameters_bias_"
    shape = [128]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.024047914
    std = 0.52329
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [4, 16, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.032985748
    std = 5.001219
    data = None


class Program_weight_tensor_meta_L_cache_:
    name = "L_cache_"
    shape = [4, 64, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.016939682
    std = 4.9860954
    data = None
