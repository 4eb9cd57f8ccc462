"""Explicit kernels as users write them, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass
class Case:
    """A call of a kernel; `expected`: the last arrays behind it, or a function of a warp's size."""

    file: str
    name: str
    arrays: list[Array]
    expected: list[Array] | Callable[[int], list[Array]]
    constants: dict[str, int] = field(default_factory=dict)
    scalars: tuple[Any, ...] = ()
    types: dict[str, str] = field(default_factory=dict)
    tolerance: float = 0.0
    scalars_first: bool = False

    def __str__(self) -> str:
        shapes = "x".join(str(n) for n in self.arrays[0].shape)
        return "-".join([self.name, *self.types.values(), shapes])

    def check(self, actual: list[Array], warp: int) -> None:
        wanted = self.expected(warp) if callable(self.expected) else self.expected
        for now, then in zip(actual[-len(wanted) :], wanted, strict=True):
            if self.has_bits(now):
                now = floats(now)
            np.testing.assert_allclose(now, then, self.tolerance, self.tolerance)

    def has_bits(self, array: Array) -> bool:
        """Whether an array holds bf16, which NumPy has not."""
        return "bf16" in self.types.values() and array.dtype == np.uint16


def bits(x: Array) -> Array:
    """The elements as bf16, rounded, in 16 bits each."""
    wide = x.astype("f4").view("u4")
    return ((wide + 0x7FFF + (wide >> 16 & 1)) >> 16).astype("u2")


def floats(x: Array) -> Array:
    return (x.astype("u4") << 16).view("f4")


DTYPES = {"f16": "f2", "f32": "f4", "f64": "f8", "bool": "?"}


