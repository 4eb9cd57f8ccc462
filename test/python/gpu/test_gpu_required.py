"""What a text requires, found by the threads of a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from slices import gpus
from tree import build_dir

TEXT = """
rowwise rooted(x: f32[N, C], least: f32) -> f32[N]:
    let bound = require(least, least < 0, "the bound is not below 0")
    return sum(sqrt(require(x, x >= 0, "x is negative")) over C where x > bound)

kernel own(x: f32[N], y: mut f32[N]):
    launch grid((N + 63) // 64) block(64)
    let i = block.x * 64 + thread.x
    if i < N:
        y[i] = sqrt(require(x[i], x[i] >= 0, "x is negative"))
"""
TARGETS = gpus("what a text requires")


def built(folder: Path, name: str, target: str) -> GpuKernel:
    file = folder / "required.qn"
    file.write_text(TEXT)
    return kernel_for(build_dir() / "bin" / "quern", file, name, target, ())


def said(kernel: GpuKernel) -> str:
    text: str = kernel.abi["sites"][kernel.errors[0] - 1]["axis"]
    return text


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(3, 7), (5, 70), (2, 3000)])
def test_elements_and_numbers(tmp_path: Path, target: str, shape: tuple[int, int]) -> None:
    rooted = built(tmp_path, "rooted", target)
    x = np.random.default_rng(1).random(shape, np.float32)
    out = np.zeros(shape[0], np.float32)
    rooted.run([x, out], [np.float32(-1.0)])
    assert not rooted.errors.any()
    np.testing.assert_allclose(out, np.sqrt(x).sum(1), rtol=1e-4)
    x[-1, -1] = -0.5
    rooted.run([x, out], [np.float32(-1.0)])
    assert said(rooted) == "x is negative"
    x[-1, -1] = -2
    rooted.run([x, out], [np.float32(-1.0)])
    assert not rooted.errors.any()
    rooted.run([x, out], [np.float32(0.0)])
    assert said(rooted) == "the bound is not below 0"


@pytest.mark.parametrize("target", TARGETS)
def test_threads(tmp_path: Path, target: str) -> None:
    own = built(tmp_path, "own", target)
    x, y = np.full(100, 4, np.float32), np.zeros(100, np.float32)
    own.run([x, y])
    assert not own.errors.any()
    assert (y == 2).all()
    x[77] = -1
    own.run([x, y])
    assert said(own) == "x is negative"
