import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_conv_parameters_weight_: torch.nn.parameter.Parameter,
        L_x_: torch.Tensor,
        L_self_modules_norm_buffers_running_mean_: torch.Tensor,
        L_self_modules_norm_buffers_running_var_: torch.Tensor,
        L_self_modules_norm_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_norm_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_head_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_head_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_norm2_buffers_running_mean_: torch.Tensor,
        L_self_modules_norm2_buffers_running_var_: torch.Tensor,
        L_self_modules_norm2_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_norm2_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_self_modules_conv_parameters_weight_ = L_self_modules_conv_parameters_weight_
        l_x_ = L_x_
        l_self_modules_norm_buffers_running_mean_ = L_self_modules_norm_buffers_running_mean_
        l_self_modules_norm_buffers_running_var_ = L_self_modules_norm_buffers_running_var_
        l_self_modules_norm_parameters_weight_ = L_self_modules_norm_parameters_weight_
        l_self_modules_norm_parameters_bias_ = L_self_modules_norm_parameters_bias_
        l_self_modules_head_parameters_weight_ = L_self_modules_head_parameters_weight_
        l_self_modules_head_parameters_bias_ = L_self_modules_head_parameters_bias_
        l_self_modules_norm2_buffers_running_mean_ = L_self_modules_norm2_buffers_running_mean_
        l_self_modules_norm2_buffers_running_var_ = L_self_modules_norm2_buffers_running_var_
        l_self_modules_norm2_parameters_weight_ = L_self_modules_norm2_parameters_weight_
        l_self_modules_norm2_parameters_bias_ = L_self_modules_norm2_parameters_bias_
        conv2d = torch.conv2d(l_x_, l_self_modules_conv_parameters_weight_, None, (1, 1), (1, 1), (1, 1), 1)
        l_x_ = l_self_modules_conv_parameters_weight_ = None
        batch_norm = torch.nn.functional.batch_norm(conv2d, l_self_modules_norm_buffers_running_mean_, l_self_modules_norm_buffers_running_var_, l_self_modules_norm_parameters_weight_, l_self_modules_norm_parameters_bias_, True, 0.1, 1e-05)
        conv2d = l_self_modules_norm_buffers_running_mean_ = l_self_modules_norm_buffers_running_var_ = l_self_modules_norm_parameters_weight_ = l_self_modules_norm_parameters_bias_ = None
        relu = torch.nn.functional.relu(batch_norm)
        batch_norm = None
        y = relu.mean((2, 3))
        relu = None
        linear = torch._C._nn.linear(y, l_self_modules_head_parameters_weight_, l_self_modules_head_parameters_bias_)
        y = l_self_modules_head_parameters_weight_ = l_self_modules_head_parameters_bias_ = None
        batch_norm_1 = torch.nn.functional.batch_norm(linear, l_self_modules_norm2_buffers_running_mean_, l_self_modules_norm2_buffers_running_var_, l_self_modules_norm2_parameters_weight_, l_self_modules_norm2_parameters_bias_, True, 0.1, 1e-05)
        linear = l_self_modules_norm2_buffers_running_mean_ = l_self_modules_norm2_buffers_running_var_ = l_self_modules_norm2_parameters_weight_ = l_self_modules_norm2_parameters_bias_ = None
        return (batch_norm_1,)
