"""Convolutions of single channels: derivatives for wide windows' weights are kernels, and equal
those of float64; windows of 3 by 3 are left to ATen."""

from __future__ import annotations

import copy

import pytest
import quern
import torch
from comparison import assert_as_good_as_eager, step_results
from torch import nn

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def network(window: int, stride: int, dilation: int) -> nn.Module:
    torch.manual_seed(1)
    padding = window // 2 * dilation
    first = nn.Conv2d(128, 128, window, stride, padding, dilation, groups=128)
    return nn.Sequential(first, nn.SiLU(), nn.Conv2d(128, 128, window, padding="same", groups=128))


@pytest.mark.parametrize(
    ("window", "stride", "dilation", "own"),
    [(5, 1, 1, True), (5, 2, 1, True), (7, 1, 2, True), (3, 1, 1, False)],
)
def test_a_step(window: int, stride: int, dilation: int, own: bool) -> None:
    """The input wants a derivative as well, which stays ATen's."""
    model = network(window, stride, dilation)
    x = torch.linspace(-1, 3, 2 * 128 * 7 * 6).sin().view(2, 128, 7, 6)
    x = x.to(memory_format=torch.channels_last)
    wide, twin = copy.deepcopy(model).double(), copy.deepcopy(model)
    exact = step_results(wide, wide, (x.double(),))
    eager = step_results(model, model, (x,))
    compiled = torch.compile(twin, backend="quern", fullgraph=True)
    assert_as_good_as_eager(step_results(twin, compiled, (x,)), eager, exact)
    text = str(quern.explain(lambda y: model(y).square(), x, backward=True))
    assert ("depthwise_for_weight" in text) == own


def test_other_layouts_and_sizes_stay_right() -> None:
    """Symbolic sizes are no class that was measured; half the precision is one."""
    model = network(5, 1, 1)
    for dtype, edge in ((torch.float32, 9), (torch.float32, 12), (torch.bfloat16, 9)):
        ours, theirs = copy.deepcopy(model).to(dtype), copy.deepcopy(model).to(dtype)
        x = torch.linspace(-1, 3, 128 * edge * edge).cos().view(1, 128, edge, edge).to(dtype)
        compiled = torch.compile(ours, backend="quern", dynamic=True)
        compiled(x).float().square().mean().backward()
        theirs(x).float().square().mean().backward()
        tolerance = 1e-4 if dtype == torch.float32 else 3e-2
        for mine, eager in zip(ours.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(mine.grad, eager.grad, rtol=tolerance, atol=tolerance)
