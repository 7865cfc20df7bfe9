import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_layer_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_layer_parameters_bias_: torch.nn.parameter.Parameter,
        L_x_: torch.Tensor,
        L_labels_: torch.Tensor,
    ):
        l_self_modules_layer_parameters_weight_ = L_self_modules_layer_parameters_weight_
        l_self_modules_layer_parameters_bias_ = L_self_modules_layer_parameters_bias_
        l_x_ = L_x_
        l_labels_ = L_labels_
        scores = torch._C._nn.linear(l_x_, l_self_modules_layer_parameters_weight_, l_self_modules_layer_parameters_bias_)
        l_x_ = l_self_modules_layer_parameters_weight_ = l_self_modules_layer_parameters_bias_ = None
        chosen = scores.argmax(dim = -1)
        correct = chosen == l_labels_
        l_labels_ = None
        mul = scores * 2.0
        floor = torch.floor(mul)
        mul = None
        clamp = torch.clamp(floor, -4, 4)
        floor = None
        bucket = clamp.to(torch.int32)
        clamp = None
        long = correct.long()
        cumsum = torch.cumsum(long, dim = 0)
        long = None
        gt = scores > 0
        scores = None
        sum_1 = gt.sum(dim = -1)
        gt = None
        return (chosen, correct, cumsum, bucket, sum_1)
