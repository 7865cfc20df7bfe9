import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_patch_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_patch_parameters_bias_: torch.nn.parameter.Parameter,
        L_image_: torch.Tensor,
        L_self_modules_norm1_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_norm1_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_tokens_modules_0_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_tokens_modules_0_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_tokens_modules_2_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_tokens_modules_2_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_norm2_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_norm2_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_channels_modules_0_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_channels_modules_0_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_channels_modules_2_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_channels_modules_2_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_self_modules_patch_parameters_weight_ = L_self_modules_patch_parameters_weight_
        l_self_modules_patch_parameters_bias_ = L_self_modules_patch_parameters_bias_
        l_image_ = L_image_
        l_self_modules_norm1_parameters_weight_ = L_self_modules_norm1_parameters_weight_
        l_self_modules_norm1_parameters_bias_ = L_self_modules_norm1_parameters_bias_
        l_self_modules_tokens_modules_0_parameters_weight_ = L_self_modules_tokens_modules_0_parameters_weight_
        l_self_modules_tokens_modules_0_parameters_bias_ = L_self_modules_tokens_modules_0_parameters_bias_
        l_self_modules_tokens_modules_2_parameters_weight_ = L_self_modules_tokens_modules_2_parameters_weight_
        l_self_modules_tokens_modules_2_parameters_bias_ = L_self_modules_tokens_modules_2_parameters_bias_
        l_self_modules_norm2_parameters_weight_ = L_self_modules_norm2_parameters_weight_
        l_self_modules_norm2_parameters_bias_ = L_self_modules_norm2_parameters_bias_
        l_self_modules_channels_modules_0_parameters_weight_ = L_self_modules_channels_modules_0_parameters_weight_
        l_self_modules_channels_modules_0_parameters_bias_ = L_self_modules_channels_modules_0_parameters_bias_
        l_self_modules_channels_modules_2_parameters_weight_ = L_self_modules_channels_modules_2_parameters_weight_
        l_self_modules_channels_modules_2_parameters_bias_ = L_self_modules_channels_modules_2_parameters_bias_
        conv2d = torch.conv2d(l_image_, l_self_modules_patch_parameters_weight_, l_self_modules_patch_parameters_bias_, (4, 4), (0, 0), (1, 1), 1)
        l_image_ = l_self_modules_patch_parameters_weight_ = l_self_modules_patch_parameters_bias_ = None
        flatten = conv2d.flatten(2)
        conv2d = None
        x = flatten.permute(0, 2, 1)
        flatten = None
        layer_norm = torch.nn.functional.layer_norm(x, (64,), l_self_modules_norm1_parameters_weight_, l_self_modules_norm1_parameters_bias_, 1e-05)
        l_self_modules_norm1_parameters_weight_ = l_self_modules_norm1_parameters_bias_ = None
        permute_1 = layer_norm.permute(0, 2, 1)
        layer_norm = None
        input_1 = torch._C._nn.linear(permute_1, l_self_modules_tokens_modules_0_parameters_weight_, l_self_modules_tokens_modules_0_parameters_bias_)
        permute_1 = l_self_modules_tokens_modules_0_parameters_weight_ = l_self_modules_tokens_modules_0_parameters_bias_ = None
        input_2 = torch._C._nn.gelu(input_1, approximate = 'none')
        input_1 = None
        input_3 = torch._C._nn.linear(input_2, l_self_modules_tokens_modules_2_parameters_weight_, l_self_modules_tokens_modules_2_parameters_bias_)
        input_2 = l_self_modules_tokens_modules_2_parameters_weight_ = l_self_modules_tokens_modules_2_parameters_bias_ = None
        permute_2 = input_3.permute(0, 2, 1)
        input_3 = None
        x_1 = x + permute_2
        x = permute_2 = None
        layer_norm_1 = torch.nn.functional.layer_norm(x_1, (64,), l_self_modules_norm2_parameters_weight_, l_self_modules_norm2_parameters_bias_, 1e-05)
        l_self_modules_norm2_parameters_weight_ = l_self_modules_norm2_parameters_bias_ = None
        input_4 = torch._C._nn.linear(layer_norm_1, l_self_modules_channels_modules_0_parameters_weight_, l_self_modules_channels_modules_0_parameters_bias_)
        layer_norm_1 = l_self_modules_channels_modules_0_parameters_weight_ = l_self_modules_channels_modules_0_parameters_bias_ = None
        input_5 = torch._C._nn.gelu(input_4, approximate = 'none')
        input_4 = None
        input_6 = torch._C._nn.linear(input_5, l_self_modules_channels_modules_2_parameters_weight_, l_self_modules_channels_modules_2_parameters_bias_)
        input_5 = l_self_modules_channels_modules_2_parameters_weight_ = l_self_modules_channels_modules_2_parameters_bias_ = None
        add_1 = x_1 + input_6
        x_1 = input_6 = None
        return (add_1,)
