# SPDX-License-Identifier: Apache-2.0
"""Models of kinds that samples/ does not have, as a user would bring them to `assay extract FILE.py:FUNCTION`."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Unet(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.down1, self.down2, self.middle = self.block(3, width), self.block(width, 2 * width), self.block(2 * width, 4 * width)
        self.up2, self.up1 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.join2, self.join1 = self.block(4 * width, 2 * width), self.block(3 * width, width)
        self.head = nn.Conv2d(width, 2, 1)

    @staticmethod
    def block(inputs: int, outputs: int) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.InstanceNorm2d(outputs, affine=True), nn.Mish(),
            nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU6(inplace=True))

    def forward(self, x):
        first = self.down1(x)
        second = self.down2(F.max_pool2d(first, 2))
        y = self.middle(F.avg_pool2d(second, 2))
        y = self.join2(torch.cat([self.up2(y), second], 1))
        y = self.join1(torch.cat([self.up1(y), first], 1))
        return F.log_softmax(self.head(y), dim=1)


def unet():
    return Unet().eval(), (torch.randn(2, 3, 32, 32),)


class VisionTransformer(nn.Module):
    def __init__(self, width: int = 48, depth: int = 2) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 17, width))
        self.qkv = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(depth))
        self.out = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.mlp = nn.ModuleList(nn.Sequential(nn.Linear(width, 2 * width), nn.GELU("tanh"), nn.Linear(2 * width, width)) for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * depth + 1))

    def forward(self, x):
        x = self.patches(x).flatten(2).mT
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        for i, (qkv, out, mlp) in enumerate(zip(self.qkv, self.out, self.mlp)):
            q, k, v = qkv(self.norms[2 * i](x)).unflatten(-1, (3, 4, -1)).movedim(2, 0).swapaxes(2, 3).unbind(0)
            x = x + out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
            x = x + mlp(self.norms[2 * i + 1](x))
        return self.norms[-1](x)[:, 0], x.std(dim=1)


def vision_transformer():
    return VisionTransformer().eval(), (torch.randn(2, 3, 32, 32),)


class SequenceTagger(nn.Module):
    """A bidirectional GRU, an LSTM and a cell that is called in a loop."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.gru = nn.GRU(16, 12, num_layers=2, batch_first=True, bidirectional=True)
        self.lstm = nn.LSTM(24, 10)
        self.cell = nn.GRUCell(10, 8)
        self.head = nn.Linear(8, 5)

    def forward(self, words):
        states, _ = self.gru(self.words(words))
        states, (last, _) = self.lstm(states.transpose(0, 1))
        hidden = states.new_zeros(words.shape[0], 8)
        for step in range(states.shape[0]):
            hidden = self.cell(states[step], hidden)
        return self.head(hidden).argsort(-1, descending=True), hidden, last


def sequence_tagger():
    return SequenceTagger().eval(), (torch.randint(0, 50, (3, 7)),)


class DetectorHead(nn.Module):
    """Two levels of a feature pyramid, boxes from distances to their cells, and the best of each image."""

    def __init__(self, classes: int = 4) -> None:
        super().__init__()
        self.lateral = nn.ModuleList([nn.Conv2d(16, 16, 1), nn.Conv2d(32, 16, 1)])
        self.tower = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.SiLU())
        self.scores, self.boxes, self.centre = nn.Conv2d(16, classes, 1), nn.Conv2d(16, 4, 1), nn.Conv2d(16, 1, 1)
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, fine, coarse):
        coarse = self.lateral[1](coarse)
        fine = self.lateral[0](fine) + F.interpolate(coarse, scale_factor=2.0, mode="nearest")
        scores, boxes = [], []
        for level, features in enumerate((fine, coarse)):
            y = self.tower(features)
            stride = 8 << level
            rows, columns = torch.meshgrid(torch.arange(y.shape[2]), torch.arange(y.shape[3]), indexing="ij")
            cells = (torch.stack([columns, rows, columns, rows], -1).reshape(-1, 4) + 0.5) * stride
            reach = (self.boxes(y) * self.scale[level]).exp().flatten(2).mT * stride
            boxes.append(cells + reach * torch.tensor([-1.0, -1.0, 1.0, 1.0]))
            scores.append((self.scores(y).sigmoid() * self.centre(y).sigmoid()).sqrt().flatten(2).mT)
        best, labels = torch.cat(scores, 1).max(-1)
        kept, index = best.topk(10, dim=1)
        boxes = torch.cat(boxes, 1).gather(1, index[..., None].expand(-1, -1, 4)).clamp(0, 128)
        return boxes, kept, labels.gather(1, index), kept > 0.05


