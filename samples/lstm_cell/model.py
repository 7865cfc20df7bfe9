import torch


class GraphModule(torch.nn.Module):
    def forward(
        self,
        L_self_modules_inputs_parameters_weight_: torch.nn.parameter.Parameter,
        L_self_modules_inputs_parameters_bias_: torch.nn.parameter.Parameter,
        L_x_: torch.Tensor,
        L_self_modules_state_parameters_weight_: torch.nn.parameter.Parameter,
        L_h_: torch.Tensor,
        L_c_: torch.Tensor,
    ):
        l_self_modules_inputs_parameters_weight_ = L_self_modules_inputs_parameters_weight_
        l_self_modules_inputs_parameters_bias_ = L_self_modules_inputs_parameters_bias_
        l_x_ = L_x_
        l_self_modules_state_parameters_weight_ = L_self_modules_state_parameters_weight_
        l_h_ = L_h_
        l_c_ = L_c_
        linear = torch._C._nn.linear(l_x_, l_self_modules_inputs_parameters_weight_, l_self_modules_inputs_parameters_bias_)
        l_x_ = l_self_modules_inputs_parameters_weight_ = l_self_modules_inputs_parameters_bias_ = None
        unbind = linear.unbind(1)
        linear = None
        step = unbind[0]
        step_1 = unbind[1]
        step_2 = unbind[2]
        step_3 = unbind[3]
        step_4 = unbind[4]
        step_5 = unbind[5]
        step_6 = unbind[6]
        step_7 = unbind[7]
        step_8 = unbind[8]
        step_9 = unbind[9]
        step_10 = unbind[10]
        step_11 = unbind[11]
        unbind = None
        linear_1 = torch._C._nn.linear(l_h_, l_self_modules_state_parameters_weight_, None)
        l_h_ = None
        add = step + linear_1
        step = linear_1 = None
        chunk = add.chunk(4, dim = 1)
        add = None
        i = chunk[0]
        f = chunk[1]
        g = chunk[2]
        o = chunk[3]
        chunk = None
        sigmoid = torch.sigmoid(f)
        f = None
        mul = sigmoid * l_c_
        sigmoid = l_c_ = None
        sigmoid_1 = torch.sigmoid(i)
        i = None
        tanh = torch.tanh(g)
        g = None
        mul_1 = sigmoid_1 * tanh
        sigmoid_1 = tanh = None
        c = mul + mul_1
        mul = mul_1 = None
        sigmoid_2 = torch.sigmoid(o)
        o = None
        tanh_1 = torch.tanh(c)
        h = sigmoid_2 * tanh_1
        sigmoid_2 = tanh_1 = None
        linear_2 = torch._C._nn.linear(h, l_self_modules_state_parameters_weight_, None)
        add_2 = step_1 + linear_2
        step_1 = linear_2 = None
        chunk_1 = add_2.chunk(4, dim = 1)
        add_2 = None
        i_1 = chunk_1[0]
        f_1 = chunk_1[1]
        g_1 = chunk_1[2]
        o_1 = chunk_1[3]
        chunk_1 = None
        sigmoid_3 = torch.sigmoid(f_1)
        f_1 = None
        mul_3 = sigmoid_3 * c
        sigmoid_3 = c = None
        sigmoid_4 = torch.sigmoid(i_1)
        i_1 = None
        tanh_2 = torch.tanh(g_1)
        g_1 = None
        mul_4 = sigmoid_4 * tanh_2
        sigmoid_4 = tanh_2 = None
        c_1 = mul_3 + mul_4
        mul_3 = mul_4 = None
        sigmoid_5 = torch.sigmoid(o_1)
        o_1 = None
        tanh_3 = torch.tanh(c_1)
        h_1 = sigmoid_5 * tanh_3
        sigmoid_5 = tanh_3 = None
        linear_3 = torch._C._nn.linear(h_1, l_self_modules_state_parameters_weight_, None)
        add_4 = step_2 + linear_3
        step_2 = linear_3 = None
        chunk_2 = add_4.chunk(4, dim = 1)
        add_4 = None
        i_2 = chunk_2[0]
        f_2 = chunk_2[1]
        g_2 = chunk_2[2]
        o_2 = chunk_2[3]
        chunk_2 = None
        sigmoid_6 = torch.sigmoid(f_2)
        f_2 = None
        mul_6 = sigmoid_6 * c_1
        sigmoid_6 = c_1 = None
        sigmoid_7 = torch.sigmoid(i_2)
        i_2 = None
        tanh_4 = torch.tanh(g_2)
        g_2 = None
        mul_7 = sigmoid_7 * tanh_4
        sigmoid_7 = tanh_4 = None
        c_2 = mul_6 + mul_7
        mul_6 = mul_7 = None
        sigmoid_8 = torch.sigmoid(o_2)
        o_2 = None
        tanh_5 = torch.tanh(c_2)
        h_2 = sigmoid_8 * tanh_5
        sigmoid_8 = tanh_5 = None
        linear_4 = torch._C._nn.linear(h_2, l_self_modules_state_parameters_weight_, None)
        add_6 = step_3 + linear_4
        step_3 = linear_4 = None
        chunk_3 = add_6.chunk(4, dim = 1)
        add_6 = None
        i_3 = chunk_3[0]
        f_3 = chunk_3[1]
        g_3 = chunk_3[2]
        o_3 = chunk_3[3]
        chunk_3 = None
        sigmoid_9 = torch.sigmoid(f_3)
        f_3 = None
        mul_9 = sigmoid_9 * c_2
        sigmoid_9 = c_2 = None
        sigmoid_10 = torch.sigmoid(i_3)
        i_3 = None
        tanh_6 = torch.tanh(g_3)
        g_3 = None
        mul_10 = sigmoid_10 * tanh_6
        sigmoid_10 = tanh_6 = None
        c_3 = mul_9 + mul_10
        mul_9 = mul_10 = None
        sigmoid_11 = torch.sigmoid(o_3)
        o_3 = None
        tanh_7 = torch.tanh(c_3)
        h_3 = sigmoid_11 * tanh_7
        sigmoid_11 = tanh_7 = None
        linear_5 = torch._C._nn.linear(h_3, l_self_modules_state_parameters_weight_, None)
        add_8 = step_4 + linear_5
        step_4 = linear_5 = None
        chunk_4 = add_8.chunk(4, dim = 1)
        add_8 = None
        i_4 = chunk_4[0]
        f_4 = chunk_4[1]
        g_4 = chunk_4[2]
        o_4 = chunk_4[3]
        chunk_4 = None
        sigmoid_12 = torch.sigmoid(f_4)
        f_4 = None
        mul_12 = sigmoid_12 * c_3
        sigmoid_12 = c_3 = None
        sigmoid_13 = torch.sigmoid(i_4)
        i_4 = None
        tanh_8 = torch.tanh(g_4)
        g_4 = None
        mul_13 = sigmoid_13 * tanh_8
        sigmoid_13 = tanh_8 = None
        c_4 = mul_12 + mul_13
        mul_12 = mul_13 = None
        sigmoid_14 = torch.sigmoid(o_4)
        o_4 = None
        tanh_9 = torch.tanh(c_4)
        h_4 = sigmoid_14 * tanh_9
        sigmoid_14 = tanh_9 = None
        linear_6 = torch._C._nn.linear(h_4, l_self_modules_state_parameters_weight_, None)
        add_10 = step_5 + linear_6
        step_5 = linear_6 = None
        chunk_5 = add_10.chunk(4, dim = 1)
        add_10 = None
        i_5 = chunk_5[0]
        f_5 = chunk_5[1]
        g_5 = chunk_5[2]
        o_5 = chunk_5[3]
        chunk_5 = None
        sigmoid_15 = torch.sigmoid(f_5)
        f_5 = None
        mul_15 = sigmoid_15 * c_4
        sigmoid_15 = c_4 = None
        sigmoid_16 = torch.sigmoid(i_5)
        i_5 = None
        tanh_10 = torch.tanh(g_5)
        g_5 = None
        mul_16 = sigmoid_16 * tanh_10
        sigmoid_16 = tanh_10 = None
        c_5 = mul_15 + mul_16
        mul_15 = mul_16 = None
        sigmoid_17 = torch.sigmoid(o_5)
        o_5 = None
        tanh_11 = torch.tanh(c_5)
        h_5 = sigmoid_17 * tanh_11
        sigmoid_17 = tanh_11 = None
        linear_7 = torch._C._nn.linear(h_5, l_self_modules_state_parameters_weight_, None)
        add_12 = step_6 + linear_7
        step_6 = linear_7 = None
        chunk_6 = add_12.chunk(4, dim = 1)
        add_12 = None
        i_6 = chunk_6[0]
        f_6 = chunk_6[1]
        g_6 = chunk_6[2]
        o_6 = chunk_6[3]
        chunk_6 = None
        sigmoid_18 = torch.sigmoid(f_6)
        f_6 = None
        mul_18 = sigmoid_18 * c_5
        sigmoid_18 = c_5 = None
        sigmoid_19 = torch.sigmoid(i_6)
        i_6 = None
        tanh_12 = torch.tanh(g_6)
        g_6 = None
        mul_19 = sigmoid_19 * tanh_12
        sigmoid_19 = tanh_12 = None
        c_6 = mul_18 + mul_19
        mul_18 = mul_19 = None
        sigmoid_20 = torch.sigmoid(o_6)
        o_6 = None
        tanh_13 = torch.tanh(c_6)
        h_6 = sigmoid_20 * tanh_13
        sigmoid_20 = tanh_13 = None
        linear_8 = torch._C._nn.linear(h_6, l_self_modules_state_parameters_weight_, None)
        add_14 = step_7 + linear_8
        step_7 = linear_8 = None
        chunk_7 = add_14.chunk(4, dim = 1)
        add_14 = None
        i_7 = chunk_7[0]
        f_7 = chunk_7[1]
        g_7 = chunk_7[2]
        o_7 = chunk_7[3]
        chunk_7 = None
        sigmoid_21 = torch.sigmoid(f_7)
        f_7 = None
        mul_21 = sigmoid_21 * c_6
        sigmoid_21 = c_6 = None
        sigmoid_22 = torch.sigmoid(i_7)
        i_7 = None
        tanh_14 = torch.tanh(g_7)
        g_7 = None
        mul_22 = sigmoid_22 * tanh_14
        sigmoid_22 = tanh_14 = None
        c_7 = mul_21 + mul_22
        mul_21 = mul_22 = None
        sigmoid_23 = torch.sigmoid(o_7)
        o_7 = None
        tanh_15 = torch.tanh(c_7)
        h_7 = sigmoid_23 * tanh_15
        sigmoid_23 = tanh_15 = None
        linear_9 = torch._C._nn.linear(h_7, l_self_modules_state_parameters_weight_, None)
        add_16 = step_8 + linear_9
        step_8 = linear_9 = None
        chunk_8 = add_16.chunk(4, dim = 1)
        add_16 = None
        i_8 = chunk_8[0]
        f_8 = chunk_8[1]
        g_8 = chunk_8[2]
        o_8 = chunk_8[3]
        chunk_8 = None
        sigmoid_24 = torch.sigmoid(f_8)
        f_8 = None
        mul_24 = sigmoid_24 * c_7
        sigmoid_24 = c_7 = None
        sigmoid_25 = torch.sigmoid(i_8)
        i_8 = None
        tanh_16 = torch.tanh(g_8)
        g_8 = None
        mul_25 = sigmoid_25 * tanh_16
        sigmoid_25 = tanh_16 = None
        c_8 = mul_24 + mul_25
        mul_24 = mul_25 = None
        sigmoid_26 = torch.sigmoid(o_8)
        o_8 = None
        tanh_17 = torch.tanh(c_8)
        h_8 = sigmoid_26 * tanh_17
        sigmoid_26 = tanh_17 = None
        linear_10 = torch._C._nn.linear(h_8, l_self_modules_state_parameters_weight_, None)
        add_18 = step_9 + linear_10
        step_9 = linear_10 = None
        chunk_9 = add_18.chunk(4, dim = 1)
        add_18 = None
        i_9 = chunk_9[0]
        f_9 = chunk_9[1]
        g_9 = chunk_9[2]
        o_9 = chunk_9[3]
        chunk_9 = None
        sigmoid_27 = torch.sigmoid(f_9)
        f_9 = None
        mul_27 = sigmoid_27 * c_8
        sigmoid_27 = c_8 = None
        sigmoid_28 = torch.sigmoid(i_9)
        i_9 = None
        tanh_18 = torch.tanh(g_9)
        g_9 = None
        mul_28 = sigmoid_28 * tanh_18
        sigmoid_28 = tanh_18 = None
        c_9 = mul_27 + mul_28
        mul_27 = mul_28 = None
        sigmoid_29 = torch.sigmoid(o_9)
        o_9 = None
        tanh_19 = torch.tanh(c_9)
        h_9 = sigmoid_29 * tanh_19
        sigmoid_29 = tanh_19 = None
        linear_11 = torch._C._nn.linear(h_9, l_self_modules_state_parameters_weight_, None)
        add_20 = step_10 + linear_11
        step_10 = linear_11 = None
        chunk_10 = add_20.chunk(4, dim = 1)
        add_20 = None
        i_10 = chunk_10[0]
        f_10 = chunk_10[1]
        g_10 = chunk_10[2]
        o_10 = chunk_10[3]
        chunk_10 = None
        sigmoid_30 = torch.sigmoid(f_10)
        f_10 = None
        mul_30 = sigmoid_30 * c_9
        sigmoid_30 = c_9 = None
        sigmoid_31 = torch.sigmoid(i_10)
        i_10 = None
        tanh_20 = torch.tanh(g_10)
        g_10 = None
        mul_31 = sigmoid_31 * tanh_20
        sigmoid_31 = tanh_20 = None
        c_10 = mul_30 + mul_31
        mul_30 = mul_31 = None
        sigmoid_32 = torch.sigmoid(o_10)
        o_10 = None
        tanh_21 = torch.tanh(c_10)
        h_10 = sigmoid_32 * tanh_21
        sigmoid_32 = tanh_21 = None
        linear_12 = torch._C._nn.linear(h_10, l_self_modules_state_parameters_weight_, None)
        l_self_modules_state_parameters_weight_ = None
        add_22 = step_11 + linear_12
        step_11 = linear_12 = None
        chunk_11 = add_22.chunk(4, dim = 1)
        add_22 = None
        i_11 = chunk_11[0]
        f_11 = chunk_11[1]
        g_11 = chunk_11[2]
        o_11 = chunk_11[3]
        chunk_11 = None
        sigmoid_33 = torch.sigmoid(f_11)
        f_11 = None
        mul_33 = sigmoid_33 * c_10
        sigmoid_33 = c_10 = None
        sigmoid_34 = torch.sigmoid(i_11)
        i_11 = None
        tanh_22 = torch.tanh(g_11)
        g_11 = None
        mul_34 = sigmoid_34 * tanh_22
        sigmoid_34 = tanh_22 = None
        c_11 = mul_33 + mul_34
        mul_33 = mul_34 = None
        sigmoid_35 = torch.sigmoid(o_11)
        o_11 = None
        tanh_23 = torch.tanh(c_11)
        h_11 = sigmoid_35 * tanh_23
        sigmoid_35 = tanh_23 = None
        stack = torch.stack([h, h_1, h_2, h_3, h_4, h_5, h_6, h_7, h_8, h_9, h_10, h_11], dim = 1)
        h = h_1 = h_2 = h_3 = h_4 = h_5 = h_6 = h_7 = h_8 = h_9 = h_10 = None
        return (stack, h_11, c_11)
