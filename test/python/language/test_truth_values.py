"""Lists of truth values as constants, arguments, defaults; defaults made of other parameters."""

from __future__ import annotations

import math

import pytest
import quern
import torch

SOURCE = """
const FLAGS: bool[3] = [true, false, true]

rowwise by_table(x: f32[N]) -> f32[N]:
    return x if FLAGS[index(N) % 3] else -x

op first_flag(x: f32[N], i: int) -> f32[N]:
    if FLAGS[i]:
        return by_table(x)
    return x

rowwise masked[M: bool[2] = [true, false]](x: f32[N]) -> (f32[N]?, f32[N]?):
    return x if const M[0] else none, x * 2 if const M[1] else none

op given(x: f32[N]) -> f32[N]:
    let a, b = masked[[true, true]](x)
    return by_table(b)

op by_name(x: f32[N]) -> f32[N]:
    let _, b = masked[M = [false, true]](x)
    return b

op default(x: f32[N]) -> f32[N]:
    let a, _ = masked(x)
    return a

op handed_on[L: bool[2] = [true, true]](x: f32[N]) -> (f32[N]?, f32[N]?):
    return masked[L](x)

fn chosen[M: bool[2]](x: f32) -> f32:
    return x if M[1] else -x

elementwise twice[M: bool[2] = [false, true]](x: f32) -> f32:
    return chosen[M](x) + chosen[[true, false]](x) * 10

rowwise inner[M: bool[2]](x: f32[N]) -> f32[N]:
    return chosen[[M[1], M[0]]](x)

rowwise outer[M: bool[2], K: int = 3, L: bool[2] = [K > 2, K > 3]](x: f32[N]) -> f32[N]:
    return inner[M](x) + inner[L](x) * 10

kernel threads[M: bool[2] = [true, false], L: bool[2] = M](x: f32[N], y: mut f32[N]):
    launch grid(1) block(N)
    y[thread.x] = x[thread.x] if L[0] and not L[1] else 7
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "truth.qn")


ONES = torch.ones(2)


def test_tables(k: quern.Module) -> None:
    x = torch.arange(1.0, 5.0)
    wanted = x * torch.tensor([1, -1, 1, 1])
    assert (k.by_table(x) == wanted).all()
    assert (k.first_flag(x, 0) == wanted).all()
    assert (k.first_flag(x, 1) == x).all()


def test_defaults_of_results(k: quern.Module) -> None:
    a, b = k.masked(ONES)
    assert (a == 1).all()
    assert b is None
    a, b = k.masked(ONES, M=[False, True])
    assert a is None
    assert (b == 2).all()
    a, b = k.handed_on(ONES)
    assert (a == 1).all()
    assert (b == 2).all()
    assert k.handed_on(ONES, L=[True, False])[1] is None


def test_calls_from_text(k: quern.Module) -> None:
    assert k.given(ONES).tolist() == [2, -2]
    assert k.by_name(ONES).tolist() == [2, 2]
    assert k.default(ONES).tolist() == [1, 1]
    assert k.twice(ONES).tolist() == [-9, -9]
    assert k.twice(ONES, M=[True, False]).tolist() == [-11, -11]


@pytest.mark.parametrize(("m", "size", "wanted"), [
    ([True, False], 3, 1 + 10),
    ([False, True], 3, -1 + 10),
    ([False, True], 2, -1 - 10),
])  # fmt: skip
def test_handed_on(k: quern.Module, m: list[bool], size: int, wanted: float) -> None:
    assert (k.outer(ONES, M=m, K=size) == wanted).all()


def test_threads(k: quern.Module) -> None:
    y = torch.zeros(2)
    k.threads(ONES, y)
    assert (y == 1).all()
    k.threads(ONES, y, M=[True, True])
    assert (y == 7).all()
    k.threads(ONES, y, L=[True, False])
    assert (y == 1).all()


def test_what_is_no_list(k: quern.Module) -> None:
    for wrong in ([True], True, [True, False, True]):
        with pytest.raises(quern.Error, match=r"QN2042.*truth values, one for each"):
            k.masked(ONES, M=wrong)
    text = SOURCE + "\nop wrong(x: f32[N]) -> f32[N]:\n    let a, _ = masked[(true, false)](x)\n"
    with pytest.raises(quern.Error, match="lists stand in square brackets"):
        quern.compile(text + "    return a\n", "wrong.qn")


DEFAULTS = """
elementwise scaled(x: f32, a: f32 = 2, b: f32 = a * 3) -> f32:
    return x * a + b

rowwise windowed(x: f32[N], k: int = 2, s: int = k + N) -> f32[N]:
    return x * f32(k) + f32(s)

elementwise natural(x: f32, base: f32 = exp(f32(1))) -> f32:
    return x * base

fn half(n: f32) -> f32:
    return n / 2

elementwise halved(x: f32, flag: bool = not false, by: f32 = half(3)) -> f32:
    return x * by if flag else x

op outer(x: f32[N], a: f32 = 5) -> f32[N]:
    return scaled(x, b = a)
"""


def test_defaults_ask_for_other_parameters() -> None:
    k = quern.compile(DEFAULTS, "defaults.qn")
    assert k.scaled(ONES).tolist() == [8, 8]
    assert k.scaled(ONES, 1).tolist() == [4, 4]
    assert k.scaled(ONES, b=1.0).tolist() == [3, 3]
    assert k.scaled(ONES, b=1, a=4).tolist() == [5, 5]
    assert k.windowed(ONES).tolist() == [6, 6]
    assert k.windowed(ONES, s=1).tolist() == [3, 3]
    assert k.natural(ONES).tolist() == pytest.approx([math.e, math.e])
    assert k.halved(ONES).tolist() == [1.5, 1.5]
    assert k.halved(ONES, flag=False).tolist() == [1, 1]
    assert k.outer(ONES).tolist() == [7, 7]


def test_none_is_no_default_of_a_number() -> None:
    for text in (
        "fn f(x: f32, n: int = none) -> f32:",
        "elementwise f(x: f32, n: f32 = none) -> f32:",
    ):
        with pytest.raises(quern.Error, match="QN1128"):
            quern.compile(text + "\n    return x\n", "none.qn")
