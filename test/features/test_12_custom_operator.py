"""Use a custom kernel as a torch operator, eager and compiled, with backward: `quern.op`."""

from __future__ import annotations

from typing import Any

import pytest
import quern
import torch

SOURCE = """
elementwise silu_mul_backward[T: Float](grad: T, x: T, y: T) -> (T, T):
    let s = sigmoid(x)
    return grad * y * s * (1 + x * (1 - s)), grad * x * s

@backward(silu_mul_backward, saves = (x, y))
elementwise silu_mul[T: Float](x: T, y: T) -> T:
    return x * sigmoid(x) * y
"""
NORM = """
rowwise unit_backward[T: Float](grad: T[*R, C], y: T[*R, C], norm: T[*R]) -> T[*R, C]:
    return (grad - y * sum(grad * y over C)) / norm

@backward(unit_backward, saves = (y, norm))
rowwise unit[T: Float](x: T[*R, C]) -> (y: T[*R, C], norm: T[*R]):
    let n = sqrt(sum(x * x over C))
    return x / n, n
"""


@pytest.fixture(scope="module")
def silu_mul() -> Any:
    return quern.op("featuretest::silu_mul", SOURCE)


def reference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.silu(x) * y


def operands() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(5, 7, requires_grad=True), torch.randn(7, requires_grad=True)


def test_eager_with_derivative(silu_mul: Any) -> None:
    x, y = operands()
    torch.testing.assert_close(silu_mul(x, y), reference(x, y))
    ours = torch.autograd.grad(silu_mul(x, y).sin().sum(), (x, y))
    theirs = torch.autograd.grad(reference(x, y).sin().sum(), (x, y))
    torch.testing.assert_close(ours, theirs)
    wide = [t.detach().double().requires_grad_() for t in (x, y)]
    assert torch.autograd.gradcheck(silu_mul, wide)


def test_opcheck(silu_mul: Any) -> None:
    checks = torch.library.opcheck(silu_mul, operands())
    assert set(checks.values()) == {"SUCCESS"}


def test_compiled_without_break_and_fused(silu_mul: Any) -> None:
    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return silu_mul(x + 1, y) * 2

    x, y = operands()
    assert torch._dynamo.explain(f)(x, y).graph_break_count == 0
    torch._dynamo.reset()
    quern.reset_counters()
    compiled = torch.compile(f, backend="quern", fullgraph=True)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x, y), reference(x + 1, y) * 2)
    counts = quern.counters()
    assert (counts["launches"], counts["fallbacks"]) == (1, {})
    ours = torch.autograd.grad(compiled(x, y).sum(), (x, y))
    theirs = torch.autograd.grad((reference(x + 1, y) * 2).sum(), (x, y))
    torch.testing.assert_close(ours, theirs)


def test_rows_and_several_results() -> None:
    unit = quern.op("featuretest::unit", NORM)
    x = torch.randn(3, 4, 5, requires_grad=True)
    y, norm = unit(x)
    torch.testing.assert_close(norm, torch.linalg.vector_norm(x, dim=-1))
    (ours,) = torch.autograd.grad(y.cos().sum(), x)
    expected = torch.nn.functional.normalize(x, dim=-1).cos().sum()
    torch.testing.assert_close(ours, torch.autograd.grad(expected, x)[0])
    compiled = torch.compile(lambda t: unit(t * 2)[0] + 1, backend="quern", fullgraph=True)
    torch.testing.assert_close(compiled(x), unit(x * 2)[0] + 1)
    quern.reset_counters()
    with torch.no_grad():
        compiled(x)
    counts = quern.counters()
    assert (counts["launches"], counts["fallbacks"]) == (1, {})
    assert set(torch.library.opcheck(unit, (x,)).values()) == {"SUCCESS"}


def test_name_must_have_a_namespace() -> None:
    with pytest.raises(ValueError, match="namespace"):
        quern.op("silu_mul", SOURCE)
