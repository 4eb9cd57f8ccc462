"""Use autocast, inference_mode, no_grad, checkpoint and `torch.func`: eager's results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def test_autocast() -> None:
    module = nn.Linear(8, 8)
    x = torch.randn(4, 8)
    with torch.autocast("cpu", torch.bfloat16):
        expected = module(x)
        result = torch.compile(module, backend="quern")(x)
    assert result.dtype == torch.bfloat16
    torch.testing.assert_close(result, expected)


def test_inference_mode_and_no_grad() -> None:
    module = nn.Linear(8, 8)
    compiled = torch.compile(module, backend="quern")
    x = torch.randn(4, 8)
    for guard in (torch.inference_mode, torch.no_grad):
        with guard():
            result = compiled(x)
            torch.testing.assert_close(result, module(x))
        assert not result.requires_grad


def test_checkpoint() -> None:
    module = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
    x = torch.randn(4, 8, requires_grad=True)
    compiled = torch.compile(lambda a: checkpoint(module, a, use_reentrant=False), backend="quern")
    (ours,) = torch.autograd.grad(compiled(x).sum(), x)
    (theirs,) = torch.autograd.grad(module(x).sum(), x)
    torch.testing.assert_close(ours, theirs)


def cubes(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() * x**2).sum()


FUNC: dict[str, Callable[[torch.Tensor], Any]] = {
    "grad": torch.func.grad(cubes),
    "vmap": torch.func.vmap(lambda row: torch.softmax(row, -1) @ row),
    "jacrev": torch.func.jacrev(torch.tanh),
    "jvp": lambda x: torch.func.jvp(torch.sin, (x,), (x,)),
    "hessian": torch.func.hessian(cubes),
    "gradient of each row": torch.func.vmap(torch.func.grad(cubes)),
}


@pytest.mark.parametrize("name", FUNC)
def test_func(name: str) -> None:
    function, x = FUNC[name], torch.randn(3, 4)
    result = torch.compile(lambda a: function(a), backend="quern")(x)
    torch.testing.assert_close(result, function(x))
