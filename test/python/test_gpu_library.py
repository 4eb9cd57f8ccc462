"""The library on GPUs: ptxas takes every kernel, and what it computes agrees with the CPU."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import quern
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from slices import matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
CUDA = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin"
NVIDIA = ("sm_80", "sm_90", "sm_100")
AMD = ("gfx90a", "gfx942", "gfx1100", "gfx1201")
TAKES_DOUBLES = r"[\[ ]T: (Any|Ordered|Number|Real|Float)\b"
DTYPES: dict[str, Any] = {
    "f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8, "i16": np.int16,
    "i32": np.int32, "i64": np.int64, "ui8": np.uint8,
}  # fmt: skip


def declarations() -> list[tuple[str, str]]:
    found = []
    for path in sorted((ROOT / "stdlib-kernels").glob("*.qn")):
        names = re.findall(r"^(?:elementwise|rowwise) (\w+)", path.read_text(), re.MULTILINE)
        found += [(path.stem, name) for name in names]
    return found


def head(module: str, name: str) -> str:
    """The declaration's own line, up to its parameters."""
    text = (ROOT / "stdlib-kernels" / f"{module}.qn").read_text()
    found = re.search(rf"^\w+ {name}[\[(].*$", text, re.MULTILINE)
    assert found
    return found[0]


def constants(module: str, name: str) -> dict[str, bool | int]:
    """A value for each compile-time parameter that has no default and follows from nothing."""
    brackets = re.search(r"\[(.*?)\]\(", head(module, name))
    given = re.findall(r"(\w+): (bool|int)\b(?! =|\[)", brackets[1] if brackets else "")
    return {parameter: True if kind == "bool" else 1 for parameter, kind in given}


def options(module: str, name: str) -> list[str]:
    words = [f"{n}={str(value).lower()}" for n, value in constants(module, name).items()]
    return ["--constants=" + ",".join(words)] if words else []


