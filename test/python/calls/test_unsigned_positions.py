"""Positions of 64 bits without a sign: said as they are where they are out of range."""

from __future__ import annotations

from typing import Any

import _quern
import numpy as np
import pytest
import quern
import torch
from emulator.device import EmulatedDevice, FarTensor, emulated
from tree import build_dir

FAR = (1 << 63) + 5
TEXT = """
const SQUARES: i64[4] = [0, 1, 4, 9]

rowwise gathered(x: f32[N], i: u64[M]) -> f32[M]:
    return x[i]

rowwise named(x: f32[N, C], i: u64[M]) -> f32[M, C]:
    return x.at(N = i)

rowwise computed(x: f32[N], i: u64[M]) -> f32[M]:
    let y = x * 2 + 1
    return y.at(N = i)

rowwise signed(x: f32[N], i: u64[M]) -> f32[M]:
    return x[i64(i)]

rowwise added(into: f32[N], i: u64[M], x: f32[M]) -> f32[N]:
    return scatter(into, at = (N = i), x, with = sum)

kernel taken(x: f32[N], i: u64[M], y: mut f32[M]):
    launch grid(1) block(8)
    if thread.x < M:
        y[thread.x] = x[i[thread.x]]

kernel put(x: f32[M], i: u64[M], y: mut f32[N]):
    launch grid(1) block(8)
    if thread.x < M:
        y[i[thread.x]] = x[thread.x]

kernel counted(i: u64[M], y: mut i32[N]):
    launch grid(1) block(8)
    if thread.x < M:
        atomic_add(y[i[thread.x]], 1)

kernel split(x: f32[(A B)], i: u64[M], y: mut f32[M], A: int):
    launch grid(1) block(8)
    if thread.x < M:
        y[thread.x] = x[i[thread.x]]

kernel copied(x: f32[N], i: u64[M], y: mut f32[M]):
    launch grid(1) block(1)
    shared kept: f32[4]
    copy(kept[0], x[i[0]], 4)
    y[0] = kept[0]

elementwise looked_up(i: u64) -> i64:
    return SQUARES[i]

elementwise listed(i: u64, k: int[3]) -> i64:
    return k[i]
"""
X, AT, M = np.ones(9, np.float32), np.array([1, FAR, 2], np.uint64), np.zeros(3, np.float32)
CALLS = {
    "gathered": (X, AT),
    "named": (np.ones((9, 2), np.float32), AT),
    "computed": (X, AT),
    "added": (X, AT, M),
    "taken": (X, AT, M),
    "put": (M, AT, X),
    "counted": (AT, np.zeros(9, np.int32)),
    "copied": (X, AT[1:2], M[:1]),
}


def results(device: EmulatedDevice, name: str) -> dict[str, FarTensor]:
    """Where a `rowwise` writes on the device."""
    shapes = {"gathered": (3,), "named": (3, 2), "computed": (3,), "added": (9,)}
    if name not in shapes:
        return {}
    return {"out": FarTensor(device, torch.zeros(shapes[name]))}


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(TEXT)


@pytest.mark.parametrize("name", CALLS)
def test_on_a_cpu(k: quern.Module, name: str) -> None:
    with pytest.raises(quern.Error, match=f"QN2050.*index {FAR} is out of range for axis `N`"):
        getattr(k, name)(*CALLS[name])


@pytest.mark.parametrize("name", CALLS)
def test_on_a_gpu(name: str) -> None:
    device: EmulatedDevice = emulated(build_dir() / "test" / "stand-in")
    device.become("sm_90")
    module: Any = _quern.Session(threads=1, cache="-").compile(TEXT, "far.qn")
    given = [torch.from_numpy(one.copy()) for one in CALLS[name]]
    arguments = [FarTensor(device, one) for one in given]
    with pytest.raises(quern.Error, match=f"QN2050.*index {FAR} is out of range for axis `N`"):
        getattr(module, name)(*arguments, **results(device, name))


def test_a_written_cast_has_a_sign(k: quern.Module) -> None:
    with pytest.raises(quern.Error, match=f"QN2050.*index {FAR - (1 << 64)} is out of range"):
        k.signed(X, AT)


def test_parts_of_an_axis(k: quern.Module) -> None:
    with pytest.raises(
        quern.Error, match=rf"QN2050.*index {FAR // 3} is out of range for axis `A`"
    ):
        k.split(X, AT, M.copy(), 3)
    y = M.copy()
    k.split(np.arange(9, dtype=np.float32), np.array([1, 8, 2], np.uint64), y, 3)
    assert list(y) == [1, 8, 2]


def test_beyond_the_last_element(k: quern.Module) -> None:
    """Tables and listed parameters give the element at that end."""
    assert list(k.looked_up(AT)) == [1, 9, 4]
    assert list(k.listed(AT, [5, 6, 7])) == [6, 7, 7]
