"""Counters of loops near the ends of their type: as many rounds as Python's `range` has."""

from __future__ import annotations

import numpy as np
import pytest
import quern

END = 2**63 - 1
RANGES = [
    (0, END, 2**62),
    (-END, END, 2**62),
    (-END, END, END),
    (5, -END, -(2**62)),
    (1, -END, -END),
    (END, -END - 1, -END - 1),
    (END - 3, END, 2),
    (-1, 2, 2),
    (3, 3, 1),
]
WRITTEN = """
elementwise counted(x: i64) -> i64:
    var s = x
    for i in range({}, {}, {}):
        s = s * 3 + i % 1000
    return s
"""
HOST = """
elementwise another(x: i64, i: i64) -> i64:
    return x * 3 + i % 1000

op counted(x: i64[N], lower: int, upper: int, step: int) -> i64[N]:
    var s = x
    for i in range(lower, upper, step):
        s = another(s, i)
    return s
"""
WAITING = """
rowwise spread[T: Float](x: T[R, C]) -> T[R, C]:
    var s = x
    for i in range({}, {}, {}):
        s = s + s.at(C = index(C) - 1, outside = 0)
    return s
"""


def wanted(numbers: tuple[int, int, int]) -> int:
    s = 1
    for i in range(*numbers):
        s = s * 3 + i % 1000
    return s


@pytest.mark.parametrize("numbers", RANGES)
def test_rounds_that_are_written_out(numbers: tuple[int, int, int]) -> None:
    counted = quern.compile(WRITTEN.format(*numbers)).counted
    assert counted(np.ones(1, np.int64)) == [wanted(numbers)]


@pytest.mark.parametrize("numbers", RANGES)
def test_rounds_of_an_op(numbers: tuple[int, int, int]) -> None:
    counted = quern.compile(HOST).counted
    assert counted(np.ones(1, np.int64), *numbers) == [wanted(numbers)]


@pytest.mark.parametrize("numbers", [(1, -END, -1), (-END, END, 1), (END, -END, -1)])
def test_rounds_beyond_number_are_too_many(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(quern.Error, match="QN1338"):
        quern.compile(WAITING.format(*numbers)).spread(np.ones((2, 3), np.float32))


def test_the_least_integer_is_its_own_magnitude() -> None:
    k = quern.compile("""
elementwise plus(x: i64, y: i64) -> i64:
    return x + y

op farther(x: i64[N], by: int) -> i64[N]:
    return plus(x, abs(by))
""")
    for number in (-END - 1, -3, 0, 3, END):
        assert k.farther(np.zeros(1, np.int64), number) == np.abs(np.int64(number))


THREADS = """
kernel counted(s: mut i64[N]{parameters}):
    launch grid(1) block(8)
    if thread.x < N:
        var t = s[thread.x]
        for i in range({lower}, {upper}, {step}):
            t = t * 3 + i % 1000
        s[thread.x] = t

elementwise lifted(s: i64{parameters}) -> i64:
    var t = s
    for i in range({lower}, {upper}, {step}):
        t = t * 3 + i % 1000
    return t
"""
#: What is known when compiling, and what is given.
FORMS = ("", "lower", "upper", "lower upper", "lower upper step")
FAR = [
    *RANGES,
    (END - 3, END, 3),
    (END - 3, END - 1, 100000),
    (END - 100, END, 7),
    (-END + 3, -END - 1, -3),
    (-END + 10, -END, -1),
    (END, -END - 1, 1),
    (END, -END - 1, 2),
    (-END - 1, END, -1),
    (-END - 1, END, -2),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("numbers", FAR)
def test_rounds_of_threads_and_elements(numbers: tuple[int, int, int], form: str) -> None:
    named = dict(zip(("lower", "upper", "step"), numbers, strict=True))
    given = {name: named[name] for name in form.split()}
    text = {name: name if name in given else str(value) for name, value in named.items()}
    parameters = "".join(f", {name}: int" for name in given)
    module = quern.compile(THREADS.format(parameters=parameters, **text))
    s = np.ones(5, np.int64)
    module.counted(s, *given.values())
    assert list(s) == [wanted(numbers)] * 5
    assert list(module.lifted(np.ones(3, np.int64), *given.values())) == [wanted(numbers)] * 3
