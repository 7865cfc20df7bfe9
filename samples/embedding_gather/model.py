import torch
from torch import device


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_words_parameters_weight_: torch.nn.parameter.Parameter,
        L_tokens_: torch.Tensor,
        L_self_modules_positions_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_norm_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_norm_parameters_bias_: torch.nn.parameter.Parameter,
        L_places_: torch.Tensor,
        L_self_modules_score_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_score_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_self_modules_words_parameters_weight_ = L_self_modules_words_parameters_weight_
        l_tokens_ = L_tokens_
        l_self_modules_positions_parameters_weight_ = L_self_modules_positions_parameters_weight_
        l_self_modules_norm_parameters_weight_ = L_self_modules_norm_parameters_weight_
        l_self_modules_norm_parameters_bias_ = L_self_modules_norm_parameters_bias_
        l_places_ = L_places_
        l_self_modules_score_parameters_weight_ = L_self_modules_score_parameters_weight_
        l_self_modules_score_parameters_bias_ = L_self_modules_score_parameters_bias_
        embedding = torch.nn.functional.embedding(l_tokens_, l_self_modules_words_parameters_weight_, None, None, 2.0, False, False)
        l_tokens_ = l_self_modules_words_parameters_weight_ = None
        arange = torch.arange(96, device = device(type='cpu'))
        embedding_1 = torch.nn.functional.embedding(arange, l_self_modules_positions_parameters_weight_, None, None, 2.0, False, False)
        arange = l_self_modules_positions_parameters_weight_ = None
        x = embedding + embedding_1
        embedding = embedding_1 = None
        x_1 = torch.nn.functional.layer_norm(x, (96,), l_self_modules_norm_parameters_weight_, l_self_modules_norm_parameters_bias_, 1e-05)
        x = l_self_modules_norm_parameters_weight_ = l_self_modules_norm_parameters_bias_ = None
        unsqueeze = l_places_.unsqueeze(-1)
        l_places_ = None
        index = unsqueeze.expand(4, 12, 96)
        unsqueeze = None
        found = torch.gather(x_1, 1, index)
        index = None
        linear = torch._C._nn.linear(found, l_self_modules_score_parameters_weight_, l_self_modules_score_parameters_bias_)
        found = l_self_modules_score_parameters_weight_ = l_self_modules_score_parameters_bias_ = None
        tanh = torch.tanh(linear)
        linear = None
        mean = x_1.mean(1)
        x_1 = None
        return (tanh, mean)
