import torch
from torch import device
from torch import inf


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_x_: torch.Tensor,
        L_self_modules_norm_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_norm_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_qkv_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_out_parameters_weight_: torch.nn.parameter.Parameter,
    ):
        l_x_ = L_x_
        l_self_modules_norm_parameters_weight_ = L_self_modules_norm_parameters_weight_
        l_self_modules_norm_parameters_bias_ = L_self_modules_norm_parameters_bias_
        l_self_modules_qkv_parameters_weight_ = L_self_modules_qkv_parameters_weight_
        l_self_modules_out_parameters_weight_ = L_self_modules_out_parameters_weight_
        layer_norm = torch.nn.functional.layer_norm(l_x_, (96,), l_self_modules_norm_parameters_weight_, l_self_modules_norm_parameters_bias_, 1e-05)
        l_self_modules_norm_parameters_weight_ = l_self_modules_norm_parameters_bias_ = None
        linear = torch._C._nn.linear(layer_norm, l_self_modules_qkv_parameters_weight_, None)
        layer_norm = l_self_modules_qkv_parameters_weight_ = None
        split = linear.split(96, dim = 2)
        linear = None
        part = split[0]
        part_1 = split[1]
        part_2 = split[2]
        split = None
        view = part.view(2, 48, 6, 16)
        part = None
        q = view.transpose(1, 2)
        view = None
        view_1 = part_1.view(2, 48, 6, 16)
        part_1 = None
        k = view_1.transpose(1, 2)
        view_1 = None
        view_2 = part_2.view(2, 48, 6, 16)
        part_2 = None
        v = view_2.transpose(1, 2)
        view_2 = None
        hidden = torch.full((48, 48), True, dtype = torch.bool, device = device(type='cpu'))
        transpose_3 = k.transpose(-2, -1)
        k = None
        matmul = q @ transpose_3
        q = transpose_3 = None
        scores = matmul * 0.25
        matmul = None
        triu = torch.triu(hidden, diagonal = 1)
        hidden = None
        scores_1 = scores.masked_fill(triu, -inf)
        scores = triu = None
        softmax = scores_1.softmax(dim = -1)
        scores_1 = None
        y = softmax @ v
        softmax = v = None
        transpose_4 = y.transpose(1, 2)
        y = None
        flatten = transpose_4.flatten(2)
        transpose_4 = None
        linear_1 = torch._C._nn.linear(flatten, l_self_modules_out_parameters_weight_, None)
        flatten = l_self_modules_out_parameters_weight_ = None
        add = l_x_ + linear_1
        l_x_ = linear_1 = None
        return (add,)
