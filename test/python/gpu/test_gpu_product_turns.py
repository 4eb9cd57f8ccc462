"""Products of 16-bit floats on NVIDIA's GPUs with many turns: whole stages, and what is left."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from kernel_cases import bits, floats
from slices import gpus, matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FILE = ROOT / "test" / "emulator" / "schedules.qn"
NVIDIA = [target for target in gpus("turns of products") if target.startswith("sm_")]
Array = np.ndarray


@functools.cache
def built(name: str, target: str, entry: str) -> GpuKernel:
    made = kernel_for(PROGRAM, FILE, name, target, ("--types=T=bf16",))
    made.forced = entry
    return made


def apart(x: Array, turn: bool) -> Array:
    """Its 16-bit floats, perhaps with the last axis first, in lines that are whole chunks."""
    if turn:
        x = x.swapaxes(-1, -2)
    length = -(-x.shape[-1] // 8) * 8
    wide = np.full((*x.shape[:-1], length), np.nan, "f4")
    wide[..., : x.shape[-1]] = x
    return bits(wide)[..., : x.shape[-1]]


def checked(name: str, sizes: tuple[int, int, int], target: str, entry: str) -> None:
    m, n, k = sizes
    batch = (2,) if name == "mm_both" else ()
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.standard_normal((*batch, *s)).astype("f4") for s in ((m, k), (k, n)))
    a, b, c = floats(bits(a)), floats(bits(b)), floats(bits(rng.standard_normal(n).astype("f4")))
    exact = a.astype("f8") @ b.astype("f8")
    given = [apart(a, name in ("mm_turned", "mm_both")), apart(b, name in ("mm_rows", "mm_both"))]
    if batch:
        given.append(bits(c))
        exact = np.maximum(exact + c, 0)
    out = apart(np.full((*batch, m, n), 7, "f4"), False)
    built(name, target, entry).run([*given, out])
    np.testing.assert_allclose(floats(out), exact, rtol=1e-2, atol=1e-2 * abs(exact).max())


#: Turns that all copy whole stages but the last ones; a part of a stage at the end; just one turn;
#: rows and columns that end in a tile, at a chunk and in one; more rows of tiles than a band has.
SIZES = [
    (128, 256, 512),
    (136, 248, 456),
    (40, 264, 256),
    (128, 256, 257),
    (133, 259, 392),
    (2312, 264, 8),
]
LARGE = matrix(
    "large products of many turns on GPUs",
    [(n, s, t) for n in ("mm", "mm_rows", "mm_turned", "mm_both") for s in SIZES for t in NVIDIA],
    group=lambda case: (case[0], case[1]),
    quick=0.1,
)


@pytest.mark.parametrize(("name", "sizes", "target"), LARGE)
def test_large_tiles(name: str, sizes: tuple[int, int, int], target: str) -> None:
    checked(name, sizes, target, "_large")


#: The same for tiles whose stages are half as deep.
SMALLER = [(128, 128, 256), (72, 136, 104), (128, 128, 96), (71, 131, 136)]
BLOCKS = matrix(
    "products of many turns on GPUs",
    [(n, s, t) for n in ("mm", "mm_rows", "mm_turned", "mm_both") for s in SMALLER for t in NVIDIA],
    group=lambda case: (case[0], case[1]),
    quick=0.1,
)


@pytest.mark.parametrize(("name", "sizes", "target"), BLOCKS)
def test_blocks(name: str, sizes: tuple[int, int, int], target: str) -> None:
    checked(name, sizes, target, "_block")