def build(module: str, name: str, target: str, stage: str, output: Path, *more: str) -> None:
    words = [str(ROOT / "stdlib-kernels" / f"{module}.qn"), name, f"--emit={stage}"]
    words += [f"--target={target}", f"--output={output}", *options(module, name), *more]
    done = subprocess.run([PROGRAM, "build", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def cases(
    what: str, targets: tuple[str, ...], quick: float, heads: str = ""
) -> list[tuple[str, str, str]]:
    every = [(m, n, t) for m, n in declarations() for t in targets if re.search(heads, head(m, n))]
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
    ("module", "name", "target"), cases("ptxas of f64", NVIDIA, 0.02, TAKES_DOUBLES)
)
def test_ptxas_accepts_doubles(module: str, name: str, target: str, tmp_path: Path) -> None:
    build(module, name, target, "ptx", tmp_path / "k.ptx", "--types=T=f64")
    check_registers(tmp_path, target)


@pytest.mark.parametrize(("module", "name", "target"), cases("hsaco", AMD, 0.02))
def test_code_objects_link(module: str, name: str, target: str, tmp_path: Path) -> None:
    build(module, name, target, "hsaco", tmp_path / "k.hsaco")
    assert (tmp_path / "k.hsaco").read_bytes()[:4] == b"\x7fELF"


def sample(element: str, shape: tuple[int, ...], seed: int) -> np.ndarray | None:
    random = np.random.default_rng(seed)
    if element.startswith("complex"):
        parts = random.random((2, *shape)) * 0.9 + 0.05
        return (parts[0] + 1j * parts[1]).astype({"complex<f32>": "c8"}.get(element, "c16"))
    if element in ("f32", "f64"):
        return (random.random(shape) * 0.9 + 0.05).astype(DTYPES[element])
    if element in DTYPES and element != "i1":
        return random.integers(1, 3, shape).astype(DTYPES[element])
    return random.random(shape) < 0.5 if element == "i1" else None


#: What agreed: often several targets have the same code, which is run once.
AGREED: set[str] = set()


@pytest.mark.parametrize(("module", "name", "target"), cases("emulator", NVIDIA + AMD, 0.03))
def test_a_gpu_agrees_with_the_cpu(module: str, name: str, target: str) -> None:
    """Small sizes: odd ones, and ones whose rows are aligned."""
    path = ROOT / "stdlib-kernels" / f"{module}.qn"
    kernel = kernel_for(PROGRAM, path, name, target, options(module, name))
    if kernel.meaning in AGREED:
        return
    reasons = [compare(kernel, module, name, first, n) for first, n in ((3, 1), (12, 2))]
    if all(reasons):
        pytest.skip(reasons[0])
    AGREED.add(kernel.meaning)


@dataclass
class Made:
    """What a call takes: all arguments in order, and the operands and scalars among them."""

    given: list[Any] = field(default_factory=list)
    arrays: list[np.ndarray] = field(default_factory=list)
    scalars: list[np.generic] = field(default_factory=list)


def arguments(
    kernel: GpuKernel, sizes: dict[str, int], count: int, number: int, real: float
) -> Made | None:
    """`number` stands for all integers; nothing where NumPy has no such elements."""
    made = Made()
    kinds = {"i1": np.bool_(number == 1), "f32": np.float32(real), "f64": np.float64(real)}
    for one in kernel.order[: len(kernel.order) - count]:
        if isinstance(one, str):
            made.scalars.append(kinds.get(one) or DTYPES[one](number if one[0] == "i" else 0))
            made.given.append(made.scalars[-1].item())
            continue
        shape = tuple(sizes[axis] for axis in one.axes)
        array = sample(one.element, shape, len(made.arrays))
        if array is None:
            return None
        made.arrays.append(array)
        made.given.append(array)
    return made


def compare(kernel: GpuKernel, module: str, name: str, first: int, number: int) -> str:
    """Gives why the two cannot be compared; integers among the arguments are `number`."""
    declaration = getattr(quern.load(str(kernel.file)), name)
    writes = "mut " in head(module, name)
    count = 0 if writes else kernel.results
    results = kernel.operands[len(kernel.operands) - count :]
    inputs = kernel.operands[: len(kernel.operands) - count]
    known = [axis for axis in kernel.axes if any(axis in operand.axes for operand in inputs)]
    step = 4 if len(known) < 4 else 1
    begin = first if step == 4 else 2 + number
    sizes = {axis: begin + step * place for place, axis in enumerate(known)}
    chosen = re.search(r"\bmatch \w+ \{([^,}]+)", head(module, name))
    # What `quern build` takes where a number chooses.
    number = int(chosen[1]) if chosen else number
    made = arguments(kernel, sizes, count, number, float(number) if chosen else 0.5)
    if made is None:
        return "an element type NumPy has not"
    kind = re.search(r"[\[ ]U: (\w+)", head(module, name))
    given = {"U": {"Complex": "c64", "Int": "i64"}.get(kind[1], "f32")} if kind else {}
    before = [array.copy() for array in made.arrays]
    try:
        expected = declaration(*made.given, **given, **constants(module, name))
    except (TypeError, ValueError, quern.Error) as error:
        return str(error).splitlines()[0]
    if writes:
        kernel.run(before, made.scalars)
        outs, wanted = before, made.arrays
    else:
        wanted = [np.asarray(e) for e in (expected if isinstance(expected, tuple) else [expected])]
        for operand, array in zip(results, wanted, strict=True):
            pairs = list(zip(operand.axes, array.shape, strict=False))
            same = len(operand.axes) == array.ndim
            if not same or any(sizes.get(axis, n) != n for axis, n in pairs):
                return "a call gives its packs other axes"
        outs = [np.zeros_like(array) for array in wanted]
        kernel.run([*before, *outs], made.scalars)
    for now, then in zip(outs, wanted, strict=True):
        most = np.abs(then[np.isfinite(then)]).max(initial=1) if then.dtype != bool else 1
        np.testing.assert_allclose(now, then, rtol=2e-5, atol=1e-6 * float(most))
    return ""
