"""Cases of test/kernels/everyday.qn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, numbers


def rank_case(count: int) -> Case:
    """What the loops count, in the same blocks of 100 threads."""
    x = np.random.default_rng(count).integers(0, 9, count).astype("i4")
    k, i = np.meshgrid(np.arange(count), np.arange(count), indexing="ij")
    same, less = x[:, None] == x[None, :], x[:, None] < x[None, :]
    after = k >= i // 100 * 100
    wanted = [
        ((k < i) & same).sum(0),
        np.cumsum(x),
        np.where((k > i) & less, 1, 2)[:, :].sum(0, where=after),
        x.sum() - x,
    ]
    return Case(
        "everyday",
        "ranks",
        [x, np.zeros((4, count), "i4")],
        [np.array(wanted, "i4")],
    )


def softmax(x: Array) -> Array:
    e = np.exp(x.astype("f8") - x.max(1, keepdims=True))
    return (e / e.sum(1, keepdims=True)).astype(x.dtype)


def nearest_case(count: int, centres: int) -> Case:
    x, centre = numbers("f32", count, 3), numbers("f32", centres, 3)
    far = ((x[:, None] - centre[None]).astype("f8") ** 2).sum(2)
    which = far.argmin(1).astype("i4")
    empty = [np.zeros(count, "i4"), np.zeros(centres, "i4")]
    sizes = np.bincount(which, minlength=centres).astype("i4")
    return Case("everyday", "nearest", [x, centre, *empty], [which, sizes])


def filter_case(element: str, rows: int, count: int) -> Case:
    x, w = numbers(element, rows, count) / 40, numbers(element, 5) / 40
    line = np.pad(x.astype("f8"), ((0, 0), (2, 2)))
    y = sum(line[:, k : k + count] * float(w[k]) for k in range(5))
    return Case(
        "everyday",
        "filter",
        [x, w, np.zeros_like(x)],
        [np.asarray(y).astype(x.dtype)],
        types={"T": element},
        tolerance=2e-3 if element == "f16" else 1e-5,
    )


def cases() -> Iterator[Case]:
    yield from (rank_case(count) for count in (1, 77, 230))
    for element, shape in (("f32", (3, 500)), ("f16", (2, 70)), ("f64", (1, 1))):
        x = numbers(element, *shape) / 10
        yield Case(
            "everyday",
            "block_softmax",
            [x.astype(dtype := x.dtype), np.zeros(shape, dtype)],
            [softmax(x)],
            types={"T": element},
            tolerance=2e-3 if element == "f16" else 1e-5,
        )
    for count in (1, 97, 500):
        x = numbers("i64", count)
        yield Case("everyday", "prefix_sums", [x, np.zeros_like(x)], [np.cumsum(x)])
    yield from (nearest_case(*sizes) for sizes in ((1, 1), (150, 21)))
    yield from (filter_case(*one) for one in (("f32", 2, 100), ("f16", 1, 41), ("f64", 3, 7)))
