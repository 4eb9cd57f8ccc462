"""Parts of networks that no model of the tree has: a step of each gives what eager gives, strict,
results, gradients and buffers."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from comparison import assert_as_good_as_eager, steps
from torch import nn
from torch.nn import functional

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def wave(*shape: int) -> torch.Tensor:
    """Values of both signs without an order."""
    count = torch.Size(shape).numel()
    return torch.arange(count).mul(1.3).sin().mul(1.2).view(shape)


class Windowed(nn.Module):
    """Attention with a bias that grows with distance, within a window, and a sink."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(24, 72)
        self.sink = nn.Parameter(wave(3))
        self.register_buffer("slopes", 2.0 ** -torch.arange(1, 4).float())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 3, 8).permute(2, 0, 3, 1, 4).unbind(0)
        place = torch.arange(length)
        distance = place[:, None] - place
        scores = 10 * torch.tanh((q @ k.mT) / math.sqrt(8) / 10)
        scores = scores - self.slopes[:, None, None] * distance.abs()
        scores = scores.masked_fill(~((distance >= 0) & (distance < 4)), -torch.inf)
        sink = self.sink.view(1, 3, 1, 1).expand(batch, 3, length, 1)
        weights = torch.cat([scores, sink], -1).softmax(-1)[..., :-1]
        return (weights @ v).transpose(1, 2).reshape(batch, length, 24)


class Capacity(nn.Module):
    """Experts that take so many tokens and no more, by one-hot dispatch."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(12, 4, bias=False)
        self.up = nn.Parameter(wave(4, 12, 20) * 0.2)
        self.down = nn.Parameter(wave(4, 20, 12) * 0.2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        chances = self.gate(x).softmax(-1)
        chosen = functional.one_hot(chances.argmax(-1), 4)
        place = (chosen.cumsum(0) * chosen).sum(-1) - 1
        slots = functional.one_hot(place.clamp(max=4), 5)[:, :4]
        sent = (chosen[:, :, None] * slots[:, None]).to(x.dtype)
        hidden = functional.relu(torch.einsum("tec,td->ecd", sent, x) @ self.up).square()
        y = torch.einsum("tec,ecd->td", sent * chances.amax(-1)[:, None, None], hidden @ self.down)
        return y, torch.logsumexp(self.gate(x), -1).square().mean(), place


class Chunks(nn.Module):
    """A state space model by chunks: sums of segments instead of a scan."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 18)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        v, k, q, a = self.project(x).split([8, 4, 4, 2], -1)
        a = -functional.softplus(a).view(2, 3, 4, 2).permute(0, 3, 1, 2)
        v, k, q = v.view(2, 3, 4, 2, 4), k.view(2, 3, 4, 4), q.view(2, 3, 4, 4)
        sums = a.cumsum(-1)
        lower = torch.ones(4, 4, dtype=torch.bool).tril()
        within = (sums[..., None] - sums[..., None, :]).masked_fill(~lower, -torch.inf).exp()
        y = torch.einsum("bclk,bcsk,bhcls,bcshp->bclhp", q, k, within, v)
        states = torch.einsum("bclk,bhcl,bclhp->bchpk", k, (sums[..., -1:] - sums).exp(), v)
        before = functional.pad(states, (0, 0, 0, 0, 0, 0, 1, -1))
        y = y + torch.einsum("bclk,bchpk,bhcl->bclhp", q, before, sums.exp())
        return y.reshape(2, 12, 8)


