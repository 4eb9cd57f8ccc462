"""Sums of rows of one operand with rows of another, and what is made of them in the same pass."""

from __future__ import annotations

import _quern
import pytest
import torch

SOURCE = """
from math use erf, sqrt

rowwise activated[T: Float](x: T[M, K], w: T[N, K], b: T[N]) -> (T[M, N], T[M, N]):
    let v = sum(x * w over K) + b
    return v, 0.5 * v * (1 + erf(v * 0.7071067811865476))

rowwise apart[T: Float](a: T[*B, M, K], b: T[*B, N, K]) -> T[*B, M, N]:
    let d = a - b
    return sqrt(sum(d * d over K))

rowwise furthest[T: Float](a: T[M, K], b: T[N, K]) -> (T[M, N], i64[M, N]):
    let d = abs(a - b)
    return max(d over K) * 2, argmax(d over K) + 1

rowwise both[T: Float](a: T[M, K], b: T[N, K]) -> T[M, N]:
    return sum(a * b over K) / (1 + sum(abs(a - b) over K))

rowwise crossed[T: Complex](a: T[M, K], b: T[N, K]) -> T[M, N]:
    return sum(a * b over K) * 2

rowwise window[T: Float](x: T[R, C], w: T[O, K]) -> T[O, R, P = C - K + 1]:
    return sum(x.at(C = index(P) + index(K)) * w over K)

rowwise bent[T: Float](a: T[M, K], b: T[N, K]) -> T[M, N]:
    return sum(erf(sqrt(abs(a))) * b over K)

rowwise grown[T: Float](a: T[M, K], b: T[N, K], c: mut T[M, N]):
    c = c + sum(abs(a - b) over K)

rowwise counted(a: i32[M, K], b: i32[N, K]) -> i64[M, N]:
    return sum(a * b over K) // 3
"""

SHAPES = [
    (1, 1, 1),
    (3, 5, 2),
    (4, 4, 16),
    (7, 9, 33),
    (16, 16, 64),
    (17, 15, 100),
    (64, 70, 31),
    (67, 130, 48),
    (3, 300, 700),
    (130, 3, 65),
]


@pytest.fixture(scope="module", params=["", "x86-64-v2", "x86-64-v3"])
def kernels(request: pytest.FixtureRequest) -> _quern.Module:
    """Made for as many lanes as the machine has, for four and for eight."""
    return _quern.Session(threads=2, cache="-", target=request.param).compile(SOURCE)


def near(got: torch.Tensor, wanted: torch.Tensor, depth: int) -> None:
    bound = torch.finfo(got.dtype).eps * (8 + depth)
    torch.testing.assert_close(got, wanted.to(got.dtype), rtol=bound, atol=bound)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_floats(
    kernels: _quern.Module, m: int, n: int, k: int, dtype: torch.dtype, turned: bool
) -> None:
    a, b, c = (torch.randn(s, dtype=dtype) for s in ((m, k), (n, k), (n,)))
    wide = [t.double() for t in (a, b, c)]

    def out(of: torch.dtype = dtype) -> torch.Tensor:
        return torch.empty(n, m, dtype=of).t() if turned else torch.empty(m, n, dtype=of)

    sums, finished = kernels.activated(a, b, c, out=(out(), out()))
    near(sums, wide[0] @ wide[1].t() + wide[2], k)
    near(finished, torch.nn.functional.gelu(wide[0] @ wide[1].t() + wide[2]), k)
    near(kernels.apart(a, b, out=out()), torch.cdist(wide[0], wide[1]), k)
    differences = (a[:, None] - b).abs()
    most, place = kernels.furthest(a, b, out=(out(), out(torch.int64)))
    torch.testing.assert_close(most, differences.amax(-1) * 2, rtol=0, atol=0)
    assert torch.equal(place, differences.argmax(-1) + 1)
    quotient = (wide[0] @ wide[1].t()) / (1 + torch.cdist(wide[0], wide[1], p=1))
    near(kernels.both(a, b, out=out()), quotient, k)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_what_is_dear_to_make(
    kernels: _quern.Module, m: int, n: int, k: int, dtype: torch.dtype
) -> None:
    a, b = torch.randn(m, k, dtype=dtype), torch.randn(n, k, dtype=dtype)
    near(kernels.bent(a, b), a.double().abs().sqrt().erf() @ b.double().t(), k)
    x = torch.randn(m, k + n - 1, dtype=dtype)
    wanted = torch.einsum("rpk,ok->orp", x.double().unfold(1, k, 1), b.double())
    near(kernels.window(x, b), wanted, k)
    near(kernels.window(x.t().contiguous().t(), b), wanted, k)


@pytest.mark.parametrize(("m", "n", "k"), [*SHAPES, (2, 6, 40), (7, 3, 20), (18, 34, 9)])
def test_what_is_there_is_added_once(kernels: _quern.Module, m: int, n: int, k: int) -> None:
    a, b, c = (torch.randn(s, dtype=torch.float64) for s in ((m, k), (n, k), (m, n)))
    wanted = c + torch.cdist(a, b, p=1)
    kernels.grown(a, b, c)
    near(c, wanted, k)
    turned = wanted.t().clone(memory_format=torch.contiguous_format).t()
    kernels.grown(a, b, turned)
    near(turned, wanted + torch.cdist(a, b, p=1), k)


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_other_types(kernels: _quern.Module, m: int, n: int, k: int) -> None:
    a, b = (torch.randn(s, k, dtype=torch.complex64) for s in (m, n))
    near(kernels.crossed(a, b), (a.to(torch.complex128) @ b.t().to(torch.complex128)) * 2, 4 * k)
    p, q = (torch.randint(-9, 9, (s, k), dtype=torch.int32) for s in (m, n))
    assert torch.equal(kernels.counted(p, q), (p @ q.t()) // 3)


def test_batches_and_strides(kernels: _quern.Module) -> None:
    a = torch.randn(2, 3, 40, 29)[:, :, ::2]
    b = torch.randn(2, 3, 17, 58)[..., ::2]
    near(kernels.apart(a, b), torch.cdist(a.double(), b.double()), 29)
    empty = kernels.apart(a[..., :0], b[..., :0])
    assert torch.equal(empty, torch.zeros(2, 3, 20, 17))
