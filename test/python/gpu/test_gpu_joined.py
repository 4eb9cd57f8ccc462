"""Concatenations on GPUs: of values and of lists, alone and in front of every kind of work."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from slices import matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FILE = ROOT / "test" / "emulator" / "joined.qn"
TARGETS = ("sm_80", "sm_90", "sm_100", "gfx90a", "gfx942", "gfx1100", "gfx1201")
Array = np.ndarray[Any, Any]
#: One vector lies in both; rows that are aligned, or not; nothing of one of them.
PARTS = [(3, 5, 9), (4, 8, 1024), (2, 300, 17), (3, 0, 7)]


@functools.cache
def built(name: str, target: str) -> GpuKernel:
    return kernel_for(PROGRAM, FILE, name, target, ())


def soft(v: Array) -> Array:
    e: Array = np.exp(v - v.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


MEANING: dict[str, Callable[[Array], Array]] = {
    "joined_values": lambda v: 2 * v,
    "joined_list": lambda v: v,
    "joined_rows": lambda v: v,
    "softmax_of_list": soft,
    "scanned_list": lambda v: v.cumsum(1),
    "turned_list": lambda v: v[:, ::-1] * 2,
}
CASES = matrix(
    "concatenations on GPUs",
    [(n, p, t) for n in MEANING for p in PARTS for t in TARGETS],
    group=lambda case: (case[0], case[2][:2]),
    quick=0.3,
)


def given(*parts: int) -> tuple[Array, Array]:
    rows, *columns = parts
    rng = np.random.default_rng(sum(parts))
    a, b = (rng.standard_normal((rows, c)).astype("f4") for c in columns)
    return a, b


@pytest.mark.parametrize(("name", "parts", "target"), CASES)
def test_what_is_made_of_them(name: str, parts: tuple[int, int, int], target: str) -> None:
    a, b = given(*parts)
    if name == "joined_rows":
        a, b = a.T, b.T
    v = np.concatenate([a, b], 0 if name == "joined_rows" else 1)
    ends = () if name == "joined_values" else (np.int64(parts[1]), np.int64(sum(parts[1:])))
    out = np.zeros(v.shape, "f4")
    extents = {"A": parts[1], "B": parts[2], "C": sum(parts[1:])}
    rows = [np.ascontiguousarray(x) for x in (a, b)]
    built(name, target).run([*rows, out], ends, extents)
    np.testing.assert_allclose(out, MEANING[name](v.astype("f8")), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("parts", PARTS)
def test_a_product_with_them(parts: tuple[int, int, int], target: str) -> None:
    a, b = given(*parts)
    v = np.concatenate([a, b], 1)
    w = np.random.default_rng(2).standard_normal((v.shape[1], 40)).astype("f4")
    out = np.zeros((len(v), 40), "f4")
    ends = np.int64(parts[1]), np.int64(sum(parts[1:]))
    built("product_of_list", target).run([a, b, w, out], ends, {"K": sum(parts[1:])})
    np.testing.assert_allclose(out, v.astype("f8") @ w, rtol=1e-4, atol=1e-4)
