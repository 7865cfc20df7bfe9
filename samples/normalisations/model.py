import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_x_: torch.Tensor,
        L_self_parameters_scale_: torch.nn.parameter.Parameter,
        L_self_modules_layer_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layer_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_group_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_group_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_batch_buffers_running_mean_: torch.Tensor,
        L_self_modules_batch_buffers_running_var_: torch.Tensor,
        L_self_modules_batch_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_batch_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_x_ = L_x_
        l_self_parameters_scale_ = L_self_parameters_scale_
        l_self_modules_layer_parameters_weight_ = L_self_modules_layer_parameters_weight_
        l_self_modules_layer_parameters_bias_ = L_self_modules_layer_parameters_bias_
        l_self_modules_group_parameters_weight_ = L_self_modules_group_parameters_weight_
        l_self_modules_group_parameters_bias_ = L_self_modules_group_parameters_bias_
        l_self_modules_batch_buffers_running_mean_ = L_self_modules_batch_buffers_running_mean_
        l_self_modules_batch_buffers_running_var_ = L_self_modules_batch_buffers_running_var_
        l_self_modules_batch_parameters_weight_ = L_self_modules_batch_parameters_weight_
        l_self_modules_batch_parameters_bias_ = L_self_modules_batch_parameters_bias_
        pow_1 = l_x_.pow(2)
        mean = pow_1.mean(-1, keepdim = True)
        pow_1 = None
        add = mean + 1e-06
        mean = None
        rsqrt = torch.rsqrt(add)
        add = None
        mul = l_x_ * rsqrt
        rsqrt = None
        add_1 = 1.0 + l_self_parameters_scale_
        l_self_parameters_scale_ = None
        rms = mul * add_1
        mul = add_1 = None
        columns = l_x_.transpose(1, 2)
        l_x_ = None
        layer_norm = torch.nn.functional.layer_norm(rms, (96,), l_self_modules_layer_parameters_weight_, l_self_modules_layer_parameters_bias_, 1e-05)
        rms = l_self_modules_layer_parameters_weight_ = l_self_modules_layer_parameters_bias_ = None
        group_norm = torch.nn.functional.group_norm(columns, 8, l_self_modules_group_parameters_weight_, l_self_modules_group_parameters_bias_, 1e-05)
        l_self_modules_group_parameters_weight_ = l_self_modules_group_parameters_bias_ = None
        batch_norm = torch.nn.functional.batch_norm(columns, l_self_modules_batch_buffers_running_mean_, l_self_modules_batch_buffers_running_var_, l_self_modules_batch_parameters_weight_, l_self_modules_batch_parameters_bias_, False, 0.1, 1e-05)
        columns = l_self_modules_batch_buffers_running_mean_ = l_self_modules_batch_buffers_running_var_ = l_self_modules_batch_parameters_weight_ = l_self_modules_batch_parameters_bias_ = None
        add_2 = group_norm + batch_norm
        group_norm = batch_norm = None
        transpose_1 = add_2.transpose(1, 2)
        add_2 = None
        y = layer_norm + transpose_1
        layer_norm = transpose_1 = None
        normalize = torch.nn.functional.normalize(y, dim = -1)
        mean_1 = y.mean(1, keepdim = True)
        sub = y - mean_1
        y = mean_1 = None
        pow_2 = sub.pow(2)
        sub = None
        mean_2 = pow_2.mean(1)
        pow_2 = None
        add_4 = mean_2 + 1e-05
        mean_2 = None
        sqrt = torch.sqrt(add_4)
        add_4 = None
        return (normalize, sqrt)
