import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_edges_: torch.Tensor,
        L_x_: torch.Tensor,
        L_self_modules_message1_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_message1_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_norm_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_norm_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_message2_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_message2_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_edges_ = L_edges_
        l_x_ = L_x_
        l_self_modules_message1_parameters_weight_ = L_self_modules_message1_parameters_weight_
        l_self_modules_message1_parameters_bias_ = L_self_modules_message1_parameters_bias_
        l_self_modules_norm_parameters_weight_ = L_self_modules_norm_parameters_weight_
        l_self_modules_norm_parameters_bias_ = L_self_modules_norm_parameters_bias_
        l_self_modules_message2_parameters_weight_ = L_self_modules_message2_parameters_weight_
        l_self_modules_message2_parameters_bias_ = L_self_modules_message2_parameters_bias_
        source = l_edges_[0]
        target = l_edges_[1]
        index_select = l_x_.index_select(0, source)
        source = None
        index_select_1 = l_x_.index_select(0, target)
        pairs = torch.cat([index_select, index_select_1], dim = -1)
        index_select = index_select_1 = None
        linear = torch._C._nn.linear(pairs, l_self_modules_message1_parameters_weight_, l_self_modules_message1_parameters_bias_)
        pairs = l_self_modules_message1_parameters_weight_ = l_self_modules_message1_parameters_bias_ = None
        message = torch.nn.functional.relu(linear)
        linear = None
        total = l_x_.new_zeros((200, 48))
        unsqueeze = target.unsqueeze(-1)
        target = None
        expand = unsqueeze.expand(800, 48)
        unsqueeze = None
        scatter_add_ = total.scatter_add_(0, expand, message)
        total = expand = message = None
        x = l_x_ + scatter_add_
        l_x_ = scatter_add_ = None
        layer_norm = torch.nn.functional.layer_norm(x, (48,), l_self_modules_norm_parameters_weight_, l_self_modules_norm_parameters_bias_, 1e-05)
        x = l_self_modules_norm_parameters_weight_ = l_self_modules_norm_parameters_bias_ = None
        source_1 = l_edges_[0]
        target_1 = l_edges_[1]
        l_edges_ = None
        index_select_2 = layer_norm.index_select(0, source_1)
        source_1 = None
        index_select_3 = layer_norm.index_select(0, target_1)
        pairs_1 = torch.cat([index_select_2, index_select_3], dim = -1)
        index_select_2 = index_select_3 = None
        linear_1 = torch._C._nn.linear(pairs_1, l_self_modules_message2_parameters_weight_, l_self_modules_message2_parameters_bias_)
        pairs_1 = l_self_modules_message2_parameters_weight_ = l_self_modules_message2_parameters_bias_ = None
        message_1 = torch.nn.functional.relu(linear_1)
        linear_1 = None
        total_1 = layer_norm.new_zeros((200, 48))
        layer_norm = None
        unsqueeze_1 = target_1.unsqueeze(-1)
        target_1 = None
        expand_1 = unsqueeze_1.expand(800, 48)
        unsqueeze_1 = None
        scatter_add__1 = total_1.scatter_add_(0, expand_1, message_1)
        total_1 = expand_1 = message_1 = None
        return (scatter_add__1,)
