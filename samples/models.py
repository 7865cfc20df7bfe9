# SPDX-License-Identifier: Apache-2.0
"""The models behind the bundled suite. Each function returns a module and its example inputs, as `assay extract` wants them.

GraphNet describes a tensor by mean and standard deviation, and replay draws it with a fifth of that deviation. `scaled()` and `normal()`
therefore spread weights and inputs five times as wide as usual: what is replayed is then of the usual scale, and no layer's output
fades to a constant.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

REPLAY = 5.0  # one over the factor that replay narrows by


def normal(*shape, std=1.0, mean=0.0):
    return torch.randn(*shape) * (std * REPLAY) + mean


def scaled(module):
    """Weights of deviation 1/sqrt(fan in) and biases of 0.1, once replayed; scales near one."""
    for owner in module.modules():
        for name, parameter in owner.named_parameters(recurse=False):
            if parameter.dim() > 1:
                fan_in = parameter[0].numel() if not isinstance(owner, nn.Embedding) else 1
                if name in ("up", "down"):  # (experts, inputs, outputs)
                    fan_in = parameter.shape[1]
                if isinstance(owner, nn.ConvTranspose2d):
                    fan_in = parameter.numel() // parameter.shape[1] // math.prod(owner.stride)
                nn.init.normal_(parameter, std=REPLAY / math.sqrt(fan_in))
            elif name == "weight":
                nn.init.normal_(parameter, mean=1.0, std=0.1 * REPLAY)
            else:
                nn.init.normal_(parameter, std=0.1 * REPLAY)
    for owner in module.modules():
        if isinstance(owner, nn.modules.batchnorm._BatchNorm) and owner.track_running_stats:
            nn.init.normal_(owner.running_mean, std=0.1 * REPLAY)
            nn.init.uniform_(owner.running_var, 0.5, 1.5)
    return module.eval()


class Mlp(nn.Module):
    def __init__(self, width, hidden, depth):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(depth):
            self.layers.append(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width)))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


def mlp():
    return scaled(Mlp(256, 512, 3)), (normal(48, 256),)


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        y += self.shortcut(x)
        return self.relu(y)


class ResidualConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True))
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.blocks = nn.Sequential(ResidualBlock(16, 16, 1), ResidualBlock(16, 32, 2))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = self.blocks(self.pool(self.stem(x)))
        return self.head(torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


def residual_convolution():
    return scaled(ResidualConvolution()), (normal(2, 3, 32, 32),)


class SeparableBlock(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        middle = inputs * 3
        self.expand = nn.Conv2d(inputs, middle, 1)
        self.depthwise = nn.Conv2d(middle, middle, 5, padding=2, groups=middle)
        self.norm = nn.BatchNorm2d(middle)
        self.squeeze = nn.Conv2d(middle, inputs, 1)
        self.excite = nn.Conv2d(inputs, middle, 1)
        self.project = nn.Conv2d(middle, outputs, 1)

    def forward(self, x):
        y = F.silu(self.norm(self.depthwise(F.silu(self.expand(x)))))
        gate = self.excite(F.silu(self.squeeze(y.mean((2, 3), keepdim=True))))
        return self.project(y * gate.sigmoid())


def depthwise_separable_convolution():
    return scaled(nn.Sequential(SeparableBlock(16, 24), SeparableBlock(24, 24))), (normal(1, 16, 28, 28),)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.up1 = nn.ConvTranspose2d(32, 16, 4, 2, 1)
        self.norm = nn.GroupNorm(4, 16)
        self.up2 = nn.ConvTranspose2d(16, 8, 4, 2, 1)
        self.smooth = nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x):
        y = F.relu(self.norm(self.up1(x)))
        y = F.relu(self.up2(y))
        y = F.interpolate(y, size=(48, 48), mode="bilinear", align_corners=False)
        return torch.tanh(self.smooth(y))


def transposed_convolution():
    return scaled(Decoder()), (normal(2, 32, 8, 8),)


def heads(x, count):
    batch, length, width = x.shape
    return x.view(batch, length, count, width // count).transpose(1, 2)


class SelfAttention(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.count = count
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (heads(part, self.count) for part in self.qkv(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(x.shape))


def self_attention():
    return scaled(SelfAttention(128, 4)), (normal(2, 64, 128),)


class CrossAttention(nn.Module):
    def __init__(self, width, memory_width, count):
        super().__init__()
        self.count = count
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(memory_width, width)
        self.v = nn.Linear(memory_width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x, memory):
        q, k, v = heads(self.q(x), self.count), heads(self.k(memory), self.count), heads(self.v(memory), self.count)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
        y = torch.matmul(F.softmax(scores, dim=-1), v)
        return x + self.out(y.transpose(1, 2).contiguous().view(x.shape))


def cross_attention():
    return scaled(CrossAttention(96, 64, 4)), (normal(2, 32, 96), normal(2, 80, 64))


class CausalAttention(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.count = count
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        length = x.shape[1]
        q, k, v = (heads(part, self.count) for part in self.qkv(self.norm(x)).split(x.shape[2], dim=2))
        hidden = torch.full((length, length), True, dtype=torch.bool, device=x.device)
        scores = (q @ k.transpose(-2, -1)) * (q.shape[-1] ** -0.5)
        scores = scores.masked_fill(torch.triu(hidden, diagonal=1), float("-inf"))
        y = scores.softmax(dim=-1) @ v
        return x + self.out(y.transpose(1, 2).flatten(2))


def causal_attention():
    return scaled(CausalAttention(96, 6)), (normal(2, 48, 96),)


class GroupedQueryAttention(nn.Module):
    """Four query heads to a key head, rotary positions."""

    def __init__(self, width, count, groups):
        super().__init__()
        self.count, self.groups, self.size = count, groups, width // count
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, groups * self.size, bias=False)
        self.v = nn.Linear(width, groups * self.size, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def rotate(self, x, cos, sin):
        left, right = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-right, left), dim=-1) * sin

    def repeat(self, x):
        batch, groups, length, size = x.shape
        x = x[:, :, None, :, :].expand(batch, groups, self.count // groups, length, size)
        return x.reshape(batch, self.count, length, size)

    def forward(self, x):
        steps = torch.arange(0, self.size, 2, device=x.device).float() / self.size
        angles = torch.arange(x.shape[1], device=x.device).float().unsqueeze(1) * (10000.0 ** -steps)
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos(), angles.sin()
        q = self.rotate(heads(self.q(x), self.count), cos, sin)
        k = self.repeat(self.rotate(heads(self.k(x), self.groups), cos, sin))
        v = self.repeat(heads(self.v(x), self.groups))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).contiguous().reshape(x.shape))


def grouped_query_attention():
    return scaled(GroupedQueryAttention(128, 8, 2)), (normal(1, 64, 128),)


class EncoderBlock(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = SelfAttention(width, count)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + F.dropout(self.attention(self.norm1(x)), 0.1, self.training)
        return x + F.dropout(self.down(F.gelu(self.up(self.norm2(x)))), 0.1, self.training)


def encoder_block():
    return scaled(nn.Sequential(EncoderBlock(192, 6), EncoderBlock(192, 6))), (normal(1, 96, 192),)


class LstmCell(nn.Module):
    """Unrolled over the steps, gates written out."""

    def __init__(self, width, hidden):
        super().__init__()
        self.inputs = nn.Linear(width, 4 * hidden)
        self.state = nn.Linear(hidden, 4 * hidden, bias=False)

    def forward(self, x, h, c):
        outputs = []
        for step in self.inputs(x).unbind(1):
            i, f, g, o = (step + self.state(h)).chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outputs.append(h)
        return torch.stack(outputs, dim=1), h, c


def lstm_cell():
    return scaled(LstmCell(64, 64)), (normal(4, 12, 64), normal(4, 64), normal(4, 64))


class EmbeddingGather(nn.Module):
    """Token and position embeddings, then the vector at each asked place."""

    def __init__(self, words, length, width):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(length, width)
        self.norm = nn.LayerNorm(width)
        self.score = nn.Linear(width, width)

    def forward(self, tokens, places):
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        x = self.norm(x)
        index = places.unsqueeze(-1).expand(places.shape[0], places.shape[1], x.shape[2])
        found = torch.gather(x, 1, index)
        return torch.tanh(self.score(found)), x.mean(1)


def embedding_gather():
    tokens = torch.randint(0, 5000, (4, 96))
    tokens[0, 0], tokens[0, 1] = 0, 4999
    return scaled(EmbeddingGather(5000, 96, 96)), (tokens, torch.randint(0, 96, (4, 12)))


class GraphScatter(nn.Module):
    """Two rounds of message passing: gather along the edges, transform, add up at the targets."""

    def __init__(self, width):
        super().__init__()
        self.message1 = nn.Linear(2 * width, width)
        self.message2 = nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width)

    def pass_messages(self, x, edges, layer):
        source, target = edges[0], edges[1]
        pairs = torch.cat([x.index_select(0, source), x.index_select(0, target)], dim=-1)
        message = F.relu(layer(pairs))
        total = x.new_zeros(x.shape)
        return total.scatter_add_(0, target.unsqueeze(-1).expand(message.shape[0], message.shape[1]), message)

    def forward(self, x, edges):
        x = x + self.pass_messages(x, edges, self.message1)
        return self.pass_messages(self.norm(x), edges, self.message2)


def graph_scatter():
    return scaled(GraphScatter(48)), (normal(200, 48), torch.randint(0, 200, (2, 800)))


class GatedExperts(nn.Module):
    """Every expert runs on every row; the gate keeps those above the mean weight and mixes them."""

    def __init__(self, width, hidden, experts):
        super().__init__()
        self.experts = experts
        self.gate = nn.Linear(width, experts)
        self.up = nn.Parameter(torch.empty(experts, width, hidden))
        self.down = nn.Parameter(torch.empty(experts, hidden, width))

    def forward(self, x):
        weights = F.softmax(self.gate(x), dim=-1)
        weights = torch.where(weights > 1.0 / self.experts, weights, torch.zeros_like(weights))
        weights = weights / weights.sum(dim=-1, keepdim=True)
        rows = x.unsqueeze(0).expand(self.experts, x.shape[0], x.shape[1])
        y = torch.bmm(F.silu(torch.bmm(rows, self.up)), self.down)
        return torch.einsum("ne,enw->nw", weights, y)


def gated_experts():
    return scaled(GatedExperts(64, 128, 8)), (normal(48, 64),)


class DilatedConvolution(nn.Module):
    """Causal one-dimensional convolutions of growing dilation with gates, as in WaveNet."""

    def __init__(self, width, depth):
        super().__init__()
        self.filters = nn.ModuleList(nn.Conv1d(width, width, 2, dilation=2**i) for i in range(depth))
        self.gates = nn.ModuleList(nn.Conv1d(width, width, 2, dilation=2**i) for i in range(depth))
        self.mixes = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(depth))

    def forward(self, x):
        total = torch.zeros_like(x)
        for i, (filter_, gate, mix) in enumerate(zip(self.filters, self.gates, self.mixes)):
            padded = F.pad(x, (2**i, 0), "constant", 0.0)
            y = mix(torch.tanh(filter_(padded)) * torch.sigmoid(gate(padded)))
            total = total + y
            x = x + y
        return F.relu(total)


def dilated_convolution():
    return scaled(DilatedConvolution(32, 5)), (normal(1, 32, 256),)


class Normalisations(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.LayerNorm(width)
        self.group = nn.GroupNorm(8, width)
        self.batch = nn.BatchNorm1d(width)
        self.scale = nn.Parameter(torch.empty(width))

    def forward(self, x):
        rms = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1.0 + self.scale)
        columns = x.transpose(1, 2)
        y = self.layer(rms) + (self.group(columns) + self.batch(columns)).transpose(1, 2)
        return F.normalize(y, dim=-1), torch.sqrt((y - y.mean(1, keepdim=True)).pow(2).mean(1) + 1e-5)


def normalisations():
    return scaled(Normalisations(96)), (normal(4, 64, 96, mean=0.5),)


class BatchNormTraining(nn.Module):
    """Normalises by the batch and updates the running statistics, which are inputs that the graph changes."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 16, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(16)
        self.head = nn.Linear(16, 16)
        self.norm2 = nn.BatchNorm1d(16)
        self.norm.num_batches_tracked = self.norm2.num_batches_tracked = None

    def forward(self, x):
        y = F.relu(self.norm(self.conv(x))).mean((2, 3))
        return self.norm2(self.head(y))