def detector_head():
    return DetectorHead().eval(), (torch.randn(2, 16, 16, 16), torch.randn(2, 32, 8, 8))


class GraphAttention(nn.Module):
    """Attention over the edges that lead to each node, as message passing."""

    def __init__(self, heads: int = 3, width: int = 8) -> None:
        super().__init__()
        self.heads, self.width = heads, width
        self.project = nn.Linear(12, heads * width, bias=False)
        self.source, self.target = nn.Parameter(torch.randn(1, heads, width)), nn.Parameter(torch.randn(1, heads, width))
        self.bias = nn.Parameter(torch.zeros(heads * width))

    def forward(self, x, edges):
        nodes = x.size(0)
        h = self.project(x).view(nodes, self.heads, self.width)
        source, target = edges[0], edges[1]
        weight = F.leaky_relu((h * self.source).sum(-1)[source] + (h * self.target).sum(-1)[target], 0.2)
        index = target.unsqueeze(-1).expand_as(weight)
        peak = torch.full((nodes, self.heads), -1e9).scatter_reduce(0, index, weight, reduce="amax")
        weight = (weight - peak.index_select(0, target)).exp()
        total = torch.zeros(nodes, self.heads).scatter_add(0, index, weight)
        weight = weight / (total[target] + 1e-16)
        out = torch.zeros(nodes, self.heads, self.width).index_add(0, target, h[source] * weight.unsqueeze(-1))
        return F.elu(out.flatten(1) + self.bias), torch.logsumexp(out, dim=(1, 2))


def graph_attention():
    return GraphAttention().eval(), (torch.randn(20, 12), torch.randint(0, 20, (2, 60)))


class MixtureOfExperts(nn.Module):
    def __init__(self, experts: int = 6, width: int = 16) -> None:
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(experts, width, 32)), nn.Parameter(torch.randn(experts, 32, width))
        self.norm = nn.RMSNorm(width)

    def forward(self, x):
        tokens = self.norm(x).flatten(0, 1)
        weight, chosen = F.softmax(self.gate(tokens), dim=-1, dtype=torch.float32).topk(2, dim=-1)
        weight = weight / weight.sum(-1, keepdim=True)
        routing = torch.zeros(tokens.shape[0], self.gate.out_features).scatter_(1, chosen, weight)
        hidden = F.silu(torch.einsum("td,edh->eth", tokens, self.up))
        out = torch.einsum("eth,ehd,te->td", hidden, self.down, routing)
        load = F.one_hot(chosen, self.gate.out_features).sum((0, 1)).float()
        return (x + out.view_as(x)).nan_to_num(), load / load.sum()


def mixture_of_experts():
    return MixtureOfExperts().eval(), (torch.randn(2, 9, 16),)


