"""Steps of layers that users write as functions, strict: routing, graphs, scans, attentions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from comparison import assert_as_good_as_eager, steps
from torch import nn
from torch.nn import functional

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def ramp(*shape: int) -> torch.Tensor:
    """Values of both signs without an order."""
    count = torch.Size(shape).numel()
    return torch.arange(count).mul(0.7).sin().mul(1.5).view(shape)


class Called(nn.Module):
    """A function in a module's place."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


def routed(x: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> Any:
    """Two of four experts for each token, and the loss that spreads the tokens."""
    gate = torch.softmax(x @ up[:, :4], -1)
    chosen, at = gate.topk(2, -1)
    chosen = chosen / chosen.sum(-1, keepdim=True)
    out = torch.zeros_like(x)
    for expert in range(4):
        weight = (chosen * (at == expert)).sum(-1, keepdim=True)
        out = out + weight * (functional.gelu(x @ (up * (expert + 1))) @ down)
    share = functional.one_hot(at[:, 0], 4).to(x.dtype).mean(0)
    return out, (gate.mean(0) * share).sum() * 4


def graph_attention(x: torch.Tensor, a: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
    """A softmax over the edges that end in one node."""
    source, target = edges
    score = (x[source] * a).sum(-1) + (x[target] * a.flip(0)).sum(-1)
    score = functional.leaky_relu(score, 0.2)
    most = torch.full((x.shape[0],), float("-inf"), dtype=x.dtype)
    most = most.scatter_reduce(0, target, score, "amax")
    weight = (score - most[target]).exp()
    total = torch.zeros_like(most).index_add(0, target, weight)
    weight = weight / total[target]
    return torch.zeros_like(x).index_add(0, target, weight[:, None] * x[source])


def recurrence(u: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A state space step by step."""
    state = u.new_zeros(u.shape[0], *a.shape)
    decay = torch.exp(-functional.softplus(a))
    made = []
    for t in range(u.shape[1]):
        state = state * decay + u[:, t, :, None] * b
        made.append((state * b.sin()).sum(-1))
    return torch.stack(made, 1)


def long_convolution(u: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """The same as one convolution, by way of its spectrum."""
    length = u.shape[1]
    kernel = torch.exp(-functional.softplus(a) * torch.arange(length)[:, None])
    spectrum = torch.fft.rfft(u, n=2 * length, dim=1)
    spectrum = spectrum * torch.fft.rfft(kernel, n=2 * length, dim=0)
    return torch.fft.irfft(spectrum, n=2 * length, dim=1)[:, :length]


def linear_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    q, k = functional.elu(q) + 1, functional.elu(k) + 1
    outer = torch.einsum("bhnd,bhne->bhde", k, v)
    scale = 1 / (torch.einsum("bhnd,bhd->bhn", q, k.sum(2)) + 1e-6)
    return torch.einsum("bhnd,bhde,bhn->bhne", q, outer, scale)


def grouped_queries(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Turned queries and keys, two heads to a key, a band of a mask."""
    length, width = q.shape[-2:]
    angle = torch.arange(length)[:, None] * 100 ** -(torch.arange(0, width, 2) / width)

    def turned(x: torch.Tensor) -> torch.Tensor:
        even, odd = x[..., ::2], x[..., 1::2]
        cos, sin = angle.cos(), angle.sin()
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)

    k, v = turned(k).repeat_interleave(2, 1), v.repeat_interleave(2, 1)
    scores = turned(q) @ k.mT / width**0.5
    band = torch.ones(length, length, dtype=torch.bool).tril().triu(-3)
    return scores.masked_fill(~band, float("-inf")).softmax(-1) @ v


def contrasted(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    a, b = functional.normalize(a, dim=-1), functional.normalize(b, dim=-1)
    logits = a @ b.t() / 0.07
    own = torch.arange(len(a))
    both = functional.cross_entropy(logits, own) + functional.cross_entropy(logits.t(), own)
    return both / 2 + functional.triplet_margin_loss(a, b, b.roll(1, 0))


EDGES = torch.stack([torch.arange(20).mul(7) % 12, torch.arange(20).mul(5) % 11])
CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "routed": (routed, (ramp(10, 8), ramp(8, 16), ramp(16, 8))),
    "graph attention": (graph_attention, (ramp(12, 6), ramp(6), EDGES)),
    "recurrence": (recurrence, (ramp(2, 10, 6), ramp(6, 4), ramp(6, 4) + 0.1)),
    "long convolution": (long_convolution, (ramp(2, 16, 6), ramp(6))),
    "linear attention": (linear_attention, (ramp(2, 4, 8, 6), ramp(2, 4, 8, 6), ramp(2, 4, 8, 5))),
    "grouped queries": (grouped_queries, (ramp(2, 4, 8, 6), ramp(2, 2, 8, 6), ramp(2, 2, 8, 6))),
    "contrasted": (contrasted, (ramp(8, 16), ramp(8, 16) + 0.3)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_step_equals_eager(name: str) -> None:
    function, inputs = CASES[name]
    assert_as_good_as_eager(*steps(Called(function), inputs, "aten"))
