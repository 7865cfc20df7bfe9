import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_x_: torch.Tensor,
        L_self_modules_filters_modules_0_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_filters_modules_0_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_gates_modules_0_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_gates_modules_0_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_mixes_modules_0_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_mixes_modules_0_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_filters_modules_1_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_filters_modules_1_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_gates_modules_1_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_gates_modules_1_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_mixes_modules_1_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_mixes_modules_1_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_filters_modules_2_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_filters_modules_2_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_gates_modules_2_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_gates_modules_2_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_mixes_modules_2_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_mixes_modules_2_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_filters_modules_3_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_filters_modules_3_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_gates_modules_3_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_gates_modules_3_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_mixes_modules_3_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_mixes_modules_3_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_filters_modules_4_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_filters_modules_4_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_gates_modules_4_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_gates_modules_4_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_mixes_modules_4_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_mixes_modules_4_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_x_ = L_x_
        l_self_modules_filters_modules_0_parameters_weight_ = L_self_modules_filters_modules_0_parameters_weight_
        l_self_modules_filters_modules_0_parameters_bias_ = L_self_modules_filters_modules_0_parameters_bias_
        l_self_modules_gates_modules_0_parameters_weight_ = L_self_modules_gates_modules_0_parameters_weight_
        l_self_modules_gates_modules_0_parameters_bias_ = L_self_modules_gates_modules_0_parameters_bias_
        l_self_modules_mixes_modules_0_parameters_weight_ = L_self_modules_mixes_modules_0_parameters_weight_
        l_self_modules_mixes_modules_0_parameters_bias_ = L_self_modules_mixes_modules_0_parameters_bias_
        l_self_modules_filters_modules_1_parameters_weight_ = L_self_modules_filters_modules_1_parameters_weight_
        l_self_modules_filters_modules_1_parameters_bias_ = L_self_modules_filters_modules_1_parameters_bias_
        l_self_modules_gates_modules_1_parameters_weight_ = L_self_modules_gates_modules_1_parameters_weight_
        l_self_modules_gates_modules_1_parameters_bias_ = L_self_modules_gates_modules_1_parameters_bias_
        l_self_modules_mixes_modules_1_parameters_weight_ = L_self_modules_mixes_modules_1_parameters_weight_
        l_self_modules_mixes_modules_1_parameters_bias_ = L_self_modules_mixes_modules_1_parameters_bias_
        l_self_modules_filters_modules_2_parameters_weight_ = L_self_modules_filters_modules_2_parameters_weight_
        l_self_modules_filters_modules_2_parameters_bias_ = L_self_modules_filters_modules_2_parameters_bias_
        l_self_modules_gates_modules_2_parameters_weight_ = L_self_modules_gates_modules_2_parameters_weight_
        l_self_modules_gates_modules_2_parameters_bias_ = L_self_modules_gates_modules_2_parameters_bias_
        l_self_modules_mixes_modules_2_parameters_weight_ = L_self_modules_mixes_modules_2_parameters_weight_
        l_self_modules_mixes_modules_2_parameters_bias_ = L_self_modules_mixes_modules_2_parameters_bias_
        l_self_modules_filters_modules_3_parameters_weight_ = L_self_modules_filters_modules_3_parameters_weight_
        l_self_modules_filters_modules_3_parameters_bias_ = L_self_modules_filters_modules_3_parameters_bias_
        l_self_modules_gates_modules_3_parameters_weight_ = L_self_modules_gates_modules_3_parameters_weight_
        l_self_modules_gates_modules_3_parameters_bias_ = L_self_modules_gates_modules_3_parameters_bias_
        l_self_modules_mixes_modules_3_parameters_weight_ = L_self_modules_mixes_modules_3_parameters_weight_
        l_self_modules_mixes_modules_3_parameters_bias_ = L_self_modules_mixes_modules_3_parameters_bias_
        l_self_modules_filters_modules_4_parameters_weight_ = L_self_modules_filters_modules_4_parameters_weight_
        l_self_modules_filters_modules_4_parameters_bias_ = L_self_modules_filters_modules_4_parameters_bias_
        l_self_modules_gates_modules_4_parameters_weight_ = L_self_modules_gates_modules_4_parameters_weight_
        l_self_modules_gates_modules_4_parameters_bias_ = L_self_modules_gates_modules_4_parameters_bias_
        l_self_modules_mixes_modules_4_parameters_weight_ = L_self_modules_mixes_modules_4_parameters_weight_
        l_self_modules_mixes_modules_4_parameters_bias_ = L_self_modules_mixes_modules_4_parameters_bias_
        total = torch.zeros_like(l_x_)
        padded = torch._C._nn.pad(l_x_, (1, 0), 'constant', 0.0)
        conv1d = torch.conv1d(padded, l_self_modules_filters_modules_0_parameters_weight_, l_self_modules_filters_modules_0_parameters_bias_, (1,), (0,), (1,), 1)
        l_self_modules_filters_modules_0_parameters_weight_ = l_self_modules_filters_modules_0_parameters_bias_ = None
        tanh = torch.tanh(conv1d)
        conv1d = None
        conv1d_1 = torch.conv1d(padded, l_self_modules_gates_modules_0_parameters_weight_, l_self_modules_gates_modules_0_parameters_bias_, (1,), (0,), (1,), 1)
        padded = l_self_modules_gates_modules_0_parameters_weight_ = l_self_modules_gates_modules_0_parameters_bias_ = None
        sigmoid = torch.sigmoid(conv1d_1)
        conv1d_1 = None
        mul = tanh * sigmoid
        tanh = sigmoid = None
        y = torch.conv1d(mul, l_self_modules_mixes_modules_0_parameters_weight_, l_self_modules_mixes_modules_0_parameters_bias_, (1,), (0,), (1,), 1)
        mul = l_self_modules_mixes_modules_0_parameters_weight_ = l_self_modules_mixes_modules_0_parameters_bias_ = None
        total_1 = total + y
        total = None
        x = l_x_ + y
        l_x_ = y = None
        padded_1 = torch._C._nn.pad(x, (2, 0), 'constant', 0.0)
        conv1d_3 = torch.conv1d(padded_1, l_self_modules_filters_modules_1_parameters_weight_, l_self_modules_filters_modules_1_parameters_bias_, (1,), (0,), (2,), 1)
        l_self_modules_filters_modules_1_parameters_weight_ = l_self_modules_filters_modules_1_parameters_bias_ = None
        tanh_1 = torch.tanh(conv1d_3)
        conv1d_3 = None
        conv1d_4 = torch.conv1d(padded_1, l_self_modules_gates_modules_1_parameters_weight_, l_self_modules_gates_modules_1_parameters_bias_, (1,), (0,), (2,), 1)
        padded_1 = l_self_modules_gates_modules_1_parameters_weight_ = l_self_modules_gates_modules_1_parameters_bias_ = None
        sigmoid_1 = torch.sigmoid(conv1d_4)
        conv1d_4 = None
        mul_1 = tanh_1 * sigmoid_1
        tanh_1 = sigmoid_1 = None
        y_1 = torch.conv1d(mul_1, l_self_modules_mixes_modules_1_parameters_weight_, l_self_modules_mixes_modules_1_parameters_bias_, (1,), (0,), (1,), 1)
        mul_1 = l_self_modules_mixes_modules_1_parameters_weight_ = l_self_modules_mixes_modules_1_parameters_bias_ = None
        total_2 = total_1 + y_1
        total_1 = None
        x_1 = x + y_1
        x = y_1 = None
        padded_2 = torch._C._nn.pad(x_1, (4, 0), 'constant', 0.0)
        conv1d_6 = torch.conv1d(padded_2, l_self_modules_filters_modules_2_parameters_weight_, l_self_modules_filters_modules_2_parameters_bias_, (1,), (0,), (4,), 1)
        l_self_modules_filters_modules_2_parameters_weight_ = l_self_modules_filters_modules_2_parameters_bias_ = None
        tanh_2 = torch.tanh(conv1d_6)
        conv1d_6 = None
        conv1d_7 = torch.conv1d(padded_2, l_self_modules_gates_modules_2_parameters_weight_, l_self_modules_gates_modules_2_parameters_bias_, (1,), (0,), (4,), 1)
        padded_2 = l_self_modules_gates_modules_2_parameters_weight_ = l_self_modules_gates_modules_2_parameters_bias_ = None
        sigmoid_2 = torch.sigmoid(conv1d_7)
        conv1d_7 = None
        mul_2 = tanh_2 * sigmoid_2
        tanh_2 = sigmoid_2 = None
        y_2 = torch.conv1d(mul_2, l_self_modules_mixes_modules_2_parameters_weight_, l_self_modules_mixes_modules_2_parameters_bias_, (1,), (0,), (1,), 1)
        mul_2 = l_self_modules_mixes_modules_2_parameters_weight_ = l_self_modules_mixes_modules_2_parameters_bias_ = None
        total_3 = total_2 + y_2
        total_2 = None
        x_2 = x_1 + y_2
        x_1 = y_2 = None
        padded_3 = torch._C._nn.pad(x_2, (8, 0), 'constant', 0.0)
        conv1d_9 = torch.conv1d(padded_3, l_self_modules_filters_modules_3_parameters_weight_, l_self_modules_filters_modules_3_parameters_bias_, (1,), (0,), (8,), 1)
        l_self_modules_filters_modules_3_parameters_weight_ = l_self_modules_filters_modules_3_parameters_bias_ = None
        tanh_3 = torch.tanh(conv1d_9)
        conv1d_9 = None
        conv1d_10 = torch.conv1d(padded_3, l_self_modules_gates_modules_3_parameters_weight_, l_self_modules_gates_modules_3_parameters_bias_, (1,), (0,), (8,), 1)
        padded_3 = l_self_modules_gates_modules_3_parameters_weight_ = l_self_modules_gates_modules_3_parameters_bias_ = None
        sigmoid_3 = torch.sigmoid(conv1d_10)
        conv1d_10 = None
        mul_3 = tanh_3 * sigmoid_3
        tanh_3 = sigmoid_3 = None
        y_3 = torch.conv1d(mul_3, l_self_modules_mixes_modules_3_parameters_weight_, l_self_modules_mixes_modules_3_parameters_bias_, (1,), (0,), (1,), 1)
        mul_3 = l_self_modules_mixes_modules_3_parameters_weight_ = l_self_modules_mixes_modules_3_parameters_bias_ = None
        total_4 = total_3 + y_3
        total_3 = None
        x_3 = x_2 + y_3
        x_2 = y_3 = None
        padded_4 = torch._C._nn.pad(x_3, (16, 0), 'constant', 0.0)
        conv1d_12 = torch.conv1d(padded_4, l_self_modules_filters_modules_4_parameters_weight_, l_self_modules_filters_modules_4_parameters_bias_, (1,), (0,), (16,), 1)
        l_self_modules_filters_modules_4_parameters_weight_ = l_self_modules_filters_modules_4_parameters_bias_ = None
        tanh_4 = torch.tanh(conv1d_12)
        conv1d_12 = None
        conv1d_13 = torch.conv1d(padded_4, l_self_modules_gates_modules_4_parameters_weight_, l_self_modules_gates_modules_4_parameters_bias_, (1,), (0,), (16,), 1)
        padded_4 = l_self_modules_gates_modules_4_parameters_weight_ = l_self_modules_gates_modules_4_parameters_bias_ = None
        sigmoid_4 = torch.sigmoid(conv1d_13)
        conv1d_13 = None
        mul_4 = tanh_4 * sigmoid_4
        tanh_4 = sigmoid_4 = None
        y_4 = torch.conv1d(mul_4, l_self_modules_mixes_modules_4_parameters_weight_, l_self_modules_mixes_modules_4_parameters_bias_, (1,), (0,), (1,), 1)
        mul_4 = l_self_modules_mixes_modules_4_parameters_weight_ = l_self_modules_mixes_modules_4_parameters_bias_ = None
        total_5 = total_4 + y_4
        total_4 = None
        x_4 = x_3 + y_4
        x_3 = y_4 = x_4 = None
        relu = torch.nn.functional.relu(total_5)
        total_5 = None
        return (relu,)
