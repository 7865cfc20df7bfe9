class Program_weight_tensor_meta_L_fn_modules_0_modules_norm1_parameters_weight_:
    name = "L_fn_modules_0_modules_norm1_parameters_weight_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.9604195
    std = 0.5171798
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_norm1_parameters_bias_:
    name = "L_fn_modules_0_modules_norm1_parameters_bias_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.016196745
    std = 0.49981904
    data = None


class Program_weight_tensor_meta_L_args_0_:
    name = "L_args_0_"
    shape = [1, 96, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00060645292
    std = 4.993518
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_attention_modules_qkv_parameters_weight_:
    name = "L_fn_modules_0_modules_attention_modules_qkv_parameters_weight_"
    shape = [576, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00048522385
    std = 0.36069491
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_attention_modules_qkv_parameters_bias_:
    name = "L_fn_modules_0_modules_attention_modules_qkv_parameters_bias_"
    shape = [576]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.045068926
    std = 0.49632602
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_attention_modules_out_parameters_weight_:
    name = "L_fn_modules_0_modules_attention_modules_out_parameters_weight_"
    shape = [192, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0026544244
    std = 0.36013686
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_attention_modules_out_parameters_bias_:
    name = "L_fn_modules_0_modules_attention_modules_out_parameters_bias_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.018002192
    std = 0.52778183
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_norm2_parameters_weight_:
    name = "L_fn_modules_0_modules_norm2_parameters_weight_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.95968367
    std = 0.47506043
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_norm2_parameters_bias_:
    name = "L_fn_modules_0_modules_norm2_parameters_bias_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.073702315
    std = 0.53406345
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_up_parameters_weight_:
    name = "L_fn_modules_0_modules_up_parameters_weight_"
    shape = [768, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 3.5654876e-05
    std = 0.36068714
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_up_parameters_bias_:
    name = "L_fn_modules_0_modules_up_parameters_bias_"
    shape = [768]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.8470048e-05
    std = 0.50006618
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_down_parameters_weight_:
    name = "L_fn_modules_0_modules_down_parameters_weight_"
    shape = [192, 768]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00029660251
    std = 0.1801295
    data = None


class Program_weight_tensor_meta_L_fn_modules_0_modules_down_parameters_bias_:
    name = "L_fn_modules_0_modules_down_parameters_bias_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.012098778
    std = 0.5265963
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_norm1_parameters_weight_:
    name = "L_fn_modules_1_modules_norm1_parameters_weight_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.05876175
    std = 0.52716347
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_norm1_parameters_bias_:
    name = "L_fn_modules_1_modules_norm1_parameters_bias_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.023950234
    std = 0.5180182
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_attention_modules_qkv_parameters_weight_:
    name = "L_fn_modules_1_modules_attention_modules_qkv_parameters_weight_"
    shape = [576, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00030013106
    std = 0.36129008
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_attention_modules_qkv_parameters_bias_:
    name = "L_fn_modules_1_modules_attention_modules_qkv_parameters_bias_"
    shape = [576]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0162341697
    std = 0.50638796
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_attention_modules_out_parameters_weight_:
    name = "L_fn_modules_1_modules_attention_modules_out_parameters_weight_"
    shape = [192, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0019085119
    std = 0.36169428
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_attention_modules_out_parameters_bias_:
    name = "L_fn_modules_1_modules_attention_modules_out_parameters_bias_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.041801716
    std = 0.4464884
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_norm2_parameters_weight_:
    name = "L_fn_modules_1_modules_norm2_parameters_weight_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.9834024
    std = 0.4719746
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_norm2_parameters_bias_:
    name = "L_fn_modules_1_modules_norm2_parameters_bias_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.013798226
    std = 0.502136
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_up_parameters_weight_:
    name = "L_fn_modules_1_modules_up_parameters_weight_"
    shape = [768, 192]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0004678085
    std = 0.36095134
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_up_parameters_bias_:
    name = "L_fn_modules_1_modules_up_parameters_bias_"
    shape = [768]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.037447618
    std = 0.52125408
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_down_parameters_weight_:
    name = "L_fn_modules_1_modules_down_parameters_weight_"
    shape = [192, 768]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00032275742
    std = 0.17991933
    data = None


class Program_weight_tensor_meta_L_fn_modules_1_modules_down_parameters_bias_:
    name = "L_fn_modules_1_modules_down_parameters_bias_"
    shape = [192]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.050532935
    std = 0.48477235
    data = None
