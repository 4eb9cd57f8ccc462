"""Rows on lists of tensors, in place, against PyTorch's own steps."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from aten_lists import ARITHMETIC
from aten_types import module
from torch.testing import assert_close

SHAPES = ((3, 4), (7,), (), (0,), (2, 3, 5))


def lists(count: int) -> list[list[torch.Tensor]]:
    torch.manual_seed(2)
    return [[torch.rand(shape) + 0.5 for shape in SHAPES] for _ in range(count)]


def copies(of: list[list[torch.Tensor]]) -> list[list[torch.Tensor]]:
    return [[x.clone() for x in xs] for xs in of]


@pytest.mark.parametrize("name", ["adam", "adamw"])
@pytest.mark.parametrize("maximize", [False, True])
def test_adam(name: str, maximize: bool) -> None:
    ours = lists(4)
    theirs = copies(ours)
    steps = [torch.tensor(3.0) for _ in SHAPES]
    numbers = {"lr": 0.01, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-8}
    fused = getattr(torch.ops.aten, f"_fused_{name}_").default
    fused(*theirs, [], steps, **numbers, amsgrad=False, maximize=maximize)
    getattr(module("optimizers.qn"), name)(*ours, steps, *numbers.values(), maximize)
    assert_close(ours, theirs)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("is_first", [False, True])
def test_sgd(momentum: float, is_first: bool) -> None:
    ours = lists(3 if momentum else 2)
    theirs = copies(ours)
    buffers = theirs[2] if momentum else []
    flags = {"nesterov": momentum > 0, "maximize": False, "is_first_step": is_first}
    numbers = {"weight_decay": 0.1, "momentum": momentum, "lr": 0.01, "dampening": 0.0}
    torch.ops.aten._fused_sgd_.default(*theirs[:2], buffers, **numbers, **flags)
    mine = ours if momentum else [*ours, []]
    module("optimizers.qn").sgd(*mine, *numbers.values(), *flags.values())
    assert_close(ours, theirs)


@pytest.mark.parametrize(("name", "theirs", "count", "numbers"), ARITHMETIC)
def test_arithmetic(name: str, theirs: str, count: int, numbers: tuple[Any, ...]) -> None:
    ours = lists(count)
    wanted = copies(ours)
    base, _, variant = theirs.partition(".")
    op = getattr(getattr(torch.ops.aten, base), variant)
    named = {"alpha": numbers[0]} if variant == "List" and "add" in base else {}
    named = {"alpha": numbers[0]} if "sub" in base else named
    op(*wanted, *(() if named else numbers), **named)
    getattr(module("optimizers.qn"), name)(*ours, *numbers)
    assert_close(ours, wanted)


def test_lists_of_results() -> None:
    """A step that gives lists of tensors runs through ATen whole."""
    ours = lists(5)
    theirs = copies(ours)
    steps = [torch.tensor(3.0) for _ in SHAPES]
    numbers = {"lr": 0.01, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-8}

    def step(*own: list[torch.Tensor]) -> None:
        torch._fused_adam_(*own, steps, **numbers, amsgrad=True, maximize=False)

    torch._dynamo.reset()
    torch.compile(step, backend="quern", fullgraph=True)(*ours)
    step(*theirs)
    assert_close(ours, theirs)
