"""What a `bool[n]` of an `op` switches off is not made, nor what only it needs."""

from __future__ import annotations

import pytest
import quern
import torch

SOURCE = """
elementwise twice[T: Number](x: T) -> T:
    return x + x

elementwise root(x: f32) -> f32:
    return require(x, x >= 0, "there is no root below 0")

op pair[T: Float, output_mask: bool[2]](x: T[N], y: f32[N]) -> (T[N]?, f32[N]?):
    let r = root(y)
    return twice(x), twice(r)

op unread(x: f32[N], y: f32[N]) -> f32[N]:
    let never = root(y)
    return twice(x)

op nothing_of(x: f32[N], y: f32[N]) -> (f32[N], f32[K]):
    return twice(x), root(y).slice(0, 0, 0)
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "masks.qn")


def test_what_is_switched_off_is_not_there(k: quern.Module) -> None:
    x, y = torch.randn(5), torch.rand(5)
    a, b = k.pair(x, y, output_mask="11")
    assert torch.equal(a, x + x)
    assert torch.equal(b, y + y)
    a, b = k.pair(x, y, output_mask="01")
    assert a is None
    assert torch.equal(b, y + y)


def test_what_only_an_absent_result_needs_is_not_made(k: quern.Module) -> None:
    x, y = torch.randn(5), -torch.rand(5)
    a, b = k.pair(x, y, output_mask="10")
    assert b is None
    assert torch.equal(a, x + x)
    assert torch.equal(k.unread(x, y), x + x)
    with pytest.raises(quern.Error, match="there is no root below 0"):
        k.pair(x, y, output_mask="01")


def test_what_a_result_has_nothing_of_is_not_made(k: quern.Module) -> None:
    x, y = torch.randn(5), -torch.rand(5)
    a, b = k.nothing_of(x, y)
    assert b.shape == (0,)
    assert torch.equal(a, x + x)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
@pytest.mark.parametrize("wanted", ["image", "grid"])
def test_derivatives_of_one_operand(mode: str, wanted: str) -> None:
    """grid_sample with a fixed image, or at fixed places, asks for one gradient."""
    image = torch.randn(2, 4, 9, 9, requires_grad=wanted == "image")
    grid = (torch.rand(2, 5, 6, 2) * 2.4 - 1.2).requires_grad_(wanted == "grid")

    def sampled(image: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.grid_sample(
            image, grid, mode=mode, padding_mode="reflection", align_corners=False
        )

    leaf = image if wanted == "image" else grid
    results = [
        torch.autograd.grad(f(image, grid).square().sum(), leaf)[0]
        for f in (
            sampled,
            torch.compile(sampled, backend="quern", options={"fallback": "error"}),
        )
    ]
    torch.testing.assert_close(results[1], results[0], rtol=1e-4, atol=1e-4)
