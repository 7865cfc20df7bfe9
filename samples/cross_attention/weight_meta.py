class Program_weight_tensor_meta_L_self_modules_q_parameters_weight_:
    name = "L_self_modules_q_parameters_weight_"
    shape = [96, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00331369728
    std = 0.5140692
    data = None


class Program_weight_tensor_meta_L_self_modules_q_parameters_bias_:
    name = "L_self_modules_q_parameters_bias_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.042450414
    std = 0.46624903
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [2, 32, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.041052644
    std = 4.9788445
    data = None


class Program_weight_tensor_meta_L_self_modules_k_parameters_weight_:
    name = "L_self_modules_k_parameters_weight_"
    shape = [96, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.008336514
    std = 0.6188977
    data = None


class Program_weight_tensor_meta_L_self_modules_k_parameters_bias_:
    name = "L_self_modules_k_parameters_bias_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.054893926
    std = 0.46510812
    data = None


class Program_weight_tensor_meta_L_memory_:
    name = "L_memory_"
    shape = [2, 80, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.030271882
    std = 5.02495
    data = None


class Program_weight_tensor_meta_L_self_modules_v_parameters_weight_:
    name = "L_self_modules_v_parameters_weight_"
    shape = [96, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00429156
    std = 0.6229709
    data = None


class Program_weight_tensor_meta_L_self_modules_v_parameters_bias_:
    name = "L_self_modules_v_parameters_bias_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0045273006
    std = 0.4818394
    data = None


class Program_weight_tensor_meta_L_self_modules_out_parameters_weight_:
    name = "L_self_modules_out_parameters_weight_"
    shape = [96, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0066947104
    std = 0.5076491
    data = None


class Program_weight_tensor_meta_L_self_modules_out_parameters_bias_:
    name = "L_self_modules_out_parameters_bias_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.015756233
    std = 0.51094852
    data = None
