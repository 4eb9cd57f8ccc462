"""Derivatives that are added where they are made, and those of convolutions apart."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from peak_memory import peak_bytes
from torch import nn
from torch.nn import functional

ROWS, WIDTH = 3000, 64


class Tied(nn.Module):
    """A table that is read twice, and a product with it."""

    def __init__(self, padding: int | None, dtype: torch.dtype) -> None:
        super().__init__()
        self.table = nn.Embedding(ROWS, WIDTH, padding_idx=padding, dtype=dtype)

    def forward(self, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.table(i)) + self.table(j).sum(1, keepdim=True)
        return x @ self.table.weight.t()


def _gradient(module: nn.Module, call: Any, *inputs: torch.Tensor) -> torch.Tensor:
    module.zero_grad(set_to_none=True)
    call(*inputs).square().mean().backward()
    grad = next(module.parameters()).grad
    assert grad is not None
    return grad


@pytest.mark.parametrize("padding", [None, 0, 7])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("dynamic", [False, True])
def test_tables_that_are_shared(padding: int | None, dtype: torch.dtype, dynamic: bool) -> None:
    torch._dynamo.reset()
    module = Tied(padding, dtype)
    compiled = torch.compile(module, backend="quern", fullgraph=True, dynamic=dynamic)
    for count in (5, 9):
        # Some rows many times, that of the padding among them.
        i, j = torch.randint(0, 12, (4, count)), torch.randint(0, ROWS, (4, count))
        wanted = _gradient(module, module, i, j)
        found = _gradient(module, compiled, i, j)
        slack = 0.03 if dtype == torch.bfloat16 else 1e-4
        scale = float(wanted.abs().max())
        torch.testing.assert_close(found, wanted, rtol=slack, atol=slack * scale)


def test_the_table_is_made_once_for_all_its_readers() -> None:
    torch._dynamo.reset()
    module = Tied(None, torch.float32)
    compiled = torch.compile(module, backend="quern", fullgraph=True)
    i, j = torch.randint(0, ROWS, (2, 4)), torch.randint(0, ROWS, (2, 4))
    _gradient(module, compiled, i, j)
    module.zero_grad(set_to_none=True)
    # The product's, and the same with rows added; eager has three at one time.
    assert peak_bytes(lambda: _gradient(module, compiled, i, j)) < 2.5 * ROWS * WIDTH * 4


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("frozen", ["", "image", "weight", "bias"])
@pytest.mark.parametrize("kind", ["1d", "2d", "3d", "transposed", "grouped", "depthwise", "heavy"])
def test_derivatives_of_convolutions(kind: str, frozen: str, bias: bool) -> None:
    torch._dynamo.reset()
    shapes: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
        "1d": (functional.conv1d, (2, 3, 11), (4, 3, 3), {"padding": 1}),
        "2d": (functional.conv2d, (2, 3, 9, 9), (4, 3, 3, 3), {"stride": 2}),
        "3d": (functional.conv3d, (1, 2, 5, 5, 5), (3, 2, 2, 2, 2), {}),
        "transposed": (functional.conv_transpose2d, (2, 3, 6, 6), (3, 4, 3, 3), {}),
        "grouped": (functional.conv2d, (2, 4, 8, 8), (6, 2, 3, 3), {"groups": 2}),
        "depthwise": (functional.conv2d, (2, 8, 9, 9), (8, 1, 3, 3), {"groups": 8, "padding": 1}),
        "heavy": (functional.conv2d, (1, 32, 3, 3), (48, 32, 3, 3), {"padding": 1}),
    }
    function, image, weight, options = shapes[kind]
    width = weight[1] if kind == "transposed" else weight[0]
    given = {"image": torch.randn(image), "weight": torch.randn(weight), "bias": torch.randn(width)}
    if not bias:
        del given["bias"]
    tensors = {key: each.double().requires_grad_(key != frozen) for key, each in given.items()}

    def run(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None = None) -> torch.Tensor:
        return function(x, w, b, **options).sin()

    compiled = torch.compile(run, backend="quern", fullgraph=True)
    wanted = [each for each in tensors.values() if each.requires_grad]
    pairs = [torch.autograd.grad(call(*tensors.values()).sum(), wanted) for call in (run, compiled)]
    for ours, eager in zip(pairs[1], pairs[0], strict=True):
        torch.testing.assert_close(ours, eager)
        assert ours.stride() == eager.stride()
