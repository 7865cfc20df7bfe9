import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_fn_modules_0_modules_norm1_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_norm1_parameters_bias_: torch.nn.parameter.Parameter,
        L_args_0_: torch.Tensor,
        L_fn_modules_0_modules_attention_modules_qkv_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_attention_modules_qkv_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_attention_modules_out_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_attention_modules_out_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_norm2_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_norm2_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_up_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_up_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_down_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_0_modules_down_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_norm1_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_norm1_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_attention_modules_qkv_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_attention_modules_qkv_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_attention_modules_out_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_attention_modules_out_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_norm2_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_norm2_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_up_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_up_parameters_bias_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_down_parameters_weight_: torch.nn.parameter.Parameter,
        L_fn_modules_1_modules_down_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_fn_modules_0_modules_norm1_parameters_weight_ = L_fn_modules_0_modules_norm1_parameters_weight_
        l_fn_modules_0_modules_norm1_parameters_bias_ = L_fn_modules_0_modules_norm1_parameters_bias_
        l_args_0_ = L_args_0_
        l_fn_modules_0_modules_attention_modules_qkv_parameters_weight_ = L_fn_modules_0_modules_attention_modules_qkv_parameters_weight_
        l_fn_modules_0_modules_attention_modules_qkv_parameters_bias_ = L_fn_modules_0_modules_attention_modules_qkv_parameters_bias_
        l_fn_modules_0_modules_attention_modules_out_parameters_weight_ = L_fn_modules_0_modules_attention_modules_out_parameters_weight_
        l_fn_modules_0_modules_attention_modules_out_parameters_bias_ = L_fn_modules_0_modules_attention_modules_out_parameters_bias_
        l_fn_modules_0_modules_norm2_parameters_weight_ = L_fn_modules_0_modules_norm2_parameters_weight_
        l_fn_modules_0_modules_norm2_parameters_bias_ = L_fn_modules_0_modules_norm2_parameters_bias_
        l_fn_modules_0_modules_up_parameters_weight_ = L_fn_modules_0_modules_up_parameters_weight_
        l_fn_modules_0_modules_up_parameters_bias_ = L_fn_modules_0_modules_up_parameters_bias_
        l_fn_modules_0_modules_down_parameters_weight_ = L_fn_modules_0_modules_down_parameters_weight_
        l_fn_modules_0_modules_down_parameters_bias_ = L_fn_modules_0_modules_down_parameters_bias_
        l_fn_modules_1_modules_norm1_parameters_weight_ = L_fn_modules_1_modules_norm1_parameters_weight_
        l_fn_modules_1_modules_norm1_parameters_bias_ = L_fn_modules_1_modules_norm1_parameters_bias_
        l_fn_modules_1_modules_attention_modules_qkv_parameters_weight_ = L_fn_modules_1_modules_attention_modules_qkv_parameters_weight_
        l_fn_modules_1_modules_attention_modules_qkv_parameters_bias_ = L_fn_modules_1_modules_attention_modules_qkv_parameters_bias_
        l_fn_modules_1_modules_attention_modules_out_parameters_weight_ = L_fn_modules_1_modules_attention_modules_out_parameters_weight_
        l_fn_modules_1_modules_attention_modules_out_parameters_bias_ = L_fn_modules_1_modules_attention_modules_out_parameters_bias_
        l_fn_modules_1_modules_norm2_parameters_weight_ = L_fn_modules_1_modules_norm2_parameters_weight_
        l_fn_modules_1_modules_norm2_parameters_bias_ = L_fn_modules_1_modules_norm2_parameters_bias_
        l_fn_modules_1_modules_up_parameters_weight_ = L_fn_modules_1_modules_up_parameters_weight_
        l_fn_modules_1_modules_up_parameters_bias_ = L_fn_modules_1_modules_up_parameters_bias_
        l_fn_modules_1_modules_down_parameters_weight_ = L_fn_modules_1_modules_down_parameters_weight_
        l_fn_modules_1_modules_down_parameters_bias_ = L_fn_modules_1_modules_down_parameters_bias_
        layer_norm = torch.nn.functional.layer_norm(l_args_0_, (192,), l_fn_modules_0_modules_norm1_parameters_weight_, l_fn_modules_0_modules_norm1_parameters_bias_, 1e-05)
        l_fn_modules_0_modules_norm1_parameters_weight_ = l_fn_modules_0_modules_norm1_parameters_bias_ = None
        linear = torch._C._nn.linear(layer_norm, l_fn_modules_0_modules_attention_modules_qkv_parameters_weight_, l_fn_modules_0_modules_attention_modules_qkv_parameters_bias_)
        layer_norm = l_fn_modules_0_modules_attention_modules_qkv_parameters_weight_ = l_fn_modules_0_modules_attention_modules_qkv_parameters_bias_ = None
        chunk = linear.chunk(3, dim = -1)
        linear = None
        part = chunk[0]
        part_1 = chunk[1]
        part_2 = chunk[2]
        chunk = None
        view = part.view(1, 96, 6, 32)
        part = None
        q = view.transpose(1, 2)
        view = None
        view_1 = part_1.view(1, 96, 6, 32)
        part_1 = None
        k = view_1.transpose(1, 2)
        view_1 = None
        view_2 = part_2.view(1, 96, 6, 32)
        part_2 = None
        v = view_2.transpose(1, 2)
        view_2 = None
        y = torch._C._nn.scaled_dot_product_attention(q, k, v)
        q = k = v = None
        transpose_3 = y.transpose(1, 2)
        y = None
        reshape = transpose_3.reshape((1, 96, 192))
        transpose_3 = None
        linear_1 = torch._C._nn.linear(reshape, l_fn_modules_0_modules_attention_modules_out_parameters_weight_, l_fn_modules_0_modules_attention_modules_out_parameters_bias_)
        reshape = l_fn_modules_0_modules_attention_modules_out_parameters_weight_ = l_fn_modules_0_modules_attention_modules_out_parameters_bias_ = None
        dropout = torch.nn.functional.dropout(linear_1, 0.1, False)
        linear_1 = None
        x = l_args_0_ + dropout
        l_args_0_ = dropout = None
        layer_norm_1 = torch.nn.functional.layer_norm(x, (192,), l_fn_modules_0_modules_norm2_parameters_weight_, l_fn_modules_0_modules_norm2_parameters_bias_, 1e-05)
        l_fn_modules_0_modules_norm2_parameters_weight_ = l_fn_modules_0_modules_norm2_parameters_bias_ = None
        linear_2 = torch._C._nn.linear(layer_norm_1, l_fn_modules_0_modules_up_parameters_weight_, l_fn_modules_0_modules_up_parameters_bias_)
        layer_norm_1 = l_fn_modules_0_modules_up_parameters_weight_ = l_fn_modules_0_modules_up_parameters_bias_ = None
        gelu = torch._C._nn.gelu(linear_2)
        linear_2 = None
        linear_3 = torch._C._nn.linear(gelu, l_fn_modules_0_modules_down_parameters_weight_, l_fn_modules_0_modules_down_parameters_bias_)
        gelu = l_fn_modules_0_modules_down_parameters_weight_ = l_fn_modules_0_modules_down_parameters_bias_ = None
        dropout_1 = torch.nn.functional.dropout(linear_3, 0.1, False)
        linear_3 = None
        input_1 = x + dropout_1
        x = dropout_1 = None
        layer_norm_2 = torch.nn.functional.layer_norm(input_1, (192,), l_fn_modules_1_modules_norm1_parameters_weight_, l_fn_modules_1_modules_norm1_parameters_bias_, 1e-05)
        l_fn_modules_1_modules_norm1_parameters_weight_ = l_fn_modules_1_modules_norm1_parameters_bias_ = None
        linear_4 = torch._C._nn.linear(layer_norm_2, l_fn_modules_1_modules_attention_modules_qkv_parameters_weight_, l_fn_modules_1_modules_attention_modules_qkv_parameters_bias_)
        layer_norm_2 = l_fn_modules_1_modules_attention_modules_qkv_parameters_weight_ = l_fn_modules_1_modules_attention_modules_qkv_parameters_bias_ = None
        chunk_1 = linear_4.chunk(3, dim = -1)
        linear_4 = None
        part_3 = chunk_1[0]
        part_4 = chunk_1[1]
        part_5 = chunk_1[2]
        chunk_1 = None
        view_3 = part_3.view(1, 96, 6, 32)
        part_3 = None
        q_1 = view_3.transpose(1, 2)
        view_3 = None
        view_4 = part_4.view(1, 96, 6, 32)
        part_4 = None
        k_1 = view_4.transpose(1, 2)
        view_4 = None
        view_5 = part_5.view(1, 96, 6, 32)
        part_5 = None
        v_1 = view_5.transpose(1, 2)
        view_5 = None
        y_1 = torch._C._nn.scaled_dot_product_attention(q_1, k_1, v_1)
        q_1 = k_1 = v_1 = None
        transpose_7 = y_1.transpose(1, 2)
        y_1 = None
        reshape_1 = transpose_7.reshape((1, 96, 192))
        transpose_7 = None
        linear_5 = torch._C._nn.linear(reshape_1, l_fn_modules_1_modules_attention_modules_out_parameters_weight_, l_fn_modules_1_modules_attention_modules_out_parameters_bias_)
        reshape_1 = l_fn_modules_1_modules_attention_modules_out_parameters_weight_ = l_fn_modules_1_modules_attention_modules_out_parameters_bias_ = None
        dropout_2 = torch.nn.functional.dropout(linear_5, 0.1, False)
        linear_5 = None
        x_1 = input_1 + dropout_2
        input_1 = dropout_2 = None
        layer_norm_3 = torch.nn.functional.layer_norm(x_1, (192,), l_fn_modules_1_modules_norm2_parameters_weight_, l_fn_modules_1_modules_norm2_parameters_bias_, 1e-05)
        l_fn_modules_1_modules_norm2_parameters_weight_ = l_fn_modules_1_modules_norm2_parameters_bias_ = None
        linear_6 = torch._C._nn.linear(layer_norm_3, l_fn_modules_1_modules_up_parameters_weight_, l_fn_modules_1_modules_up_parameters_bias_)
        layer_norm_3 = l_fn_modules_1_modules_up_parameters_weight_ = l_fn_modules_1_modules_up_parameters_bias_ = None
        gelu_1 = torch._C._nn.gelu(linear_6)
        linear_6 = None
        linear_7 = torch._C._nn.linear(gelu_1, l_fn_modules_1_modules_down_parameters_weight_, l_fn_modules_1_modules_down_parameters_bias_)
        gelu_1 = l_fn_modules_1_modules_down_parameters_weight_ = l_fn_modules_1_modules_down_parameters_bias_ = None
        dropout_3 = torch.nn.functional.dropout(linear_7, 0.1, False)
        linear_7 = None
        input_2 = x_1 + dropout_3
        x_1 = dropout_3 = None
        return (input_2,)
