"""Compile an optimizer step: parameters equal eager's."""

from __future__ import annotations

from typing import Any

import pytest
import torch


def parameters() -> list[torch.nn.Parameter]:
    torch.manual_seed(2)
    return [torch.nn.Parameter(torch.randn(size)) for size in (7, 33, 128)]


FORMS: dict[str, dict[str, Any]] = {
    "plain": {"foreach": False},
    "foreach": {"foreach": True},
    "fused": {"fused": True},
}


def set_gradients(parameters: list[torch.nn.Parameter], seed: int) -> None:
    torch.manual_seed(seed)
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
@pytest.mark.parametrize("clips", [False, True], ids=["", "clipped"])
@pytest.mark.parametrize("form", FORMS)
def test_three_steps(kind: type[torch.optim.Optimizer], form: str, clips: bool) -> None:
    ours, theirs = parameters(), parameters()
    mine, eager = (kind(ps, lr=0.01, **FORMS[form]) for ps in (ours, theirs))

    def step(optimizer: torch.optim.Optimizer, given: list[torch.nn.Parameter]) -> None:
        if clips:
            torch.nn.utils.clip_grad_norm_(given, 0.5)
        optimizer.step()

    compiled = torch.compile(step, backend="quern")
    for number in range(3):
        for each in (ours, theirs):
            set_gradients(each, number)
        compiled(mine, ours)
        step(eager, theirs)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)