class Graph(nn.Module):
    """Attention along edges, its softmax by scattered extremes and sums, and pooled nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(6, 8, bias=False)
        self.source, self.target = nn.Parameter(wave(2, 4)), nn.Parameter(wave(2, 4) * 0.5)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> tuple[torch.Tensor, ...]:
        h = self.hidden(x).view(-1, 2, 4)
        start, end = edges
        score = (h * self.source).sum(-1)[start] + (h * self.target).sum(-1)[end]
        score = functional.leaky_relu(score, 0.2)
        place = end[:, None].expand(-1, 2)
        top = torch.full_like(h[..., 0], -torch.inf).scatter_reduce(
            0, place, score.detach(), "amax"
        )
        power = (score - top[end]).exp()
        total = torch.zeros_like(h[..., 0]).index_add(0, end, power)
        sent = h[start] * (power / total[end])[..., None]
        y = torch.zeros_like(h).scatter_add(0, place[..., None].expand(-1, -1, 4), sent).flatten(1)
        pooled = y.new_zeros(3, 8).index_reduce(0, torch.arange(11) % 3, y, "mean")
        return functional.elu(y), pooled, torch.bincount(end, minlength=11)


class Spline(nn.Module):
    """A flow of rational splines: bins by `searchsorted`, knots by `gather`."""

    def __init__(self) -> None:
        super().__init__()
        self.knots = nn.Linear(2, 32)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        p = self.knots(x).view(-1, 2, 16)
        wide = functional.pad(p[..., :5].softmax(-1).cumsum(-1), (1, 0)) * 6 - 3
        high = functional.pad(p[..., 5:10].softmax(-1).cumsum(-1), (1, 0)) * 6 - 3
        slope = functional.softplus(p[..., 10:])
        inside = (x > -3) & (x < 3)
        limited = x.detach()[..., None].clamp(-2.99, 2.99)
        bin_ = torch.searchsorted(wide.detach().contiguous(), limited) - 1

        def at(values: torch.Tensor) -> torch.Tensor:
            return values.gather(-1, bin_.clamp(0, 4)).squeeze(-1)

        width = at(wide[..., 1:]) - at(wide)
        height = at(high[..., 1:]) - at(high)
        s, d0, d1 = height / width, at(slope), at(slope[..., 1:])
        t = (x - at(wide)) / width
        under = s + (d1 + d0 - 2 * s) * t * (1 - t)
        y = at(high) + height * (s * t * t + d0 * t * (1 - t)) / under
        return torch.where(inside, y, x), torch.where(inside, s.log() - under.log(), 0.0)


class Codebook(nn.Module):
    """Nearest vectors with gradients passed straight through, and their running means."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = nn.Conv2d(3, 6, 4, 2, 1), nn.ConvTranspose2d(6, 3, 4, 2, 1)
        self.book = nn.Parameter(wave(12, 6))
        self.register_buffer("mean", wave(12, 6) * 0.5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        z = self.encode(x)
        flat = z.permute(0, 2, 3, 1).reshape(-1, 6)
        distance = flat.square().sum(1, keepdim=True) - 2 * flat @ self.book.T
        nearest = (distance + self.book.square().sum(1)).argmin(1)
        q = functional.embedding(nearest, self.book).view(x.shape[0], 4, 4, 6).permute(0, 3, 1, 2)
        used = functional.one_hot(nearest, 12).to(flat.dtype)
        with torch.no_grad():
            self.mean.lerp_(used.T @ flat, 0.1)
        loss = functional.mse_loss(q, z.detach()) + functional.mse_loss(z, q.detach()) / 4
        return self.decode(z + (q - z).detach()), loss, nearest.view(-1, 4, 4)


class Boxes(nn.Module):
    """Boxes, how much they overlap, and which of them stay."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(5, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        centre, size, score = self.head(x).sigmoid().split([2, 2, 1], -1)
        order = score[:, 0].argsort(descending=True, stable=True)
        low, high = (centre - size / 2)[order], (centre + size / 2)[order]
        common = torch.minimum(high[:, None], high) - torch.maximum(low[:, None], low)
        common = common.clamp(min=0).prod(-1)
        area = (high - low).prod(-1)
        overlap = (common / (area[:, None] + area - common)).triu(1)
        keep = torch.ones(x.shape[0], dtype=torch.bool)
        for i in range(x.shape[0]):
            keep = keep & ~((overlap[i] > 0.3) & keep[i])
        decay = torch.exp(-(overlap**2 - overlap.amax(0)[:, None] ** 2)).amin(0)
        return (
            keep.int(),
            score[order, 0] * decay,
            torch.where(keep, score[order, 0], -1.0).topk(3)[0],
        )


class Deformed(nn.Module):
    """A convolution whose samples lie where another one says."""

    def __init__(self) -> None:
        super().__init__()
        self.offset = nn.Conv2d(4, 18, 3, padding=1)
        self.weight = nn.Parameter(wave(5, 4, 9) * 0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        moved = self.offset(x).view(batch, 9, 2, height, width)
        around = torch.arange(-1, 2)
        y = torch.arange(height)[:, None] + around.repeat_interleave(3)[:, None, None]
        z = torch.arange(width) + around.repeat(3)[:, None, None]
        places = torch.stack(
            [
                2 * (z + moved[:, :, 1]) / (width - 1) - 1,
                2 * (y + moved[:, :, 0]) / (height - 1) - 1,
            ],
            -1,
        )
        found = functional.grid_sample(x, places.flatten(1, 2), align_corners=True)
        found = found.view(batch, channels, 9, height, width)
        return torch.einsum("bckhw,ock->bohw", found, self.weight)


class Rounded(torch.autograd.Function):
    """Rounding to so many steps, whose width is learned."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, width: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, width)
        return torch.round(x / width).clamp(-8, 7) * width

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        x, width = ctx.saved_tensors
        place = x / width
        inside = (place >= -8) & (place <= 7)
        step = torch.where(inside, place.round() - place, place.clamp(-8, 7))
        return gradients[0] * inside, (gradients[0] * step).sum()


class Quantised(nn.Module):
    """Weights in four bits, and what bytes make of them."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(wave(6, 8) * 0.4)
        self.width = nn.Parameter(torch.tensor(0.05))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        whole = (self.weight / self.width).round().to(torch.int8)
        product = whole.int() @ whole.T.int()
        return x @ Rounded.apply(self.weight, self.width).T, whole, product


class Spectral(nn.Module):
    """Weights in the frequency domain."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(wave(3, 4, 3, 3, 2))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        low = torch.fft.rfft2(x, norm="ortho")
        weight = torch.view_as_complex(self.weight)
        mixed = torch.einsum("bixy,ioxy->boxy", low[:, :, :3, :3], weight)
        mixed = functional.pad(mixed, (0, low.shape[-1] - 3, 0, low.shape[-2] - 3))
        y = torch.fft.irfft2(mixed, s=x.shape[-2:], norm="ortho")
        return functional.gelu(y), torch.fft.fftshift(low.abs(), dim=-2)


EDGES = torch.arange(80).mul(29).remainder(97).remainder(11).view(2, 40)
CASES: dict[str, tuple[type[nn.Module], tuple[torch.Tensor, ...]]] = {
    "windowed": (Windowed, (wave(2, 13, 24),)),
    "capacity": (Capacity, (wave(19, 12),)),
    "chunks": (Chunks, (wave(2, 12, 8),)),
    "graph": (Graph, (wave(11, 6), EDGES)),
    "spline": (Spline, (wave(6, 2) * 2,)),
    "codebook": (Codebook, (wave(2, 3, 8, 8),)),
    "boxes": (Boxes, (wave(10, 5) * 3,)),
    "deformed": (Deformed, (wave(2, 4, 6, 7),)),
    "quantised": (Quantised, (wave(4, 8),)),
    "spectral": (Spectral, (wave(2, 3, 8, 6),)),
}


@pytest.mark.parametrize("preferred", ["aten", "own"])
@pytest.mark.parametrize("name", CASES)
def test_a_step_equals_eager(name: str, preferred: str) -> None:
    made, inputs = CASES[name]
    torch.manual_seed(0)
    assert_as_good_as_eager(*steps(made(), inputs, preferred))
