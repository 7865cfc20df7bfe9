import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_buffers_offsets_: torch.Tensor,
        L_fields_: torch.Tensor,
        L_self_modules_table_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_bias_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_deep_modules_0_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_deep_modules_0_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_deep_modules_2_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_deep_modules_2_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_self_buffers_offsets_ = L_self_buffers_offsets_
        l_fields_ = L_fields_
        l_self_modules_table_parameters_weight_ = L_self_modules_table_parameters_weight_
        l_self_modules_bias_parameters_weight_ = L_self_modules_bias_parameters_weight_
        l_self_modules_deep_modules_0_parameters_weight_ = L_self_modules_deep_modules_0_parameters_weight_
        l_self_modules_deep_modules_0_parameters_bias_ = L_self_modules_deep_modules_0_parameters_bias_
        l_self_modules_deep_modules_2_parameters_weight_ = L_self_modules_deep_modules_2_parameters_weight_
        l_self_modules_deep_modules_2_parameters_bias_ = L_self_modules_deep_modules_2_parameters_bias_
        index = l_fields_ + l_self_buffers_offsets_
        l_fields_ = l_self_buffers_offsets_ = None
        x = torch.nn.functional.embedding(index, l_self_modules_table_parameters_weight_, None, None, 2.0, False, False)
        l_self_modules_table_parameters_weight_ = None
        sum_1 = x.sum(1)
        pow_1 = sum_1.pow(2)
        sum_1 = None
        pow_2 = x.pow(2)
        sum_2 = pow_2.sum(1)
        pow_2 = None
        sub = pow_1 - sum_2
        pow_1 = sum_2 = None
        sum_3 = sub.sum(-1, keepdim = True)
        sub = None
        pairs = 0.5 * sum_3
        sum_3 = None
        mul_1 = 0.02 * pairs
        pairs = None
        embedding_1 = torch.nn.functional.embedding(index, l_self_modules_bias_parameters_weight_, None, None, 2.0, False, False)
        index = l_self_modules_bias_parameters_weight_ = None
        squeeze = embedding_1.squeeze(-1)
        embedding_1 = None
        mean = squeeze.mean(-1, keepdim = True)
        squeeze = None
        add_1 = mul_1 + mean
        mul_1 = mean = None
        flatten = x.flatten(1)
        x = None
        input_1 = torch._C._nn.linear(flatten, l_self_modules_deep_modules_0_parameters_weight_, l_self_modules_deep_modules_0_parameters_bias_)
        flatten = l_self_modules_deep_modules_0_parameters_weight_ = l_self_modules_deep_modules_0_parameters_bias_ = None
        input_2 = torch.nn.functional.relu(input_1, inplace = False)
        input_1 = None
        input_3 = torch._C._nn.linear(input_2, l_self_modules_deep_modules_2_parameters_weight_, l_self_modules_deep_modules_2_parameters_bias_)
        input_2 = l_self_modules_deep_modules_2_parameters_weight_ = l_self_modules_deep_modules_2_parameters_bias_ = None
        add_2 = add_1 + input_3
        add_1 = input_3 = None
        sigmoid = torch.sigmoid(add_2)
        add_2 = None
        return (sigmoid,)
