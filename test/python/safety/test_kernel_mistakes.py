"""Mistakes of explicit kernels are errors of the launch, and touch no memory of others."""

from __future__ import annotations

import numpy as np
import pytest
import quern
from emulator.amd import kernel_for
from slices import gpus
from tree import ROOT, build_dir

FILE = ROOT / "test" / "kernels" / "mistakes.qn"
PROGRAM = build_dir() / "bin" / "quern"
TARGETS = gpus("mistakes of explicit kernels")
MISTAKES = {
    "parted_at_a_barrier": "QN2054.*threads of a block part before a barrier",
    "parted_in_a_loop": "QN2054.*threads of a block part before a barrier",
    "beyond_the_end": "QN2050.*index 4[0-9] is out of range for axis `N` of extent 40",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_on_the_cpu(name: str) -> None:
    memory = np.full(256, 7, "f4")
    kernel = getattr(quern.load(FILE), name)
    with pytest.raises(quern.Error, match=MISTAKES[name]):
        kernel(np.ones(40, "f4"), memory[64:104])
    assert (memory[:64] == 7).all()
    assert (memory[104:] == 7).all()


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("target", TARGETS)
def test_on_a_gpu(name: str, target: str) -> None:
    """The emulator stops at an access out of bounds."""
    kernel = kernel_for(PROGRAM, FILE, name, target, ())
    kernel.run([np.ones(40, "f4"), np.zeros(40, "f4")], ())
    assert kernel.errors.any()


FEW_AXES = """
kernel tiles(x: f32[*S], y: mut f32[*S], i: int[*S]):
    launch grid(1) block(target.warp_size)
    local tile: f32[256 // target.warp_size]
    load_tile(tile, x[*i], 16, 16)
    store_tile(y[*i], tile, 16, 16)

kernel copies(x: f32[*S], y: mut f32[*S], i: int[*S]):
    launch grid(1) block(1)
    copy(y[*i], x[*i], 4)
"""


def test_axes_of_a_pack_are_counted_when_it_is_known() -> None:
    k = quern.compile(FEW_AXES, "few_axes.qn")
    x, y = np.ones((16, 16), "f4"), np.zeros((16, 16), "f4")
    k.tiles(x, y, [0, 0])
    assert (y == 1).all()
    with pytest.raises(quern.Error, match=r"QN1342.*1 axis, must have 2 at least"):
        k.tiles(x[0], y[0], [0])
    with pytest.raises(quern.Error, match=r"QN1342.*0 axes, must have 1 at least"):
        k.copies(np.ones((), "f4"), np.zeros((), "f4"), [])
