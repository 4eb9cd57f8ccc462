"""Ops that make lists: a Python list comes back, elements against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import quern

HEAD = """
elementwise add[T: Number](x: T, y: T) -> T:
    return x + y

rowwise extremes[T: Real](x: T[*R, C]) -> (T[*R], T[*R]):
    return max(x over C), min(x over C)
"""


def compiled(text: str) -> quern.Module:
    return quern.compile(HEAD + text)


def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    random = np.random.default_rng(3)
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def assert_lists(got: object, wanted: list[np.ndarray]) -> None:
    assert isinstance(got, list)
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_launch_over_two_lists() -> None:
    k = compiled("""
op sums[T: Number](xs: list[T[*S]], ys: list[T[*S]]) -> list[T[*S]]:
    return [add(x, y) for (x, y) in zip(xs, ys)]
""")
    xs, ys = arrays((3, 4), (2,), ()), arrays((3, 4), (2,), ())
    assert_lists(k.sums(xs, ys), [x + y for x, y in zip(xs, ys, strict=True)])
    assert_lists(k.sums(xs[:1], ys[:1]), [xs[0] + ys[0]])
    assert_lists(k.sums([], [], T="f32"), [])
    with pytest.raises(quern.Error, match="QN2073"):
        k.sums(xs, ys[:2])


def test_several_results_make_several_lists() -> None:
    k = compiled("""
op tops[T: Real](xs: list[T[*R, C]], y: T[N]) -> (list[T[*R]], T[N], list[T[*R]]):
    let high, low = [extremes(x) for x in xs]
    return high, y, low
""")
    xs = arrays((3, 4), (2, 5))
    (y,) = arrays((7,))
    high, same, low = k.tops(xs, y)
    assert_lists(high, [x.max(1) for x in xs])
    np.testing.assert_array_equal(same, y)
    assert_lists(low, [x.min(1) for x in xs])


def test_parts_of_a_tensor() -> None:
    k = compiled("""
op unbind[T: Any](x: T[N, *S]) -> list[T[*S]]:
    return [x[i] for i in range(N)]

op split[T: Any](x: T[N, *S], sizes: int[*P]) -> list[T[M, *S]]:
    var parts: list[T[M, *S]] = []
    var at = 0
    for n in sizes:
        parts += [x.slice(0, at, at + n)]
        at += n
    return parts

op chunk[T: Any](x: T[N, *S], size: int) -> list[T[M, *S]]:
    return [x.slice(0, i, min(i + size, N)) for i in range(0, N, size)]
""")
    (x,) = arrays((7, 3))
    assert_lists(k.unbind(x), list(x))
    assert_lists(k.split(x, [2, 4, 1]), np.split(x, [2, 6]))
    assert_lists(k.chunk(x, 3), [x[:3], x[3:6], x[6:]])
    assert_lists(k.chunk(x[:0], 3), [])


def test_elements_literals_and_joins() -> None:
    k = compiled("""
op turned[T: Number](xs: list[T[*S]]) -> list[T[*S]]:
    return [xs[-1]] + xs + [add(xs[0], xs[0])]

op third[T: Any](xs: list[T[*S]]) -> T[*S]:
    return xs[2]
""")
    xs = arrays((3,), (4,))
    assert_lists(k.turned(xs), [xs[1], *xs, xs[0] + xs[0]])
    with pytest.raises(quern.Error, match=r"QN2078.*index 2 is out of range for a list of 2"):
        k.third(xs)


def test_results_that_are_given() -> None:
    k = compiled("""
op sums[T: Number](xs: list[T[*S]], ys: list[T[*S]]) -> list[T[*S]]:
    return [add(x, y) for (x, y) in zip(xs, ys)]
""")
    xs, ys = arrays((3, 4), (2,)), arrays((3, 4), (2,))
    outs = [np.empty_like(x) for x in xs]
    k.sums(xs, ys, out=outs)
    assert_lists(outs, [x + y for x, y in zip(xs, ys, strict=True)])
    with pytest.raises(quern.Error, match="QN2030"):
        k.sums(xs, ys, out=outs[:1])