def batch_norm_training():
    return scaled(BatchNormTraining()).train(), (normal(8, 8, 16, 16),)


class HalfMlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.gate = nn.Linear(width, 2 * width, bias=False)
        self.up = nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def float16_mlp():
    return scaled(HalfMlp(96)).half(), (normal(16, 96).half(),)


class Bfloat16Block(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.attention = SelfAttention(width, count)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        y = self.attention(x) + x
        return self.norm(y), y.float().mean(-1)


def bfloat16_attention():
    return scaled(Bfloat16Block(64, 4)).bfloat16(), (normal(2, 32, 64).bfloat16(),)


class InPlace(nn.Module):
    """Writes through views, into its inputs and over its own results."""

    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x, cache):
        y = self.layer(x)
        cache[:, 8:24, :] = y
        y += cache[:, :16, :]
        view = cache[:, 24:, :]
        view *= 0.5
        y.masked_fill_(y > 4.0, 4.0)
        y[:, 0] = 1
        x += y
        return y, cache.sum(dim=1), x * 2.0


def in_place():
    return scaled(InPlace(128)), (normal(4, 16, 128), normal(4, 64, 128))


class IntegerOutputs(nn.Module):
    """A classifier's decisions: labels, running counts, comparisons."""

    def __init__(self, width, classes):
        super().__init__()
        self.layer = nn.Linear(width, classes)

    def forward(self, x, labels):
        scores = self.layer(x)
        chosen = scores.argmax(dim=-1)
        correct = chosen == labels
        bucket = torch.clamp(torch.floor(scores * 2.0), -4, 4).to(torch.int32)
        return chosen, correct, torch.cumsum(correct.long(), dim=0), bucket, (scores > 0).sum(dim=-1)


