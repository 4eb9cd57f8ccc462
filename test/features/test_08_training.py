"""Train: losses and weights equal eager's over twenty steps."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(12, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Unflatten(1, (1, 12)),
        nn.Conv1d(1, 8, 3, padding=1),
        nn.BatchNorm1d(8),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(96, 4),
    )


class Attention(nn.Module):
    """Causal self-attention."""

    def __init__(self, width: int = 16, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.mix(x).unflatten(-1, (3, self.heads, -1)).movedim(2, 0)
        q, k, v = (part.transpose(1, 2) for part in parts)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


class Gpt(nn.Module):
    """Two blocks between an embedding and a head that share their weights."""

    def __init__(self, words: int = 40, length: int = 12, width: int = 16) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.randn(length, width) * 0.1)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.attention = nn.ModuleList(Attention(width) for _ in range(2))
        self.feed = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            for _ in range(2)
        )

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.words(tokens) + self.places
        for i in range(2):
            x = x + self.attention[i](self.norms[2 * i](x))
            x = x + self.feed[i](self.norms[2 * i + 1](x))
        return functional.linear(x, self.words.weight)


class WithLoss(nn.Module):
    """A model whose loss is part of what is compiled."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(self.model(x).flatten(0, -2), y.flatten())


def train_gpt(model: nn.Module, call: object) -> list[float]:
    torch.manual_seed(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(20):
        tokens = torch.randint(40, (4, 13))
        optimizer.zero_grad()
        loss = call(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("inside", [True, False], ids=["loss inside", "loss outside"])
def test_gpt(inside: bool) -> None:
    ours = Gpt()
    theirs = copy.deepcopy(ours)
    whole = WithLoss(ours)
    if inside:
        call = torch.compile(whole, backend="quern")
    else:
        whole.model = torch.compile(ours, backend="quern")
        call = whole
    mine, eager = train_gpt(ours, call), train_gpt(theirs, WithLoss(theirs))
    torch.testing.assert_close(torch.tensor(mine), torch.tensor(eager))
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def train(module: nn.Module, call: object) -> list[float]:
    torch.manual_seed(1)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.05)
    losses = []
    for _ in range(20):
        x, y = torch.randn(16, 12), torch.randint(4, (16,))
        optimizer.zero_grad()
        loss = functional.cross_entropy(call(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("build", [mlp, cnn])
def test_twenty_steps(build: object) -> None:
    ours = build()
    theirs = copy.deepcopy(ours)
    mine = train(ours, torch.compile(ours, backend="quern"))
    torch.testing.assert_close(torch.tensor(mine), torch.tensor(train(theirs, theirs)))
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