class Decoder(nn.Module):
    """One step of a language model over a cache of keys and values, with rotary positions as complex numbers."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.words = nn.Embedding(64, width)
        self.q, self.kv, self.out = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.register_buffer("rates", 10000 ** (-torch.arange(0, self.size, 2) / self.size))

    def rotate(self, x, positions):
        turns = torch.polar(torch.ones_like(positions[:, None] * self.rates), positions[:, None] * self.rates)
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * turns).flatten(-2)

    def forward(self, words, keys, values, length):
        x = self.words(words)
        steps, past = words.shape[1], keys.shape[2]
        positions = torch.arange(past, past + steps).float()
        split = lambda y: y.view(y.shape[0], steps, self.heads, self.size).transpose(1, 2)  # noqa: E731
        y = self.norm(x)
        k, v = self.kv(y).chunk(2, -1)
        keys = torch.cat([keys, self.rotate(split(k), positions)], 2)
        values = torch.cat([values, split(v)], 2)
        causal = torch.ones(steps, past + steps, dtype=torch.bool).tril(past)
        filled = (torch.arange(past + steps)[None] < length[:, None]) | (torch.arange(past + steps)[None] >= past)
        mask = torch.logical_and(causal[None, None], filled[:, None, None])
        y = F.scaled_dot_product_attention(self.rotate(split(self.q(y)), positions), keys, values, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x @ self.words.weight.t(), keys, values


def decoder():
    return Decoder().eval(), (torch.randint(0, 64, (2, 4)), torch.randn(2, 4, 6, 8), torch.randn(2, 4, 6, 8), torch.tensor([6, 3]))


class Mixer(nn.Module):
    def __init__(self, patches: int = 16, width: int = 24) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 8, 8)
        self.blocks = nn.ModuleList()
        for _ in range(2):
            self.blocks.append(nn.ModuleDict({
                "norm1": nn.LayerNorm(width), "tokens": nn.Sequential(nn.Linear(patches, 32), nn.GELU(), nn.Linear(32, patches)),
                "norm2": nn.LayerNorm(width), "channels": nn.Sequential(nn.Linear(width, 48), nn.Hardswish(), nn.Linear(48, width))}))

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = x + block["tokens"](block["norm1"](x).mT).mT
            x = x + block["channels"](block["norm2"](x))
        return x.mean(1), x.amax(1), x.flip(1).cumsum(1)


def mixer():
    return Mixer().eval(), (torch.randn(2, 3, 32, 32),)


class WaveNet(nn.Module):
    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.start = nn.utils.parametrizations.weight_norm(nn.Conv1d(1, width, 1))
        self.filters = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=2**i) for i in range(4))
        self.residual = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(4))
        self.skip = nn.ModuleList(nn.Conv1d(width, 20, 1) for _ in range(4))
        self.end = nn.Conv1d(20, 16, 1)

    def forward(self, audio):
        audio = torch.sign(audio) * torch.log1p(255 * audio.abs()) / math.log(256)
        x, total = self.start(audio), 0
        for i, (conv, residual, skip) in enumerate(zip(self.filters, self.residual, self.skip)):
            gate, value = conv(F.pad(x, (2**i, 0))).chunk(2, dim=1)
            y = torch.tanh(value) * torch.sigmoid(gate)
            total = total + skip(y)
            x = x + residual(y)
        return self.end(F.relu(total)).permute(0, 2, 1).log_softmax(-1)


def wave_net():
    return WaveNet().eval(), (torch.randn(2, 1, 64),)


class Flow(nn.Module):
    """Affine couplings between invertible linear maps given as triangular factors; density and its inverse."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.net = nn.ModuleList(nn.Sequential(nn.Linear(width // 2, 24), nn.Softplus(), nn.Linear(24, width)) for _ in range(3))
        self.lower, self.upper = nn.Parameter(torch.randn(3, width, width)), nn.Parameter(torch.randn(3, width, width))
        self.diagonal = nn.Parameter(torch.rand(3, width) + 0.5)

    def forward(self, x):
        log_det = x.new_zeros(x.shape[0])
        for i, net in enumerate(self.net):
            one = torch.eye(x.shape[1])
            matrix = (self.lower[i].tril(-1) + one) @ (torch.triu(self.upper[i], 1) + torch.diag_embed(self.diagonal[i]))
            x = x @ matrix
            log_det = log_det + self.diagonal[i].abs().log().sum()
            kept, changed = x.tensor_split(2, dim=-1)
            scale, shift = net(kept).chunk(2, -1)
            scale = torch.tanh(scale)
            x = torch.hstack([changed * scale.exp() + shift, kept])
            log_det = log_det + scale.sum(-1)
        density = -0.5 * (x.square() + math.log(2 * math.pi)).sum(-1) + log_det
        return x, density, torch.linalg.solve(matrix, x.t())


def flow():
    return Flow().eval(), (torch.randn(6, 8),)


