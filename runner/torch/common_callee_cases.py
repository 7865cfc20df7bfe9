# SPDX-License-Identifier: Apache-2.0
"""Cases, in the form of callee_cases.py, for common callees that no public graph has."""

from __future__ import annotations

X = "x:f32[3,4]"
POSITIVE = "x:f32[3,4]+"

# One line for each form of an operator that both torch and Tensor have: the arguments behind the tensor.
_UNARY = {
    X: "abs acos acosh asin asinh atan atanh ceil cosh erf erfc erfinv exp exp2 expm1 floor frac isfinite isinf isnan neg relu round "
    "sigmoid sign signbit sin cos sinh square tan tanh trunc t trace ravel clone detach flatten tril triu diagonal argmax argmin amax "
    "amin std var any all median diag logical_not".split(),
    POSITIVE: "digamma lgamma log log10 log1p log2 reciprocal sqrt rsqrt".split(),
    "x:i64[3,4]<7": ["bitwise_not", "logical_not", "abs", "sign", "prod", "count_nonzero"],
    "x:bool[3,4]": ["any", "all", "logical_not", "bitwise_not", "count_nonzero"],
}
_IN_PLACE = {
    X: ["abs_", "ceil_", "exp_", "floor_", "neg_", "round_", "sigmoid_", "square_", "tanh_"],
    POSITIVE: ["log_", "reciprocal_", "rsqrt_", "sqrt_"],
}
_BINARY = {
    "x:f32[3,4] a:f32[4]": "atan2 fmod logaddexp maximum minimum remainder add sub mul floor_divide eq ne lt le gt ge".split(),
    "x:i64[6]<9 a:i64[6]<9": "bitwise_and bitwise_or bitwise_xor maximum minimum add sub mul eq ne lt le gt ge".split(),
    "x:bool[6] a:bool[6]": "logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor".split(),
}
# (operator, arguments, inputs)
_WITH_ARGUMENTS = [
    *[(name, "0.5", X) for name in "add sub mul div fmod remainder floor_divide eq ne lt le gt ge clamp_min clamp_max pow".split()],
    *[(name, "2", "x:i64[6]<9") for name in "add sub mul div fmod remainder floor_divide bitwise_and bitwise_or bitwise_xor pow".split()],
    ("add", "a, alpha=2", "x:f32[3] a:f32[3]"),
    ("sub", "a, alpha=0.5", "x:f32[3] a:f32[3]"),
    ("div", "a, rounding_mode=\"trunc\"", "x:f32[3] a:f32[3]+"),
    ("round", "decimals=2", X),
    ("clamp_min", "a", "x:f32[3,4] a:f32[4]"),
    ("clamp_max", "a", "x:f32[3,4] a:f32[4]"),
    ("lerp", "a, 0.3", "x:f32[3] a:f32[3]"),
    ("lerp", "a, b", "x:f32[3] a:f32[3] b:f32[3]"),
    ("addcmul", "a, b, value=0.5", "x:f32[3] a:f32[3] b:f32[3]"),
    ("addcdiv", "a, b, value=0.5", "x:f32[3] a:f32[3] b:f32[3]+"),
    ("nan_to_num", "nan=0.5, posinf=1.0", "x:f32[3]"),
    ("nan_to_num", "", "x:f32[3]"),
    *[(name, "dim=-1, keepdim=True", X) for name in "any all amax amin argmax argmin logsumexp prod std var".split()],
    *[(name, "1", X) for name in "any all amax amin argmax argmin std var count_nonzero softmax log_softmax cumsum cumprod".split()],
    ("amax", "(0, 1)", X),
    ("std", "dim=(0, 1), correction=0, keepdim=True", X),
    ("std", "unbiased=False", X),
    ("var", "-1, False, True", X),
    ("cumprod", "dim=0, dtype=torch.float64", X),
    ("softmax", "dim=0, dtype=torch.float64", X),
    ("log_softmax", "dim=-1, dtype=torch.float64", X),
    ("argsort", "dim=-1, descending=True", X),
    ("argsort", "", X),
    ("argsort", "dim=0, stable=True", "x:i64[6,2]<3"),
    ("tril", "-1", X),
    ("triu", "diagonal=1", X),
    ("flatten", "0, 1", "x:f32[2,3,4]"),
    ("unflatten", "1, (2, -1)", X),
    ("unflatten", "dim=-1, sizes=[2, 2]", X),
    ("roll", "1, -1", X),
    ("roll", "shifts=(1, 2), dims=(0, 1)", X),
    ("narrow", "1, 1, 2", X),
    ("select", "1, -1", X),
    ("movedim", "0, 2", "x:f32[2,3,4]"),
    ("movedim", "(0, 1), (1, 2)", "x:f32[2,3,4]"),
    ("swapaxes", "0, 1", X),
    ("swapdims", "0, 1", X),
    ("diagonal", "offset=1, dim1=-2, dim2=-1", "x:f32[2,3,4]"),
    ("diag", "1", X),
    ("diag_embed", "", X),
    ("diag_embed", "offset=1, dim1=0, dim2=2", X),
    ("broadcast_to", "(2, 3, 4)", X),
    ("gather", "1, i", "x:f32[3,4] i:i64[3,2]<4"),
    ("index_select", "dim=1, index=i", "x:f32[3,4] i:i64[5]<4"),
    ("take_along_dim", "i, dim=1", "x:f32[3,4] i:i64[3,2]<4"),
    ("take", "i", "x:f32[3,4] i:i64[5]<12"),
    ("scatter", "1, i, a", "x:f32[3,4] i:i64[3,1]<4 a:f32[3,1]"),
    ("scatter", "dim=1, index=i, value=2.5", "x:f32[3,4] i:i64[3,1]<4"),
    ("scatter", "1, i, a, reduce=\"add\"", "x:f32[3,4] i:i64[3,1]<4 a:f32[3,1]"),
    ("scatter_add", "1, i, a", "x:f32[3,4] i:i64[3,2]<4 a:f32[3,2]"),
    ("scatter_reduce", "1, i, a, reduce=\"mean\"", "x:f32[3,4] i:i64[3,2]<4 a:f32[3,2]"),
    ("index_add", "0, i, a", "x:f32[3,4] i:i64[5]<3 a:f32[5,4]"),
    ("index_add", "dim=0, index=i, source=a, alpha=2", "x:f32[3,4] i:i64[5]<3 a:f32[5,4]"),
    ("index_copy", "0, i, a", "x:f32[3,4] i:i64[1]<3 a:f32[1,4]"),
    ("index_fill", "0, i, 1.5", "x:f32[3,4] i:i64[2]<3"),
    ("masked_fill", "m, 0.5", "x:f32[3,4] m:bool[3,4]"),
    ("masked_scatter", "m, a", "x:f32[3,4] m:bool[3,4] a:f32[12]"),
    ("mm", "a", "x:f32[3,4] a:f32[4,5]"),
    ("mv", "a", "x:f32[3,4] a:f32[4]"),
    ("dot", "a", "x:f32[4] a:f32[4]"),
    ("bmm", "a", "x:f32[2,3,4] a:f32[2,4,5]"),
    ("outer", "a", "x:f32[3] a:f32[4]"),
    ("inner", "a", "x:f32[2,3,4] a:f32[5,4]"),
    ("addmm", "a, b, beta=0.5, alpha=2", "x:f32[3,5] a:f32[3,4] b:f32[4,5]"),
    ("addmv", "a, b", "x:f32[3] a:f32[3,4] b:f32[4]"),
    ("baddbmm", "a, b", "x:f32[2,3,5] a:f32[2,3,4] b:f32[2,4,5]"),
]
# Operators with several results: (operator, arguments, inputs, results)
_SEVERAL = [
    ("sort", "", X, 2),
    ("sort", "dim=0, descending=True", X, 2),
    ("sort", "stable=True, dim=-1", "x:i64[6,2]<3", 2),
    ("topk", "2, dim=-1", X, 2),
    ("kthvalue", "2", X, 2),
    ("kthvalue", "k=1, dim=0, keepdim=True", X, 2),
    ("median", "dim=1", X, 2),
    ("split_with_sizes", "[1, 3], 1", X, 2),
    ("chunk", "2, dim=-1", X, 2),
]


