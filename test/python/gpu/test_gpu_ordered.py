"""Reductions whose `merge` does not commute, executed as every GPU would, against NumPy."""

from __future__ import annotations

import functools

import numpy as np
import ordered_cases as reference
import pytest
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from slices import gpus
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FILE = ROOT / "test" / "emulator" / "ordered.qn"
TARGETS = gpus("ordered reductions")


@functools.cache
def kernel(name: str, target: str, *options: str) -> GpuKernel:
    return kernel_for(PROGRAM, FILE, name, target, options)


def check(
    name: str, target: str, x: reference.Array, wanted: list[reference.Array], *scalars: int
) -> None:
    made = [np.zeros(w.shape, np.int64) for w in wanted]
    kernel(name, target).run([x, *made], list(scalars))
    for now, then in zip(made, wanted, strict=True):
        np.testing.assert_array_equal(now, then)


#: For a thread, a warp, a block; more than registers keep; in parts.
ROWS = [(3, 1), (5, 8), (7, 9), (3, 100), (2, 1024), (2, 1030), (2, 8200), (1, 70001)]


@pytest.mark.parametrize("shape", ROWS)
@pytest.mark.parametrize("target", TARGETS)
def test_rows(target: str, shape: tuple[int, int]) -> None:
    x = reference.numbers(*shape)
    check("rows", target, x, reference.rows(x))


@pytest.mark.parametrize("shape", [(5, 7), (33, 64), (20, 129), (300, 3), (700, 133)])
@pytest.mark.parametrize("target", TARGETS)
def test_columns(target: str, shape: tuple[int, int]) -> None:
    x = reference.numbers(*shape)
    check("columns", target, x, reference.columns(x))


@pytest.mark.parametrize("count", [1, 100, 16384, 60001])
@pytest.mark.parametrize("target", TARGETS)
def test_everything(target: str, count: int) -> None:
    x = reference.words(count)
    with np.errstate(over="ignore"):
        check("everything", target, x, [reference.matrices(x), reference.text_hash(x)])


@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 17, 33), (1, 300, 9)])
@pytest.mark.parametrize("target", TARGETS)
def test_several_axes(target: str, shape: tuple[int, int, int]) -> None:
    x = reference.words(*shape)
    check("both", target, x, reference.both(x))


@pytest.mark.parametrize("target", TARGETS)
def test_what_stands_behind_them(target: str) -> None:
    x = reference.numbers(3, 600)
    wanted = reference.text_hash(x.T, x.T > 0)
    check("positives", target, x, [wanted, x - wanted[:, None]])
    words = reference.words(3, 600)
    check("fixed", target, words, [reference.text_hash(words.T), reference.text_hash(words)])
    sums = [words.sum(1), reference.text_hash(words.T), words.max(1)]
    check("beside", target, words, sums)


@pytest.mark.parametrize("target", TARGETS)
def test_local_axes_and_scans(target: str) -> None:
    x = reference.words(3, 90)
    padded = np.pad(x, ((0, 0), (1, 5)), constant_values=2)
    with np.errstate(over="ignore"):
        seen = np.stack([padded[:, i : i + 90] for i in range(5)])
        check("window", target, x, [reference.matrices(seen)], 5)
        seen = np.stack([x * (i + 1) for i in range(4)], 1).reshape(3, -1)
        check("grid", target, x, [reference.matrices(seen.T)], 4)
    forward, backward = reference.text_hash(x.T, steps=True).T, x[:, ::-1].T
    backward = reference.text_hash(backward, steps=True).T[:, ::-1]
    check("scanned", target, x, [forward, backward])
