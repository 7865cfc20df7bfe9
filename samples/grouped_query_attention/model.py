import torch
from torch import device


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_x_: torch.Tensor,
        L_self_modules_q_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_k_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_v_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_out_parameters_weight_: torch.nn.parameter.Parameter,
    ):
        l_x_ = L_x_
        l_self_modules_q_parameters_weight_ = L_self_modules_q_parameters_weight_
        l_self_modules_k_parameters_weight_ = L_self_modules_k_parameters_weight_
        l_self_modules_v_parameters_weight_ = L_self_modules_v_parameters_weight_
        l_self_modules_out_parameters_weight_ = L_self_modules_out_parameters_weight_
        arange = torch.arange(0, 16, 2, device = device(type='cpu'))
        float_1 = arange.float()
        arange = None
        steps = float_1 / 16
        float_1 = None
        arange_1 = torch.arange(64, device = device(type='cpu'))
        float_2 = arange_1.float()
        arange_1 = None
        unsqueeze = float_2.unsqueeze(1)
        float_2 = None
        neg = -steps
        steps = None
        pow_1 = 10000.0 ** neg
        neg = None
        angles = unsqueeze * pow_1
        unsqueeze = pow_1 = None
        angles_1 = torch.cat((angles, angles), dim = -1)
        angles = None
        cos = angles_1.cos()
        sin = angles_1.sin()
        angles_1 = None
        linear = torch._C._nn.linear(l_x_, l_self_modules_q_parameters_weight_, None)
        l_self_modules_q_parameters_weight_ = None
        view = linear.view(1, 64, 8, 16)
        linear = None
        transpose = view.transpose(1, 2)
        view = None
        chunk = transpose.chunk(2, dim = -1)
        left = chunk[0]
        right = chunk[1]
        chunk = None
        mul_1 = transpose * cos
        transpose = None
        neg_1 = -right
        right = None
        cat_1 = torch.cat((neg_1, left), dim = -1)
        neg_1 = left = None
        mul_2 = cat_1 * sin
        cat_1 = None
        q = mul_1 + mul_2
        mul_1 = mul_2 = None
        linear_1 = torch._C._nn.linear(l_x_, l_self_modules_k_parameters_weight_, None)
        l_self_modules_k_parameters_weight_ = None
        view_1 = linear_1.view(1, 64, 2, 16)
        linear_1 = None
        transpose_1 = view_1.transpose(1, 2)
        view_1 = None
        chunk_1 = transpose_1.chunk(2, dim = -1)
        left_1 = chunk_1[0]
        right_1 = chunk_1[1]
        chunk_1 = None
        mul_3 = transpose_1 * cos
        transpose_1 = cos = None
        neg_2 = -right_1
        right_1 = None
        cat_2 = torch.cat((neg_2, left_1), dim = -1)
        neg_2 = left_1 = None
        mul_4 = cat_2 * sin
        cat_2 = sin = None
        add_1 = mul_3 + mul_4
        mul_3 = mul_4 = None
        getitem_4 = add_1[(slice(None, None, None), slice(None, None, None), None, slice(None, None, None), slice(None, None, None))]
        add_1 = None
        x = getitem_4.expand(1, 2, 4, 64, 16)
        getitem_4 = None
        k = x.reshape(1, 8, 64, 16)
        x = None
        linear_2 = torch._C._nn.linear(l_x_, l_self_modules_v_parameters_weight_, None)
        l_x_ = l_self_modules_v_parameters_weight_ = None
        view_2 = linear_2.view(1, 64, 2, 16)
        linear_2 = None
        transpose_2 = view_2.transpose(1, 2)
        view_2 = None
        getitem_5 = transpose_2[(slice(None, None, None), slice(None, None, None), None, slice(None, None, None), slice(None, None, None))]
        transpose_2 = None
        x_1 = getitem_5.expand(1, 2, 4, 64, 16)
        getitem_5 = None
        v = x_1.reshape(1, 8, 64, 16)
        x_1 = None
        y = torch._C._nn.scaled_dot_product_attention(q, k, v, is_causal = True)
        q = k = v = None
        transpose_3 = y.transpose(1, 2)
        y = None
        contiguous = transpose_3.contiguous()
        transpose_3 = None
        reshape_2 = contiguous.reshape((1, 64, 128))
        contiguous = None
        linear_3 = torch._C._nn.linear(reshape_2, l_self_modules_out_parameters_weight_, None)
        reshape_2 = l_self_modules_out_parameters_weight_ = None
        return (linear_3,)
