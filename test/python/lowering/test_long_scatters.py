"""Scatters of rows so long that their positions are looked at together before they are written."""

from __future__ import annotations

import _quern
import pytest
import quern
import torch
from targets import runnable

SOURCE = """
rowwise put[T: Any](x: T[*R, N], i: i64[*R, C], src: T[*R, C]) -> T[*R, N]:
    return scatter(x, at = (N = i), src, with = last)

rowwise put_part[T: Any](x: T[S, N], i: i64[R, C], src: T[Q, D]) -> T[S, N]:
    return scatter(x, at = (S = index(R), N = i), src.at(Q = index(R), D = index(C)), with = last)

rowwise add[T: Number](x: T[*R, N], i: i64[*R, C], src: T[*R, C]) -> T[*R, N]:
    return scatter(x, at = (N = i), src, with = sum)

rowwise add_wrapped(x: f64[N], i: i64[C], src: f64[C]) -> f64[N]:
    return scatter(x, at = (N = i + size(N) if i < 0 else i), src, with = sum)

rowwise put_asked(x: f32[N], i: i64[C], src: f32[C]) -> f32[N]:
    return scatter(x, at = (N = i), src, with = last, when = src > 0)

rowwise put_columns[T: Any](x: T[N, R], i: i64[C, R], src: T[C, R]) -> T[N, R]:
    return scatter(x, at = (N = i), src, with = last)
"""
WIDTHS = [1, 31, 32, 33, 64, 257, 1024, 1027, 3000]
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool]


@pytest.fixture(scope="module", params=[runnable(t) for t in ("x86-64-v2", "x86-64-v3", "")])
def k(request: pytest.FixtureRequest) -> quern.Module:
    """Made for machines without masks as well."""
    session = _quern.Session(threads=2, cache="-", target=request.param)
    return session.compile(SOURCE, "long_scatters.qn")


def sample(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    x = torch.randint(-40, 40, shape)
    return x > 0 if dtype == torch.bool else x.to(dtype)


def put(x: torch.Tensor, i: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    """One row, the last of equal places stays."""
    y = x.clone()
    for place, value in zip(i.tolist(), src, strict=True):
        y[place] = value
    return y


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_places_that_meet(k: quern.Module, dtype: torch.dtype, width: int) -> None:
    x, src = sample(dtype, 2, 50), sample(dtype, 2, width)
    i = torch.randint(0, 50, (2, width))
    wanted = torch.stack([put(*row) for row in zip(x, i, src, strict=True)])
    assert torch.equal(k.put(x, i, src), wanted)
    assert torch.equal(k.put_columns(x.t(), i.t(), src.t()), wanted.t())
    columns = [each.t().contiguous() for each in (x, i, src)]
    assert torch.equal(k.put_columns(*columns), wanted.t())
    wide = torch.stack([i, i], 2)[..., 0]
    assert torch.equal(k.put(x, wide, src), wanted)
    if dtype not in (torch.bool, torch.bfloat16):  # whose sums are exact
        assert torch.equal(k.add(x, i, src), x.scatter_add(1, i, src))


@pytest.mark.parametrize("width", WIDTHS)
def test_other_forms(k: quern.Module, width: int) -> None:
    x, src = torch.randn(50).double(), torch.randint(-9, 9, (width,)).double()
    i = torch.randint(-50, 50, (width,))
    wanted = x.index_put((i,), src, accumulate=True)
    torch.testing.assert_close(k.add_wrapped(x, i, src), wanted)
    x, src = x.float(), src.float()
    asked = src > 0
    i = torch.where(asked, i % 50, 1000)
    wanted = put(x, i[asked], src[asked])
    assert torch.equal(k.put_asked(x, i, src), wanted)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_bad_place_among_good_ones(k: quern.Module, width: int) -> None:
    x, src = torch.randn(2, 50), torch.randn(2, width)
    for row, place, bad in ((0, 0, 50), (1, width // 2, -1), (1, width - 1, 1 << 40)):
        i = torch.randint(0, 50, (2, width))
        i[row, place] = bad
        message = f"index {bad} is out of range for axis `N` of extent 50"
        for name in ("put", "add"):
            with pytest.raises(quern.Error, match=message):
                getattr(k, name)(x, i, src)
        columns = [each.t().contiguous() for each in (x, i, src)]
        with pytest.raises(quern.Error, match=message):
            k.put_columns(*columns)
    with pytest.raises(quern.Error, match="out of range for axis `N` of extent 0"):
        k.put(x[:, :0], torch.zeros(2, width, dtype=torch.int64), src)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_part_of_the_rows(k: quern.Module, width: int) -> None:
    x, src = torch.randn(5, 50), torch.randn(4, width + 3)
    i = torch.randint(0, 50, (3, width))
    wanted = x.clone()
    for row in range(3):
        wanted[row] = put(x[row], i[row], src[row, :width])
    assert torch.equal(k.put_part(x, i, src), wanted)
    for rows, width_of, axis in ((2, width, "Q"), (3, width - 1, "D")):
        with pytest.raises(quern.Error, match=f"out of range for axis `{axis}`"):
            k.put_part(x, i, src[:rows, :width_of])
    with pytest.raises(quern.Error, match="out of range for axis `S` of extent 2"):
        k.put_part(x[:2], i, src)
