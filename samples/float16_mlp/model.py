import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_norm_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_norm_parameters_bias_: torch.nn.parameter.Parameter,
        L_x_: torch.Tensor,
        L_self_modules_gate_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_up_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_down_parameters_weight_: torch.nn.parameter.Parameter,
    ):
        l_self_modules_norm_parameters_weight_ = L_self_modules_norm_parameters_weight_
        l_self_modules_norm_parameters_bias_ = L_self_modules_norm_parameters_bias_
        l_x_ = L_x_
        l_self_modules_gate_parameters_weight_ = L_self_modules_gate_parameters_weight_
        l_self_modules_up_parameters_weight_ = L_self_modules_up_parameters_weight_
        l_self_modules_down_parameters_weight_ = L_self_modules_down_parameters_weight_
        y = torch.nn.functional.layer_norm(l_x_, (96,), l_self_modules_norm_parameters_weight_, l_self_modules_norm_parameters_bias_, 1e-05)
        l_self_modules_norm_parameters_weight_ = l_self_modules_norm_parameters_bias_ = None
        linear = torch._C._nn.linear(y, l_self_modules_gate_parameters_weight_, None)
        l_self_modules_gate_parameters_weight_ = None
        silu = torch.nn.functional.silu(linear)
        linear = None
        linear_1 = torch._C._nn.linear(y, l_self_modules_up_parameters_weight_, None)
        y = l_self_modules_up_parameters_weight_ = None
        mul = silu * linear_1
        silu = linear_1 = None
        linear_2 = torch._C._nn.linear(mul, l_self_modules_down_parameters_weight_, None)
        mul = l_self_modules_down_parameters_weight_ = None
        add = l_x_ + linear_2
        l_x_ = linear_2 = None
        return (add,)
