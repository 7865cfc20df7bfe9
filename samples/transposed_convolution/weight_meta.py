class Program_weight_tensor_meta_L_self_modules_up1_parameters_weight_:
    name = "L_self_modules_up1_parameters_weight_"
    shape = [32, 16, 4, 4]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0014692432
    std = 0.44867136
    data = None


class Program_weight_tensor_meta_L_self_modules_up1_parameters_bias_:
    name = "L_self_modules_up1_parameters_bias_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.051780904
    std = 0.5360698
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [2, 32, 8, 8]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0029269221
    std = 5.0190235
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_parameters_weight_:
    name = "L_self_modules_norm_parameters_weight_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.8641813
    std = 0.49020905
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_parameters_bias_:
    name = "L_self_modules_norm_parameters_bias_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0451260636
    std = 0.5409004
    data = None


class Program_weight_tensor_meta_L_self_modules_up2_parameters_weight_:
    name = "L_self_modules_up2_parameters_weight_"
    shape = [16, 8, 4, 4]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.008085347
    std = 0.6201473
    data = None


class Program_weight_tensor_meta_L_self_modules_up2_parameters_bias_:
    name = "L_self_modules_up2_parameters_bias_"
    shape = [8]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.02853354
    std = 0.3568329
    data = None


class Program_weight_tensor_meta_L_self_modules_smooth_parameters_weight_:
    name = "L_self_modules_smooth_parameters_weight_"
    shape = [3, 8, 3, 3]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0056180225
    std = 0.60159727
    data = None


class Program_weight_tensor_meta_L_self_modules_smooth_parameters_bias_:
    name = "L_self_modules_smooth_parameters_bias_"
    shape = [3]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.37621202
    std = 0.42905073
    data = None