def dtype(element: str) -> np.dtype[Any]:
    return np.dtype(DTYPES.get(element) or element[0] + str(int(element[1:]) // 8))


def numbers(element: str, *shape: int) -> Array:
    rng = np.random.default_rng(sum(shape) + 1)
    if element == "bool":
        return rng.random(shape) < 0.4
    return (rng.standard_normal(shape) * 40).astype(dtype(element))


def exchanges() -> Iterator[Case]:
    for element, count in (("f32", 1), ("i64", 96), ("bool", 500), ("f16", 130)):
        x = numbers(element, count)
        parts = [x[k : k + 96][::-1] for k in range(0, count, 96)]
        yield Case(
            "exchange",
            "reverse_blocks",
            [x, np.zeros_like(x)],
            [np.concatenate(parts)],
            types={"T": element},
        )
    for element, shape in (("f32", (3, 100)), ("i8", (2, 128)), ("f64", (1, 1)), ("u64", (2, 77))):
        x = abs(numbers(element, *shape)) if element == "u64" else numbers(element, *shape)
        yield Case(
            "exchange",
            "bitonic_sort",
            [x, np.zeros_like(x)],
            [np.sort(x, 1)],
            types={"T": element},
        )
    for count in (1, 77, 200):
        x = numbers("i64", count)
        yield Case(
            "exchange",
            "odd_even_sort",
            [x, np.zeros_like(x)],
            [np.sort(x)],
        )


def sums() -> Iterator[Case]:
    for element, shape in (("f32", (5, 70)), ("f16", (9, 33)), ("f32", (1, 1))):
        x = numbers(element, *shape) / 20
        e = np.exp(x.astype("f8") - x.max(1, keepdims=True))
        yield Case(
            "exchange",
            "warp_softmax",
            [x.astype(dtype(element)), np.zeros(shape, dtype(element))],
            [e / e.sum(1, keepdims=True)],
            types={"T": element},
            tolerance=2e-3 if element == "f16" else 1e-5,
        )
    x = np.random.default_rng(2).integers(0, 10, 3001).astype("u1")
    yield Case(
        "exchange",
        "private_histogram",
        [x, np.zeros(10, "i8")],
        [np.bincount(x, minlength=10)],
    )
    for count in (100, 700):
        y, head = numbers("i32", count), np.random.default_rng(count).random(count) < 0.05
        yield Case(
            "exchange",
            "segmented_scan",
            [y, head, np.zeros_like(y)],
            [segmented(y, head)],
        )


def segmented(x: Array, head: Array) -> Array:
    out, total = np.zeros_like(x), 0
    for k, (value, begins) in enumerate(zip(x, head, strict=True)):
        total = value if begins else total + value
        out[k] = total
    return out


def blurred(x: Array) -> Array:
    wide = np.pad(x.astype("f8"), 2, "edge")
    h, w = x.shape
    return sum(wide[j : j + h, i : i + w] for j in range(5) for i in range(5)) / 25  # type: ignore[return-value]


def lived(cells: Array, rounds: int) -> Array:
    for _ in range(rounds):
        wide = np.pad(cells.astype("i8"), ((0, 0), (1, 1), (1, 1)))
        h, w = cells.shape[1:]
        around = sum(
            wide[:, j : j + h, i : i + w] for j in range(3) for i in range(3) if (j, i) != (1, 1)
        )
        cells = (around == 3) | (cells & (around == 2))
    return cells


def heated(x: Array, steps: int) -> Array:
    a = np.zeros(32)
    a[: len(x)] = x
    for outer in range(2):
        for _ in range(steps):
            a = 0.5 * a + 0.25 * (np.append(a[0], a[:-1]) + np.append(a[1:], a[-1]))
        if outer == 0:
            a[0] = 1
    return a[: len(x)]


def grids() -> Iterator[Case]:
    for element, shape in (("f32", (17, 31)), ("f16", (5, 3)), ("f64", (7, 13))):
        x = numbers(element, *shape)
        yield Case(
            "grids",
            "blur",
            [x, np.zeros_like(x)],
            [blurred(x)],
            types={"T": element},
            tolerance=2e-2 if element == "f16" else 1e-4,
        )
    for rounds in (0, 1, 5):
        cells = numbers("bool", 2, 9, 11)
        yield Case(
            "grids",
            "life",
            [cells],
            [lived(cells.copy(), rounds)],
            scalars=(np.int64(rounds),),
        )
    for steps in (0, 3):
        x = numbers("f64", 20)
        yield Case(
            "grids",
            "heat",
            [x, np.zeros_like(x)],
            [heated(x, steps)],
            scalars=(np.int64(steps),),
            tolerance=1e-12,
        )
    lengths = [steps_of(n) for n in range(1, 101)]
    yield Case(
        "grids",
        "collatz_longest",
        [np.zeros(2, "i8")],
        [np.array([max(lengths), 0])],
        scalars=(np.int64(100),),
        scalars_first=True,
    )


def steps_of(n: int) -> int:
    count = 0
    while n != 1:
        n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
    return count


def sparse() -> Iterator[Case]:
    rng = np.random.default_rng(3)
    dense = rng.standard_normal((21, 40)) * (rng.random((21, 40)) < 0.3)
    dense[4] = 0
    row, column = np.nonzero(dense)
    first = np.searchsorted(row, np.arange(22))
    x = rng.standard_normal(40)
    yield Case(
        "grids",
        "sparse_rows",
        [first.astype("i4"), column.astype("i4"), dense[row, column].astype("f4"),
         x.astype("f4"), np.zeros(21, "f4")],
        [dense @ x],
        types={"T": "f32"},
        tolerance=1e-4,
    )  # fmt: skip
    yield Case(
        "grids",
        "sparse_warp",
        [first.astype("i8"), column.astype("i8"), dense[row, column], x, np.zeros(21)],
        [dense @ x],
        tolerance=1e-12,
    )
    for element in ("f32", "u8", "f16"):
        table, rows = abs(numbers(element, 7, 45)), np.array([3, -1, 6, 0, 3])
        wanted = np.where(rows[:, None] < 0, 0, table[rows]).astype(table.dtype)
        yield Case(
            "grids",
            "gather_rows",
            [table, rows, np.zeros((5, 45), table.dtype)],
            [wanted],
            types={"T": element},
        )


def exchanged(x: Array, warp: int) -> Array:
    """Four shuffles of blocks of 64 threads, zeros behind the end."""
    wide = np.zeros(-(-len(x) // 64) * 64, x.dtype)
    wide[: len(x)] = x
    lane = np.arange(len(wide)) % warp
    first = np.arange(len(wide)) - lane
    out = [
        wide[first + (lane ^ 1)],
        wide[first + np.where(lane >= 1, lane - 1, lane)],
        wide[first + np.where(lane + 2 < warp, lane + 2, lane)],
        wide[first],
    ]
    return np.stack(out)[:, : len(x)]


def voted(x: Array, warp: int) -> list[Array]:
    wide = np.zeros(-(-len(x) // 64) * 64, x.dtype)
    wide[: len(x)] = x
    words = wide.reshape(-1, warp)
    counts, every = np.zeros(16, "i4"), np.zeros(16, "?")
    counts[: len(words)] = (words > 0).sum(1)
    every[: len(words)] = (words > -100).all(1)
    return [counts, every]


def lanes() -> Iterator[Case]:
    for element in ("f16", "f32", "f64", "i8", "u16", "i64"):
        x = abs(numbers(element, 100))
        yield Case(
            "lanes",
            "swap_pairs",
            [x, np.zeros((4, 100), x.dtype)],
            lambda warp, x=x: [exchanged(x, warp)],  # type: ignore[misc]
            types={"T": element},
        )
    x = numbers("i32", 100)
    yield Case(
        "lanes", "vote_words", [x, np.zeros(16, "i4"), np.zeros(16, "?")], lambda w: voted(x, w)
    )
    v = numbers("f32", 250)
    kept = np.zeros(250, "f4")
    kept[: (v > 0).sum()] = v[v > 0]
    yield Case(
        "lanes",
        "compact",
        [v, np.zeros(250, "f4"), np.zeros(1, "i4")],
        [kept, np.array([(v > 0).sum()])],
    )
    u = numbers("f32", 64)
    turn = np.arange(64) % 4
    rounds = sum(1 for t in turn for k in range(4) if k != t and not (t > 2 and k > 1))
    yield Case(
        "lanes",
        "turns",
        [u, np.zeros(64, "f4"), np.zeros(1, "i4")],
        [np.where(turn == 3, 0, u + turn.astype("f4")), np.array([rounds])],
    )


def atomics() -> Iterator[Case]:
    for element in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64"):
        small = np.random.default_rng(5).integers(0, 3, 150).astype(dtype(element))
        total = small.sum(dtype=small.dtype)
        yield Case(
            "lanes",
            "add_all",
            [small, np.zeros(4, small.dtype)],
            [np.array([total, 0, 0, 0])],
            types={"T": element},
        )
        x = numbers(element if element[0] != "u" else "i" + element[1:], 150)
        x = x.view(dtype(element))
        both = np.array([x.min(), x.max(), x[3], x[3]])
        begin = np.array([x[3]] * 4)
        yield Case(
            "lanes",
            "extremes",
            [x, begin],
            [both],
            types={"T": element},
        )
        if element[0] == "f":
            continue
        sets = [*(f.reduce(x) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)), 0]
        yield Case(
            "lanes",
            "bit_sets",
            [x, np.array([x[0], 0, 0, 0], x.dtype)],
            [np.array(sets)],
            types={"T": element},
        )
        if dtype(element).itemsize >= 2:
            wanted = [np.array([150, 300], x.dtype), np.ones(150, "i4")]
            yield Case(
                "lanes",
                "counters",
                [np.zeros(2, x.dtype), np.zeros(150, "i4")],
                wanted,
                types={"T": element},
            )


def cases() -> list[Case]:
    groups = (exchanges, sums, grids, sparse, lanes, atomics)
    return [case for group in groups for case in group()]
