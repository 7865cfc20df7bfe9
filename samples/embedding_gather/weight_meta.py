class Program_weight_tensor_meta_L_self_modules_words_parameters_weight_:
    name = "L_self_modules_words_parameters_weight_"
    shape = [5000, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0023266135
    std = 4.99383377
    data = None


class Program_weight_tensor_meta_L_tokens_:
    name = "L_tokens_"
    shape = [4, 96]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    min_val = 0
    max_val = 4999


class Program_weight_tensor_meta_L_self_modules_positions_parameters_weight_:
    name = "L_self_modules_positions_parameters_weight_"
    shape = [96, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.032370097
    std = 4.980147
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_parameters_weight_:
    name = "L_self_modules_norm_parameters_weight_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 1.02584545
    std = 0.48819327
    data = None


class Program_weight_tensor_meta_L_self_modules_norm_parameters_bias_:
    name = "L_self_modules_norm_parameters_bias_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0109402553
    std = 0.49488353
    data = None


class Program_weight_tensor_meta_L_places_:
    name = "L_places_"
    shape = [4, 12]
    dtype = "torch.int64"
    device = "cpu"
    mean = None
    std = None
    min_val = 2
    max_val = 87


class Program_weight_tensor_meta_L_self_modules_score_parameters_weight_:
    name = "L_self_modules_score_parameters_weight_"
    shape = [96, 96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0036085726
    std = 0.5127054
    data = None


class Program_weight_tensor_meta_L_self_modules_score_parameters_bias_:
    name = "L_self_modules_score_parameters_bias_"
    shape = [96]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.010921924
    std = 0.5002597
    data = None