def _both(name: str, arguments: str, inputs: str) -> list[tuple[str, str, str]]:
    return [
        (f"torch.{name}", f"torch.{name}(x{', ' if arguments else ''}{arguments})", inputs),
        (f".{name}", f"x.{name}({arguments})", inputs),
    ]


def _several(name: str, call: str, inputs: str, results: int) -> tuple[str, str, str]:
    parts = [f"r{i}" for i in range(results)]
    return (name, "\n".join([f"y = {call}", *[f"{part} = y[{i}]" for i, part in enumerate(parts)], f"return {', '.join(parts)}"]), inputs)


FFT = "torch._C._fft.fft_"
LINALG = "torch._C._linalg.linalg_"
F = "torch.nn.functional."
NN = "torch._C._nn."

COMMON_CASES = [
    *[case for inputs, names in _UNARY.items() for name in names for case in _both(name, "", inputs)],
    *[(f".{name}", f"y = x.{name}()\nreturn x, y", inputs) for inputs, names in _IN_PLACE.items() for name in names],
    *[case for inputs, names in _BINARY.items() for name in names for case in _both(name, "a", inputs)],
    *[case for name, arguments, inputs in _WITH_ARGUMENTS for case in _both(name, arguments, inputs)],
    *[
        _several(callee, call, inputs, results)
        for name, arguments, inputs, results in _SEVERAL
        for (callee, call, inputs) in _both(name, arguments, inputs)
    ],
    (".min", "x.min()", X),
    _several(".min", "x.min(dim=1, keepdim=True)", X, 2),
    (".min", "x.min(a)", "x:f32[3] a:f32[3]"),
    _several("torch.std_mean", "torch.std_mean(x, dim=1, keepdim=True)", X, 2),
    _several("torch.var_mean", "torch.var_mean(x, dim=(0, 1), correction=0)", X, 2),
    _several("torch.tensor_split", "torch.tensor_split(x, (1, 3), dim=1)", X, 3),
    (".flip", "x.flip(0, 1)", X),
    (".flip", "x.flip([-1])", X),
    ("torch.flip", "torch.flip(x, (0,))", X),
    (".tile", "x.tile(2, 1)", X),
    ("torch.tile", "torch.tile(x, (2, 1))", X),
    *[(f"torch.{name}", f"torch.{name}((x, a))", "x:f32[2,3] a:f32[2,3]") for name in ("hstack", "vstack", "dstack", "column_stack")],
    _several("torch.functional.broadcast_tensors", "torch.functional.broadcast_tensors(x, a)", "x:f32[3,1] a:f32[4]", 2),
    ("getattr:.mT", "x.mT", "x:f32[2,3,4]"),
    ("getattr:.imag", f"y = {FFT}fft(x)\nz = y.imag\nreturn z", X),
    # In place.
    (".sub_", "y = x.sub_(a, alpha=2)\nreturn x, y", "x:f32[3] a:f32[3]"),
    (".div_", "y = x.div_(3)\nreturn x, y", "x:f32[3]"),
    (".clamp_min_", "y = x.clamp_min_(0.1)\nreturn x, y", X),
    (".clamp_max_", "y = x.clamp_max_(0.1)\nreturn x, y", X),
    (".scatter_", "y = x.scatter_(1, i, 1.0)\nreturn x, y", "x:f32[3,4] i:i64[3,1]<4"),
    (".scatter_", "y = x.scatter_(dim=1, index=i, src=a)\nreturn x, y", "x:f32[3,4] i:i64[3,1]<4 a:f32[3,1]"),
    (".index_add_", "y = x.index_add_(0, i, a)\nreturn x, y", "x:f32[3,4] i:i64[5]<3 a:f32[5,4]"),
    (".index_copy_", "y = x.index_copy_(0, i, a)\nreturn x, y", "x:f32[3,4] i:i64[1]<3 a:f32[1,4]"),
    (".index_fill_", "y = x.index_fill_(0, i, 2)\nreturn x, y", "x:f32[3,4] i:i64[1]<3"),
    # Search.
    ("torch.searchsorted", "y = torch.cumsum(s, 0)\nz = torch.searchsorted(y, x, right=True)\nreturn z", "s:f32[6]+ x:f32[3,4]"),
    ("torch.bucketize", "y = torch.cumsum(s, 0)\nz = torch.bucketize(x, y)\nreturn z", "s:f32[6]+ x:f32[3,4]"),
    ("torch.isin", "torch.isin(x, a)", "x:i64[6]<5 a:i64[2]<5"),
    # Linear algebra.
    ("torch.bilinear", "torch.bilinear(a, b, w, c)", "a:f32[2,3] b:f32[2,4] w:pf32[5,3,4] c:pf32[5]"),
    ("torch.functional.cdist", "torch.functional.cdist(a, b, 2.0)", "a:f32[2,3,4] b:f32[2,5,4]"),
    ("torch.functional.cdist", "torch.functional.cdist(a, b, p=1.0, compute_mode=\"donot_use_mm_for_euclid_dist\")", "a:f32[3,4] b:f32[5,4]"),
    (f"{LINALG}cross", f"{LINALG}cross(a, b, dim=-1)", "a:f32[2,3] b:f32[2,3]"),
    (f"{LINALG}det", f"{LINALG}det(x)", "x:f32[2,3,3]"),
    (f"{LINALG}inv", f"{LINALG}inv(x)", "x:f32[2,3,3]"),
    (f"{LINALG}solve", f"{LINALG}solve(a, b)", "a:f32[3,3] b:f32[3,2]"),
    (f"{LINALG}matrix_norm", f"{LINALG}matrix_norm(x)", "x:f32[2,3,4]"),
    (f"{LINALG}cholesky", f"y = torch.eye(3)\nz = y * a\nw = {LINALG}cholesky(z)\nreturn w", "a:f32[]+"),
    # Making tensors.
    ("torch.empty_like", "y = torch.empty_like(x, dtype=torch.int64)\nz = y.fill_(2)\nreturn z", X),
    ("torch.rand_like", "torch.rand_like(x)", X),
    ("torch.randn_like", "torch.randn_like(x, dtype=torch.float64)", X),
    ("torch.randint", "torch.randint(5, (3, 4))", X),
    ("torch.randint", "torch.randint(2, 9, (3,), device=device(type=\"cpu\"))", X),
    ("torch.randperm", "torch.randperm(7, device=device(type=\"cpu\"))", X),
    ("torch.bernoulli", "y = torch.sigmoid(x)\nz = torch.bernoulli(y)\nreturn z", X),
    ("torch.scalar_tensor", "torch.scalar_tensor(2.5, dtype=torch.float32)", X),
    ("torch.tril_indices", "torch.tril_indices(3, 4, device=device(type=\"cpu\"))", X),
    ("torch.triu_indices", "torch.triu_indices(row=3, col=4, offset=1)", X),
    (".new_full", "x.new_full((2, 3), 1.5)", X),
    (".new_empty", "y = x.new_empty((2, 3), dtype=torch.int64)\nz = y.fill_(2)\nreturn z", X),
    (".half", "x.half()", X),
    (".double", "x.double()", X),
    (".bfloat16", "x.bfloat16()", X),
    # Complex numbers.
    ("torch.complex", "y = torch.complex(x, a)\nz = torch.view_as_real(y)\nreturn z", "x:f32[3] a:f32[3]"),
    ("torch.polar", "y = torch.polar(x, a)\nz = torch.view_as_real(y)\nreturn z", "x:f32[3]+ a:f32[3]"),
    ("torch.view_as_complex", "y = torch.view_as_complex(x)\nz = y * y\nw = torch.view_as_real(z)\nreturn w", "x:f32[3,2]"),
    ("torch.view_as_real", f"y = {FFT}fft(x)\nz = torch.view_as_real(y)\nreturn z", X),
    ("torch.real", f"y = {FFT}fft(x)\nz = torch.real(y)\nw = torch.imag(y)\nreturn z, w", X),
    ("torch.imag", f"y = {FFT}fft(x)\nz = torch.imag(y)\nreturn z", X),
    *[(name, f"y = {FFT}fft(x)\nz = {call}\nv = z.real\nw = z.imag\nreturn v, w", X) for name, call in (("torch.conj", "torch.conj(y)"), (".conj", "y.conj()"))],
    *[(name, f"y = {FFT}fft(x)\nz = {call}\nreturn z", X) for name, call in (("torch.angle", "torch.angle(y)"), (".angle", "y.angle()"))],
    # Fourier transforms: of what is complex, both parts.
    *[
        (f"{FFT}{name}", f"y = {FFT}{name}(x{arguments})\nz = y.real\nw = y.imag\nreturn z, w", "x:f32[2,4,6]")
        for name, arguments in (
            ("fft", ""), ("fft", ", n=8, dim=1, norm=\"ortho\""), ("ifft", ", dim=-1"), ("rfft", ", dim=-1"), ("ihfft", ""), ("fft2", ""),
            ("ifft2", ", dim=(-2, -1)"), ("rfft2", ", norm=\"ortho\""), ("ifftn", ", dim=(0, 1)"), ("rfftn", ""),
        )
    ],
    *[
        (f"{FFT}{name}", f"y = {FFT}{forward}(x)\nz = {FFT}{name}(y{arguments})\nreturn z", "x:f32[2,4,6]")
        for name, forward, arguments in (
            ("irfft", "rfft", ", n=6"), ("hfft", "ihfft", ", n=6"), ("irfft2", "rfft2", ", s=(4, 6), norm=\"ortho\""), ("irfftn", "rfftn", ", s=(2, 4, 6)"),
        )
    ],
    (f"{FFT}fftshift", f"{FFT}fftshift(x, dim=(-1,))", X),
    (f"{FFT}ifftshift", f"{FFT}ifftshift(x)", X),
    # torch.nn.functional.
    *[(F + name, f"{F}{name}(x, inplace=False)", X) for name in ("relu6", "selu", "mish", "celu")],
    *[(F + name, f"y = {F}{name}(x, inplace=True)\nreturn x, y", X) for name in ("relu6", "selu", "mish")],
    (f"{F}celu", f"y = {F}celu(x, 0.5, True)\nreturn x, y", X),
    (f"{F}softsign", f"{F}softsign(x)", X),
    (f"{F}tanhshrink", f"{F}tanhshrink(x)", X),
    *[(F + name, f"{F}{name}(x, dim=-1)", X) for name in ("log_softmax", "softmin")],
    (f"{F}log_softmax", f"{F}log_softmax(x, 1, _stacklevel=5, dtype=torch.float64)", X),
    (f"{F}instance_norm", f"{F}instance_norm(x, None, None, w, b, True, 0.1, 1e-05)", "x:f32[2,3,4,4] w:pf32[3] b:pf32[3]"),
    (f"{F}instance_norm", f"y = {F}instance_norm(x, m, v)\nreturn y, m, v", "x:f32[2,3,8] m:f32[3] v:f32[3]+"),
    (f"{F}rms_norm", f"{F}rms_norm(x, (4,), w, 1e-06)", "x:f32[3,4] w:pf32[4]"),
    (f"{F}local_response_norm", f"{F}local_response_norm(x, 3)", "x:f32[2,5,4,4]"),
    (f"{F}local_response_norm", f"{F}local_response_norm(x, size=2, alpha=0.001, beta=0.5, k=2.0)", "x:f32[2,5,4]"),
    (f"{F}max_pool3d", f"{F}max_pool3d(x, 2, 2, 0, 1, ceil_mode=False, return_indices=False)", "x:f32[1,2,4,4,4]"),
    _several(f"{F}max_pool3d", f"{F}max_pool3d(x, kernel_size=2, return_indices=True)", "x:f32[1,2,4,4,4]", 2),
    (f"{F}adaptive_max_pool1d", f"{F}adaptive_max_pool1d(x, 2)", "x:f32[1,3,6]"),
    (f"{F}adaptive_max_pool3d", f"{F}adaptive_max_pool3d(x, (1, None, 2))", "x:f32[1,2,4,3,4]"),
    (f"{NN}avg_pool3d", f"{NN}avg_pool3d(x, 2, 2)", "x:f32[1,2,4,4,4]"),
    (f"{NN}log_sigmoid", f"{NN}log_sigmoid(x)", X),
    (f"{NN}softshrink", f"{NN}softshrink(x, 0.3)", X),
    ("torch.hardshrink", "torch.hardshrink(x, 0.3)", X),
    ("torch.conv_transpose3d", "torch.conv_transpose3d(x, w, None, (2, 2, 2), (0, 0, 0), (0, 0, 0), 1, (1, 1, 1))", "x:f32[1,2,3,3,3] w:pf32[2,3,2,2,2]"),
    ("torch.pixel_unshuffle", "torch.pixel_unshuffle(x, 2)", "x:f32[1,2,4,4]"),
    ("torch.channel_shuffle", "torch.channel_shuffle(x, 2)", "x:f32[1,4,3,3]"),
    ("torch.cosine_similarity", "torch.cosine_similarity(a, b, dim=-1)", "a:f32[3,4] b:f32[3,4]"),
    ("torch.pairwise_distance", "torch.pairwise_distance(a, b, keepdim=True)", "a:f32[3,4] b:f32[3,4]"),
    # Recurrent networks.
    ("torch.gru_cell", "torch.gru_cell(x, h, w, u, b, c)", "x:f32[2,3] h:f32[2,4] w:pf32[12,3] u:pf32[12,4] b:pf32[12] c:pf32[12]"),
    ("torch.rnn_tanh_cell", "torch.rnn_tanh_cell(x, h, w, u, b, c)", "x:f32[2,3] h:f32[2,4] w:pf32[4,3] u:pf32[4,4] b:pf32[4] c:pf32[4]"),
    _several("torch.lstm_cell", "torch.lstm_cell(x, (h, s), w, u, b, c)",
             "x:f32[2,3] h:f32[2,4] s:f32[2,4] w:pf32[16,3] u:pf32[16,4] b:pf32[16] c:pf32[16]", 2),
    *[
        _several(f"torch.{name}", f"torch.{name}(x, h, [w, u, b, c], True, 1, 0.0, False, False, True)",
                 f"x:f32[2,5,3] h:f32[1,2,4] w:pf32[{4 * n},3] u:pf32[{4 * n},4] b:pf32[{4 * n}] c:pf32[{4 * n}]", 2)
        for name, n in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1))
    ],
    _several("torch.lstm", "torch.lstm(x, (h, s), [w, u, b, c], True, 1, 0.0, False, False, True)",
             "x:f32[2,5,3] h:f32[1,2,4] s:f32[1,2,4] w:pf32[16,3] u:pf32[16,4] b:pf32[16] c:pf32[16]", 3),
    # The fast path of nn.TransformerEncoderLayer.
    *[
        ("torch._transformer_encoder_layer_fwd",
         f"torch._transformer_encoder_layer_fwd(x, 8, 2, w, b, o, p, {gelu}, {first}, 1e-05, n, m, s, t, f, g, h, i{mask})",
         "x:f32[2,5,8] w:pf32[24,8] b:pf32[24] o:pf32[8,8] p:pf32[8] n:pf32[8] m:pf32[8] s:pf32[8] t:pf32[8] f:pf32[16,8] g:pf32[16] h:pf32[8,16] i:pf32[8]"
         + (" k:bool[2,5]" if mask else ""))
        for gelu, first, mask in ((True, False, ""), (False, True, ", None, None"), (False, False, ", k, 1"))
    ],
]  # fmt: skip

# What Python refuses, and the words of it: (statements, inputs, words)
REFUSALS = [
    (f"{F}batch_norm(x, m, v, w, b, True, 0.1, 0.0)", "x:f32[2,3,4,4] m:f32[3] v:f32[3]+ w:pf32[3] b:pf32[3]", "batch_norm eps must be positive during training, but got 0.0"),
    (f"{F}batch_norm(x, m, v, w, b, False, 0.1, -1.5)", "x:f32[2,3,4,4] m:f32[3] v:f32[3]+ w:pf32[3] b:pf32[3]", "batch_norm eps must be non-negative, but got -1.5"),
    (f"{F}batch_norm(x, None, None, training=True)", "x:f32[1,3,1,1]", "Expected more than 1 value per channel when training, got input size torch.Size([1, 3, 1, 1])"),
    (f"{F}group_norm(x, 4)", "x:f32[1,4]", "Expected more than 1 value per channel when training, got input size [1, 4]"),
    (f"{F}instance_norm(x)", "x:f32[2,3,1]", "Expected more than 1 spatial element when training, got input size torch.Size([2, 3, 1])"),
]
