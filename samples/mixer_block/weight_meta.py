class Program_weight_tensor_meta_L_self_modules_patch_parameters_weight_:
    name = "L_self_modules_patch_parameters_weight_"
    shape = [64, 3, 4, 4]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0018107509
    std = 0.7237035
    data = None


class Program_weight_tensor_meta_L_self_modules_patch_parameters_bias_:
    name = "L_self_modules_patch_parameters_bias_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.07687436
    std = 0.5380339
    data = None


class Program_weight_tensor_meta_L_image_:
    name = "L_image_"
    shape = [1, 3, 32, 32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.11576364
    std = 5.082882
    data = None


class Program_weight_tensor_meta_L_self_modules_norm1_parameters_weight_:
    name = "L_self_modules_norm1_parameters_weight_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0875946
    std = 0.522061
    data = None


class Program_weight_tensor_meta_L_self_modules_norm1_parameters_bias_:
    name = "L_self_modules_norm1_parameters_bias_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.046545843
    std = 0.4937746
    data = None


class Program_weight_tensor_meta_L_self_modules_tokens_modules_0_parameters_weight_:
    name = "L_self_modules_tokens_modules_0_parameters_weight_"
    shape = [128, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.003964463
    std = 0.6206723
    data = None


class Program_weight_tensor_meta_L_self_modules_tokens_modules_0_parameters_bias_:
    name = "L_self_modules_tokens_modules_0_parameters_bias_"
    shape = [128]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0023949004
    std = 0.49759558
    data = None


class Program_weight_tensor_meta_L_self_modules_tokens_modules_2_parameters_weight_:
    name = "L_self_modules_tokens_modules_2_parameters_weight_"
    shape = [64, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0009403907
    std = 0.43997029
    data = None


class Program_weight_tensor_meta_L_self_modules_tokens_modules_2_parameters_bias_:
    name = "L_self_modules_tokens_modules_2_parameters_bias_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.07282551
    std = 0.4508917
    data = None


class Program_weight_tensor_meta_L_self_modules_norm2_parameters_weight_:
    name = "L_self_modules_norm2_parameters_weight_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.96187614
    std = 0.46367034
    data = None


class Program_weight_tensor_meta_L_self_modules_norm2_parameters_bias_:
    name = "L_self_modules_norm2_parameters_bias_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.060902988
    std = 0.526014475
    data = None


class Program_weight_tensor_meta_L_self_modules_channels_modules_0_parameters_weight_:
    name = "L_self_modules_channels_modules_0_parameters_weight_"
    shape = [128, 64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.015731786
    std = 0.6209752
    data = None


class Program_weight_tensor_meta_L_self_modules_channels_modules_0_parameters_bias_:
    name = "L_self_modules_channels_modules_0_parameters_bias_"
    shape = [128]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.010081983
    std = 0.52226235
    data = None


class Program_weight_tensor_meta_L_self_modules_channels_modules_2_parameters_weight_:
    name = "L_self_modules_channels_modules_2_parameters_weight_"
    shape = [64, 128]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00199722135
    std = 0.445106789
    data = None


class Program_weight_tensor_meta_L_self_modules_channels_modules_2_parameters_bias_:
    name = "L_self_modules_channels_modules_2_parameters_bias_"
    shape = [64]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.02005984
    std = 0.43767646
    data = None
