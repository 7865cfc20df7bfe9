class Program_weight_tensor_meta_L_x_:
    name = "L_x_"
    shape = [1, 32, 256]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.05800084
    std = 4.963066
    data = None


class Program_weight_tensor_meta_L_self_modules_filters_modules_0_parameters_weight_:
    name = "L_self_modules_filters_modules_0_parameters_weight_"
    shape = [32, 32, 2]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0292008527
    std = 0.6325731
    data = None


class Program_weight_tensor_meta_L_self_modules_filters_modules_0_parameters_bias_:
    name = "L_self_modules_filters_modules_0_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.04124425
    std = 0.3822491
    data = None


class Program_weight_tensor_meta_L_self_modules_gates_modules_0_parameters_weight_:
    name = "L_self_modules_gates_modules_0_parameters_weight_"
    shape = [32, 32, 2]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0029147514
    std = 0.6281386
    data = None


class Program_weight_tensor_meta_L_self_modules_gates_modules_0_parameters_bias_:
    name = "L_self_modules_gates_modules_0_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.051402634
    std = 0.585709724
    data = None


class Program_weight_tensor_meta_L_self_modules_mixes_modules_0_parameters_weight_:
    name = "L_self_modules_mixes_modules_0_parameters_weight_"
    shape = [32, 32, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.015719626
    std = 0.8774978
    data = None


class Program_weight_tensor_meta_L_self_modules_mixes_modules_0_parameters_bias_:
    name = "L_self_modules_mixes_modules_0_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.163433827
    std = 0.42148796
    data = None


class Program_weight_tensor_meta_L_self_modules_filters_modules_1_parameters_weight_:
    name = "L_self_modules_filters_modules_1_parameters_weight_"
    shape = [32, 32, 2]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.036779516
    std = 0.6132646
    data = None


class Program_weight_tensor_meta_L_self_modules_filters_modules_1_parameters_bias_:
    name = "L_self_modules_filters_modules_1_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.08490788
    std = 0.5020375
    data = None


class Program_weight_tensor_meta_L_self_modules_gates_modules_1_parameters_weight_:
    name = "L_self_modules_gates_modules_1_parameters_weight_"
    shape = [32, 32, 2]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.012724281
    std = 0.6324057
    data = None


class Program_weight_tensor_meta_L_self_modules_gates_modules_1_parameters_bias_:
    name = "L_self_modules_gates_modules_1_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.17180668
    std = 0.5283402
    data = None


class Program_weight_tensor_meta_L_self_modules_mixes_modules_1_parameters_weight_:
    name = "L_self_modules_mixes_modules_1_parameters_weight_"
    shape = [32, 32, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.016901848
    std = 0.8841182
    data = None


class Program_weight_tensor_meta_L_self_modules_mixes_modules_1_parameters_bias_:
    name = "L_self_modules_mixes_modules_1_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0017610829
    std = 0.41503906
    data = None


class Program_weight_tensor_meta_L_self_modules_filters_modules_2_parameters_weight_:
    name = "L_self_modules_filters_modules_2_parameters_weight_"
    shape = [32, 32, 2]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0194338961
    std = 0.61953443
    data = None


class Program_weight_tensor_meta_L_self_modules_filters_modules_2_parameters_bias_:
    name = "L_self_modules_filters_modules_2_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.14948052
    std = 0.53266775
    data = None


class Program_weight_tensor_meta_L_self_modules_gates_modules_2_parameters_weight_:
    name = "L_self_modules_gates_modules_2_parameters_weight_"
    shape = [32, 32, 2]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.000197256937
    std = 0.62061053
    data = None


class Program_weight_tensor_meta_L_self_modules_gates_modules_2_parameters_bias_:
    name = "L_self_modules_gates_modules_2_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.06884724
    std = 0.5437352
    data = None


class Program_weight_tensor_meta_L_self_modules_mixes_modules_2_parameters_weight_:
    name = "L_self_modules_mixes_modules_2_parameters_weight_"
    shape = [32, 32, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0475118
    std = 0.8880398
    data = None


class Program_weight_tensor_meta_L_self_modules_mixes_modules_2_parameters_bias_:
    name = "L_self_modules_mixes_modules_2_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.13979025
    std = 0.4622604
    data = None


class Program_weight_tensor_meta_L_self_modules_filters_modules_3_parameters_weight_:
    name = "L_self_modules_filters_modules_3_parameters_weight_"
    shape = [32, 32, 2]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.011028623
    std = 0.63459573
    data = None


class Program_weight_tensor_meta_L_self_modules_filters_modules_3_parameters_bias_:
    name = "L_self_modules_filters_modules_3_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0530276
    std = 0.47551107
    data = None


class Program_weight_tensor_meta_L_self_modules_gates_modules_3_parameters_weight_:
    name = "L_self_modules_gates_modules_3_parameters_weight_"
    shape = [32, 32, 2]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.004589573
    std = 0.61755806
    data = None


class Program_weight_tensor_meta_L_self_modules_gates_modules_3_parameters_bias_:
    name = "L_self_modules_gates_modules_3_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.060908923
    std = 0.5196513
    data = None


class Program_weight_tensor_meta_L_self_modules_mixes_modules_3_parameters_weight_:
    name = "L_self_modules_mixes_modules_3_parameters_weight_"
    shape = [32, 32, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0048454637
    std = 0.8637135
    data = None


class Program_weight_tensor_meta_L_self_modules_mixes_modules_3_parameters_bias_:
    name = "L_self_modules_mixes_modules_3_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.16561354
    std = 0.54068877
    data = None


class Program_weight_tensor_meta_L_self_modules_filters_modules_4_parameters_weight_:
    name = "L_self_modules_filters_modules_4_parameters_weight_"
    shape = [32, 32, 2]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.024934342
    std = 0.6252234
    data = None


class Program_weight_tensor_meta_L_self_modules_filters_modules_4_parameters_bias_:
    name = "L_self_modules_filters_modules_4_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0321816935
    std = 0.4788968
    data = None


class Program_weight_tensor_meta_L_self_modules_gates_modules_4_parameters_weight_:
    name = "L_self_modules_gates_modules_4_parameters_weight_"
    shape = [32, 32, 2]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.0147530055
    std = 0.61177651
    data = None


class Program_weight_tensor_meta_L_self_modules_gates_modules_4_parameters_bias_:
    name = "L_self_modules_gates_modules_4_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.1165518
    std = 0.45310827
    data = None


class Program_weight_tensor_meta_L_self_modules_mixes_modules_4_parameters_weight_:
    name = "L_self_modules_mixes_modules_4_parameters_weight_"
    shape = [32, 32, 1]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.021985421
    std = 0.8688989
    data = None


class Program_weight_tensor_meta_L_self_modules_mixes_modules_4_parameters_bias_:
    name = "L_self_modules_mixes_modules_4_parameters_bias_"
    shape = [32]
    dtype = "torch.float32"
    device = "cpu"
    mean = -0.070543125
    std = 0.44152014
    data = None
