import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_attention_modules_qkv_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_attention_modules_qkv_parameters_bias_: torch.nn.parameter.Parameter,
        L_x_: torch.Tensor,
        L_self_modules_attention_modules_out_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_attention_modules_out_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_norm_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_norm_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_self_modules_attention_modules_qkv_parameters_weight_ = L_self_modules_attention_modules_qkv_parameters_weight_
        l_self_modules_attention_modules_qkv_parameters_bias_ = L_self_modules_attention_modules_qkv_parameters_bias_
        l_x_ = L_x_
        l_self_modules_attention_modules_out_parameters_weight_ = L_self_modules_attention_modules_out_parameters_weight_
        l_self_modules_attention_modules_out_parameters_bias_ = L_self_modules_attention_modules_out_parameters_bias_
        l_self_modules_norm_parameters_weight_ = L_self_modules_norm_parameters_weight_
        l_self_modules_norm_parameters_bias_ = L_self_modules_norm_parameters_bias_
        linear = torch._C._nn.linear(l_x_, l_self_modules_attention_modules_qkv_parameters_weight_, l_self_modules_attention_modules_qkv_parameters_bias_)
        l_self_modules_attention_modules_qkv_parameters_weight_ = l_self_modules_attention_modules_qkv_parameters_bias_ = None
        chunk = linear.chunk(3, dim = -1)
        linear = None
        part = chunk[0]
        part_1 = chunk[1]
        part_2 = chunk[2]
        chunk = None
        view = part.view(2, 32, 4, 16)
        part = None
        q = view.transpose(1, 2)
        view = None
        view_1 = part_1.view(2, 32, 4, 16)
        part_1 = None
        k = view_1.transpose(1, 2)
        view_1 = None
        view_2 = part_2.view(2, 32, 4, 16)
        part_2 = None
        v = view_2.transpose(1, 2)
        view_2 = None
        y = torch._C._nn.scaled_dot_product_attention(q, k, v)
        q = k = v = None
        transpose_3 = y.transpose(1, 2)
        y = None
        reshape = transpose_3.reshape((2, 32, 64))
        transpose_3 = None
        linear_1 = torch._C._nn.linear(reshape, l_self_modules_attention_modules_out_parameters_weight_, l_self_modules_attention_modules_out_parameters_bias_)
        reshape = l_self_modules_attention_modules_out_parameters_weight_ = l_self_modules_attention_modules_out_parameters_bias_ = None
        y_1 = linear_1 + l_x_
        linear_1 = l_x_ = None
        layer_norm = torch.nn.functional.layer_norm(y_1, (64,), l_self_modules_norm_parameters_weight_, l_self_modules_norm_parameters_bias_, 1e-05)
        l_self_modules_norm_parameters_weight_ = l_self_modules_norm_parameters_bias_ = None
        float_1 = y_1.float()
        y_1 = None
        mean = float_1.mean(-1)
        float_1 = None
        return (layer_norm, mean)
