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
