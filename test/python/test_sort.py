"""`sort_by` against PyTorch: order, stability, NaN, and what moves along with the keys."""

from __future__ import annotations

import pytest
import quern
import torch

SOURCE = """
rowwise ascending[T: Ordered](x: T[*R, C]) -> (T[*R, C], i64[*R, C]):
    let (keys, places) = sort_by(x, index(C) over C, stable)
    return keys, places

rowwise descending[T: Ordered](x: T[*R, C]) -> (T[*R, C], i64[*R, C]):
    let (keys, places) = sort_by(x, index(C) over C, stable, descending)
    return keys, places

rowwise columns[T: Ordered](x: T[C, R]) -> T[C, R]:
    return sort_by(x over C)

rowwise carried(k: i32[C], x: f32[R, C], y: f64[C]) -> (f32[R, C], f64[C]):
    let (_, a, b) = sort_by(k, x, y over C)
    return a, b

rowwise of_softmax(x: f32[R, C]) -> f32[R, C]:
    let e = exp(x - max(x over C))
    return sort_by(e / sum(e over C) over C)

rowwise of_running(x: f32[R, C]) -> f32[R, C]:
    return sort_by(scan(sum, x over C) over C)

rowwise median(x: f32[R, C]) -> f32[R]:
    return sort_by(x over C).at(C = (size(C) - 1) // 2)

rowwise last_of_largest(x: f32[R, C]) -> f32[R]:
    return sort_by(x over C).at(C = argmax(x over C))

rowwise twice(x: f32[R, C], y: f32[R, C]) -> f32[R, C]:
    let (_, inner) = sort_by(y, x over C)
    let (_, outer) = sort_by(index(C) % 3, inner over C)
    return outer

rowwise spread(x: f32[C]) -> f32:
    let s = sort_by(x over C)
    return sum(s * f32(index(C)) over C)
"""
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
DTYPES += [torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool]


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "sort.qn")


def sample(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Few different values, so that there are many equal ones."""
    generator = torch.Generator().manual_seed(len(shape) + shape[-1])
    x = torch.randint(-50, 50, shape, generator=generator)
    if not dtype.is_floating_point:
        return x.to(dtype) if dtype != torch.bool else x > 0
    edges = torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0, -0.0, -torch.nan])
    picked = torch.randint(0, 40, shape, generator=generator)
    return torch.where(picked < 6, edges[picked.clamp(max=5)], x / 4).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1,), (2,), (37,), (5, 64), (2, 3, 1000), (0, 4), (3, 0)])
def test_order(k: quern.Module, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    x = sample(dtype, *shape)
    for name in ("ascending", "descending"):
        keys, places = getattr(k, name)(x)
        wanted = torch.sort(x, dim=-1, stable=True, descending=name == "descending")
        torch.testing.assert_close(keys, wanted.values, rtol=0, atol=0, equal_nan=True)
        assert torch.equal(places, wanted.indices)


def test_wide_integers(k: quern.Module) -> None:
    info = torch.iinfo(torch.int64)
    x = torch.tensor([3, info.min, -1, info.max, 0, info.min + 1, 1 << 40, -(1 << 40)])
    assert torch.equal(k.ascending(x)[0], x.sort().values)
    u = torch.tensor([3, 1 << 63, 0, (1 << 64) - 1], dtype=torch.uint64)
    assert k.ascending(u)[1].tolist() == [2, 0, 1, 3]


def test_along_the_first_axis(k: quern.Module) -> None:
    x = sample(torch.float32, 50, 7)
    torch.testing.assert_close(k.columns(x), x.sort(dim=0).values, equal_nan=True)


def test_strided_rows(k: quern.Module) -> None:
    x = sample(torch.float32, 64, 5).t()
    assert torch.equal(k.ascending(x)[1], x.sort(dim=-1, stable=True).indices)


def test_values_move_along(k: quern.Module) -> None:
    keys = torch.tensor([2, 1, 2, 0, 1], dtype=torch.int32)
    x, y = torch.randn(3, 5), torch.randn(5, dtype=torch.float64)
    order = keys.sort(stable=True).indices
    a, b = k.carried(keys, x, y)
    assert torch.equal(a, x[:, order])
    assert torch.equal(b, y[order])


def test_computed_keys(k: quern.Module) -> None:
    x = torch.randn(6, 33)
    torch.testing.assert_close(k.of_softmax(x), x.softmax(-1).sort(-1).values)
    torch.testing.assert_close(k.of_running(x), x.cumsum(-1).sort(-1).values)


def test_reads_of_a_sorted_row(k: quern.Module) -> None:
    x = torch.randn(6, 33)
    torch.testing.assert_close(k.median(x), x.median(-1).values)
    s = torch.randn(70000)
    wanted = (s.sort().values.double() * torch.arange(70000)).sum()
    torch.testing.assert_close(k.spread(s), wanted.float(), rtol=1e-5, atol=0)


def test_a_sort_of_what_was_sorted(k: quern.Module) -> None:
    x, y = torch.randn(4, 20), torch.randn(4, 20)
    inner = x.gather(1, y.sort(stable=True).indices)
    order = (torch.arange(20) % 3).sort(stable=True).indices
    assert torch.equal(k.twice(x, y), inner[:, order])


def test_no_rank_of_nothing(k: quern.Module) -> None:
    with pytest.raises(quern.Error, match="out of range for axis `C` of extent 0"):
        k.last_of_largest(torch.empty(3, 0))
