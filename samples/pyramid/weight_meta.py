class Program_weight_tensor_meta_L_self_modules_down1_parameters_weight_:
    name = "L_self_modules_down1_parameters_weight_"
    shape = [12, 3, 3, 3]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.06560687
    std = 1.0060583
    data = None


class Program_weight_tensor_meta_L_self_modules_down1_parameters_bias_:
    name = "L_self_modules_down1_parameters_bias_"
    shape = [12]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.016656358
    std = 0.37619944
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [1, 3, 40, 40]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.02031774
    std = 5.050757
    data = None


class Program_weight_tensor_meta_L_self_modules_down2_parameters_weight_:
    name = "L_self_modules_down2_parameters_weight_"
    shape = [24, 12, 3, 3]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.020276826
    std = 0.47430657
    data = None


class Program_weight_tensor_meta_L_self_modules_down2_parameters_bias_:
    name = "L_self_modules_down2_parameters_bias_"
    shape = [24]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.072439716
    std = 0.5396881
    data = None


class Program_weight_tensor_meta_L_self_modules_side_parameters_weight_:
    name = "L_self_modules_side_parameters_weight_"
    shape = [24, 12, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.082346272
    std = 1.3926425
    data = None


class Program_weight_tensor_meta_L_self_modules_side_parameters_bias_:
    name = "L_self_modules_side_parameters_bias_"
    shape = [24]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.07554881
    std = 0.4749981
    data = None


class Program_weight_tensor_meta_L_self_modules_up_parameters_weight_:
    name = "L_self_modules_up_parameters_weight_"
    shape = [12, 48, 3, 3]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.006211145
    std = 0.24480288
    data = None


class Program_weight_tensor_meta_L_self_modules_up_parameters_bias_:
    name = "L_self_modules_up_parameters_bias_"
    shape = [12]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.061563935
    std = 0.4868949
    data = None


class Program_weight_tensor_meta_L_self_modules_head_parameters_weight_:
    name = "L_self_modules_head_parameters_weight_"
    shape = [2, 12, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.085570594
    std = 1.2664505
    data = None


class Program_weight_tensor_meta_L_self_modules_head_parameters_bias_:
    name = "L_self_modules_head_parameters_bias_"
    shape = [2]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.027284488
    std = 0.17925338
    data = None
