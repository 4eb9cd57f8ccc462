"""The library on GPUs: ptxas takes every kernel, and what it computes agrees with the CPU."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest
import quern
from emulator.amd import kernel_for
from emulator.calls import calls, options, results
from emulator.declared import Declaration, declared
from emulator.kernels import GpuKernel
from slices import matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
CUDA = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin"
NVIDIA = ("sm_80", "sm_90", "sm_100")
AMD = ("gfx90a", "gfx942", "gfx1100", "gfx1201")
ADMIT_DOUBLES = ("Any", "Ordered", "Number", "Real", "Float")


def declarations() -> list[tuple[str, str]]:
    found = []
    for path in sorted((ROOT / "stdlib-kernels").glob("*.qn")):
        names = re.findall(r"^(?:elementwise|rowwise) (\w+)", path.read_text(), re.MULTILINE)
        found += [(path.stem, name) for name in names]
    return found


def head(module: str, name: str) -> Declaration:
    return declared((ROOT / "stdlib-kernels" / f"{module}.qn").read_text(), name)


def build(module: str, name: str, target: str, stage: str, output: Path, *more: str) -> None:
    words = [str(ROOT / "stdlib-kernels" / f"{module}.qn"), name, f"--emit={stage}"]
    words += [f"--target={target}", f"--output={output}", *options(head(module, name)), *more]
    done = subprocess.run([PROGRAM, "build", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def cases(
    what: str, targets: tuple[str, ...], quick: float, doubles: bool = False
) -> list[tuple[str, str, str]]:
    names = declarations()
    if doubles:
        names = [pair for pair in names if head(*pair).types.get("T") in ADMIT_DOUBLES]
    every = [(m, n, t) for m, n in names for t in targets]
    return matrix(what, every, group=lambda case: case[2], quick=quick)


def check_registers(folder: Path, target: str) -> None:
    """What ptxas makes of `k.ptx` needs no memory of a thread."""
    assert ".extern .func" not in (folder / "k.ptx").read_text()
    words = [f"-arch={target}", "-v", folder / "k.ptx", "-o", folder / "k.cubin"]
    done = subprocess.run([CUDA / "ptxas", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", done.stderr)
    assert frames
    assert all(frame == spilled == "0" for frame, spilled in frames), done.stderr


@pytest.mark.parametrize(("module", "name", "target"), cases("ptxas", NVIDIA, 0.04))
def test_ptxas_accepts(module: str, name: str, target: str, tmp_path: Path) -> None:
    build(module, name, target, "ptx", tmp_path / "k.ptx")
    check_registers(tmp_path, target)


@pytest.mark.parametrize(
    ("module", "name", "target"), cases("ptxas of f64", NVIDIA, 0.02, doubles=True)
)
def test_ptxas_accepts_doubles(module: str, name: str, target: str, tmp_path: Path) -> None:
    build(module, name, target, "ptx", tmp_path / "k.ptx", "--types=T=f64")
    check_registers(tmp_path, target)


@pytest.mark.parametrize(("module", "name", "target"), cases("hsaco", AMD, 0.02))
def test_code_objects_link(module: str, name: str, target: str, tmp_path: Path) -> None:
    build(module, name, target, "hsaco", tmp_path / "k.hsaco")
    assert (tmp_path / "k.hsaco").read_bytes()[:4] == b"\x7fELF"


#: What agreed: often several targets have the same code, which is run once.
AGREED: set[str] = set()


@pytest.mark.parametrize(("module", "name", "target"), cases("emulator", NVIDIA + AMD, 0.03))
def test_a_gpu_agrees_with_the_cpu(module: str, name: str, target: str) -> None:
    """Small sizes: odd ones, and ones whose rows are aligned."""
    path = ROOT / "stdlib-kernels" / f"{module}.qn"
    kernel = kernel_for(PROGRAM, path, name, target, options(head(module, name)))
    if kernel.meaning in AGREED:
        return
    reasons = [compare(kernel, module, name, first, n) for first, n in ((3, 1), (12, 2))]
    assert not all(reasons), reasons
    AGREED.add(kernel.meaning)


def compare(kernel: GpuKernel, module: str, name: str, first: int, number: int) -> str:
    """Gives why the two cannot be compared; integers among the arguments are `number`."""
    call = getattr(quern.load(str(kernel.file)), name)
    declaration, reason = head(module, name), "nothing comes back"
    for one in calls(declaration, kernel.header, first, number):
        before = [array.copy() for array in one.arrays]
        try:
            expected = call(*one.given, **one.named)
        except (TypeError, ValueError, quern.Error) as error:
            reason = str(error).splitlines()[0]
            continue
        wanted = results(declaration, expected, one.extents) if declaration.results else []
        if not wanted or any(array.size for array in wanted):
            break
    else:
        return reason
    outs = [np.zeros_like(array) for array in wanted]
    kernel.run([*before, *outs], one.scalars, one.extents)
    both = [*zip(outs, wanted, strict=True), *zip(before, one.arrays, strict=True)]
    for now, then in both:
        most = np.abs(then[np.isfinite(then)]).max(initial=1) if then.dtype != bool else 1
        np.testing.assert_allclose(now, then, rtol=2e-5, atol=1e-6 * float(most))
    return ""
