import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_up1_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_up1_parameters_bias_: torch.nn.parameter.Parameter,
        L_x_: torch.Tensor,
        L_self_modules_norm_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_norm_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_up2_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_up2_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_smooth_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_smooth_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_self_modules_up1_parameters_weight_ = L_self_modules_up1_parameters_weight_
        l_self_modules_up1_parameters_bias_ = L_self_modules_up1_parameters_bias_
        l_x_ = L_x_
        l_self_modules_norm_parameters_weight_ = L_self_modules_norm_parameters_weight_
        l_self_modules_norm_parameters_bias_ = L_self_modules_norm_parameters_bias_
        l_self_modules_up2_parameters_weight_ = L_self_modules_up2_parameters_weight_
        l_self_modules_up2_parameters_bias_ = L_self_modules_up2_parameters_bias_
        l_self_modules_smooth_parameters_weight_ = L_self_modules_smooth_parameters_weight_
        l_self_modules_smooth_parameters_bias_ = L_self_modules_smooth_parameters_bias_
        conv_transpose2d = torch.conv_transpose2d(l_x_, l_self_modules_up1_parameters_weight_, l_self_modules_up1_parameters_bias_, (2, 2), (1, 1), (0, 0), 1, (1, 1))
        l_x_ = l_self_modules_up1_parameters_weight_ = l_self_modules_up1_parameters_bias_ = None
        group_norm = torch.nn.functional.group_norm(conv_transpose2d, 4, l_self_modules_norm_parameters_weight_, l_self_modules_norm_parameters_bias_, 1e-05)
        conv_transpose2d = l_self_modules_norm_parameters_weight_ = l_self_modules_norm_parameters_bias_ = None
        y = torch.nn.functional.relu(group_norm)
        group_norm = None
        conv_transpose2d_1 = torch.conv_transpose2d(y, l_self_modules_up2_parameters_weight_, l_self_modules_up2_parameters_bias_, (2, 2), (1, 1), (0, 0), 1, (1, 1))
        y = l_self_modules_up2_parameters_weight_ = l_self_modules_up2_parameters_bias_ = None
        y_1 = torch.nn.functional.relu(conv_transpose2d_1)
        conv_transpose2d_1 = None
        y_2 = torch.nn.functional.interpolate(y_1, size = (48, 48), mode = 'bilinear', align_corners = False)
        y_1 = None
        conv2d = torch.conv2d(y_2, l_self_modules_smooth_parameters_weight_, l_self_modules_smooth_parameters_bias_, (1, 1), (1, 1), (1, 1), 1)
        y_2 = l_self_modules_smooth_parameters_weight_ = l_self_modules_smooth_parameters_bias_ = None
        tanh = torch.tanh(conv2d)
        conv2d = None
        return (tanh,)
