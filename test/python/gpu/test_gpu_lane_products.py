"""Products of f32 on GPUs: tiles in shared memory, of which each lane multiplies a part."""

from __future__ import annotations

import functools
import re
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from slices import gpus, matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FILE = ROOT / "test" / "emulator" / "schedules.qn"
MATMUL = ROOT / "stdlib-kernels" / "matmul.qn"
CUDA = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin"
TARGETS = ("sm_80", "sm_90", "sm_100", "gfx90a", "gfx942", "gfx1100", "gfx1201")
SOME = gpus("parts of operands of products")
Array = np.ndarray


@functools.cache
def built(name: str, target: str) -> GpuKernel:
    made = kernel_for(PROGRAM, FILE, name, target, ("--types=T=f32",))
    made.forced = "_tiles"
    return made


def normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("f4")


def turned(x: Array) -> Array:
    return np.ascontiguousarray(x.swapaxes(-1, -2))


#: Whole tiles and parts of them; rows that are no whole vectors; hardly any depth, and none.
SIZES = [(130, 132, 20), (5, 67, 35), (128, 128, 64), (129, 72, 3), (3, 36, 0)]


PLAIN = matrix(
    "products of f32 on GPUs",
    [(n, s, t) for n in ("mm", "mm_rows", "mm_turned") for s in SIZES for t in TARGETS],
    group=lambda case: (case[0], case[2][:2], case[1]),
    quick=0.1,
)


@pytest.mark.parametrize(("name", "sizes", "target"), PLAIN)
def test_neighbours_along_every_axis(name: str, sizes: tuple[int, int, int], target: str) -> None:
    m, n, k = sizes
    a, b, out = normal(m, k), normal(k, n), np.full((m, n), 7, "f4")
    given = [turned(a) if name == "mm_turned" else a, turned(b) if name == "mm_rows" else b]
    built(name, target).run([*given, out])
    wanted = a.astype("f8") @ b.astype("f8")
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-5)


BEHIND = matrix(
    "products of f32 with more behind them on GPUs",
    [(s, t) for s in SIZES for t in TARGETS],
    group=lambda case: (case[1][:2], case[0]),
    quick=0.1,
)


@pytest.mark.parametrize(("sizes", "target"), BEHIND)
def test_what_stands_behind_them(sizes: tuple[int, int, int], target: str) -> None:
    m, n, k = sizes
    a, b, c, out = normal(2, m, k), normal(2, k, n), normal(n), np.full((2, m, n), 7, "f4")
    built("mm_both", target).run([turned(a), turned(b), c, out])
    wanted = np.maximum(a.astype("f8") @ b.astype("f8") + c, 0)
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", SOME)
@pytest.mark.parametrize("begin", [1, 4])
def test_parts_of_larger_operands(begin: int, target: str) -> None:
    """Addresses that allow no wide accesses, or do; what lies beside the result is kept."""
    a, b, wide = normal(40, 60), normal(60, 80), np.full((40, 84), 7, "f4")
    left, right = a[:, begin : begin + 33], b[begin : begin + 33, begin : begin + 66]
    out = wide[:, begin : begin + 66]
    built("mm", target).run([left, right, out])
    wanted = left.astype("f8") @ right.astype("f8")
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-5)
    assert (wide[:, :begin] == 7).all()
    assert (wide[:, begin + 66 :] == 7).all()


@pytest.mark.parametrize(
    ("sizes", "entry"),
    [((512, 512, 9), "_tiles"), ((4096, 32, 9), "_tiles"), ((256, 512, 9), "_block"),
     ((31, 4096, 9), "_block"), ((4096, 31, 9), "_thread")],
)  # fmt: skip
def test_where_there_are_enough_tiles(sizes: tuple[int, int, int], entry: str) -> None:
    kernel = kernel_for(PROGRAM, FILE, "mm", "sm_90", ("--types=T=f32",))
    extents = dict(zip("MNK", sizes, strict=True))
    assert kernel.entry(kernel.abi["launches"][0], extents)["symbol"].endswith(entry)


KEPT = matrix(
    "registers of products of f32",
    [(n, t) for n in ("mm", "bmm", "addmm", "baddbmm") for t in ("sm_80", "sm_90", "sm_100")],
    group=lambda case: case[0],
    quick=0.1,
)


@pytest.mark.parametrize(("name", "target"), KEPT)
def test_they_stay_in_registers(name: str, target: str, tmp_path: Path) -> None:
    text = tmp_path / "k.ptx"
    words = [PROGRAM, "build", MATMUL, name, "--emit=ptx", f"--target={target}", "--types=T=f32"]
    subprocess.run([*words, "-o", text], check=True)
    words = [CUDA / "ptxas", "-v", f"-arch={target}", text, "-o", tmp_path / "k.cubin"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    assert f"'{name}_tiles'" in told
    frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", told)
    assert frames
    assert all(frame == spilled == "0" for frame, spilled in frames), told
