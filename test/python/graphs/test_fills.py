"""Tensors of one number, gradients of slices, and what training computes twice."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
import quern
import torch
from torch.nn import functional

Loss = Callable[[torch.Tensor], torch.Tensor]


def rotated(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


SLICES: dict[str, Loss] = {
    "halves turned": lambda x: x * torch.cos(x) + rotated(x) * torch.sin(x),
    "three parts": lambda x: x[:, :2].sin() * x[:, 2:4] + x[:, 4:].exp().sum(1, keepdim=True),
    "every second": lambda x: x[:, ::2] * x[:, 1::2].cos(),
    "from the end": lambda x: x[:, -3:-1] * x[:, :-6] + x[:1, 2:3],
    "rows and columns": lambda x: x[1:, :-1] - x[:-1, 1:].tanh(),
    "one place": lambda x: x[:, 3] * x[2].sum() + x[:, -1].exp(),
    "one place that stays": lambda x: x[:, 3:4] * x[1:2].cos() + x[:, :1].exp() * x[-1:],
    "nothing": lambda x: x[:, 4:4].sum() + x * 2,
    "beside a reduction": lambda x: (
        functional.softmax(x, -1)[:, 1:5] * functional.layer_norm(x[:, 3:], (5,))[:, :4]
    ),
    "beside a product": lambda x: x[:, :4] @ x[:4, 4:].relu(),
}


@pytest.mark.parametrize("name", SLICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("dynamic", [False, True])
def test_gradients_of_slices(name: str, dtype: torch.dtype, dynamic: bool) -> None:
    function = SLICES[name]
    x = torch.randn(8, 8, dtype=dtype, requires_grad=True)
    compiled = torch.compile(function, backend="quern", fullgraph=True, dynamic=dynamic)
    weight = torch.rand_like(function(x))
    wanted = torch.autograd.grad((function(x) * weight).sum(), x)[0]
    found = torch.autograd.grad((compiled(x) * weight).sum(), x)[0]
    # Eager rounds every step to bf16, a kernel its result.
    slack = 0.05 if dtype == torch.bfloat16 else 1e-5
    torch.testing.assert_close(found, wanted, rtol=slack, atol=slack)


def test_gradients_of_halves_are_two_launches() -> None:
    """The product that is cut in halves, and all the rest."""
    x = torch.randn(2, 4, 64, 32, requires_grad=True)
    compiled = torch.compile(SLICES["halves turned"], backend="quern", fullgraph=True)
    torch.autograd.grad(compiled(x).sum(), x)
    quern.reset_counters()
    y = compiled(x)
    forward = quern.counters()["launches"]
    torch.autograd.grad(y.sum(), x)
    assert quern.counters()["launches"] == forward + 2


FILLS: dict[str, Loss] = {
    "zeros": lambda x: x + torch.zeros(3, 8),
    "ones": lambda x: torch.maximum(x, torch.ones(8)),
    "new": lambda x: x * x.new_full((3, 1), 2.5) + x.new_zeros(8) - x.new_ones(3, 8),
    "of another type": lambda x: torch.where(torch.ones(8, dtype=torch.bool), x, x.new_zeros(3, 8)),
    "spread": lambda x: x + torch.full((), 2.0).expand(3, 8).sin(),
    "read twice": lambda x: torch.mm(fill := torch.full((3, 3), 0.5), x) + fill @ x.exp(),
    "given back": lambda x: torch.zeros(3, 8) + torch.ones_like(x),
    "larger than the rest": lambda x: torch.ones(4, 3, 8) * x[0],
    "written to": lambda x: torch.zeros(3, 8).copy_(x).mul_(2) + torch.zeros(3, 8),
    "a place": lambda x: torch.zeros(3, 8).index_add(0, torch.tensor([0, 2]), x[:2]) + x,
    "joined": lambda x: torch.cat([torch.zeros(1, 8), x.sin(), torch.ones(2, 8)]),
    "halved": lambda x: torch.zeros(6, 8)[:3] + x,
    "negative zero": lambda x: (
        torch.copysign(x, torch.full((8,), -0.0)) + torch.copysign(x, torch.full((8,), 0.0))
    ),
    "integers": lambda x: torch.full((3, 8), 7) // torch.full((8,), 2) + x,
    "complex": lambda x: (
        (torch.full((3, 8), 1 + 2j) * x).real + torch.zeros(8, dtype=torch.cfloat).imag
    ),
}


@pytest.mark.parametrize("name", FILLS)
@pytest.mark.parametrize("grad", [False, True])
def test_tensors_of_one_number(name: str, grad: bool) -> None:
    function = FILLS[name]
    x = torch.randn(3, 8, requires_grad=grad)
    compiled = torch.compile(function, backend="quern", fullgraph=True)
    found, wanted = compiled(x), function(x)
    assert found.stride() == wanted.stride()
    torch.testing.assert_close(found, wanted)
    if grad and wanted.requires_grad:
        torch.testing.assert_close(
            torch.autograd.grad(found.square().sum(), x),
            torch.autograd.grad(wanted.square().sum(), x),
        )


def test_signs_of_zeros_stay_two() -> None:
    """In training, where what is computed twice is merged."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.copysign(x, torch.full((8,), 0.0)) - torch.copysign(x, torch.full((8,), -0.0))

    x = torch.randn(3, 8, requires_grad=True)
    found = torch.compile(function, backend="quern", fullgraph=True)(x)
    assert torch.equal(found, 2 * x.abs())


def test_random_numbers_are_drawn_twice() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.stack(
            [functional.dropout(x, 0.5), functional.dropout(x, 0.5), torch.rand_like(x)]
        )

    x = torch.ones(1000, requires_grad=True)
    compiled = torch.compile(function, backend="quern", fullgraph=True)
    torch.manual_seed(3)
    wanted = function(x)
    torch.manual_seed(3)
    assert torch.equal(compiled(x), wanted)
    assert not torch.equal(wanted[0], wanted[1])


def test_outputs_stay_tensors_of_their_own() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2, x * 2

    x = torch.randn(4, requires_grad=True)
    first, second = torch.compile(function, backend="quern", fullgraph=True)(x)
    assert first.data_ptr() != second.data_ptr()


def test_what_is_written_between_is_read_twice() -> None:
    def function(x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        before = state.sin()
        state.add_(1)
        return x * before + state.sin()

    x = torch.randn(4, requires_grad=True)
    states = [torch.zeros(4), torch.zeros(4)]
    wanted = function(x, states[0])
    found = torch.compile(function, backend="quern", fullgraph=True)(x, states[1])
    torch.testing.assert_close(found, wanted)
    assert torch.equal(*states)


def test_training_computes_once_what_is_written_twice() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.exp() * x.exp() + x.exp().sin()

    x = torch.randn(8, requires_grad=True)
    forward = quern.explain(function, x).graphs[0]
    assert dict(forward.operators)["aten.exp.default"] == 1


def test_training_needs_none_of_inductors_lowerings() -> None:
    """Their import is a third of a second of every cold start."""
    text = """
import sys, torch
x = torch.randn(8, requires_grad=True)
torch.compile(lambda x: x.sin() * x[2:].sum(), backend="quern")(x).sum().backward()
assert "torch._inductor.lowering" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
