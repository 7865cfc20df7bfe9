import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_layer_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layer_parameters_bias_: torch.nn.parameter.Parameter,
        L_x_: torch.Tensor,
        L_cache_: torch.Tensor,
    ):
        l_self_modules_layer_parameters_weight_ = L_self_modules_layer_parameters_weight_
        l_self_modules_layer_parameters_bias_ = L_self_modules_layer_parameters_bias_
        l_x_ = L_x_
        l_cache_ = L_cache_
        y = torch._C._nn.linear(l_x_, l_self_modules_layer_parameters_weight_, l_self_modules_layer_parameters_bias_)
        l_self_modules_layer_parameters_weight_ = l_self_modules_layer_parameters_bias_ = None
        l_cache_[(slice(None, None, None), slice(8, 24, None), slice(None, None, None))] = y
        setitem = l_cache_
        setitem = None
        getitem = l_cache_[(slice(None, None, None), slice(None, 16, None), slice(None, None, None))]
        y += getitem
        y_1 = y
        y = getitem = None
        view = l_cache_[(slice(None, None, None), slice(24, None, None), slice(None, None, None))]
        view *= 0.5
        view_1 = view
        view = view_1 = None
        gt = y_1 > 4.0
        masked_fill_ = y_1.masked_fill_(gt, 4.0)
        gt = masked_fill_ = None
        y_1[(slice(None, None, None), 0)] = 1
        setitem_1 = y_1
        setitem_1 = None
        l_x_ += y_1
        x = l_x_
        l_x_ = None
        sum_1 = l_cache_.sum(dim = 1)
        l_cache_ = None
        mul = x * 2.0
        x = None
        return (y_1, sum_1, mul)
