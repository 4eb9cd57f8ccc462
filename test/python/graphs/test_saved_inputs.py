"""What a graph saved for its backward and somebody changes since is eager's own error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern  # noqa: F401
import torch
from torch.nn import functional as F  # noqa: N812

Function = Callable[..., torch.Tensor]


def change(tensor: torch.Tensor) -> None:
    tensor.add_(1)


CASES: dict[str, tuple[Function, list[tuple[int, ...]]]] = {
    "product": (lambda x, y: x * y, [(3, 4), (3, 4)]),
    "matrices": (lambda x, y: x @ y, [(3, 4), (4, 5)]),
    "transposed": (lambda x, y: x @ y.t(), [(3, 4), (5, 4)]),
    "transposed_product": (lambda x, y: x.t() * y.t(), [(3, 4), (3, 4)]),
    "reshaped": (lambda x, y: x.reshape(12) * y.view(12), [(3, 4), (3, 4)]),
    "part": (lambda x, y: x[1:] * y[1:], [(3, 4), (3, 4)]),
    "column": (lambda x, y: x[:, 0] * y.select(1, 0), [(3, 4), (3, 4)]),
    "parts": (lambda x, y: x.narrow(1, 0, 2) @ y.narrow(0, 2, 2), [(3, 4), (4, 5)]),
    "window": (lambda x, y: x.unfold(1, 2, 1).sum(-1) @ y[:3], [(3, 4), (4, 5)]),
    "expanded": (lambda x, y: x * y.expand(3, 4), [(3, 4), (1, 4)]),
    "diagonal": (lambda x, y: x * y.diagonal(), [(3, 4), (4, 4)]),
    "sine": (lambda x, y: y.sin() + x, [(3, 4), (3, 4)]),
    "linear": (lambda x, y: F.linear(x, y), [(3, 4), (5, 4)]),
    "batches": (lambda x, y: torch.bmm(x, y.transpose(1, 2)), [(2, 3, 4), (2, 5, 4)]),
    "convolution": (lambda x, y: F.conv2d(x, y), [(1, 3, 6, 6), (4, 3, 3, 3)]),
    "images": (lambda x, y: F.conv2d(x.permute(0, 3, 1, 2), y), [(1, 6, 6, 3), (4, 3, 3, 3)]),
    "attention": (
        lambda x, y: F.scaled_dot_product_attention(x, y, y),
        [(1, 2, 4, 8), (1, 2, 4, 8)],
    ),
}


def outcome(
    function: Function, sizes: list[tuple[int, ...]], through: Callable[[torch.Tensor], Any]
) -> str:
    """What a backward says after the second input was changed through one of its views."""
    leaves = [torch.rand(size).requires_grad_() for size in sizes]
    inputs = [leaf * 1 for leaf in leaves]
    result = function(*inputs)
    with torch.no_grad():
        change(through(inputs[1]))
    try:
        result.sum().backward()  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        return str(error).split(":", maxsplit=1)[0]
    return ""


@pytest.mark.parametrize("through", [lambda y: y, lambda y: y.t() if y.dim() == 2 else y[:1]])
@pytest.mark.parametrize("name", CASES)
def test_changed_before_the_backward(name: str, through: Callable[[torch.Tensor], Any]) -> None:
    function, sizes = CASES[name]
    wanted = outcome(function, sizes, through)
    assert wanted.startswith("one of the variables needed for gradient computation")
    torch._dynamo.reset()
    assert outcome(torch.compile(function, backend="quern"), sizes, through) == wanted


@pytest.mark.parametrize("name", CASES)
def test_not_changed(name: str) -> None:
    function, sizes = CASES[name]
    torch._dynamo.reset()
    torch.manual_seed(0)
    inputs = [torch.rand(size).requires_grad_() for size in sizes]
    ours = torch.compile(function, backend="quern")(*inputs)
    theirs = function(*inputs)
    torch.testing.assert_close(
        torch.autograd.grad(ours.sum(), inputs), torch.autograd.grad(theirs.sum(), inputs)
    )


def test_a_graph_that_writes_is_seen_by_an_earlier_backward() -> None:
    def write(x: torch.Tensor) -> None:
        x.mul_(2)

    torch._dynamo.reset()
    x = torch.rand(4)
    y = torch.rand(4, requires_grad=True)
    product = x * y
    torch.compile(write, backend="quern")(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()  # type: ignore[no-untyped-call]
