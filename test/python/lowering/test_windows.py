"""Reductions over windows against PyTorch: borders on every side, steps, gaps, layouts."""

from __future__ import annotations

import pytest
import quern
import torch
from torch.nn import functional

SOURCE = """
rowwise depthwise[T: Float](x: T[B, C, H, W], w: T[C, I, J], s: int, p: int, d: int)
        -> T[B, C, P = (H + 2 * p - d * (size(I) - 1) - 1) // s + 1,
             Q = (W + 2 * p - d * (size(J) - 1) - 1) // s + 1]:
    return sum(x.at(H = index(P) * s - p + index(I) * d,
                    W = index(Q) * s - p + index(J) * d, outside = 0) * w over (I, J))

rowwise weights[T: Float](grad: T[B, C, P, Q], x: T[B, C, H, W], s: int, p: int, d: int, k: int)
        -> T[C, I = k, J = k]:
    return sum(grad * x.at(H = index(P) * s - p + index(I) * d,
                           W = index(Q) * s - p + index(J) * d, outside = 0)
               over (B, P, Q))

rowwise grouped[T: Float](x: T[B, (G C), H, W], w: T[(G O), C, I, J], s: int, p: int, d: int)
        -> T[B, (G O), P = (H + 2 * p - d * (size(I) - 1) - 1) // s + 1,
             Q = (W + 2 * p - d * (size(J) - 1) - 1) // s + 1]:
    return sum(x.at(H = index(P) * s - p + index(I) * d,
                    W = index(Q) * s - p + index(J) * d, outside = 0) * w
               over (C, I, J))

rowwise largest[T: Float](x: T[B, C, H, W], k: int, s: int, p: int)
        -> T[B, C, P = (H + 2 * p - k) // s + 1, Q = (W + 2 * p - k) // s + 1]:
    return max(x.at(H = index(P) * s - p + i, W = index(Q) * s - p + j, outside = -inf)
               over (i: 0 .. k, j: 0 .. k))
"""

# kernel, step, padding, spread
WINDOWS = [
    (3, 1, 1, 1),
    (3, 2, 1, 1),
    (5, 1, 2, 1),
    (5, 2, 2, 2),
    (7, 1, 3, 1),
    (3, 1, 0, 1),
    (2, 1, 1, 3),
    (3, 3, 3, 1),
    (1, 1, 0, 1),
    (9, 1, 4, 1),
]


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE)


def close(got: torch.Tensor, wanted: torch.Tensor) -> None:
    scale = max(1.0, float(wanted.abs().max())) * torch.finfo(got.dtype).eps * 32
    torch.testing.assert_close(got.double(), wanted, rtol=0, atol=scale)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("last", [False, True])
def test_depthwise(kernels: quern.Module, window: tuple[int, ...], last: bool) -> None:
    k, s, p, d = window
    for h, v in ((14, 14), (9, 33), (21, 17), (33, 64)):
        x, w = torch.randn(2, 5, h, v), torch.randn(5, k, k)
        if d * (k - 1) + 1 > min(h, v) + 2 * p:
            continue
        if last:
            x = x.to(memory_format=torch.channels_last)
        wanted = functional.conv2d(
            x.double(), w[:, None].double(), stride=s, padding=p, dilation=d, groups=5
        )
        close(kernels.depthwise(x, w, s, p, d), wanted)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weights(
    kernels: quern.Module, window: tuple[int, ...], last: bool, dtype: torch.dtype
) -> None:
    """What is read for the first window is read again for each of the others."""
    k, s, p, d = window
    for c, h, v in ((5, 14, 14), (37, 9, 33), (16, 4, 7), (33, 33, 5)):
        if d * (k - 1) + 1 > min(h, v) + 2 * p:
            continue
        w = torch.zeros(c, 1, k, k, dtype=torch.float64, requires_grad=True)
        x = torch.randn(2, c, h, v, dtype=dtype)
        y = functional.conv2d(x.double(), w, stride=s, padding=p, dilation=d, groups=c)
        grad = torch.randn(y.shape, dtype=dtype)
        (wanted,) = torch.autograd.grad(y, w, grad.double())
        if last:
            x, grad = (z.to(memory_format=torch.channels_last) for z in (x, grad))
        close(kernels.weights(grad, x, s, p, d, k), wanted[:, 0])


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("last", [False, True])
def test_grouped(kernels: quern.Module, window: tuple[int, ...], last: bool) -> None:
    k, s, p, d = window
    for groups, c, o in ((1, 3, 70), (2, 40, 9), (3, 1, 16), (4, 1, 1), (2, 3, 2), (3, 2, 4)):
        x, w = torch.randn(2, groups * c, 13, 37), torch.randn(groups * o, c, k, k)
        if last:
            x, w = (t.to(memory_format=torch.channels_last) for t in (x, w))
        wanted = functional.conv2d(
            x.double(), w.double(), stride=s, padding=p, dilation=d, groups=groups
        )
        close(kernels.grouped(x, w, s, p, d), wanted)


@pytest.mark.parametrize("window", [(2, 2, 0), (3, 1, 1), (3, 2, 1), (5, 1, 2)])
def test_largest(kernels: quern.Module, window: tuple[int, ...]) -> None:
    for h, v in ((14, 14), (9, 33), (21, 17)):
        x = torch.randn(2, 5, h, v)
        wanted = functional.max_pool2d(x, window[0], stride=window[1], padding=window[2])
        assert torch.equal(kernels.largest(x, *window), wanted)
