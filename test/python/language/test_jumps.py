"""`break` and `continue` against NumPy: on CPUs, on an emulated GPU, in threads and on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import quern
from program_file import ProgramFile
from slices import gpus
from tree import ROOT

Array = np.ndarray[Any, Any]
PROGRAM = ProgramFile(ROOT / "test" / "emulator" / "jumps.qn")
TARGETS = gpus("jumps")
SESSIONS = [("", 1), ("", 3), ("x86-64-v2", 1), ("x86-64-v3", 2)]


def factors(n: int) -> int:
    return next((i for i in range(2, 100) if i * i <= n and n % i == 0), n)


def collatz(n: int) -> int:
    steps = 0
    while n > 1:
        n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
    return steps


def until_far(row: Array) -> int:
    s = 0
    for v in row.tolist():
        if v < 0:
            s -= 1
            if v < -80:
                break
            if v < -40:
                continue
            s += 100
        s += v
    return s


def nested(x: int) -> int:
    s = 0
    for i in range(6):
        for j in range(6):
            if j > i:
                break
            if (x + j) % 3 == 0:
                continue
            if s > 400:
                return -s
            s += j + 1
        if s % 7 == 3:
            continue
        s += x
        if s > 300:
            break
    return s


def halving(n: int) -> int:
    rounds = 0
    while n > 0:
        n //= 2
        if n % 5 == 1:
            break
        if n % 3 == 1:
            continue
        rounds += 1
    return rounds * 1000 + n


def with_sums(row: Array, n: int) -> int:
    m = 0
    for i in range(n):
        now = int((row * (i + 1)).max() + row.sum())
        if now > 600:
            break
        if now % 2 == 0:
            continue
        m += now
    return m


def written_out(row: Array) -> Array:
    y = row.copy()
    for i in range(5):
        if y.sum() > 500:
            break
        y = y + np.concatenate([[1], y[:-1]])
        if i == 1:
            continue
        y = y - 1
    return y


def of_each(function: Callable[[int], int]) -> Callable[[Array], Array]:
    return np.vectorize(lambda v: function(int(v)), otypes=[np.int64])


def of_rows(function: Callable[..., Any]) -> Callable[..., Array]:
    return lambda x, *more: np.array([function(row, *more) for row in x])


CASES: list[tuple[str, Callable[..., Array], tuple[int, ...]]] = [
    ("factors", of_each(factors), ()),
    ("collatz", of_each(collatz), ()),
    ("until_far", of_rows(until_far), ()),
    ("nested", lambda x: of_each(nested)(x[:, 0]), ()),
    ("halving", of_each(halving), ()),
    ("with_sums", of_rows(with_sums), (9,)),
    ("written_out", of_rows(written_out), ()),
]
SHAPES = [(1, 1), (3, 5), (5, 40), (33, 17), (2, 300)]


def numbers(name: str, shape: tuple[int, int]) -> Array:
    low = 0 if name in ("factors", "collatz", "halving") else -90
    return np.random.default_rng(sum(shape)).integers(low, 99, shape)


def operand(name: str, x: Array) -> Array:
    return np.ascontiguousarray(x[:, 0]) if name == "nested" else x


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "reference", "scalars"), CASES, ids=lambda c: str(c)[:20])
@pytest.mark.parametrize(("target", "threads"), SESSIONS)
def test_on_a_cpu(
    target: str,
    threads: int,
    name: str,
    reference: Callable[..., Array],
    scalars: tuple[int, ...],
    shape: tuple[int, int],
) -> None:
    x = numbers(name, shape)
    made = getattr(PROGRAM.module(target, threads), name)(operand(name, x), *scalars)
    np.testing.assert_array_equal(np.asarray(made), reference(x, *scalars))


@pytest.mark.parametrize("shape", [(3, 5), (5, 40), (2, 300)])
@pytest.mark.parametrize(("name", "reference", "scalars"), CASES, ids=lambda c: str(c)[:20])
@pytest.mark.parametrize("target", TARGETS)
def test_on_a_gpu(
    target: str,
    name: str,
    reference: Callable[..., Array],
    scalars: tuple[int, ...],
    shape: tuple[int, int],
) -> None:
    x = numbers(name, shape)
    wanted = reference(x, *scalars)
    made = np.zeros(wanted.shape, np.int64)
    PROGRAM.kernel(name, target).run([operand(name, x), made], list(scalars))
    np.testing.assert_array_equal(made, wanted)


THREADS = """
kernel first(x: i32[R, C], y: mut i64[R]):
    launch grid(R) block(32)
    shared found: i64[1]
    if thread.x == 0:
        found[0] = -1
    barrier()
    for start in range(0, C, 32):
        let c = start + thread.x
        if c < C and x[block.x, c] == 0:
            atomic_max(found[0], c)
        barrier()
        let place = found[0]
        barrier()
        # The same in all threads: nobody misses a barrier.
        if place >= 0:
            break
    if thread.x == 0:
        y[block.x] = found[0]

kernel skipped(x: i32[N], y: mut i32[N]):
    launch grid(1) block(8)
    for i in range(thread.x, N, 8):
        if x[i] < 0:
            continue
        var v = x[i]
        while true:
            v //= 2
            if v < 3:
                break
        y[i] = v
"""


def test_threads() -> None:
    k = quern.compile(THREADS)
    x = np.ones((3, 100), np.int32)
    x[0, 40], x[0, 70], x[2, 99] = 0, 0, 0
    y = np.zeros(3, np.int64)
    k.first(x, y)
    np.testing.assert_array_equal(y, [40, -1, 99])
    v = np.arange(-5, 45, dtype=np.int32)
    out = np.full(50, -7, np.int32)
    k.skipped(v, out)

    def halved(n: int) -> int:
        n //= 2
        while n >= 3:
            n //= 2
        return n

    np.testing.assert_array_equal(out, [halved(n) if n >= 0 else -7 for n in v.tolist()])


HOST = """
fn below(n: i64) -> i64:
    var s = 0
    for i in range(100):
        if i % 2 == 0:
            continue
        if i > n:
            break
        s += i
    return s

const ODD: i64 = below(10)

elementwise plus(x: i64, n: int) -> i64:
    return x + n + ODD

elementwise negated(x: i64) -> i64:
    return -x

op counted(x: i64[N], most: int) -> i64[N]:
    var n = 0
    for i in range(1000):
        if i == most:
            break
        if i % 3 == 0:
            continue
        n += i
    while true:
        n += 1
        if n % 10 == 0:
            break
    return plus(x, n + below(6))

op some(xs: list[i64[*S]]) -> list[i64[*S]]:
    var ys: list[i64[*S]] = []
    for x in xs:
        if x.extent(0) == 0:
            continue
        if x.extent(0) > 4:
            break
        ys = ys + [negated(x)]
    return ys
"""


def test_on_the_host() -> None:
    k = quern.compile(HOST)
    x = np.arange(3)
    total = sum(i for i in range(8) if i % 3)
    wanted = x + (total // 10 + 1) * 10 + 9 + 25
    np.testing.assert_array_equal(k.counted(x, 8), wanted)
    lists = [np.arange(n) for n in (2, 0, 3, 7, 1)]
    made = k.some(lists)
    assert [len(m) for m in made] == [2, 3]
    np.testing.assert_array_equal(made[1], [0, -1, -2])
