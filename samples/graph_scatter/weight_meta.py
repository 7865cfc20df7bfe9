class Program_weight_tensor_meta_L_edges_:
    name = "L_edges_"
    shape = [2, 800]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    min_val = 0
    max_val = 199


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [200, 48]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.094621176
    std = 4.976819
    data = None


class Program_weight_tensor_meta_L_self_modules_message1_parameters_weight_:
    name = "L_self_modules_message1_parameters_weight_"
    shape = [48, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.005047071
    std = 0.51740625
    data = None


class Program_weight_tensor_meta_L_self_modules_message1_parameters_bias_:
    name = "L_self_modules_message1_parameters_bias_"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.05613341
    std = 0.48103105
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_parameters_weight_:
    name = "L_self_modules_norm_parameters_weight_"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.1170752
    std = 0.43610905
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_norm_parameters_bias_:
    name = "L_self_modules_norm_parameters_bias_"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.06689657
    std = 0.536245
    data = None


class Program_weight_tensor_meta_L_self_modules_message2_parameters_weight_:
    name = "L_self_modules_message2_parameters_weight_"
    shape = [48, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00523562
    std = 0.51163625
    data = None


class Program_weight_tensor_meta_L_self_modules_message2_parameters_bias_:
    name = "L_self_modules_message2_parameters_bias_"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.098210126
    std = 0.5336858
    data = None