def integer_outputs():
    return scaled(IntegerOutputs(96, 40)), (normal(256, 96), torch.randint(0, 40, (256,)))


class MixerBlock(nn.Module):
    """Mixes along tokens and along channels in turn, on patches of an image."""

    def __init__(self, tokens, width):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 4, 4)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.channels = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, image):
        x = self.patch(image).flatten(2).permute(0, 2, 1)
        x = x + self.tokens(self.norm1(x).permute(0, 2, 1)).permute(0, 2, 1)
        return x + self.channels(self.norm2(x))


def mixer_block():
    return scaled(MixerBlock(64, 64)), (normal(1, 3, 32, 32),)


class Factorisation(nn.Module):
    """Second-order feature interactions over categorical fields, as recommenders use."""

    def __init__(self, fields, values, width):
        super().__init__()
        self.table = nn.Embedding(fields * values, width)
        self.bias = nn.Embedding(fields * values, 1)
        self.deep = nn.Sequential(nn.Linear(fields * width, 64), nn.ReLU(), nn.Linear(64, 1))
        self.register_buffer("offsets", torch.arange(fields) * values)

    def forward(self, fields):
        index = fields + self.offsets
        x = self.table(index)
        pairs = 0.5 * (x.sum(1).pow(2) - x.pow(2).sum(1)).sum(-1, keepdim=True)
        return torch.sigmoid(0.02 * pairs + self.bias(index).squeeze(-1).mean(-1, keepdim=True) + self.deep(x.flatten(1)))


