import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_q_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_q_parameters_bias_: torch.nn.parameter.Parameter,
        L_x_: torch.Tensor,
        L_self_modules_k_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_k_parameters_bias_: torch.nn.parameter.Parameter,
        L_memory_: torch.Tensor,
        L_self_modules_v_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_v_parameters_bias_: torch.nn.parameter.Parameter,
        L_self_modules_out_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_out_parameters_bias_: torch.nn.parameter.Parameter,
    ):
        l_self_modules_q_parameters_weight_ = L_self_modules_q_parameters_weight_
        l_self_modules_q_parameters_bias_ = L_self_modules_q_parameters_bias_
        l_x_ = L_x_
        l_self_modules_k_parameters_weight_ = L_self_modules_k_parameters_weight_
        l_self_modules_k_parameters_bias_ = L_self_modules_k_parameters_bias_
        l_memory_ = L_memory_
        l_self_modules_v_parameters_weight_ = L_self_modules_v_parameters_weight_
        l_self_modules_v_parameters_bias_ = L_self_modules_v_parameters_bias_
        l_self_modules_out_parameters_weight_ = L_self_modules_out_parameters_weight_
        l_self_modules_out_parameters_bias_ = L_self_modules_out_parameters_bias_
        linear = torch._C._nn.linear(l_x_, l_self_modules_q_parameters_weight_, l_self_modules_q_parameters_bias_)
        l_self_modules_q_parameters_weight_ = l_self_modules_q_parameters_bias_ = None
        view = linear.view(2, 32, 4, 24)
        linear = None
        q = view.transpose(1, 2)
        view = None
        linear_1 = torch._C._nn.linear(l_memory_, l_self_modules_k_parameters_weight_, l_self_modules_k_parameters_bias_)
        l_self_modules_k_parameters_weight_ = l_self_modules_k_parameters_bias_ = None
        view_1 = linear_1.view(2, 80, 4, 24)
        linear_1 = None
        k = view_1.transpose(1, 2)
        view_1 = None
        linear_2 = torch._C._nn.linear(l_memory_, l_self_modules_v_parameters_weight_, l_self_modules_v_parameters_bias_)
        l_memory_ = l_self_modules_v_parameters_weight_ = l_self_modules_v_parameters_bias_ = None
        view_2 = linear_2.view(2, 80, 4, 24)
        linear_2 = None
        v = view_2.transpose(1, 2)
        view_2 = None
        transpose_3 = k.transpose(-1, -2)
        k = None
        matmul = torch.matmul(q, transpose_3)
        q = transpose_3 = None
        scores = matmul / 4.898979485566356
        matmul = None
        softmax = torch.nn.functional.softmax(scores, dim = -1)
        scores = None
        y = torch.matmul(softmax, v)
        softmax = v = None
        transpose_4 = y.transpose(1, 2)
        y = None
        contiguous = transpose_4.contiguous()
        transpose_4 = None
        view_3 = contiguous.view((2, 32, 96))
        contiguous = None
        linear_3 = torch._C._nn.linear(view_3, l_self_modules_out_parameters_weight_, l_self_modules_out_parameters_bias_)
        view_3 = l_self_modules_out_parameters_weight_ = l_self_modules_out_parameters_bias_ = None
        add = l_x_ + linear_3
        l_x_ = linear_3 = None
        return (add,)
