"""The library on GPUs: what the vendors' tools say of its code, and that it agrees with the CPU."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import quern
from emulator.amd import kernel_for
from emulator.calls import ADMIT_FLOATS, Array, Way, calls, numbers_of, options, results, variants
from emulator.declared import Declaration, declared
from emulator.kernels import GpuKernel
from emulator.waits import disassembled, read, unawaited
from slices import matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
CUDA = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin"
NVIDIA = ("sm_80", "sm_90", "sm_100")
AMD = ("gfx90a", "gfx942", "gfx1100", "gfx1201")


def declarations() -> list[tuple[str, str]]:
    found = []
    for path in sorted((ROOT / "stdlib-kernels").glob("*.qn")):
        names = re.findall(r"^(?:elementwise|rowwise) (\w+)", path.read_text(), re.MULTILINE)
        found += [(path.stem, name) for name in names]
    return found


def head(module: str, name: str) -> Declaration:
    return declared((ROOT / "stdlib-kernels" / f"{module}.qn").read_text(), name)


@dataclass(frozen=True)
class Row:
    """A declaration for a target, with one of the ways in which its choices are made."""

    module: str
    name: str
    target: str
    variant: int = 0
    element: str = "f32"

    def __str__(self) -> str:
        return f"{self.module}-{self.name}-{self.target}-{self.variant}-{self.element}"

    @property
    def file(self) -> Path:
        return ROOT / "stdlib-kernels" / f"{self.module}.qn"

    @property
    def options(self) -> list[str]:
        return options(head(self.module, self.name), self.variant, self.element)


def build(row: Row, stage: str, output: Path) -> None:
    words = [str(row.file), row.name, f"--emit={stage}"]
    words += [f"--target={row.target}", f"--output={output}", *row.options]
    done = subprocess.run([PROGRAM, "build", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def cases(what: str, targets: tuple[str, ...], quick: float) -> list[Row]:
    """Every declaration, once for every way in which its choices are made."""
    ways = [(m, n, v) for m, n in declarations() for v in variants(head(m, n))]
    every = [Row(m, n, t, v) for m, n, v in ways for t in targets]
    return matrix(what, every, group=lambda row: row.target, quick=quick)


def admits(declaration: Declaration, element: str) -> bool:
    """Whether `T` may be this float; what a call without tensors makes is NumPy's, without bf16."""
    given = declaration.kind == "elementwise" or any(p.typed.axes for p in declaration.parameters)
    return declaration.types.get("T") in ADMIT_FLOATS and (given or element != "bf16")


def cases_of(what: str, element: str, targets: tuple[str, ...], quick: float) -> list[Row]:
    """Every declaration whose `T` may be this float."""
    admit = [pair for pair in declarations() if admits(head(*pair), element)]
    every = [Row(m, n, t, 0, element) for m, n in admit for t in targets]
    return matrix(what, every, group=lambda row: row.target, quick=quick)


def check_registers(folder: Path, target: str) -> None:
    """What ptxas makes of `k.ptx` needs no memory of a thread."""
    assert ".extern .func" not in (folder / "k.ptx").read_text()
    words = [f"-arch={target}", "-v", folder / "k.ptx", "-o", folder / "k.cubin"]
    done = subprocess.run([CUDA / "ptxas", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", done.stderr)
    assert frames
    assert all(frame == spilled == "0" for frame, spilled in frames), done.stderr


@pytest.mark.parametrize("row", cases("ptxas", NVIDIA, 0.035), ids=str)
def test_ptxas_accepts(row: Row, tmp_path: Path) -> None:
    build(row, "ptx", tmp_path / "k.ptx")
    check_registers(tmp_path, row.target)


ASSEMBLED = [
    row
    for element in ("f64", "f16", "bf16")
    for row in cases_of(f"ptxas of {element}", element, NVIDIA, 0.007)
]


@pytest.mark.parametrize("row", ASSEMBLED, ids=str)
def test_ptxas_accepts_other_types(row: Row, tmp_path: Path) -> None:
    build(row, "ptx", tmp_path / "k.ptx")
    check_registers(tmp_path, row.target)


@pytest.mark.parametrize("row", cases("hsaco", AMD, 0.02), ids=str)
def test_code_objects_link(row: Row, tmp_path: Path) -> None:
    build(row, "hsaco", tmp_path / "k.hsaco")
    text = disassembled(tmp_path / "k.hsaco")
    assert read(text)
    # Memory of a thread: what registers do not hold.
    assert not re.search(r"^\t(?:scratch|buffer)_(?:load|store)", text, re.MULTILINE)
    assert unawaited(text, row.target) == []


#: Of a type, how far apart two results may be: rows are summed in another order.
TOLERANCES = {"f32": 2e-5, "f64": 1e-12, "f16": 2e-3, "bf16": 1e-2}
#: What agreed: often several targets have the same code, which is run once.
AGREED: set[str] = set()


@pytest.mark.parametrize("row", cases("emulator", NVIDIA + AMD, 0.026), ids=str)
def test_a_gpu_agrees_with_the_cpu(row: Row) -> None:
    agree(row)


OTHERS = [
    row
    for element in TOLERANCES
    if element != "f32"
    for row in cases_of(f"emulator of {element}", element, NVIDIA + AMD, 0.002)
]


@pytest.mark.parametrize("row", OTHERS, ids=str)
def test_a_gpu_agrees_with_the_cpu_in_other_types(row: Row) -> None:
    agree(row)


def agree(row: Row) -> None:
    """Small sizes: odd ones, and ones whose rows are aligned."""
    kernel = kernel_for(PROGRAM, row.file, row.name, row.target, row.options)
    meaning = f"{row.variant} {row.element} {kernel.meaning}"
    if meaning in AGREED:
        return
    reasons = [compare(kernel, row, first, number) for first, number in ((3, 1), (12, 2))]
    assert not all(reasons), reasons
    AGREED.add(meaning)


def compare(kernel: GpuKernel, row: Row, first: int, number: int) -> str:
    """Gives why the two cannot be compared; integers among the arguments are `number`."""
    call = getattr(quern.load(str(kernel.file)), row.name)
    declaration, reason = head(row.module, row.name), "nothing comes back"
    way = Way(number, row.variant, row.element)
    for one in calls(declaration, kernel.header, first, way):
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
    assert not kernel.errors.any()
    elements = [operand.element for operand in kernel.operands]
    halves = ["f32" for array in wanted if array.dtype == np.complex64]
    tolerance = max(TOLERANCES.get(one, 0) for one in [*elements, *halves, row.element])
    both = zip(elements, [*before, *outs], [*one.arrays, *wanted], strict=True)
    for element, now, then in both:
        close(element, now, then, tolerance)
    return ""


def close(element: str, now: Array, then: Array, tolerance: float) -> None:
    """As they are to be; what is no float is the same."""
    now, then = numbers_of(element, now), numbers_of(element, then)
    if then.dtype.kind not in "fc":
        np.testing.assert_array_equal(now, then)
        return
    most = np.abs(then[np.isfinite(then)]).max(initial=1)
    np.testing.assert_allclose(now, then, rtol=tolerance, atol=tolerance / 20 * float(most))
