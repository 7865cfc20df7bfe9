import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_down1_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_down1_parameters_bias_: torch.nn.parameter.Parameter,
        L_x_: torch.Tensor,
        L_self_modules_down2_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_down2_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_side_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_side_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_up_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_up_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_head_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_head_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_self_modules_down1_parameters_weight_ = L_self_modules_down1_parameters_weight_
        l_self_modules_down1_parameters_bias_ = L_self_modules_down1_parameters_bias_
        l_x_ = L_x_
        l_self_modules_down2_parameters_weight_ = L_self_modules_down2_parameters_weight_
        l_self_modules_down2_parameters_bias_ = L_self_modules_down2_parameters_bias_
        l_self_modules_side_parameters_weight_ = L_self_modules_side_parameters_weight_
        l_self_modules_side_parameters_bias_ = L_self_modules_side_parameters_bias_
        l_self_modules_up_parameters_weight_ = L_self_modules_up_parameters_weight_
        l_self_modules_up_parameters_bias_ = L_self_modules_up_parameters_bias_
        l_self_modules_head_parameters_weight_ = L_self_modules_head_parameters_weight_
        l_self_modules_head_parameters_bias_ = L_self_modules_head_parameters_bias_
        conv2d = torch.conv2d(l_x_, l_self_modules_down1_parameters_weight_, l_self_modules_down1_parameters_bias_, (1, 1), (1, 1), (1, 1), 1)
        l_x_ = l_self_modules_down1_parameters_weight_ = l_self_modules_down1_parameters_bias_ = None
        a = torch.nn.functional.hardswish(conv2d)
        conv2d = None
        avg_pool2d = torch._C._nn.avg_pool2d(a, 2)
        conv2d_1 = torch.conv2d(avg_pool2d, l_self_modules_down2_parameters_weight_, l_self_modules_down2_parameters_bias_, (1, 1), (1, 1), (1, 1), 1)
        avg_pool2d = l_self_modules_down2_parameters_weight_ = l_self_modules_down2_parameters_bias_ = None
        b = torch.nn.functional.hardswish(conv2d_1)
        conv2d_1 = None
        c = torch.nn.functional.interpolate(b, scale_factor = 2.0, mode = 'nearest')
        b = None
        conv2d_2 = torch.conv2d(a, l_self_modules_side_parameters_weight_, l_self_modules_side_parameters_bias_, (1, 1), (0, 0), (1, 1), 1)
        a = l_self_modules_side_parameters_weight_ = l_self_modules_side_parameters_bias_ = None
        cat = torch.cat([conv2d_2, c], dim = 1)
        conv2d_2 = c = None
        conv2d_3 = torch.conv2d(cat, l_self_modules_up_parameters_weight_, l_self_modules_up_parameters_bias_, (1, 1), (1, 1), (1, 1), 1)
        cat = l_self_modules_up_parameters_weight_ = l_self_modules_up_parameters_bias_ = None
        y = torch.nn.functional.relu(conv2d_3)
        conv2d_3 = None
        conv2d_4 = torch.conv2d(y, l_self_modules_head_parameters_weight_, l_self_modules_head_parameters_bias_, (1, 1), (0, 0), (1, 1), 1)
        y = l_self_modules_head_parameters_weight_ = l_self_modules_head_parameters_bias_ = None
        permute = conv2d_4.permute(0, 2, 3, 1)
        conv2d_4 = None
        contiguous = permute.contiguous()
        permute = None
        return (contiguous,)
