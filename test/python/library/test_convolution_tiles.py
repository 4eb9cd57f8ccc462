"""3 by 3 convolutions by tiles: against float64, and where a compiled graph takes them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import quern
import torch
from torch import nn
from torch.nn import functional
from tree import ROOT

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

TILES = quern.load(ROOT / "stdlib-kernels" / "convolution_tiles.qn")
SIZES = [
    (1, 64, 64, 9, 30),
    (3, 40, 72, 13, 13),
    (2, 5, 3, 4, 7),
    (1, 65, 130, 3, 3),
    (2, 16, 8, 33, 64),
]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("padding", [(0, 0), (1, 1), (2, 1)], ids=str)
def test_tiles_equal_windows(size: tuple[int, ...], padding: tuple[int, int]) -> None:
    images, channels, filters, height, width = size
    torch.manual_seed(0)
    x = torch.randn(images, channels, height, width)
    w = torch.randn(filters, channels, 3, 3)
    bias = torch.randn(filters)
    exact = functional.conv2d(x.double(), w.double(), bias.double(), padding=padding)
    for bias_given, form in itertools.product(
        (bias, None), (torch.contiguous_format, torch.channels_last)
    ):
        image = x.to(memory_format=form)
        ours = TILES.conv3x3(image, w, bias_given, *padding)
        wanted = exact if bias_given is not None else exact - bias.double()[:, None, None]
        assert (ours - wanted).abs().max() <= 2e-5 * wanted.abs().max()


def test_results_go_straight_to_memory_with_other_strides() -> None:
    x, w = torch.randn(2, 8, 9, 9), torch.randn(8, 8, 3, 3)
    wanted = functional.conv2d(x, w, padding=1)
    for form in (torch.contiguous_format, torch.channels_last):
        out = torch.full_like(wanted, 7.0).to(memory_format=form)
        TILES.conv3x3(x, w, None, 1, 1, out=out)
        torch.testing.assert_close(out, wanted, rtol=1e-4, atol=1e-4)


def network(channels: int, stride: int = 1, groups: int = 1) -> nn.Module:
    """Two convolutions and a norm between them, in evaluation."""
    torch.manual_seed(1)
    first = nn.Conv2d(channels, channels, 3, stride, padding=1, groups=groups)
    second = nn.Conv2d(channels, channels, 3, stride, padding=1, groups=groups)
    # Smooth: no rounding decides about a derivative.
    return nn.Sequential(first, nn.BatchNorm2d(channels), nn.SiLU(), second).eval()


@pytest.mark.parametrize(
    ("channels", "stride", "groups", "aten"),
    [(64, 1, 1, 0), (64, 2, 1, 2), (64, 1, 4, 2), (24, 1, 1, 2)],
)
def test_a_graph_takes_them_for_their_class(
    channels: int, stride: int, groups: int, aten: int
) -> None:
    model = network(channels, stride, groups)
    x = torch.randn(2, channels, 27, 30)
    with torch.no_grad():
        wanted = model(x)
        compiled = torch.compile(model, backend="quern", fullgraph=True)
        compiled(x)
        quern.reset_counters()
        ours = compiled(x)
        exact = model.double()(x.double())
    counters = quern.counters()
    assert counters["preferred"].get("aten::convolution", 0) == aten
    assert not counters["fallbacks"]
    assert ours.stride() == wanted.stride()
    bound = max(2 * (wanted - exact).abs().max().item(), 1e-4 * exact.abs().max().item())
    assert (ours - exact).abs().max().item() <= bound


def test_a_changing_batch_stays_right() -> None:
    model = network(64)
    compiled = torch.compile(model, backend="quern", dynamic=True)
    with torch.no_grad():
        for images in (2, 3, 5):
            x = torch.randn(images, 64, 20, 20)
            torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-4)


def gradients(model: Any, x: torch.Tensor) -> list[torch.Tensor]:
    """Of the parameters and the input."""
    x = x.detach().requires_grad_()
    model(x).square().mean().backward()
    found = [x.grad, *(parameter.grad for parameter in model.parameters())]
    model.zero_grad()
    return [each for each in found if each is not None]


def test_derivatives_for_inputs_are_tiles_too() -> None:
    model = network(64)
    # In front of a norm it has no derivative but rounding.
    model.get_submodule("0").register_parameter("bias", None)
    # What comes back lies as the images in between, not as the caller's.
    model.append(nn.SiLU()).append(nn.AdaptiveAvgPool2d(3))
    x = torch.randn(2, 64, 27, 30)
    wanted = gradients(model, x)
    compiled = torch.compile(model, backend="quern", fullgraph=True)
    gradients(compiled, x)
    quern.reset_counters()
    ours = gradients(compiled, x)
    # ATen's are those by the weights, and that by the caller's image.
    assert quern.counters()["preferred"]["aten::convolution_backward"] == 3
    assert "aten::convolution" not in quern.counters()["preferred"]
    exact = gradients(model.double(), x.double())
    for mine, eager, right in zip(ours, wanted, exact, strict=True):
        assert mine.stride() == eager.stride()
        bound = max(2 * (eager - right).abs().max(), 1e-4 * right.abs().max())
        assert (mine - right).abs().max() <= bound


@pytest.mark.parametrize("ceil_mode", [False, True])
def test_maxima_alone_are_computed_where_nobody_reads_their_places(ceil_mode: bool) -> None:
    def pooled(x: torch.Tensor) -> torch.Tensor:
        return functional.max_pool2d(x, 3, 2, 1, 1, ceil_mode) + 1

    def places(x: torch.Tensor) -> torch.Tensor:
        return functional.max_pool2d(x, 3, 2, return_indices=True)[1]

    x = torch.randn(2, 5, 14, 17)
    x[0, 0, 3:6, 3:6] = float("nan")
    compiled = torch.compile(pooled, backend="quern", fullgraph=True)
    assert torch.equal(compiled(x).nan_to_num(9), pooled(x).nan_to_num(9))
    text = str(quern.explain(pooled, x))
    assert "max_pool2d_values" in text
    assert "max_pool2d_values" not in str(quern.explain(places, x))
