"""Every mistake that only a call can show has its own code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import quern
import torch
from numpy.lib.stride_tricks import as_strided

SOURCE = """
elementwise twice(x: f32) -> f32:
    return x * 2

elementwise bump(x: mut f32, y: f32):
    x = x + y

rowwise cast[U: Float](x: f32[R]) -> U[R]:
    return U(x)

rowwise triples(x: f32[R, 3]) -> f32[R]:
    return x[index(R), 0]

rowwise groups(x: f32[N, (G C)]) -> f32[N]:
    return sum(x over (G, C))

rowwise shorter(x: f32[H], k: int) -> f32[P = size(H) - k]:
    return x.at(H = index(P))

rowwise parts(x: f32[H], k: int) -> f32[P = size(H) // k]:
    return x.at(H = index(P))

rowwise scaled[N: int](x: f32[R]) -> f32[R]:
    return x * f32(N)

rowwise mode[M: {"up", "down"} = "up"](x: f32[R]) -> f32[R]:
    return x if const M == "up" else -x

rowwise gather(x: f32[R], i: i64[K]) -> f32[K]:
    return x[i]

elementwise rooted(x: f32) -> f32:
    return sqrt(require(x, x >= 0, "x is negative"))

op divided(x: f32[N], k: int) -> f32[N]:
    let y = zeros(f32, size(N) // k)
    return twice(y)

op endless(x: f32[N]) -> f32[N]:
    var y = x
    for i in range(1000000000):
        y = twice(y)
    return y

op viewed(x: f32[N]) -> f32[N]:
    let y = x.reshape(4, 4)
    return twice(y.reshape(size(N)))

elementwise bumped(x: mut f32, y: f32):
    x = x + y

op pairs(xs: list[mut f32[*S]], ys: list[f32[*S]]):
    each (x, y) in zip(xs, ys): bumped(x, y)

op first(x: f32[N]) -> f32[M]:
    return zeros(f32, int(host(x)))

op three(x: f32[N]) -> f32[N]:
    return zeros(f32, 3)

op sorted(x: f32[N]) -> f32[N]:
    return extern "aten::sort"(x)

op place(x: f32[N]) -> f32[]:
    return extern "aten::argmax"(x)
"""
X = np.ones(4, dtype=np.float32)
HUGE = as_strided(X, shape=(9,), strides=(2**60,))
Call = Callable[[Any], Any]
CALLS: dict[str, Call] = {
    "QN2010": lambda k: k.twice(X.astype(np.float64)),
    "QN2013": lambda k: k.cast(X),
    "QN2026": lambda k: k.triples(np.ones((2, 4), np.float32)),
    "QN2027": lambda k: k.groups(np.ones((2, 4), np.float32)),
    "QN2028": lambda k: k.shorter(X, 5),
    "QN2029": lambda k: k.parts(X, 0),
    "QN2035": lambda k: k.bump(np.ones((1, 4), np.float32), np.ones((3, 4), np.float32)),
    "QN2036": lambda k: k.twice(HUGE),
    "QN2040": lambda k: k.twice(X, N=3),
    "QN2041": lambda k: k.scaled(X),
    "QN2042": lambda k: k.scaled(X, N="three"),
    "QN2043": lambda k: k.mode(X, M="sideways"),
    "QN2044": lambda k: k.cast(X, U="f33"),
    "QN2050": lambda k: k.gather(X, np.array([4])),
    "QN2058": lambda k: k.rooted(-X),
    "QN2070": lambda k: k.endless(torch.ones(4)),
    "QN2071": lambda k: k.divided(torch.ones(4), 0),
    "QN2072": lambda k: k.viewed(torch.ones(6)),
    "QN2073": lambda k: k.pairs([X], []),
    "QN2074": lambda k: k.first(X),
    "QN2075": lambda k: k.three(X),
    "QN2076": lambda k: k.sorted(torch.ones(4)),
    "QN2077": lambda k: k.place(torch.ones(4)),
}


@pytest.fixture(scope="module")
def kernels() -> Any:
    return quern.compile(SOURCE, "mistakes.qn")


@pytest.mark.parametrize("code", CALLS)
def test_the_mistake_has_its_code(kernels: Any, code: str) -> None:
    with pytest.raises((quern.Error, IndexError)) as caught:
        CALLS[code](kernels)
    assert code in str(caught.value)


def test_a_compile_time_parameter_near_the_given_one_is_said() -> None:
    k = quern.compile("elementwise grown[TIMES: int](x: f32) -> f32:\n    return x * f32(TIMES)\n")
    with pytest.raises(quern.Error, match="did you mean `TIMES`"):
        k.grown(X, TIME=3)
    scaled = "elementwise scaled(x: f32, factor: f64 = 2) -> f32:\n    return x * f32(factor)\n"
    with pytest.raises(quern.Error, match="did you mean `factor`"):
        quern.compile(scaled).scaled(torch.ones(3), factro=2.0)


@pytest.mark.parametrize("head", ["f[G: int](x: f32[(G C)])", "f(x: f32[(G C)], G: int)"])
def test_an_extent_given_as_a_negative_number_is_what_is_wrong(head: str) -> None:
    k = quern.compile(f"op {head} -> f32[C]:\n    return zeros(f32, C)\n")
    with pytest.raises(quern.Error, match=r"QN2028.*axis `G` is -2"):
        k.f(X, G=-2)


def test_a_number_for_a_truth_value_is_said() -> None:
    k = quern.compile("elementwise f[B: bool](x: f32) -> f32:\n    return x if const B else -x\n")
    with pytest.raises(quern.Error, match="`B` takes a bool, not an integer"):
        k.f(X, B=1)


@pytest.mark.parametrize(
    ("constraint", "example"),
    [("Float", "f32"), ("Int", "i32"), ("Complex", "c64"), ("Bool", "bool")],
)
def test_the_hint_names_a_type_that_is_admitted(constraint: str, example: str) -> None:
    k = quern.compile(f"op f[T: {constraint}](n: int) -> T[N = n]:\n    return zeros(T, n)\n")
    with pytest.raises(quern.Error, match=f'QN2013(.|\n)*by name: T = "{example}"'):
        k.f(3)


def test_the_hint_names_a_parameter_for_part_of_an_axis() -> None:
    text = "rowwise f(x: f32[N, (G C)]MORE) -> f32[N, C]:\n    return sum(x over G)\n"
    with pytest.raises(quern.Error, match=r"QN2027(.|\n)*a parameter `G: int` says"):
        quern.compile(text.replace("MORE", "")).f(np.ones((2, 6), np.float32))
    k = quern.compile(text.replace("MORE", ", G: int"))
    wide = np.arange(12, dtype=np.float32).reshape(2, 6)
    np.testing.assert_array_equal(k.f(wide, 2), wide.reshape(2, 2, 3).sum(1))