class Capsules(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 5, 2)
        self.transform = nn.Parameter(torch.randn(5, 288, 8, 4) * 0.1)

    @staticmethod
    def squash(x):
        square = x.pow(2).sum(-1, keepdim=True)
        return square / (1 + square) * x / (square.sqrt() + 1e-8)

    def forward(self, image):
        primary = self.squash(F.selu(self.conv(image)).view(image.shape[0], -1, 8))
        votes = torch.einsum("bid,oidc->boic", primary, self.transform)
        routing = torch.zeros(votes.shape[:3])
        for _ in range(3):
            capsules = self.squash((routing.softmax(1).unsqueeze(-1) * votes).sum(2))
            routing = routing + (votes * capsules.unsqueeze(2)).sum(-1)
        return capsules, capsules.norm(dim=-1).argmax(-1)


def capsules():
    return Capsules().eval(), (torch.randn(2, 1, 28, 28),)


class Bert(nn.Module):
    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.words, self.positions, self.segments = nn.Embedding(40, width, padding_idx=0), nn.Embedding(16, width), nn.Embedding(2, width)
        self.attention = nn.ModuleList(nn.MultiheadAttention(width, 4, batch_first=True) for _ in range(2))
        self.feed = nn.ModuleList(nn.Sequential(nn.Linear(width, 48), nn.GELU(), nn.Dropout(0.1), nn.Linear(48, width)) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(width, eps=1e-12) for _ in range(5))
        self.pooler = nn.Linear(width, width)

    def forward(self, words, segments):
        padding = words.eq(0)
        x = self.words(words) + self.positions(torch.arange(words.shape[1])) + self.segments(segments)
        x = self.norms[4](x)
        for i, (attention, feed) in enumerate(zip(self.attention, self.feed)):
            y, weights = attention(x, x, x, key_padding_mask=padding, average_attn_weights=False)
            x = self.norms[2 * i](x + y)
            x = self.norms[2 * i + 1](x + feed(x))
        pooled = torch.tanh(self.pooler(x.select(1, 0)))
        return x.masked_fill(padding.unsqueeze(-1), 0.0), pooled, weights.amax((1, 2)), F.cosine_similarity(pooled[:1], pooled[1:])


def bert():
    return Bert().eval(), (torch.randint(1, 40, (2, 12)), torch.randint(0, 2, (2, 12)))


class Encoder(nn.Module):
    def __init__(self, first: bool) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(24, 4, 48, activation="gelu", batch_first=True, norm_first=first)
        self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(24), enable_nested_tensor=False)

    def forward(self, x):
        return self.encoder(x)


def encoder_fast_path():
    return Encoder(first=False).eval(), (torch.randn(2, 10, 24),)


def encoder_norm_first():
    return Encoder(first=True).eval(), (torch.randn(2, 10, 24),)


class FourierOperator(nn.Module):
    """A Fourier neural operator: some frequencies are mixed by complex weights, kept as pairs of numbers."""

    def __init__(self, width: int = 8, modes: int = 5) -> None:
        super().__init__()
        self.lift, self.local, self.project = nn.Conv2d(2, width, 1), nn.Conv2d(width, width, 1), nn.Conv2d(width, 1, 1)
        self.modes = modes
        self.weight = nn.Parameter(torch.randn(width, width, modes, modes, 2))

    def forward(self, x):
        x = self.lift(x)
        spectrum = torch.fft.rfft2(x, norm="ortho")
        low = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, : self.modes, : self.modes], torch.view_as_complex(self.weight))
        low = F.pad(torch.view_as_real(low), (0, 0, 0, spectrum.shape[3] - self.modes, 0, spectrum.shape[2] - self.modes))
        mixed = torch.fft.irfft2(torch.view_as_complex(low), s=x.shape[-2:], norm="ortho")
        x = F.gelu(mixed + self.local(x))
        return self.project(x), torch.fft.fft(x.mean((1, 2))).abs()


def fourier_operator():
    return FourierOperator().eval(), (torch.randn(2, 2, 16, 16),)


MODELS = [
    unet, vision_transformer, sequence_tagger, detector_head, graph_attention, mixture_of_experts, decoder, mixer, wave_net, flow, capsules,
    bert, encoder_fast_path, encoder_norm_first, fourier_operator,
]  # fmt: skip
