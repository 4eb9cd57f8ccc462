"""Derivatives of bags of rows, by the bags that the forward call found or by the offsets."""

from __future__ import annotations

import pytest
import torch
from torch import nn

aten = torch.ops.aten
MODES = {"sum": 0, "mean": 1}


def back(
    grad: torch.Tensor, mode: int, found: list[torch.Tensor], given: list[torch.Tensor], most: int
) -> torch.Tensor:
    args = (*given, *found, most, False, mode, False, None, 2)
    made: torch.Tensor = aten._embedding_bag_backward(grad, *args)
    return made


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("is_known", [True, False])
def test_derivatives(mode: str, dtype: torch.dtype, is_known: bool) -> None:
    """A bag has nothing, another one only what is left out."""
    torch.manual_seed(0)
    table = torch.randn(9, 33, dtype=torch.float64)
    i, offsets = torch.randint(0, 9, (25,)), torch.tensor([0, 4, 4, 9, 20, 24])
    i[24] = 2
    _, bags, sizes, most = aten._embedding_bag(
        table, i, offsets, False, MODES[mode], False, None, padding_idx=2
    )
    found = [bags if is_known else bags[:0], sizes, most]
    grad = torch.randn(6, 33, dtype=torch.float64).to(dtype)
    expected = back(grad.double(), MODES[mode], found, [i, offsets], 9).to(dtype)
    compiled = torch.compile(
        lambda g: back(g, MODES[mode], found, [i, offsets], 9),
        backend="quern",
        options={"fallback": "error"},
    )
    near = 3e-2 if dtype == torch.bfloat16 else 1e-6  # sums are rounded as eager's
    torch.testing.assert_close(compiled(grad), expected, atol=near, rtol=near)


@pytest.mark.parametrize("mode", MODES)
def test_bags_of_rows_are_not_saved(mode: str) -> None:
    """Of what is as long as the indices only they are kept for the derivatives."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    bags = nn.EmbeddingBag(9, 8, mode=mode, dtype=torch.float64)
    i, offsets = torch.randint(0, 9, (25,)), torch.tensor([0, 4, 4, 9, 20, 24])
    expected = torch.autograd.grad(bags(i, offsets).square().sum(), bags.weight)
    saved: list[torch.Tensor] = []

    def keep(x: torch.Tensor) -> torch.Tensor:
        saved.append(x)
        return x

    compiled = torch.compile(bags, backend="quern", fullgraph=True)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        loss = compiled(i, offsets).square().sum()
    assert [x.data_ptr() for x in saved if x.shape == i.shape] == [i.data_ptr()]
    torch.testing.assert_close(torch.autograd.grad(loss, bags.weight), expected)