def factorisation():
    return scaled(Factorisation(12, 500, 16)), (torch.randint(0, 500, (128, 12)),)


class Pyramid(nn.Module):
    """Down, up, and across: pooling, nearest up-sampling, skip connections, pointwise heads."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(3, 12, 3, padding=1), nn.Conv2d(12, 24, 3, padding=1)
        self.side, self.up = nn.Conv2d(12, 24, 1), nn.Conv2d(48, 12, 3, padding=1)
        self.head = nn.Conv2d(12, 2, 1)

    def forward(self, x):
        a = F.hardswish(self.down1(x))
        b = F.hardswish(self.down2(F.avg_pool2d(a, 2)))
        c = F.interpolate(b, scale_factor=2.0, mode="nearest")
        y = F.relu(self.up(torch.cat([self.side(a), c], dim=1)))
        return self.head(y).permute(0, 2, 3, 1).contiguous()


def pyramid():
    return scaled(Pyramid()), (normal(1, 3, 40, 40),)


ALL = (
    mlp, residual_convolution, depthwise_separable_convolution, transposed_convolution, self_attention, cross_attention,
    causal_attention, grouped_query_attention, encoder_block, lstm_cell, embedding_gather, graph_scatter, gated_experts,
    dilated_convolution, normalisations, batch_norm_training, float16_mlp, bfloat16_attention, in_place, integer_outputs,
    mixer_block, factorisation, pyramid,
)  # fmt: skip
