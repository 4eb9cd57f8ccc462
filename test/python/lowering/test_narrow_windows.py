"""Windows that give few results side by side, down to one of the whole image."""

from __future__ import annotations

import pytest
import quern
import torch
from torch.nn import functional

SOURCE = """
rowwise total[T: Float](x: T[*B, H, W], like: f32[P, Q], kh: int, kw: int,
                        sh: int, sw: int, ph: int, pw: int) -> T[*B, P, Q]:
    return sum(x.at(H = index(P) * sh - ph + i, W = index(Q) * sw - pw + j, outside = 0)
               over (i: 0 .. kh, j: 0 .. kw))
"""


@pytest.fixture(scope="module")
def totals() -> quern.Module:
    return quern.compile(SOURCE)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("image", "kernel", "step", "border"),
    [
        ((7, 7), (7, 7), 7, 0),
        ((40, 33), (40, 33), 1, 0),
        ((40, 37), (20, 18), 18, 0),
        ((17, 30), (9, 13), 5, 3),
        ((9, 50), (3, 50), 2, 1),
        ((12, 12), (3, 3), 3, 0),
        ((64, 64), (3, 3), 1, 1),
        ((4, 900), (2, 64), 64, 0),
    ],
)
def test_sums(totals: quern.Module, image: tuple[int, int], kernel: tuple[int, int], step: int,
              border: int, dtype: torch.dtype) -> None:  # fmt: skip
    x = torch.randn(2, 3, *image).to(dtype)
    ones = torch.ones(1, 1, *kernel, dtype=torch.float64)
    wide = x.double().flatten(0, 1)[:, None]
    exact = functional.conv2d(wide, ones, stride=step, padding=border)[:, 0].unflatten(0, (2, 3))
    like = torch.empty(exact.shape[-2:])
    for operand in (x, x.to(memory_format=torch.channels_last)):
        given = totals.total(operand, like, *kernel, step, step, border, border)
        rtol, atol = (2e-2, 1e-1) if dtype.itemsize == 2 else (1e-5, 1e-4)
        torch.testing.assert_close(given, exact.to(dtype), rtol=rtol, atol=atol)


def test_one_code_serves_both_lengths(totals: quern.Module) -> None:
    for width in (50, 6, 50):
        x = torch.randn(3, 6, width)
        exact = x.double().sum((1, 2))[:, None, None].float()
        torch.testing.assert_close(
            totals.total(x, torch.empty(1, 1), 6, width, 1, 1, 0, 0), exact, rtol=1e-4, atol=1e-4
        )
        ones = torch.ones(1, 1, 6, 1)
        columns = functional.conv2d(x[:, None], ones)[:, 0]
        given = totals.total(x, torch.empty(1, width), 6, 1, 1, 1, 0, 0)
        torch.testing.assert_close(given, columns, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("kernel", [3, 14, 28])
def test_compiled_pools(kernel: int, layout: torch.memory_format) -> None:
    x = torch.randn(2, 5, 28, 28).to(memory_format=layout)

    def pools(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            functional.avg_pool2d(x, kernel),
            functional.max_pool2d(x, kernel),
            *functional.max_pool2d(x, kernel, return_indices=True),
        )

    torch._dynamo.reset()
    for ours, eager in zip(torch.compile(pools, backend="quern")(x), pools(x), strict=True):
        torch.testing.assert_close(ours, eager)
        assert ours.stride() == eager.stride()
