"""Compile an optimizer step: parameters equal eager's."""

from __future__ import annotations

import pytest
import torch


def parameters() -> list[torch.nn.Parameter]:
    torch.manual_seed(2)
    return [torch.nn.Parameter(torch.randn(size)) for size in (7, 33, 128)]


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
@pytest.mark.parametrize("foreach", [False, True])
def test_three_steps(kind: type[torch.optim.Optimizer], foreach: bool) -> None:
    ours, theirs = parameters(), parameters()
    mine, eager = (kind(ps, lr=0.01, foreach=foreach) for ps in (ours, theirs))
    step = torch.compile(mine.step, backend="quern")
    for number in range(3):
        for a, b in zip(ours, theirs, strict=True):
            torch.manual_seed(number)
            a.grad = torch.randn_like(a)
            b.grad = a.grad.clone()
        step()
        eager.step()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)
