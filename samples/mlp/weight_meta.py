class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_0_parameters_weight_:
    name = "L_self_modules_layers_modules_0_modules_0_parameters_weight_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.9764999
    std = 0.5271796
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_0_parameters_bias_:
    name = "L_self_modules_layers_modules_0_modules_0_parameters_bias_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0544740685
    std = 0.5034253
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [48, 256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0187301
    std = 4.9924443
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_1_parameters_weight_:
    name = "L_self_modules_layers_modules_0_modules_1_parameters_weight_"
    shape = [512, 256]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0008343
    std = 0.31203798
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_1_parameters_bias_:
    name = "L_self_modules_layers_modules_0_modules_1_parameters_bias_"
    shape = [512]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.019269277
    std = 0.4751877
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_3_parameters_weight_:
    name = "L_self_modules_layers_modules_0_modules_3_parameters_weight_"
    shape = [256, 512]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.000122793624
    std = 0.22085606
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_3_parameters_bias_:
    name = "L_self_modules_layers_modules_0_modules_3_parameters_bias_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.002767307
    std = 0.49184617
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_1_modules_0_parameters_weight_:
    name = "L_self_modules_layers_modules_1_modules_0_parameters_weight_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.97630965
    std = 0.54184455
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_1_modules_0_parameters_bias_:
    name = "L_self_modules_layers_modules_1_modules_0_parameters_bias_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00704981
    std = 0.52757115
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_1_modules_1_parameters_weight_:
    name = "L_self_modules_layers_modules_1_modules_1_parameters_weight_"
    shape = [512, 256]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00030400973
    std = 0.311976
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_1_modules_1_parameters_bias_:
    name = "L_self_modules_layers_modules_1_modules_1_parameters_bias_"
    shape = [512]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.018352618
    std = 0.49658676
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_1_modules_3_parameters_weight_:
    name = "L_self_modules_layers_modules_1_modules_3_parameters_weight_"
    shape = [256, 512]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00027695546
    std = 0.22082162
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_1_modules_3_parameters_bias_:
    name = "L_self_modules_layers_modules_1_modules_3_parameters_bias_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.033026237
    std = 0.46722978
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_0_parameters_weight_:
    name = "L_self_modules_layers_modules_2_modules_0_parameters_weight_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0138904
    std = 0.46836505
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_0_parameters_bias_:
    name = "L_self_modules_layers_modules_2_modules_0_parameters_bias_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.008178972
    std = 0.5108718
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_1_parameters_weight_:
    name = "L_self_modules_layers_modules_2_modules_1_parameters_weight_"
    shape = [512, 256]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00037659075
    std = 0.3131685
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_1_parameters_bias_:
    name = "L_self_modules_layers_modules_2_modules_1_parameters_bias_"
    shape = [512]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00187270514
    std = 0.5056663
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_3_parameters_weight_:
    name = "L_self_modules_layers_modules_2_modules_3_parameters_weight_"
    shape = [256, 512]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00049585756
    std = 0.22109556
    data = None


class Program_weight_tensor_meta_L_self_modules_layers_modules_2_modules_3_parameters_bias_:
    name = "L_self_modules_layers_modules_2_modules_3_parameters_bias_"
    shape = [256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.00968978
    std = 0.49747556
    data = None


class Program_weight_tensor_meta_L_self_modules_head_parameters_weight_:
    name = "L_self_modules_head_parameters_weight_"
    shape = [10, 256]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00032509604
    std = 0.32305774
    data = None


class Program_weight_tensor_meta_L_self_modules_head_parameters_bias_:
    name = "L_self_modules_head_parameters_bias_"
    shape = [10]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.313896733
    std = 0.39760066
    data = None
