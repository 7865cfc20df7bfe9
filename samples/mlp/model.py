import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_layers_modules_0_modules_0_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_0_modules_0_parameters_bias_: torch.nn.parameter.Parameter,
        L_x_: torch.Tensor,
        L_self_modules_layers_modules_0_modules_1_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_0_modules_1_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_0_modules_3_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_0_modules_3_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_1_modules_0_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_1_modules_0_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_1_modules_1_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_1_modules_1_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_1_modules_3_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_1_modules_3_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_2_modules_0_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_2_modules_0_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_2_modules_1_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_2_modules_1_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_2_modules_3_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layers_modules_2_modules_3_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_head_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_head_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_self_modules_layers_modules_0_modules_0_parameters_weight_ = L_self_modules_layers_modules_0_modules_0_parameters_weight_
        l_self_modules_layers_modules_0_modules_0_parameters_bias_ = L_self_modules_layers_modules_0_modules_0_parameters_bias_
        l_x_ = L_x_
        l_self_modules_layers_modules_0_modules_1_parameters_weight_ = L_self_modules_layers_modules_0_modules_1_parameters_weight_
        l_self_modules_layers_modules_0_modules_1_parameters_bias_ = L_self_modules_layers_modules_0_modules_1_parameters_bias_
        l_self_modules_layers_modules_0_modules_3_parameters_weight_ = L_self_modules_layers_modules_0_modules_3_parameters_weight_
        l_self_modules_layers_modules_0_modules_3_parameters_bias_ = L_self_modules_layers_modules_0_modules_3_parameters_bias_
        l_self_modules_layers_modules_1_modules_0_parameters_weight_ = L_self_modules_layers_modules_1_modules_0_parameters_weight_
        l_self_modules_layers_modules_1_modules_0_parameters_bias_ = L_self_modules_layers_modules_1_modules_0_parameters_bias_
        l_self_modules_layers_modules_1_modules_1_parameters_weight_ = L_self_modules_layers_modules_1_modules_1_parameters_weight_
        l_self_modules_layers_modules_1_modules_1_parameters_bias_ = L_self_modules_layers_modules_1_modules_1_parameters_bias_
        l_self_modules_layers_modules_1_modules_3_parameters_weight_ = L_self_modules_layers_modules_1_modules_3_parameters_weight_
        l_self_modules_layers_modules_1_modules_3_parameters_bias_ = L_self_modules_layers_modules_1_modules_3_parameters_bias_
        l_self_modules_layers_modules_2_modules_0_parameters_weight_ = L_self_modules_layers_modules_2_modules_0_parameters_weight_
        l_self_modules_layers_modules_2_modules_0_parameters_bias_ = L_self_modules_layers_modules_2_modules_0_parameters_bias_
        l_self_modules_layers_modules_2_modules_1_parameters_weight_ = L_self_modules_layers_modules_2_modules_1_parameters_weight_
        l_self_modules_layers_modules_2_modules_1_parameters_bias_ = L_self_modules_layers_modules_2_modules_1_parameters_bias_
        l_self_modules_layers_modules_2_modules_3_parameters_weight_ = L_self_modules_layers_modules_2_modules_3_parameters_weight_
        l_self_modules_layers_modules_2_modules_3_parameters_bias_ = L_self_modules_layers_modules_2_modules_3_parameters_bias_
        l_self_modules_head_parameters_weight_ = L_self_modules_head_parameters_weight_
        l_self_modules_head_parameters_bias_ = L_self_modules_head_parameters_bias_
        input_1 = torch.nn.functional.layer_norm(l_x_, (256,), l_self_modules_layers_modules_0_modules_0_parameters_weight_, l_self_modules_layers_modules_0_modules_0_parameters_bias_, 1e-05)
        l_self_modules_layers_modules_0_modules_0_parameters_weight_ = l_self_modules_layers_modules_0_modules_0_parameters_bias_ = None
        input_2 = torch._C._nn.linear(input_1, l_self_modules_layers_modules_0_modules_1_parameters_weight_, l_self_modules_layers_modules_0_modules_1_parameters_bias_)
        input_1 = l_self_modules_layers_modules_0_modules_1_parameters_weight_ = l_self_modules_layers_modules_0_modules_1_parameters_bias_ = None
        input_3 = torch._C._nn.gelu(input_2, approximate = 'none')
        input_2 = None
        input_4 = torch._C._nn.linear(input_3, l_self_modules_layers_modules_0_modules_3_parameters_weight_, l_self_modules_layers_modules_0_modules_3_parameters_bias_)
        input_3 = l_self_modules_layers_modules_0_modules_3_parameters_weight_ = l_self_modules_layers_modules_0_modules_3_parameters_bias_ = None
        x = l_x_ + input_4
        l_x_ = input_4 = None
        input_5 = torch.nn.functional.layer_norm(x, (256,), l_self_modules_layers_modules_1_modules_0_parameters_weight_, l_self_modules_layers_modules_1_modules_0_parameters_bias_, 1e-05)
        l_self_modules_layers_modules_1_modules_0_parameters_weight_ = l_self_modules_layers_modules_1_modules_0_parameters_bias_ = None
        input_6 = torch._C._nn.linear(input_5, l_self_modules_layers_modules_1_modules_1_parameters_weight_, l_self_modules_layers_modules_1_modules_1_parameters_bias_)
        input_5 = l_self_modules_layers_modules_1_modules_1_parameters_weight_ = l_self_modules_layers_modules_1_modules_1_parameters_bias_ = None
        input_7 = torch._C._nn.gelu(input_6, approximate = 'none')
        input_6 = None
        input_8 = torch._C._nn.linear(input_7, l_self_modules_layers_modules_1_modules_3_parameters_weight_, l_self_modules_layers_modules_1_modules_3_parameters_bias_)
        input_7 = l_self_modules_layers_modules_1_modules_3_parameters_weight_ = l_self_modules_layers_modules_1_modules_3_parameters_bias_ = None
        x_1 = x + input_8
        x = input_8 = None
        input_9 = torch.nn.functional.layer_norm(x_1, (256,), l_self_modules_layers_modules_2_modules_0_parameters_weight_, l_self_modules_layers_modules_2_modules_0_parameters_bias_, 1e-05)
        l_self_modules_layers_modules_2_modules_0_parameters_weight_ = l_self_modules_layers_modules_2_modules_0_parameters_bias_ = None
        input_10 = torch._C._nn.linear(input_9, l_self_modules_layers_modules_2_modules_1_parameters_weight_, l_self_modules_layers_modules_2_modules_1_parameters_bias_)
        input_9 = l_self_modules_layers_modules_2_modules_1_parameters_weight_ = l_self_modules_layers_modules_2_modules_1_parameters_bias_ = None
        input_11 = torch._C._nn.gelu(input_10, approximate = 'none')
        input_10 = None
        input_12 = torch._C._nn.linear(input_11, l_self_modules_layers_modules_2_modules_3_parameters_weight_, l_self_modules_layers_modules_2_modules_3_parameters_bias_)
        input_11 = l_self_modules_layers_modules_2_modules_3_parameters_weight_ = l_self_modules_layers_modules_2_modules_3_parameters_bias_ = None
        x_2 = x_1 + input_12
        x_1 = input_12 = None
        linear_6 = torch._C._nn.linear(x_2, l_self_modules_head_parameters_weight_, l_self_modules_head_parameters_bias_)
        x_2 = l_self_modules_head_parameters_weight_ = l_self_modules_head_parameters_bias_ = None
        return (linear_6,)
