class Program_weight_tensor_meta_L_self_modules_stem_modules_0_parameters_weight_:
    name = "L_self_modules_stem_modules_0_parameters_weight_"
    shape = [16, 3, 3, 3]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.029829021
    std = 0.95712254
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [2, 3, 32, 32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.09861066
    std = 4.96869348
    data = None


class Program_weight_tensor_meta_L_self_modules_stem_modules_1_buffers_running_mean_:
    name = "L_self_modules_stem_modules_1_buffers_running_mean_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.11519406
    std = 0.5002
    data = None


class Program_weight_tensor_meta_L_self_modules_stem_modules_1_buffers_running_var_:
    name = "L_self_modules_stem_modules_1_buffers_running_var_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.905213
    std = 0.215752726
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_stem_modules_1_parameters_weight_:
    name = "L_self_modules_stem_modules_1_parameters_weight_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.2154962
    std = 0.56701105
    data = None


class Program_weight_tensor_meta_L_self_modules_stem_modules_1_parameters_bias_:
    name = "L_self_modules_stem_modules_1_parameters_bias_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.02914899
    std = 0.2827944
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_conv1_parameters_weight_:
    name = "L_self_modules_blocks_modules_0_modules_conv1_parameters_weight_"
    shape = [16, 16, 3, 3]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0041605506
    std = 0.421018048
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_bn1_buffers_running_mean_:
    name = "L_self_modules_blocks_modules_0_modules_bn1_buffers_running_mean_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.11862652
    std = 0.6497323
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_bn1_buffers_running_var_:
    name = "L_self_modules_blocks_modules_0_modules_bn1_buffers_running_var_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0720424
    std = 0.29270604
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_bn1_parameters_weight_:
    name = "L_self_modules_blocks_modules_0_modules_bn1_parameters_weight_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.09875615
    std = 0.480170744
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_bn1_parameters_bias_:
    name = "L_self_modules_blocks_modules_0_modules_bn1_parameters_bias_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.12185957
    std = 0.48569711
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_conv2_parameters_weight_:
    name = "L_self_modules_blocks_modules_0_modules_conv2_parameters_weight_"
    shape = [16, 16, 3, 3]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0091744471
    std = 0.42842992
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_bn2_buffers_running_mean_:
    name = "L_self_modules_blocks_modules_0_modules_bn2_buffers_running_mean_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.25987268
    std = 0.46787231
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_bn2_buffers_running_var_:
    name = "L_self_modules_blocks_modules_0_modules_bn2_buffers_running_var_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0656326
    std = 0.27350726
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_bn2_parameters_weight_:
    name = "L_self_modules_blocks_modules_0_modules_bn2_parameters_weight_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0588536
    std = 0.38634568
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_bn2_parameters_bias_:
    name = "L_self_modules_blocks_modules_0_modules_bn2_parameters_bias_"
    shape = [16]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0909289
    std = 0.3932126
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_conv1_parameters_weight_:
    name = "L_self_modules_blocks_modules_1_modules_conv1_parameters_weight_"
    shape = [32, 16, 3, 3]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.005779898
    std = 0.42013492
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_bn1_buffers_running_mean_:
    name = "L_self_modules_blocks_modules_1_modules_bn1_buffers_running_mean_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.15084877
    std = 0.54068992
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_bn1_buffers_running_var_:
    name = "L_self_modules_blocks_modules_1_modules_bn1_buffers_running_var_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.9378392
    std = 0.27085245
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_bn1_parameters_weight_:
    name = "L_self_modules_blocks_modules_1_modules_bn1_parameters_weight_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0129283
    std = 0.45226132
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_bn1_parameters_bias_:
    name = "L_self_modules_blocks_modules_1_modules_bn1_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.021871159
    std = 0.485945
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_conv2_parameters_weight_:
    name = "L_self_modules_blocks_modules_1_modules_conv2_parameters_weight_"
    shape = [32, 32, 3, 3]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0002003498
    std = 0.2915399
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_bn2_buffers_running_mean_:
    name = "L_self_modules_blocks_modules_1_modules_bn2_buffers_running_mean_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.019219985
    std = 0.442987336
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_bn2_buffers_running_var_:
    name = "L_self_modules_blocks_modules_1_modules_bn2_buffers_running_var_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0066012
    std = 0.33081573
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_bn2_parameters_weight_:
    name = "L_self_modules_blocks_modules_1_modules_bn2_parameters_weight_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.9221572
    std = 0.47053847
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_bn2_parameters_bias_:
    name = "L_self_modules_blocks_modules_1_modules_bn2_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.12584797
    std = 0.51021715
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_shortcut_modules_0_parameters_weight_:
    name = "L_self_modules_blocks_modules_1_modules_shortcut_modules_0_parameters_weight_"
    shape = [32, 16, 1, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.007719526
    std = 1.2536845
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_shortcut_modules_1_buffers_running_mean_:
    name = "L_self_modules_blocks_modules_1_modules_shortcut_modules_1_buffers_running_mean_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.047483986
    std = 0.5655514
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_shortcut_modules_1_buffers_running_var_:
    name = "L_self_modules_blocks_modules_1_modules_shortcut_modules_1_buffers_running_var_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0173637
    std = 0.29490572
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_shortcut_modules_1_parameters_weight_:
    name = "L_self_modules_blocks_modules_1_modules_shortcut_modules_1_parameters_weight_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.9825278
    std = 0.51184317
    data = None


class Program_weight_tensor_meta_L_self_modules_blocks_modules_1_modules_shortcut_modules_1_parameters_bias_:
    name = "L_self_modules_blocks_modules_1_modules_shortcut_modules_1_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.1992839
    std = 0.4630384
    data = None


class Program_weight_tensor_meta_L_self_modules_head_parameters_weight_:
    name = "L_self_modules_head_parameters_weight_"
    shape = [10, 32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.03419772
    std = 0.92556276
    data = None


class Program_weight_tensor_meta_L_self_modules_head_parameters_bias_:
    name = "L_self_modules_head_parameters_bias_"
    shape = [10]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.031413066
    std = 0.4391636
    data = None
