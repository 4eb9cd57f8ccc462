"""Reductions of rows of few elements against PyTorch in higher precision."""

from __future__ import annotations

from collections.abc import Callable

import _quern
import pytest
import quern
import torch
from quern._session import session
from targets import runnable

SOURCE = """
rowwise total[T: Float](x: T[R, C]) -> T[R]:
    return T(sum(x over C))

rowwise largest[T: Float](x: T[R, C]) -> (T[R], i64[R]):
    return (max(x over C), argmax(x over C))

rowwise soft[T: Float](x: T[R, C]) -> T[R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)

rowwise spread[T: Float](x: T[B, R, C]) -> (T[B, R], T[B, R, C]):
    let mean = sum(x over C) / T(size(C))
    let d = x - mean
    return (T(sum(d * d over C)), d)

rowwise picked[T: Float](x: T[R, C], place: i64[R]) -> T[R]:
    return T(sum(x if index(C) <= place else 0 over C)) + x.at(C = place)
"""

COLUMNS = [1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65]
ROWS = [1, 2, 3, 4, 5, 15, 16, 17, 63, 1030]


@pytest.fixture(scope="module", params=[runnable(t) for t in ("x86-64-v2", "x86-64-v3", "")])
def kernels(request: pytest.FixtureRequest) -> quern.Module:
    """Rests without masks, of rows of one line and of several; and with masks."""
    own = _quern.Session(threads=2, cache="-", target=request.param)
    return own.compile(SOURCE, "short_rows.qn")


def close(got: torch.Tensor, wanted: torch.Tensor, dtype: torch.dtype) -> None:
    allowed = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 1e-2}[dtype]
    assert got.dtype == dtype
    torch.testing.assert_close(got.double(), wanted.double(), rtol=allowed, atol=allowed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("columns", COLUMNS)
def test_rows_and_columns(kernels: quern.Module, columns: int, dtype: torch.dtype) -> None:
    for rows in ROWS:
        x = torch.randn(rows, columns).to(dtype)
        exact = x.double()
        close(kernels.total(x), exact.sum(1), dtype)
        value, place = kernels.largest(x)
        assert torch.equal(value, x.amax(1))
        assert torch.equal(x.gather(1, place[:, None])[:, 0], value)
        close(kernels.soft(x), exact.softmax(1), dtype)


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda x: x,
    "rows apart": lambda x: torch.cat([x, x], 2)[:, :, : x.shape[2]],
    "turned": lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    "strided": lambda x: x.repeat_interleave(2, 2)[:, :, ::2],
    "misaligned": lambda x: torch.cat([x.flatten()[:1], x.flatten()])[1:].view(x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(kernels: quern.Module, layout: str) -> None:
    for shape in ((3, 5, 16), (2, 9, 11), (4, 4, 32)):
        x = LAYOUTS[layout](torch.randn(shape))
        exact = x.double()
        squares, apart = kernels.spread(x)
        d = exact - exact.mean(2, keepdim=True)
        close(squares, (d * d).sum(2), torch.float32)
        close(apart, d, torch.float32)


def test_nan_is_found_in_each_row(kernels: quern.Module) -> None:
    x = torch.randn(19, 12)
    x[torch.arange(0, 19, 3), torch.arange(0, 7) + 2] = torch.nan
    value, _ = kernels.largest(x)
    assert torch.equal(value.isnan(), x.isnan().any(1))


def test_positions_belong_to_their_rows(kernels: quern.Module) -> None:
    x, place = torch.randn(23, 10), torch.randint(0, 10, (23,))
    wanted = [x[r, : i + 1].double().sum() + x[r, i] for r, i in enumerate(place.tolist())]
    close(kernels.picked(x, place), torch.stack(wanted), torch.float32)
    place[21] = 10
    with pytest.raises(quern.Error, match="10"):
        kernels.picked(x, place)


def test_short_and_long_calls_of_one_kernel(kernels: quern.Module) -> None:
    for columns in (16, 4000, 16, 33, 32):
        x = torch.randn(37, columns)
        close(kernels.total(x), x.double().sum(1), torch.float32)


def test_lanes_along_a_range_whose_ends_differ() -> None:
    """Sums of short rows beside one whose length the position along the row says."""
    module = quern.compile(
        "rowwise ranges(by: f32[C], x: f32[R, C]) -> f32[R, C]:\n"
        "    return by * f32(sum(j over j: 0 .. index(C) % 5)) + sum(x over C)\n"
    )
    by, x = torch.randn(7), torch.randn(13, 7)
    sums = torch.tensor([float(sum(range(c % 5))) for c in range(7)])
    wanted = by.double() * sums + x.double().sum(1, keepdim=True)
    close(module.ranges(by, x), wanted, torch.float32)


@pytest.mark.parametrize("first", [8, 700])
def test_short_and_long_rows_have_a_code_each(first: int) -> None:
    module = quern.compile(
        f"rowwise share{first}(x: f32[R, C]) -> f32[R, C]:\n    return x / sum(x over C)\n"
    )
    share = getattr(module, f"share{first}")
    before = session().counters()["compiles"]
    for columns in (first, 3, 64, 65, 700):
        x = torch.rand(41, columns) + 1
        close(share(x), x.double() / x.double().sum(1, keepdim=True), torch.float32)
    assert session().counters()["compiles"] - before <= 2


@pytest.mark.parametrize("step", [1, 20])
def test_a_local_axis_of_short_rows_has_its_own_bounds(step: int) -> None:
    """Its positions begin where it says, and it may be longer than the rows are."""
    k = quern.compile(f"""
@portable
rowwise k(x: i8[B, A, C]) -> i8[B, C, A]:
    let most = max(index(A) over A)
    let last = max(min(x over C) + i8(j) over j: 1 .. {step} * index(A) where most >= 0)
    return expand(last over C)
""").k
    x = torch.full((200, 6, 3), 8, dtype=torch.int8)
    last = step * torch.arange(6) - 1
    wanted = torch.where(last < 1, -128, last + 8).to(torch.int8)
    torch.testing.assert_close(k(x), wanted.expand(200, 3, 6))


def test_a_longer_axis_beside_short_rows_is_whole() -> None:
    k = quern.compile("""
@portable
rowwise k(x: c128[C, A, B]) -> c64[C, B]:
    let least = f32(min(i32(index(B)) over B))
    let running = scan(max, least + f32(index(C)) over C, exclusive)
    let a = f32(index(A))
    let v = sum((least + a) * (running + a) over A) if least == 0 else abs(least)
    let isMore = scan(min, v + f32(index(B)) over B) > re(complex(v, v))
    let z = complex(least, v) if isMore else complex(least, v)
    return z / complex(f32(-1), v) - complex(v, v)
""").k
    a = torch.arange(130.0, dtype=torch.float64)
    v = torch.stack([(a * (a + c)).sum() for c in (0, 1, 2)])
    wanted = torch.complex(0 * v, v) / torch.complex(0 * v - 1, v) - torch.complex(v, v)
    got = k(torch.zeros(4, 130, 4, dtype=torch.complex128))[1:]
    torch.testing.assert_close(got, wanted[:, None].expand(3, 4).to(torch.complex64))
