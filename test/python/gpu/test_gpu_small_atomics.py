"""Atomics on elements smaller than what a GPU exchanges at once: neighbours stay, ends are met."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from kernel_cases import Array, dtype, floats
from slices import gpus
from tree import build_dir

TEXT = """
kernel count[T: Number](x: i32[N], y: mut T[K]):
    launch grid((N + 63) // 64) block(64)
    let i = block.x * 64 + thread.x
    if i < N:
        atomic_add(y[i64(x[i])], T(1))

kernel first[T: Int](x: i32[N], y: mut T[K]):
    launch grid((N + 63) // 64) block(64)
    let i = block.x * 64 + thread.x
    if i < N:
        atomic_cas(y[i64(x[i])], T(0), T(x[i] + 1))

kernel gathered[T: Int](x: i32[N], y: mut T[3]):
    launch grid(1) block(96)
    shared own: T[3]
    if thread.x < 3:
        own[thread.x] = T(0)
    barrier()
    for i in range(thread.x, N, 96):
        atomic_max(own[i64(x[i])], T(i))
    barrier()
    if thread.x < 3:
        y[thread.x] = own[thread.x]
"""
TARGETS = gpus("atomics on small elements")
INTEGERS = ("i8", "u8", "i16", "u16")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("small") / "small.qn"
    made.write_text(TEXT)
    return made


@functools.cache
def built(file: Path, name: str, target: str, element: str) -> GpuKernel:
    program = build_dir() / "bin" / "quern"
    return kernel_for(program, file, name, target, [f"--types=T={element}"])


def placed(element: str, size: int, before: int) -> Array:
    """So many elements, so far behind a multiple of 16 bytes."""
    kind = np.dtype("u2") if element == "bf16" else dtype(element)
    room = np.zeros(size + before + 16, kind)
    start = -room.ctypes.data % 16 // kind.itemsize + before
    return room[start : start + size]


def places(size: int, count: int = 300) -> Array:
    return (np.random.default_rng(size).integers(0, size, count)).astype("i4")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", [*INTEGERS, "f16", "bf16"])
@pytest.mark.parametrize(("size", "before"), [(3, 0), (5, 1), (7, 7)])
def test_sums(file: Path, target: str, element: str, size: int, before: int) -> None:
    x, y = places(size), placed(element, size, before)
    built(file, "count", target, element).run([x, y])
    wanted = np.bincount(x, minlength=size)
    np.testing.assert_array_equal(floats(y) if element == "bf16" else y, wanted)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", INTEGERS)
def test_swaps(file: Path, target: str, element: str) -> None:
    x, y = places(9, 40), placed(element, 9, 1)
    built(file, "first", target, element).run([x, y])
    np.testing.assert_array_equal(y, np.where(np.isin(np.arange(9), x), np.arange(9) + 1, 0))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", INTEGERS)
def test_shared_memory(file: Path, target: str, element: str) -> None:
    x, y = places(3, 120), placed(element, 3, 0)
    built(file, "gathered", target, element).run([x, y])
    np.testing.assert_array_equal(y, [np.flatnonzero(x == k).max() for k in range(3)])
