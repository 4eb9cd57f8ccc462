"""`sort_by` against PyTorch: order, stability, NaN, and what moves along with the keys."""

from __future__ import annotations

import _quern
import pytest
import quern
import torch
from targets import runnable

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

rowwise few[T: Ordered](x: T[*R, C], k: int) -> (T[*R, K = k], i64[*R, K]):
    let (_, places) = sort_by(x, index(C) over C, stable)
    let place = places.at(C = index(K))
    return x.at(C = place), place

rowwise few_largest[T: Ordered](x: T[*R, C], k: int) -> (T[*R, K = k], i64[*R, K]):
    let (_, places) = sort_by(x, index(C) over C, stable, descending)
    let place = places.at(C = index(K))
    return x.at(C = place), place

rowwise few_places(x: f32[R, C], k: int) -> i64[R, K = k]:
    let (_, places) = sort_by(x, index(C) over C, stable)
    return places.at(C = index(K))

rowwise few_padded(x: f32[R, C], k: int) -> f32[R, K = k]:
    return sort_by(x over C).at(C = index(K), outside = -1)

rowwise few_of_columns(x: f32[C, R], k: int) -> f32[K = k, R]:
    return sort_by(x over C).at(C = index(K))

rowwise few_and_all(x: f32[R, C], k: int) -> (f32[R, K = k], f32[R, C]):
    let s = sort_by(x over C)
    return s.at(C = index(K)), s

rowwise largest_of_few(x: f32[R, C], y: f32[K]) -> f32[R]:
    return sum(sort_by(x over C).at(C = index(K)) * y over K)

rowwise few_of_running(x: f32[R, C], k: int) -> f32[R, K = k]:
    return sort_by(scan(sum, x over C) over C).at(C = index(K))

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


@pytest.fixture(scope="module", params=[runnable(t) for t in ("x86-64-v2", "x86-64-v3", "")])
def k(request: pytest.FixtureRequest) -> quern.Module:
    """Made for two, four and as many lanes of 64 bits as the machine has."""
    session = _quern.Session(threads=2, cache="-", target=request.param)
    return session.compile(SOURCE, "sort.qn")


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


@pytest.mark.parametrize("width", [128, 300, 1024, 5000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32], ids=str)
def test_bytes_that_differ(k: quern.Module, dtype: torch.dtype, width: int) -> None:
    """Rows whose keys differ in one byte, in some between others, in all, in none."""
    generator = torch.Generator().manual_seed(width)
    bits = 32 if dtype.itemsize == 4 else 64
    number = torch.int32 if bits == 32 else torch.int64
    some = torch.randint(-(1 << (bits - 1)), (1 << (bits - 1)) - 1, (width,), generator=generator)
    masks = [0xFF, 0x7F00, 0x0F0FF0, -1, -1 << (bits - 8), 0]
    x = torch.stack([some & mask | 3 << 24 for mask in masks]).to(number).view(dtype)
    for name in ("ascending", "descending"):
        keys, places = getattr(k, name)(x)
        wanted = x.sort(dim=-1, stable=True, descending=name == "descending")
        assert torch.equal(places, wanted.indices)
        torch.testing.assert_close(keys, wanted.values, rtol=0, atol=0, equal_nan=True)
    assert_few(k, x, width - 1)


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


def assert_few(k: quern.Module, x: torch.Tensor, count: int) -> None:
    for name in ("few", "few_largest"):
        wanted = x.sort(dim=-1, stable=True, descending=name == "few_largest")
        values, places = getattr(k, name)(x, count)
        assert torch.equal(places, wanted.indices[..., :count])
        torch.testing.assert_close(
            values, wanted.values[..., :count], rtol=0, atol=0, equal_nan=True
        )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("count", [0, 1, 2, 5, 8, 9, 16, 64, 260, 1000])
def test_first_few(k: quern.Module, dtype: torch.dtype, count: int) -> None:
    for width in (1, 2, 7, 8, 9, 16, 31, 64, 100, 256, 1000, 3000):
        if count <= width:
            assert_few(k, sample(dtype, 3, width), count)


@pytest.mark.parametrize("width", [40, 300, 4000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_first_few_of_rows_in_order(k: quern.Module, dtype: torch.dtype, width: int) -> None:
    """Every element is among the first of those before it, or none is."""
    up = torch.arange(width, dtype=dtype)
    steps = torch.stack([up, up.flip(0), up // 3, up.flip(0) // 3, up * 0, (up - width // 2).abs()])
    for count in (1, 7, 40):
        assert_few(k, steps, count)


def test_first_few_of_extremes(k: quern.Module) -> None:
    """Keys with all bits set stay in the order of their places."""
    assert_few(k, torch.full((2, 50), torch.nan), 9)
    assert_few(k, torch.full((2, 50), torch.nan, dtype=torch.float64), 9)
    for edge in (torch.iinfo(torch.int64).max, torch.iinfo(torch.int64).min):
        assert_few(k, torch.full((2, 50), edge), 9)
        assert_few(k, torch.randint(0, 2, (4, 90)) * 2 - 1 + edge // 2 * 2, 20)


def test_first_few_in_other_forms(k: quern.Module) -> None:
    x = torch.randn(6, 33)
    wanted = x.sort(-1)
    assert torch.equal(k.few_places(x, 4), wanted.indices[:, :4])
    assert torch.equal(k.few_padded(x, 4), wanted.values[:, :4])
    padded = k.few_padded(x, 40)
    assert torch.equal(padded[:, :33], wanted.values)
    assert padded[:, 33:].eq(-1).all()
    assert torch.equal(k.few_of_columns(x.t().contiguous(), 4), wanted.values[:, :4].t())
    first, every = k.few_and_all(x, 4)
    assert torch.equal(first, wanted.values[:, :4])
    assert torch.equal(every, wanted.values)
    y = torch.rand(7)
    torch.testing.assert_close(k.largest_of_few(x, y), wanted.values[:, :7] @ y)
    running = x.cumsum(-1).sort(-1).values
    torch.testing.assert_close(k.few_of_running(x, 4), running[:, :4])
    wide = torch.randn(5, 66)[:, ::2]
    assert torch.equal(k.few(wide, 4)[1], wide.sort(-1).indices[:, :4])


@pytest.mark.parametrize("name", ["few", "few_places", "few_of_columns", "few_and_all"])
def test_more_than_there_are(k: quern.Module, name: str) -> None:
    x = torch.randn(3, 3)
    getattr(k, name)(x, 3)
    with pytest.raises(quern.Error, match=r"QN2050.*index 3 is out of range for axis `C` of ext"):
        getattr(k, name)(x, 5)


def test_many_rows_in_threads(k: quern.Module) -> None:
    x = torch.randn(20000, 16)
    assert_few(k, x, 5)
    assert_few(k, x.double(), 16)
