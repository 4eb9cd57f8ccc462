"""Reductions that divide by what they count, against sums in 64 bits."""

from __future__ import annotations

import _quern
import pytest
import torch

SOURCE = """
reduction weighted:
    state: (mean: f32 = 0, n: f32 = 2)
    step(s, x: f32): (s.mean + (x - s.mean) / (s.n + 1), s.n + 1)
    merge(a, b):
        let n = a.n + b.n - 2
        return ((a.mean * a.n + b.mean * b.n) / n if n > 2 else 0, n)

rowwise rows[T: Float](x: T[*R, C]) -> (acc(T)[*R], acc(T)[*R], acc(T)[*R]):
    let s = moments(x over C)
    return s.mean, s.m2, s.n

rowwise planes(x: f32[N, C, H, W]) -> (f32[C], f32[C], f32[C]):
    let s = moments(x over (N, H, W))
    return s.mean, s.m2, s.n

rowwise centred(x: f32[N, C, H, W]) -> f32[N, C, H, W]:
    return x - moments(x over (N, H, W)).mean

rowwise columns(x: f32[R, C]) -> (f32[C], f32[C], f32[C]):
    let s = moments(x over R)
    return s.mean, s.m2, s.n

rowwise chosen(x: f32[R, C]) -> (f32[R], f32[R], f32[R]):
    let s = moments(x over C where x > 0)
    return s.mean, s.m2, s.n

rowwise joined(xs: list[f32[R, C]]) -> (f32[R], f32[R], f32[R]):
    let s = moments(concat(xs over C) over C)
    return s.mean, s.m2, s.n

rowwise shrunk(x: f32[R, C]) -> f32[R]:
    return weighted(x over C).mean
"""


@pytest.fixture(scope="module", params=["", "x86-64-v2", "x86-64-v3"])
def kernels(request: pytest.FixtureRequest) -> _quern.Module:
    return _quern.Session(threads=2, cache="-", target=request.param).compile(SOURCE)


def check(got: tuple[torch.Tensor, ...], x: torch.Tensor, dims: tuple[int, ...] = (-1,)) -> None:
    wide = x.double()
    mean, m2, n = (g.double() for g in got)
    eps = torch.finfo(got[0].dtype).eps * 64
    scale = wide.square().mean().sqrt() + wide.mean().abs()
    torch.testing.assert_close(mean, wide.mean(dims), rtol=eps, atol=float(eps * scale))
    wanted = wide.var(dims, correction=0) * n
    torch.testing.assert_close(m2, wanted, rtol=8 * eps, atol=float(eps * scale**2))
    assert torch.equal(n, torch.full_like(n, wide.numel() / max(1, mean.numel())))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("length", [1, 3, 15, 16, 17, 31, 32, 63, 64, 65, 100, 1000, 70000])
def test_rows(kernels: _quern.Module, length: int, dtype: torch.dtype) -> None:
    x = (torch.randn(5, length) * 3 + 100).to(dtype)
    check(kernels.rows(x), x)
    if dtype == torch.float32:
        check(kernels.joined([x[:, : length // 3], x[:, length // 3 :]]), x)


@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (4, 33, 9, 16), (3, 64, 20, 31), (1, 5, 1, 100)])
@pytest.mark.parametrize("order", [torch.contiguous_format, torch.channels_last])
def test_planes_and_columns(
    kernels: _quern.Module, shape: tuple[int, ...], order: torch.memory_format
) -> None:
    x = (torch.randn(shape) + 7).to(memory_format=order)
    check(kernels.planes(x), x, (0, 2, 3))
    flat = x.permute(0, 2, 3, 1).reshape(-1, shape[1])
    check(kernels.columns(flat), flat, (0,))


def test_roundings_do_not_add_up(kernels: _quern.Module) -> None:
    """One chain of 60000 roundings is off by 35 epsilons and more."""
    x = (torch.randn(4, 48, 100, 150) + 2).to(memory_format=torch.channels_last)
    mean, m2, n = (g.double() for g in kernels.planes(x))
    eps = torch.finfo(torch.float32).eps
    torch.testing.assert_close(mean, x.double().mean((0, 2, 3)), rtol=12 * eps, atol=0)
    wanted = x.double().var((0, 2, 3), correction=0) * n
    torch.testing.assert_close(m2, wanted, rtol=12 * eps, atol=0)
    left = kernels.centred(x).double().mean((0, 2, 3))
    torch.testing.assert_close(left, torch.zeros_like(left), rtol=0, atol=48 * eps)


@pytest.mark.parametrize("length", [1, 17, 40, 300])
def test_conditions(kernels: _quern.Module, length: int) -> None:
    x = torch.randn(9, length)
    mean, m2, n = kernels.chosen(x)
    there = (x > 0).double()
    count = there.sum(-1)
    wanted = (x * there).sum(-1) / count.clamp(min=1)
    assert torch.equal(n.double(), count)
    torch.testing.assert_close(mean.double(), wanted, rtol=1e-5, atol=1e-5)
    spread = ((x - wanted[:, None]).square() * there).sum(-1)
    torch.testing.assert_close(m2.double(), spread, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("length", [1, 16, 33, 500])
def test_a_reduction_of_ones_own(kernels: _quern.Module, length: int) -> None:
    """Two elements that are zero come first."""
    x = torch.randn(6, length) + 5
    wanted = x.double().sum(-1) / (length + 2)
    torch.testing.assert_close(kernels.shrunk(x).double(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [1, 2, 5, 16, 17, 100, 5000])
def test_large_numbers_beside_empty_parts(kernels: _quern.Module, count: int) -> None:
    """Squares of the numbers exceed f32, those of their deviations do not."""
    x = torch.full((3, count), 3e30)
    x[1] = 1e20
    x[2] = -2e37
    for mean, m2, n in (kernels.rows(x), kernels.columns(x.T), kernels.chosen(x.abs())):
        assert torch.equal(n, torch.full((3,), float(count)))
        torch.testing.assert_close(mean.abs(), x[:, 0].abs(), rtol=1e-6, atol=0)
        assert not m2.isnan().any()
        assert (m2[:2].sqrt() <= x[:2, 0] * 1e-3).all()
