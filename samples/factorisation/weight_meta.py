class Program_weight_tensor_meta_L_self_buffers_offsets_:
    name = "L_self_buffers_offsets_"
    shape = [12]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    data = [0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000, 5500]


class Program_weight_tensor_meta_L_fields_:
    name = "L_fields_"
    shape = [128, 12]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    min_val = 0
    max_val = 499


class Program_weight_tensor_meta_L_self_modules_table_parameters_weight_:
    name = "L_self_modules_table_parameters_weight_"
    shape = [6000, 16]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.030008204
    std = 4.9882355
    data = None


class Program_weight_tensor_meta_L_self_modules_bias_parameters_weight_:
    name = "L_self_modules_bias_parameters_weight_"
    shape = [6000, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.05178656
    std = 5.0347769
    data = None


class Program_weight_tensor_meta_L_self_modules_deep_modules_0_parameters_weight_:
    name = "L_self_modules_deep_modules_0_parameters_weight_"
    shape = [64, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00040942811
    std = 0.36180026
    data = None


class Program_weight_tensor_meta_L_self_modules_deep_modules_0_parameters_bias_:
    name = "L_self_modules_deep_modules_0_parameters_bias_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.03796267
    std = 0.5099665
    data = None


class Program_weight_tensor_meta_L_self_modules_deep_modules_2_parameters_weight_:
    name = "L_self_modules_deep_modules_2_parameters_weight_"
    shape = [1, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.12821616
    std = 0.61029195
    data = None


class Program_weight_tensor_meta_L_self_modules_deep_modules_2_parameters_bias_:
    name = "L_self_modules_deep_modules_2_parameters_bias_"
    shape = [1]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.007677698
    std = 0.0
    data = None
