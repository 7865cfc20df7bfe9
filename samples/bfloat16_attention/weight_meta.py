class Program_weight_tensor_meta_L_self_modules_attention_modules_qkv_parameters_weight_:
    name = "L_self_modules_attention_modules_qkv_parameters_weight_"
    shape = [192, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.013743765
    std = 0.62245788
    data = None


class Program_weight_tensor_meta_L_self_modules_attention_modules_qkv_parameters_bias_:
    name = "L_self_modules_attention_modules_qkv_parameters_bias_"
    shape = [192]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.05323251
    std = 0.471539664
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [2, 32, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.13666768
    std = 5.025065
    data = None


class Program_weight_tensor_meta_L_self_modules_attention_modules_out_parameters_weight_:
    name = "L_self_modules_attention_modules_out_parameters_weight_"
    shape = [64, 64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.0041098017
    std = 0.62748089
    data = None


class Program_weight_tensor_meta_L_self_modules_attention_modules_out_parameters_bias_:
    name = "L_self_modules_attention_modules_out_parameters_bias_"
    shape = [64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.03345871
    std = 0.44250851
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_parameters_weight_:
    name = "L_self_modules_norm_parameters_weight_"
    shape = [64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = 0.95875645
    std = 0.50158242
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_parameters_bias_:
    name = "L_self_modules_norm_parameters_bias_"
    shape = [64]
    dtype = "torch.bfloat16"
    device = "cpu"
    mean = -0.045590878
    std = 0.51872353
    data = None
