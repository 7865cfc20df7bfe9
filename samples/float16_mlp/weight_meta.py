class Program_weight_tensor_meta_L_self_modules_norm_parameters_weight_:
    name = "L_self_modules_norm_parameters_weight_"
    shape = [96]
    dtype = "torch.float16"
    device = "cpu"
    mean = 1.0329825
    std = 0.4570622
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_parameters_bias_:
    name = "L_self_modules_norm_parameters_bias_"
    shape = [96]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.019947688
    std = 0.47847658
    data = None


class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [16, 96]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.22689098
    std = 4.9559786
    data = None


class Program_weight_tensor_meta_L_self_modules_gate_parameters_weight_:
    name = "L_self_modules_gate_parameters_weight_"
    shape = [192, 96]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.002383942
    std = 0.5109732
    data = None


class Program_weight_tensor_meta_L_self_modules_up_parameters_weight_:
    name = "L_self_modules_up_parameters_weight_"
    shape = [192, 96]
    dtype = "torch.float16"
    device = "cpu"
    mean = 0.0007685202
    std = 0.51280574
    data = None


class Program_weight_tensor_meta_L_self_modules_down_parameters_weight_:
    name = "L_self_modules_down_parameters_weight_"
    shape = [96, 192]
    dtype = "torch.float16"
    device = "cpu"
    mean = -0.00065716219
    std = 0.36335028
    data = None
