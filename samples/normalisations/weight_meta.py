class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [4, 64, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.44583488
    std = 4.9994836
    data = None


class Program_weight_tensor_meta_L_self_parameters_scale_:
    name = "L_self_parameters_scale_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.03985786
    std = 0.5199176
    data = None


class Program_weight_tensor_meta_L_self_modules_layer_parameters_weight_:
    name = "L_self_modules_layer_parameters_weight_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.97207604
    std = 0.4394861
    data = None


class Program_weight_tensor_meta_L_self_modules_layer_parameters_bias_:
    name = "L_self_modules_layer_parameters_bias_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.016922472
    std = 0.43575133
    data = None


class Program_weight_tensor_meta_L_self_modules_group_parameters_weight_:
    name = "L_self_modules_group_parameters_weight_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0547092
    std = 0.51198067
    data = None


class Program_weight_tensor_meta_L_self_modules_group_parameters_bias_:
    name = "L_self_modules_group_parameters_bias_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.13533937
    std = 0.5827704
    data = None


class Program_weight_tensor_meta_L_self_modules_batch_buffers_running_mean_:
    name = "L_self_modules_batch_buffers_running_mean_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.00364002
    std = 0.50250787
    data = None


class Program_weight_tensor_meta_L_self_modules_batch_buffers_running_var_:
    name = "L_self_modules_batch_buffers_running_var_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.0079004
    std = 0.2651776
    data = None
    min_val = 0


class Program_weight_tensor_meta_L_self_modules_batch_parameters_weight_:
    name = "L_self_modules_batch_parameters_weight_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.97730741
    std = 0.53465445
    data = None


class Program_weight_tensor_meta_L_self_modules_batch_parameters_bias_:
    name = "L_self_modules_batch_parameters_bias_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.05675862
    std = 0.5438482
    data = None
