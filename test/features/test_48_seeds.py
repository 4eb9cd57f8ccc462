"""Seed random numbers: a compiled graph draws what eager draws, and replays it exactly."""

from __future__ import annotations

import quern
import torch
from torch import nn


def test_dropout_equals_eagers_and_replays() -> None:
    model = nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.5), nn.ReLU())
    x = torch.randn(64, 16)
    compiled = torch.compile(model, backend="quern")
    torch.manual_seed(7)
    expected = model(x)
    quern.reset_counters()
    results = []
    for _ in range(2):
        torch.manual_seed(7)
        results.append(compiled(x))
    torch.testing.assert_close(results[0], expected)
    assert torch.equal(*results)
    assert not torch.equal(results[0], compiled(x))
    assert sum(quern.counters()["random"].values()) == 3


def test_backward_sees_the_same_mask() -> None:
    drop = torch.compile(lambda t: nn.functional.dropout(t, 0.5) * 2, backend="quern")
    x = torch.ones(200, requires_grad=True)
    y = drop(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(gradient, y.detach())
