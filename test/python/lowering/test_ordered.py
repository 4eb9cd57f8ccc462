"""Reductions whose `merge` does not commute take their elements in order, whatever makes them."""

from __future__ import annotations

from typing import Any

import _quern
import numpy as np
import ordered_cases as reference
import pytest
from targets import runnable
from tree import ROOT

Array = np.ndarray[Any, Any]
TEXT = (ROOT / "test" / "emulator" / "ordered.qn").read_text()
LENGTHS = (0, 1, 2, 7, 8, 9, 31, 64, 65, 100, 257, 1000)
#: Vector widths, with masks and without; teams of threads.
SESSIONS = [
    *(("", threads) for threads in (1, 2, 7)),
    runnable("x86-64-v2", 1),
    runnable("x86-64-v3", 2),
    runnable("x86-64-v4", 1),
]


@pytest.fixture(scope="module", params=SESSIONS, ids=lambda p: f"{p[0] or 'host'}-{p[1]}")
def k(request: pytest.FixtureRequest) -> Any:
    target, threads = request.param
    session = _quern.Session(threads=threads, cache="-", target=target)
    return session.compile(TEXT, "ordered.qn")


def agree(got: Any, wanted: list[Array]) -> None:
    for now, then in zip(got if isinstance(got, tuple) else (got,), wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(now), then)


def strided(x: Array) -> Array:
    """The same values, last axis first in memory, every other element."""
    return np.repeat(x.T, 2, axis=0)[::2].T


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("count", [1, 5, 40])
def test_rows(k: Any, count: int, length: int) -> None:
    x = reference.numbers(count, length)
    agree(k.rows(x), reference.rows(x))
    agree(k.rows(strided(x)), reference.rows(x))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("count", [1, 5, 40, 600])
def test_columns(k: Any, count: int, length: int) -> None:
    x = reference.numbers(length, count)
    agree(k.columns(x), reference.columns(x))
    agree(k.columns(strided(x)), reference.columns(x))


@pytest.mark.parametrize("length", [1, 1000, 16384, 16385, 70001])
def test_everything(k: Any, length: int) -> None:
    x = reference.words(length)
    with np.errstate(over="ignore"):
        agree(k.everything(x), [reference.matrices(x), reference.text_hash(x)])


@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 17, 33), (40, 3, 64), (1, 64, 3), (9, 1, 70)])
def test_several_axes(k: Any, shape: tuple[int, int, int]) -> None:
    x = reference.words(*shape)
    agree(k.both(x), reference.both(x))
    agree(k.both(strided(x)), reference.both(x))


@pytest.mark.parametrize("length", [1, 9, 100])
def test_some_elements(k: Any, length: int) -> None:
    x = reference.numbers(6, length)
    wanted = reference.text_hash(x.T, x.T > 0)
    agree(k.positives(x), [wanted, x - wanted[:, None]])


@pytest.mark.parametrize("shape", [(3, 1), (5, 64), (33, 100), (300, 70)])
def test_portable_ones(k: Any, shape: tuple[int, int]) -> None:
    x = reference.words(*shape)
    agree(k.fixed(x), [reference.text_hash(x.T), reference.text_hash(x)])


def test_others_beside_them(k: Any) -> None:
    x = reference.words(7, 300)
    agree(k.beside(x), [x.sum(1), reference.text_hash(x.T), x.max(1)])


@pytest.mark.parametrize("length", [1, 2, 5, 11])
def test_windows(k: Any, length: int) -> None:
    x = reference.words(4, 90)
    padded = np.pad(x, ((0, 0), (1, length)), constant_values=2)
    seen = np.stack([padded[:, i : i + 90] for i in range(length)])
    with np.errstate(over="ignore"):
        agree(k.window(x, length), [reference.matrices(seen)])


def test_bounds_that_differ(k: Any) -> None:
    x = reference.words(3, 41) % 4
    wanted = reference.text_hash(x.T, x.T != 0, steps=True).T
    agree(k.before(x), [wanted])


@pytest.mark.parametrize("length", [0, 1, 3, 40])
def test_local_axes_in_front(k: Any, length: int) -> None:
    x = reference.words(5, 33)
    seen = np.stack([x * (i + 1) for i in range(length)], 1) if length else x[:, None][:, :0]
    with np.errstate(over="ignore"):
        agree(k.grid(x, length), [reference.matrices(seen.reshape(5, length * 33).T)])


def test_scans(k: Any) -> None:
    x = reference.words(4, 77)
    forward = reference.text_hash(x.T, steps=True).T
    backward = reference.text_hash(x.T[::-1], steps=True)[::-1].T
    agree(k.scanned(x), [forward, backward])


def test_reductions_of_scans(k: Any) -> None:
    x = reference.words(3, 9, 20)
    forward, backward = x.cumsum(1), x[:, :, ::-1].cumsum(2)[:, :, ::-1]
    with np.errstate(over="ignore"):
        wanted = [
            reference.text_hash(forward.reshape(3, -1).T),
            reference.text_hash(backward.reshape(3, -1).T),
            reference.matrices(forward.transpose(0, 2, 1).reshape(3, -1).T),
        ]
    agree(k.of_scans(x), wanted)


def test_parts_of_an_axis(k: Any) -> None:
    x = reference.words(2, 3, 40)
    with np.errstate(over="ignore"):
        wanted = reference.matrices(x.reshape(2, 3, 4, 10).transpose(3, 0, 1, 2))
    agree(k.packs(x, G=4), [wanted])


@pytest.mark.parametrize("count", [1, 16, 70, 300])
def test_threads_of_a_kernel(k: Any, count: int) -> None:
    x, y = reference.words(count), np.zeros((4, count), np.int64)
    k.threads(x, y)
    before = reference.text_hash(x, steps=True)
    assert (y[0] == reference.text_hash(x)).all()
    assert (y[2] == np.concatenate([[0], before[:-1]])).all()
    for first in range(0, count, int(y[3, 0])):
        warp = slice(first, first + int(y[3, 0]))
        assert (y[1, warp] == reference.text_hash(x[warp], x[warp] > 0)).all()
