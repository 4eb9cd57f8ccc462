"""Contractions against PyTorch: sizes around every block, layouts, prologues and epilogues."""

from __future__ import annotations

import _quern
import pytest
import quern
import torch

SOURCE = """
from math use exp

rowwise mm[T: Float](a: T[M, K], b: T[K, N]) -> T[M, N]:
    return sum(a * b over K)

rowwise linear[T: Float](x: T[*R, K], w: T[N, K], b: T[N]) -> T[*R, N]:
    return sum(x * w over K) + b

rowwise bmm[T: Float](a: T[*B, M, K], b: T[*B, K, N]) -> T[*B, M, N]:
    return sum(a * b over K)

rowwise gated[T: Float](x: T[M, K], g: T[N, K], u: T[N, K]) -> T[M, N]:
    let s = sum(x * g over K)
    return s / (1 + exp(-s)) * sum(x * u over K)

rowwise normed[T: Float](x: T[M, K], w: T[N, K]) -> T[M, N]:
    let scale = 1 / sum(x * x over K)
    return sum(x * scale * w over K)

rowwise added[T: Float](a: T[M, K], b: T[K, N], c: mut T[M, N]):
    c = c + sum(a * b over K)

rowwise conv[T: Float](x: T[B, C, H, W], w: T[O, C, I, J], s: int, p: int)
        -> T[B, O, P = (H + 2 * p - size(I)) // s + 1, Q = (W + 2 * p - size(J)) // s + 1]:
    return sum(x.at(H = index(P) * s - p + index(I),
                    W = index(Q) * s - p + index(J), outside = 0) * w
               over (C, I, J))
"""

SIZES = [1, 7, 8, 16, 63, 65]


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE)


def close(got: torch.Tensor, wanted: torch.Tensor, depth: int) -> None:
    eps = torch.finfo(got.dtype).eps
    bound = eps * (4 + depth**0.5) * 4
    scale = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
    torch.testing.assert_close(got.double(), wanted, rtol=0, atol=bound * scale)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_blocks_of_rows_are_about_equal(threads: int) -> None:
    """Whatever the threads, every row is in one block, and no block is empty."""
    own = _quern.Session(threads=threads, cache="-").compile(SOURCE)
    for m in (0, 127, 129, 385, 513, 788, 1030):
        a, b = torch.randn(m, 400), torch.randn(400, 400)
        close(own.mm(a, b), a.double() @ b.double(), 400)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("m", [*SIZES, 300])
def test_sizes(kernels: quern.Module, m: int, dtype: torch.dtype) -> None:
    for n in [*SIZES, 100]:
        for k in [1, 8, 63, 400]:
            a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
            close(kernels.mm(a, b), a.double() @ b.double(), k)


def test_every_layout(kernels: quern.Module) -> None:
    for m, n, k in [(64, 96, 80), (33, 47, 51)]:
        lefts = [torch.randn(m, k), torch.randn(k, m).T, torch.randn(m, 2 * k)[:, ::2]]
        rights = [torch.randn(k, n), torch.randn(n, k).T, torch.randn(k, n + 1)[:, 1:]]
        outs = [torch.empty(m, n), torch.empty(n, m).T, torch.empty(m, 2 * n)[:, ::2]]
        for a in lefts:
            for b in rights:
                for out in outs:
                    kernels.mm(a, b, out=out)
                    close(out, a.double() @ b.double(), k)


def test_nothing_summed_and_empty(kernels: quern.Module) -> None:
    assert kernels.mm(torch.ones(20, 0), torch.ones(0, 30)).eq(0).all()
    assert kernels.mm(torch.ones(0, 30), torch.ones(30, 40)).shape == (0, 40)


def test_bias_and_leading_axes(kernels: quern.Module) -> None:
    x, w, b = torch.randn(3, 11, 40), torch.randn(37, 40), torch.randn(37)
    wanted = torch.nn.functional.linear(x.double(), w.double(), b.double())
    close(kernels.linear(x, w, b), wanted, 40)
    x = torch.randn(3, 40, 11).transpose(1, 2)
    wanted = torch.nn.functional.linear(x.double(), w.double(), b.double())
    close(kernels.linear(x, w, b), wanted, 40)


def test_batches(kernels: quern.Module) -> None:
    a, b = torch.randn(2, 3, 33, 20), torch.randn(2, 3, 20, 41)
    close(kernels.bmm(a, b), a.double() @ b.double(), 20)
    a = torch.randn(2, 33, 3, 20).transpose(1, 2)
    b = torch.randn(2, 41, 3, 20).permute(0, 2, 3, 1)
    close(kernels.bmm(a, b), a.double() @ b.double(), 20)
    for m, n, k in ((3, 12, 3), (5, 10, 5), (7, 16, 16), (6, 33, 15), (1, 9, 0)):
        a, b = torch.randn(9, 4, m, k), torch.randn(9, 4, k, n)
        close(kernels.bmm(a, b), a.double() @ b.double(), max(k, 1))


def test_two_products_of_one_launch(kernels: quern.Module) -> None:
    x, g, u = torch.randn(50, 64), torch.randn(70, 64), torch.randn(70, 64)
    s = x.double() @ g.double().T
    close(kernels.gated(x, g, u), s.sigmoid() * s * (x.double() @ u.double().T), 640)


def test_a_reduction_in_the_prologue(kernels: quern.Module) -> None:
    x, w = torch.randn(50, 64) + 1, torch.randn(70, 64)
    d = x.double()
    wanted = (d / (d * d).sum(1, keepdim=True)) @ w.double().T
    close(kernels.normed(x, w), wanted, 640)


def test_in_place(kernels: quern.Module) -> None:
    a, b, c = torch.randn(50, 20), torch.randn(20, 70), torch.randn(50, 70)
    wanted = c.double() + a.double() @ b.double()
    kernels.added(a, b, c)
    close(c, wanted, 20)


@pytest.mark.parametrize("size", [7, 14, 33])
@pytest.mark.parametrize(("kernel", "stride", "pad"), [(3, 1, 1), (1, 1, 0), (7, 2, 3), (4, 3, 0)])
def test_convolution(kernels: quern.Module, size: int, kernel: int, stride: int, pad: int) -> None:
    for outputs in (3, 20):
        x, w = torch.randn(2, 5, size, size + 1), torch.randn(outputs, 5, kernel, kernel)
        wanted = torch.nn.functional.conv2d(x.double(), w.double(), stride=stride, padding=pad)
        close(kernels.conv(x, w, stride, pad), wanted, 5 * kernel * kernel)
