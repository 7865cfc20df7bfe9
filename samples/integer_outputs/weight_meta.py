class Program_weight_tensor_meta_L_self_modules_layer_parameters_weight_:
    name = "L_self_modules_layer_parameters_weight_"
    shape = [40, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.008439937
    std = 0.5055589
    data = None


class Program_weight_tensor_meta_L_self_modules_layer_parameters_bias_:
    name = "L_self_modules_layer_parameters_bias_"
    shape = [40]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.097090323
    std = 0.4394337
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [256, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.070849
    std = 4.9985904
    data = None


class Program_weight_tensor_meta_L_labels_:
    name = "L_labels_"
    shape = [256]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    min_val = 0
    max_val = 39
