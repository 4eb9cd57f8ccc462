"""Constants, annotations and choices, run and compared with PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import quern
import torch

SOURCE = """
const WEIGHTS: f32[3] = [share(1), share(2), share(3)]
const CHUNK: int = ceildiv(17, 6)

fn share(n: int) -> f32:
    var total: f32 = 0
    for i in range(n):
        total += 0.25
    return total

reduction farthest[T: Float]:
    state: (value: acc(T) = 0, at: i64 = -1)
    step(s, x: T, i: index): (abs(acc(T)(x)), i) if abs(acc(T)(x)) > s.value else (s.value, s.at)
    merge(a, b): a if a.value >= b.value else b

rowwise far(x: f32[*R, C]) -> (f32[*R], i64[*R]):
    return farthest(x over C)

rowwise chosen[MASK: bool[2]](x: f32[R, C]) -> (f32[R, C]?, f32[R]?):
    return x * 2 if const MASK[0] else none, sum(x over C) if const MASK[1] else none

rowwise weighted(x: f32[R, C], w: f32[C]?) -> f32[R, C]:
    let y: f32[R, C] = x * WEIGHTS[2]
    return y + (w * w if const present(w) else x)

rowwise blocks(x: f32[H]) -> f32[P = parts(size(H))]:
    return max(x.at(H = index(P) * CHUNK + i, outside = -inf) over i: 0 .. CHUNK)

fn parts(extent: int) -> int:
    return ceildiv(extent, CHUNK)
"""


@pytest.fixture(scope="module")
def kernels() -> Any:
    return quern.compile(SOURCE, "choices.qn")


def test_a_choice_between_tuples(kernels: Any) -> None:
    x = torch.randn(5, 37)
    value, at = kernels.far(x)
    torch.testing.assert_close(value, x.abs().amax(1), rtol=0, atol=0)
    torch.testing.assert_close(at, x.abs().argmax(1), rtol=0, atol=0)


@pytest.mark.parametrize("mask", ["11", "10", "01"])
def test_results_under_a_mask(kernels: Any, mask: str) -> None:
    x = torch.randn(4, 9)
    results = kernels.chosen(x, MASK=mask)
    given = list(results) if isinstance(results, (tuple, list)) else [results]
    given = [one for one in given if one is not None]
    expected = [x * 2] * int(mask[0]) + [x.sum(1)] * int(mask[1])
    assert len(given) == len(expected)
    for one, other in zip(given, expected, strict=True):
        torch.testing.assert_close(one, other)


def test_absent_and_present(kernels: Any) -> None:
    x, w = torch.randn(3, 8), torch.randn(8)
    torch.testing.assert_close(kernels.weighted(x, w), x * 0.75 + w * w)
    torch.testing.assert_close(kernels.weighted(x, None), x * 0.75 + x)


@pytest.mark.parametrize("extent", [1, 3, 4, 17])
def test_extents_by_functions_below(kernels: Any, extent: int) -> None:
    x = torch.randn(extent)
    expected = torch.stack([part.amax() for part in x.split(3)])
    torch.testing.assert_close(kernels.blocks(x), expected, rtol=0, atol=0)


MATCHES = """
elementwise scaled[T: Float, E: match p {1, 2, else}](x: T, p: f64 = 2) -> T:
    return x * T(E) if const E == 1 or E == 2 else x - T(p)

elementwise raised[T: Complex, E: match p {2, 0.5, else}](x: T, p: T) -> T:
    if const E == 2:
        return x + T(10)
    elif const E == 0.5:
        return x + T(20)
    else:
        return x * p

elementwise listed[T: Float, E: match p {1, 2}](x: T, p: f64) -> T:
    return x * T(E)

elementwise by_real[T: Complex](x: T) -> T:
    return raised(x, T(complex(2.0, 0.0)))

elementwise by_complex[T: Complex](x: T) -> T:
    return raised(x, T(complex(2.0, 1.0)))
"""


@pytest.fixture(scope="module")
def matches() -> Any:
    return quern.compile(MATCHES, "matches.qn")


@pytest.mark.parametrize(
    ("p", "expected"), [(1, 3.0), (1.0, 3.0), (2.0, 6.0), (True, 3.0), (2.5, 0.5), (4, -1.0)]
)
def test_numbers_choose_by_value(matches: Any, p: float, expected: float) -> None:
    assert matches.scaled(torch.tensor([3.0]), p).tolist() == [expected]


def test_a_default_chooses(matches: Any) -> None:
    assert matches.scaled(torch.tensor([3.0])).tolist() == [6.0]


@pytest.mark.parametrize(
    ("p", "expected"),
    [(2, 11), (2.0, 11), (2 + 0j, 11), (0.5, 21), (0.5 + 0j, 21), (2 + 1j, 2 + 1j), (2j, 2j)],
)
def test_complex_numbers_choose_where_they_are_real(
    matches: Any, p: complex, expected: complex
) -> None:
    assert matches.raised(torch.tensor([1 + 0j]), p).tolist() == [expected]


def test_complex_numbers_choose_in_text(matches: Any) -> None:
    x = torch.tensor([1 + 0j])
    assert matches.by_real(x).tolist() == [11]
    assert matches.by_complex(x).tolist() == [2 + 1j]


def test_no_listed_number(matches: Any) -> None:
    with pytest.raises(quern.Error, match=r"QN2043.*`E` is 2.5, must be one of 1, 2"):
        matches.listed(torch.ones(3), 2.5)
    text = "\nelementwise wrong[T: Float](x: T) -> T:\n    return listed(x, 3)\n"
    with pytest.raises(quern.Error, match="QN2043"):
        quern.compile(MATCHES + text, "wrong.qn").wrong(torch.ones(3))
