"""Small models as users write them, strict: everything is a kernel of ours or, where it
was measured to be faster, ATen's."""

from __future__ import annotations

import copy
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


class Decode(nn.Module):
    """One token against a cache that is written in place."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.register_buffer("keys", torch.zeros(2, 4, 8, 4))
        self.register_buffer("values", torch.zeros(2, 4, 8, 4))

    def forward(self, x: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).view(2, 1, 3, 4, 4).permute(2, 0, 3, 1, 4)
        self.keys.index_copy_(2, place, k.detach())
        self.values[:, :, place] = v.detach()
        mask = torch.arange(8)[None] <= place[:, None]
        y = functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
        return y.transpose(1, 2).flatten(2)


class Tied(nn.Module):
    """A language model whose output weights are its embedding's, on rolled targets."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.hidden = nn.Linear(8, 8)
        self.out = nn.Linear(8, 20, bias=False)
        self.out.weight = self.embedding.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits = self.out(torch.tanh(self.hidden(self.embedding(tokens))))
        return functional.cross_entropy(
            logits.flatten(0, 1), tokens.roll(-1).flatten(), ignore_index=0
        )


class Alignment(nn.Module):
    """The forward sums of CTC, step by step."""

    def forward(self, scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        scores = scores.log_softmax(-1)
        path = torch.zeros(labels.shape[0], 2 * labels.shape[1] + 1, dtype=torch.long)
        path[:, 1::2] = labels
        emitted = scores.gather(2, path[:, None].expand(-1, scores.shape[1], -1))
        skips = functional.pad((path[:, 2:] != path[:, :-2]) & (path[:, 2:] != 0), (2, 0))
        never = torch.tensor(-1e30)
        sums = torch.where(torch.arange(path.shape[1]) < 2, emitted[:, 0], never)
        for step in range(1, scores.shape[1]):
            one = functional.pad(sums[:, :-1], (1, 0), value=-1e30)
            two = torch.where(skips, functional.pad(sums[:, :-2], (2, 0), value=-1e30), never)
            sums = torch.logsumexp(torch.stack([sums, one, two]), 0) + emitted[:, step]
        return -torch.logaddexp(sums[:, -1], sums[:, -2]).mean()


class Normed(nn.Module):
    """Convolutions whose weights are a direction and a length."""

    def __init__(self) -> None:
        super().__init__()
        norm = torch.nn.utils.parametrizations.weight_norm
        self.first = norm(nn.Conv1d(3, 6, 3))
        self.second = norm(nn.ConvTranspose1d(3, 4, 3, stride=2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.second(functional.glu(self.first(x), 1))
        return result


class Mixed(nn.Module):
    """Layers under autocast."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.norm = nn.LayerNorm(32)
        self.second = nn.Linear(32, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return self.second(functional.gelu(self.norm(self.first(x)))).float().softmax(-1)


class Experts(nn.Module):
    """The two best of four experts a token, and the loss that balances them."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.up = nn.Parameter(ramp(4, 8, 16) * 0.3)
        self.down = nn.Parameter(ramp(4, 16, 8) * 0.3)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        chances = self.gate(x).softmax(-1)
        weights, chosen = chances.topk(2, -1)
        hidden = functional.gelu(torch.einsum("td,edf->tef", x, self.up))
        every = torch.einsum("tef,efd->ted", hidden, self.down)
        best = every.gather(1, chosen[..., None].expand(-1, -1, 8))
        y = (best * (weights / weights.sum(-1, keepdim=True))[..., None]).sum(1)
        load = functional.one_hot(chosen, 4).float().sum((0, 1))
        return y, (load / load.sum() * chances.mean(0)).sum() * 4


class Splines(nn.Module):
    """A layer of B-splines on a grid."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("grid", torch.linspace(-2, 2, 9))
        self.weight = nn.Parameter(ramp(5, 6, 5) * 0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        g, at = self.grid, x[..., None]
        basis = ((at >= g[:-1]) & (at < g[1:])).to(x.dtype)
        for k in range(1, 4):
            left = (at - g[: -k - 1]) / (g[k:-1] - g[: -k - 1]) * basis[..., :-1]
            right = (g[k + 1 :] - at) / (g[k + 1 :] - g[1:-k]) * basis[..., 1:]
            basis = left + right
        return torch.einsum("bik,oik->bo", basis, self.weight)


TOKENS = torch.arange(21).mul(7).remainder(20).view(3, 7)
CASES: dict[str, tuple[type[nn.Module], tuple[torch.Tensor, ...]]] = {
    "decode": (Decode, (ramp(2, 1, 16), torch.tensor([3]))),
    "tied": (Tied, (TOKENS,)),
    "alignment": (Alignment, (ramp(2, 7, 5), torch.tensor([[1, 2], [3, 3]]))),
    "normed": (Normed, (ramp(2, 3, 12),)),
    "mixed": (Mixed, (ramp(4, 16),)),
    "experts": (Experts, (ramp(10, 8),)),
    "splines": (Splines, (ramp(7, 6),)),
}


@pytest.mark.parametrize("preferred", ["aten", "own"])
@pytest.mark.parametrize("name", CASES)
def test_a_step_equals_eager(name: str, preferred: str) -> None:
    made, inputs = CASES[name]
    torch.manual_seed(0)
    ours, eager, exact = steps(made(), inputs, preferred, widens=name != "mixed")
    if name == "mixed":  # Rounded between layers, which fusion need not do.
        torch.testing.assert_close(ours, eager, rtol=3e-2, atol=3e-2)
    else:
        assert_as_good_as_eager(ours, eager, exact)


def padded(x: torch.Tensor) -> list[torch.Tensor]:
    return [
        functional.pad(x, (2, 0)),
        functional.pad(x, (1, 1), value=1),
        functional.pad(x > 3, (0, 2), value=True),
    ]


def rolled(x: torch.Tensor) -> list[torch.Tensor]:
    return [x.roll(3), x.t().roll(-2), x.roll((1, 2), (0, 1))]


def found(x: torch.Tensor) -> list[torch.Tensor]:
    y = (x - 7).cos()
    return [y.argmax(), y.t().argmin(), y.argmax(None, True), y[0].argmin(), y[:, 1:].argmax()]


@pytest.mark.parametrize("function", [padded, rolled, found])
def test_integers_move(function: Any) -> None:
    x = torch.arange(20).view(4, 5)
    compiled = torch.compile(function, backend="quern", options={"fallback": "error"})
    torch.testing.assert_close(compiled(x), function(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_what_is_added_to_products_is_spread(dtype: torch.dtype) -> None:
    def function(
        row: torch.Tensor, column: torch.Tensor, x: torch.Tensor, y: torch.Tensor
    ) -> list[torch.Tensor]:
        return [
            torch.addmm(row, x[0], y[0]),
            torch.addmm(column, x[0], y[0], beta=0.5, alpha=2),
            torch.baddbmm(row, x, y, beta=0.5),
            torch.addmv(row[:1], x[0], y[0, :, 0]),
        ]

    operands = [each.to(dtype) for each in (ramp(6), ramp(4, 1), ramp(2, 4, 8), ramp(2, 8, 6))]
    options = {"fallback": "error", "preferred": "own"}
    compiled = torch.compile(function, backend="quern", options=options)
    torch.testing.assert_close(compiled(*operands), function(*operands))


PADDING = torch.arange(6) >= torch.tensor([[6], [4]])
CAUSAL = torch.ones(6, 6, dtype=torch.bool).triu(1)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("padding", [None, PADDING])
@pytest.mark.parametrize("causal", [None, CAUSAL])
def test_an_encoder_layer_is_its_parts(
    norm_first: bool, causal: torch.Tensor | None, padding: torch.Tensor | None
) -> None:
    masks = {"src_mask": causal, "src_key_padding_mask": padding}
    torch.manual_seed(0)
    shape = {"d_model": 16, "nhead": 4, "dim_feedforward": 32, "activation": "gelu"}
    layer = nn.TransformerEncoderLayer(**shape, batch_first=True, norm_first=norm_first).eval()
    x = ramp(2, 6, 16)
    with torch.no_grad():
        eager = layer(x, **masks)
        exact = copy.deepcopy(layer).double()(x.double(), **masks)
        compiled = torch.compile(layer, backend="quern", options={"fallback": "error"})
        assert_as_good_as_eager(compiled(x, **masks), eager, exact)
