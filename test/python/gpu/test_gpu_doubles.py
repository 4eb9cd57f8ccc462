"""Products of f64 on GPUs: by matrix instructions of f64, or by lanes where there are none."""

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
from slices import matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FILE = ROOT / "test" / "emulator" / "schedules.qn"
MATMUL = ROOT / "stdlib-kernels" / "matmul.qn"
CUDA = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin"
NVIDIA, MATRICES, LANES = (
    ("sm_80", "sm_90", "sm_100"),
    ("gfx90a", "gfx942"),
    ("gfx1100", "gfx1201"),
)
TARGETS = NVIDIA + MATRICES + LANES
Array = np.ndarray


def entry(target: str) -> str:
    """The entry whose tiles go through shared memory."""
    return "_tiles" if target in LANES else "_block"


@functools.cache
def built(name: str, target: str, forced: str) -> GpuKernel:
    made = kernel_for(PROGRAM, FILE, name, target, ("--types=T=f64",))
    made.forced = forced
    return made


def normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def turned(x: Array) -> Array:
    return np.ascontiguousarray(x.swapaxes(-1, -2))


#: Whole tiles and parts of them; rows that are no whole vectors; hardly any depth, and none.
SIZES = [(130, 132, 20), (5, 67, 35), (128, 128, 16), (129, 72, 3), (3, 36, 0)]
PLAIN = matrix(
    "products of f64 on GPUs",
    [(n, s, t) for n in ("mm", "mm_rows", "mm_turned") for s in SIZES for t in TARGETS],
    group=lambda case: (case[0], case[2]),
    quick=0.2,
)


@pytest.mark.parametrize(("name", "sizes", "target"), PLAIN)
@pytest.mark.parametrize("staged", [True, False])
def test_neighbours_along_every_axis(
    name: str, sizes: tuple[int, int, int], target: str, staged: bool
) -> None:
    m, n, k = sizes
    a, b, out = normal(m, k), normal(k, n), np.full((m, n), 7.0)
    given = [turned(a) if name == "mm_turned" else a, turned(b) if name == "mm_rows" else b]
    alone = "_block" if target in LANES else "_warp"
    built(name, target, entry(target) if staged else alone).run([*given, out])
    np.testing.assert_allclose(out, a @ b, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("target", TARGETS)
def test_what_stands_behind_them(target: str) -> None:
    a, b, c, out = normal(2, 70, 19), normal(2, 19, 34), normal(34), np.full((2, 70, 34), 7.0)
    built("mm_both", target, entry(target)).run([turned(a), turned(b), c, out])
    np.testing.assert_allclose(out, np.maximum(a @ b + c, 0), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("begin", [1, 2])
def test_parts_of_larger_operands(begin: int, target: str) -> None:
    """Addresses that allow no wide accesses, or do; what lies beside the result is kept."""
    a, b, wide = normal(40, 60), normal(60, 80), np.full((40, 84), 7.0)
    left, right = a[:, begin : begin + 33], b[begin : begin + 33, begin : begin + 66]
    out = wide[:, begin : begin + 66]
    built("mm", target, entry(target)).run([left, right, out])
    np.testing.assert_allclose(out, left @ right, rtol=1e-13, atol=1e-13)
    assert (wide[:, :begin] == 7).all()
    assert (wide[:, begin + 66 :] == 7).all()


@pytest.mark.parametrize("target", TARGETS)
def test_what_multiplies(target: str) -> None:
    code = built("mm", target, "").code
    if target in NVIDIA:
        assert "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64" in code
        assert re.search(r"cp\.async\.cg\.shared\.global \[[^\]]*\], \[[^\]]*\], 16", code)
    elif target in MATRICES:
        assert "llvm.amdgcn.mfma.f64.16x16x4f64" in code
    else:
        assert not re.search("mfma|wmma", code)
        assert "mm_tiles_stages" in code


KEPT = matrix(
    "registers of products of f64",
    [(n, t) for n in ("mm", "bmm", "addmm", "baddbmm") for t in TARGETS],
    group=lambda case: (case[0], case[1][:4]),
    quick=0.1,
)


@pytest.mark.parametrize(("name", "target"), KEPT)
def test_they_stay_in_registers(name: str, target: str, tmp_path: Path) -> None:
    stage, code = ("ptx" if target in NVIDIA else "hsaco"), tmp_path / "code"
    words = [PROGRAM, "build", MATMUL, name, f"--emit={stage}", f"--target={target}"]
    subprocess.run([*words, "--types=T=f64", "-o", code], check=True)
    if target in NVIDIA:
        words = [CUDA / "ptxas", "-v", f"-arch={target}", code, "-o", tmp_path / "k.cubin"]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stderr
        found = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", told)
    else:
        words = ["llvm-readelf-22", "--notes", code]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        kept = r"private_segment_fixed_size: (\d+)(?:.|\n)*?\.vgpr_spill_count: (\d+)"
        found = re.findall(kept, told)
    assert len(found) == 3
    assert all(frame == spilled == "0" for frame, spilled in found), told
