import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_fn_modules_0_modules_expand_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_expand_parameters_bias_: torch.nn.parameter.Parameter,
        L_args_0_: torch.Tensor,
        L_fn_modules_0_modules_depthwise_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_depthwise_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_norm_buffers_running_mean_: torch.Tensor,
        L_fn_modules_0_modules_norm_buffers_running_var_: torch.Tensor,
        L_fn_modules_0_modules_norm_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_norm_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_squeeze_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_squeeze_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_excite_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_excite_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_project_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_project_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_expand_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_expand_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_depthwise_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_depthwise_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_norm_buffers_running_mean_: torch.Tensor,
        L_fn_modules_1_modules_norm_buffers_running_var_: torch.Tensor,
        L_fn_modules_1_modules_norm_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_norm_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_squeeze_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_squeeze_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_excite_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_excite_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_project_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_project_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_fn_modules_0_modules_expand_parameters_weight_ = L_fn_modules_0_modules_expand_parameters_weight_
        l_fn_modules_0_modules_expand_parameters_bias_ = L_fn_modules_0_modules_expand_parameters_bias_
        l_args_0_ = L_args_0_
        l_fn_modules_0_modules_depthwise_parameters_weight_ = L_fn_modules_0_modules_depthwise_parameters_weight_
        l_fn_modules_0_modules_depthwise_parameters_bias_ = L_fn_modules_0_modules_depthwise_parameters_bias_
        l_fn_modules_0_modules_norm_buffers_running_mean_ = L_fn_modules_0_modules_norm_buffers_running_mean_
        l_fn_modules_0_modules_norm_buffers_running_var_ = L_fn_modules_0_modules_norm_buffers_running_var_
        l_fn_modules_0_modules_norm_parameters_weight_ = L_fn_modules_0_modules_norm_parameters_weight_
        l_fn_modules_0_modules_norm_parameters_bias_ = L_fn_modules_0_modules_norm_parameters_bias_
        l_fn_modules_0_modules_squeeze_parameters_weight_ = L_fn_modules_0_modules_squeeze_parameters_weight_
        l_fn_modules_0_modules_squeeze_parameters_bias_ = L_fn_modules_0_modules_squeeze_parameters_bias_
        l_fn_modules_0_modules_excite_parameters_weight_ = L_fn_modules_0_modules_excite_parameters_weight_
        l_fn_modules_0_modules_excite_parameters_bias_ = L_fn_modules_0_modules_excite_parameters_bias_
        l_fn_modules_0_modules_project_parameters_weight_ = L_fn_modules_0_modules_project_parameters_weight_
        l_fn_modules_0_modules_project_parameters_bias_ = L_fn_modules_0_modules_project_parameters_bias_
        l_fn_modules_1_modules_expand_parameters_weight_ = L_fn_modules_1_modules_expand_parameters_weight_
        l_fn_modules_1_modules_expand_parameters_bias_ = L_fn_modules_1_modules_expand_parameters_bias_
        l_fn_modules_1_modules_depthwise_parameters_weight_ = L_fn_modules_1_modules_depthwise_parameters_weight_
        l_fn_modules_1_modules_depthwise_parameters_bias_ = L_fn_modules_1_modules_depthwise_parameters_bias_
        l_fn_modules_1_modules_norm_buffers_running_mean_ = L_fn_modules_1_modules_norm_buffers_running_mean_
        l_fn_modules_1_modules_norm_buffers_running_var_ = L_fn_modules_1_modules_norm_buffers_running_var_
        l_fn_modules_1_modules_norm_parameters_weight_ = L_fn_modules_1_modules_norm_parameters_weight_
        l_fn_modules_1_modules_norm_parameters_bias_ = L_fn_modules_1_modules_norm_parameters_bias_
        l_fn_modules_1_modules_squeeze_parameters_weight_ = L_fn_modules_1_modules_squeeze_parameters_weight_
        l_fn_modules_1_modules_squeeze_parameters_bias_ = L_fn_modules_1_modules_squeeze_parameters_bias_
        l_fn_modules_1_modules_excite_parameters_weight_ = L_fn_modules_1_modules_excite_parameters_weight_
        l_fn_modules_1_modules_excite_parameters_bias_ = L_fn_modules_1_modules_excite_parameters_bias_
        l_fn_modules_1_modules_project_parameters_weight_ = L_fn_modules_1_modules_project_parameters_weight_
        l_fn_modules_1_modules_project_parameters_bias_ = L_fn_modules_1_modules_project_parameters_bias_
        conv2d = torch.conv2d(l_args_0_, l_fn_modules_0_modules_expand_parameters_weight_, l_fn_modules_0_modules_expand_parameters_bias_, (1, 1), (0, 0), (1, 1), 1)
        l_args_0_ = l_fn_modules_0_modules_expand_parameters_weight_ = l_fn_modules_0_modules_expand_parameters_bias_ = None
        silu = torch.nn.functional.silu(conv2d)
        conv2d = None
        conv2d_1 = torch.conv2d(silu, l_fn_modules_0_modules_depthwise_parameters_weight_, l_fn_modules_0_modules_depthwise_parameters_bias_, (1, 1), (2, 2), (1, 1), 48)
        silu = l_fn_modules_0_modules_depthwise_parameters_weight_ = l_fn_modules_0_modules_depthwise_parameters_bias_ = None
        batch_norm = torch.nn.functional.batch_norm(conv2d_1, l_fn_modules_0_modules_norm_buffers_running_mean_, l_fn_modules_0_modules_norm_buffers_running_var_, l_fn_modules_0_modules_norm_parameters_weight_, l_fn_modules_0_modules_norm_parameters_bias_, False, 0.1, 1e-05)
        conv2d_1 = l_fn_modules_0_modules_norm_buffers_running_mean_ = l_fn_modules_0_modules_norm_buffers_running_var_ = l_fn_modules_0_modules_norm_parameters_weight_ = l_fn_modules_0_modules_norm_parameters_bias_ = None
        y = torch.nn.functional.silu(batch_norm)
        batch_norm = None
        mean = y.mean((2, 3), keepdim = True)
        conv2d_2 = torch.conv2d(mean, l_fn_modules_0_modules_squeeze_parameters_weight_, l_fn_modules_0_modules_squeeze_parameters_bias_, (1, 1), (0, 0), (1, 1), 1)
        mean = l_fn_modules_0_modules_squeeze_parameters_weight_ = l_fn_modules_0_modules_squeeze_parameters_bias_ = None
        silu_2 = torch.nn.functional.silu(conv2d_2)
        conv2d_2 = None
        gate = torch.conv2d(silu_2, l_fn_modules_0_modules_excite_parameters_weight_, l_fn_modules_0_modules_excite_parameters_bias_, (1, 1), (0, 0), (1, 1), 1)
        silu_2 = l_fn_modules_0_modules_excite_parameters_weight_ = l_fn_modules_0_modules_excite_parameters_bias_ = None
        sigmoid = gate.sigmoid()
        gate = None
        mul = y * sigmoid
        y = sigmoid = None
        input_1 = torch.conv2d(mul, l_fn_modules_0_modules_project_parameters_weight_, l_fn_modules_0_modules_project_parameters_bias_, (1, 1), (0, 0), (1, 1), 1)
        mul = l_fn_modules_0_modules_project_parameters_weight_ = l_fn_modules_0_modules_project_parameters_bias_ = None
        conv2d_5 = torch.conv2d(input_1, l_fn_modules_1_modules_expand_parameters_weight_, l_fn_modules_1_modules_expand_parameters_bias_, (1, 1), (0, 0), (1, 1), 1)
        input_1 = l_fn_modules_1_modules_expand_parameters_weight_ = l_fn_modules_1_modules_expand_parameters_bias_ = None
        silu_3 = torch.nn.functional.silu(conv2d_5)
        conv2d_5 = None
        conv2d_6 = torch.conv2d(silu_3, l_fn_modules_1_modules_depthwise_parameters_weight_, l_fn_modules_1_modules_depthwise_parameters_bias_, (1, 1), (2, 2), (1, 1), 72)
        silu_3 = l_fn_modules_1_modules_depthwise_parameters_weight_ = l_fn_modules_1_modules_depthwise_parameters_bias_ = None
        batch_norm_1 = torch.nn.functional.batch_norm(conv2d_6, l_fn_modules_1_modules_norm_buffers_running_mean_, l_fn_modules_1_modules_norm_buffers_running_var_, l_fn_modules_1_modules_norm_parameters_weight_, l_fn_modules_1_modules_norm_parameters_bias_, False, 0.1, 1e-05)
        conv2d_6 = l_fn_modules_1_modules_norm_buffers_running_mean_ = l_fn_modules_1_modules_norm_buffers_running_var_ = l_fn_modules_1_modules_norm_parameters_weight_ = l_fn_modules_1_modules_norm_parameters_bias_ = None
        y_1 = torch.nn.functional.silu(batch_norm_1)
        batch_norm_1 = None
        mean_1 = y_1.mean((2, 3), keepdim = True)
        conv2d_7 = torch.conv2d(mean_1, l_fn_modules_1_modules_squeeze_parameters_weight_, l_fn_modules_1_modules_squeeze_parameters_bias_, (1, 1), (0, 0), (1, 1), 1)
        mean_1 = l_fn_modules_1_modules_squeeze_parameters_weight_ = l_fn_modules_1_modules_squeeze_parameters_bias_ = None
        silu_5 = torch.nn.functional.silu(conv2d_7)
        conv2d_7 = None
        gate_1 = torch.conv2d(silu_5, l_fn_modules_1_modules_excite_parameters_weight_, l_fn_modules_1_modules_excite_parameters_bias_, (1, 1), (0, 0), (1, 1), 1)
        silu_5 = l_fn_modules_1_modules_excite_parameters_weight_ = l_fn_modules_1_modules_excite_parameters_bias_ = None
        sigmoid_1 = gate_1.sigmoid()
        gate_1 = None
        mul_1 = y_1 * sigmoid_1
        y_1 = sigmoid_1 = None
        input_2 = torch.conv2d(mul_1, l_fn_modules_1_modules_project_parameters_weight_, l_fn_modules_1_modules_project_parameters_bias_, (1, 1), (0, 0), (1, 1), 1)
        mul_1 = l_fn_modules_1_modules_project_parameters_weight_ = l_fn_modules_1_modules_project_parameters_bias_ = None
        return (input_2,)
