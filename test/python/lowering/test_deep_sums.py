"""Few rows and columns over long sums, which are made in parts, against PyTorch in f64."""

from __future__ import annotations

import _quern
import pytest
import torch

SOURCE = """
from math use exp

rowwise across[T: Float](a: T[*B, K, M], b: T[*B, K, N]) -> acc(T)[*B, M, N]:
    return sum(acc(T)(a) * b over K)

rowwise along[T: Float](a: T[*B, M, K], b: T[*B, N, K]) -> acc(T)[*B, M, N]:
    return sum(acc(T)(a) * b over K)

rowwise both[T: Float](a: T[K, L, M], b: T[K, N, L], c: T[N]) -> T[M, N]:
    return 2 * sum(a * exp(b) over (K, L)) + c

rowwise added[T: Float](a: T[K, M], b: T[K, N], c: mut T[M, N]):
    c = c + sum(a * b over K)

rowwise weight[T: Float](grad: T[N, O, P, Q], x: T[N, C, H, W], _w: T[O, C, I, J], s: int,
                         p: int) -> T[O, C, I, J]:
    return sum(grad * x.at(H = index(P) * s - p + index(I),
                           W = index(Q) * s - p + index(J), outside = 0) over (N, P, Q))
"""

TARGETS = ["x86-64-v2", "x86-64-v3", ""]


def compiled(target: str = "", threads: int = 2) -> _quern.Module:
    return _quern.Session(cache="-", target=target, threads=threads).compile(SOURCE, "deep.qn")


def close(got: torch.Tensor, wanted: torch.Tensor, depth: int = 5000) -> None:
    """Random roundings of sums grow like the root of their length."""
    bound = depth**0.5 / 2 * torch.finfo(got.dtype).eps * float(wanted.abs().max())
    torch.testing.assert_close(got.double(), wanted, rtol=0, atol=bound)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("depth", [4095, 4096, 4097, 6145, 263001])
def test_lengths_around_parts(target: str, dtype: torch.dtype, depth: int) -> None:
    """The first is packed at once, the last has parts of the larger size."""
    k = compiled(target)
    a, b = torch.randn(depth, 9).to(dtype), torch.randn(depth, 33).to(dtype)
    wanted = a.double().T @ b.double()
    close(k.across(a, b), wanted, depth)
    close(k.along(a.T.contiguous(), b.T.contiguous()), wanted, depth)


@pytest.mark.parametrize(
    ("m", "n"), [(2, 9), (8, 32), (17, 70), (127, 127), (64, 255), (129, 20), (20, 257)]
)
def test_rows_and_columns(m: int, n: int) -> None:
    """The last two have too many rows or columns for parts."""
    k = compiled()
    a, b = torch.randn(3, 5000, m), torch.randn(3, 5000, n)
    wanted = a.double().mT @ b.double()
    close(k.across(a, b), wanted)
    close(k.along(a.mT, b.mT.contiguous()), wanted)
    c = torch.randn(m, n)
    before = c.double()
    k.added(a[0], b[0], c)
    close(c, before + wanted[0])


def test_several_axes_with_a_prologue() -> None:
    a, b, c = torch.randn(70, 90, 12), torch.randn(70, 40, 90), torch.randn(40)
    wanted = 2 * torch.einsum("klm,knl->mn", a.double(), b.double().exp()) + c
    close(compiled().both(a, b, c), wanted)


@pytest.mark.parametrize("threads", [2, 7])
def test_any_number_of_threads_gives_the_same(threads: int) -> None:
    a, b = torch.randn(100_003, 20), torch.randn(100_003, 40)
    one = compiled(threads=1).across(a, b)
    assert torch.equal(compiled(threads=threads).across(a, b), one)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("images", "size"), [(33, 16), (300, 4), (48, 60), (5000, 1), (3, 80)])
@pytest.mark.parametrize("stride", [1, 2])
def test_windows(target: str, images: int, size: int, stride: int) -> None:
    """Parts are images; the last have too few of them."""
    grad = torch.randn(images, 5, size, size)
    x = torch.randn(images, 3, stride * size, stride * size)
    w = torch.empty(5, 3, 3, 3)
    wanted = torch.nn.grad.conv2d_weight(x.double(), w.shape, grad.double(), stride, padding=1)
    close(compiled(target).weight(grad, x, w, stride, 1), wanted, images * size**2)


def test_sums_of_no_images() -> None:
    found = compiled().weight(
        torch.ones(0, 5, 4, 4), torch.ones(0, 3, 4, 4), torch.ones(5, 3, 3, 3), 1, 1
    )
    assert torch.equal(found, torch.zeros(5, 3, 3, 3))
