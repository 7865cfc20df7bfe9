import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_gate_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_gate_parameters_bias_: torch.nn.parameter.Parameter,
        L_x_: torch.Tensor,
        L_self_parameters_up_: torch.nn.parameter.Parameter,
        L_self_parameters_down_: torch.nn.parameter.Parameter,
    ):
        l_self_modules_gate_parameters_weight_ = L_self_modules_gate_parameters_weight_
        l_self_modules_gate_parameters_bias_ = L_self_modules_gate_parameters_bias_
        l_x_ = L_x_
        l_self_parameters_up_ = L_self_parameters_up_
        l_self_parameters_down_ = L_self_parameters_down_
        linear = torch._C._nn.linear(l_x_, l_self_modules_gate_parameters_weight_, l_self_modules_gate_parameters_bias_)
        l_self_modules_gate_parameters_weight_ = l_self_modules_gate_parameters_bias_ = None
        weights = torch.nn.functional.softmax(linear, dim = -1)
        linear = None
        gt = weights > 0.125
        zeros_like = torch.zeros_like(weights)
        weights_1 = torch.where(gt, weights, zeros_like)
        gt = weights = zeros_like = None
        sum_1 = weights_1.sum(dim = -1, keepdim = True)
        weights_2 = weights_1 / sum_1
        weights_1 = sum_1 = None
        unsqueeze = l_x_.unsqueeze(0)
        l_x_ = None
        rows = unsqueeze.expand(8, 48, 64)
        unsqueeze = None
        bmm = torch.bmm(rows, l_self_parameters_up_)
        rows = l_self_parameters_up_ = None
        silu = torch.nn.functional.silu(bmm)
        bmm = None
        y = torch.bmm(silu, l_self_parameters_down_)
        silu = l_self_parameters_down_ = None
        einsum = torch.functional.einsum('ne,enw->nw', weights_2, y)
        weights_2 = y = None
        return (einsum,)
