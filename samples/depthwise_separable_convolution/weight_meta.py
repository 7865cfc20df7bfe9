class Program_weight_tensor_meta_L_fn_modules_0_modules_expand_parameters_weight_:
    name = "L_fn_modules_0_modules_expand_parameters_weight_"
    shape = [48, 16, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0040147475
    std = 1.2545321
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_expand_parameters_bias_:
    name = "L_fn_modules_0_modules_expand_parameters_bias_"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0251188
    std = 0.49774784
    data = None


class Program_weight_tensor_meta_L_args_0_:
    name = "L_args_0_"
    shape = [1, 16, 28, 28]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0004265447
    std = 5.009281
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_depthwise_parameters_weight_:
    name = "L_fn_modules_0_modules_depthwise_parameters_weight_"
    shape = [48, 1, 5, 5]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.019713491
    std = 1.0086635
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_depthwise_parameters_bias_:
    name = "L_fn_modules_0_modules_depthwise_parameters_bias_"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.07611332
    std = 0.5058221
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_norm_buffers_running_mean_:
    name = "L_fn_modules_0_modules_norm_buffers_running_mean_"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0216003
    std = 0.46280406
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_norm_buffers_running_var_:
    name = "L_fn_modules_0_modules_norm_buffers_running_var_"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0895922
    std = 0.267316
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_fn_modules_0_modules_norm_parameters_weight_:
    name = "L_fn_modules_0_modules_norm_parameters_weight_"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.9780832
    std = 0.532729655
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_norm_parameters_bias_:
    name = "L_fn_modules_0_modules_norm_parameters_bias_"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.07478895
    std = 0.491539854
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_squeeze_parameters_weight_:
    name = "L_fn_modules_0_modules_squeeze_parameters_weight_"
    shape = [16, 48, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.027036155
    std = 0.737196
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_squeeze_parameters_bias_:
    name = "L_fn_modules_0_modules_squeeze_parameters_bias_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.009851196
    std = 0.53912368
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_excite_parameters_weight_:
    name = "L_fn_modules_0_modules_excite_parameters_weight_"
    shape = [48, 16, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.009759261
    std = 1.2202611
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_excite_parameters_bias_:
    name = "L_fn_modules_0_modules_excite_parameters_bias_"
    shape = [48]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.030613052
    std = 0.57549656
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_project_parameters_weight_:
    name = "L_fn_modules_0_modules_project_parameters_weight_"
    shape = [24, 48, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.009665764
    std = 0.7095936
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_project_parameters_bias_:
    name = "L_fn_modules_0_modules_project_parameters_bias_"
    shape = [24]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.06446562
    std = 0.5446356
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_expand_parameters_weight_:
    name = "L_fn_modules_1_modules_expand_parameters_weight_"
    shape = [72, 24, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.04346195
    std = 1.0066747
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_expand_parameters_bias_:
    name = "L_fn_modules_1_modules_expand_parameters_bias_"
    shape = [72]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.015848867
    std = 0.486050738
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_depthwise_parameters_weight_:
    name = "L_fn_modules_1_modules_depthwise_parameters_weight_"
    shape = [72, 1, 5, 5]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.014729202
    std = 1.0212371
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_depthwise_parameters_bias_:
    name = "L_fn_modules_1_modules_depthwise_parameters_bias_"
    shape = [72]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.06306218
    std = 0.47752143
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_norm_buffers_running_mean_:
    name = "L_fn_modules_1_modules_norm_buffers_running_mean_"
    shape = [72]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.009327228
    std = 0.44420744
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_norm_buffers_running_var_:
    name = "L_fn_modules_1_modules_norm_buffers_running_var_"
    shape = [72]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.9679257
    std = 0.25705699
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_fn_modules_1_modules_norm_parameters_weight_:
    name = "L_fn_modules_1_modules_norm_parameters_weight_"
    shape = [72]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.05645284
    std = 0.484169466
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_norm_parameters_bias_:
    name = "L_fn_modules_1_modules_norm_parameters_bias_"
    shape = [72]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.05544931
    std = 0.44658087
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_squeeze_parameters_weight_:
    name = "L_fn_modules_1_modules_squeeze_parameters_weight_"
    shape = [24, 72, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.019665307
    std = 0.6067312
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_squeeze_parameters_bias_:
    name = "L_fn_modules_1_modules_squeeze_parameters_bias_"
    shape = [24]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.014645404
    std = 0.42889976
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_excite_parameters_weight_:
    name = "L_fn_modules_1_modules_excite_parameters_weight_"
    shape = [72, 24, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0243536856
    std = 1.0156712
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_excite_parameters_bias_:
    name = "L_fn_modules_1_modules_excite_parameters_bias_"
    shape = [72]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.12571077
    std = 0.45648723
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_project_parameters_weight_:
    name = "L_fn_modules_1_modules_project_parameters_weight_"
    shape = [24, 72, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0045108098
    std = 0.5958645
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_project_parameters_bias_:
    name = "L_fn_modules_1_modules_project_parameters_bias_"
    shape = [24]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.040611215
    std = 0.6991799
    data = None
