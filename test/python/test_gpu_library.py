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
from emulator.kernels import GpuKernel
from slices import matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
CUDA = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin"
NVIDIA = ("sm_80", "sm_90", "sm_100")
AMD = ("gfx90a", "gfx942", "gfx1100", "gfx1201")
TAKES_DOUBLES = r"[\[ ]T: (Any|Ordered|Number|Real|Float)\b"
DTYPES = {"f32": np.float32, "i64": np.int64, "i32": np.int32, "i1": np.bool_, "f64": np.float64}


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
    if element == "f32":
        return (random.random(shape) * 0.9 + 0.05).astype(np.float32)
    if element in ("i64", "i32"):
        return random.integers(1, 3, shape).astype(DTYPES[element])
    return random.random(shape) < 0.5 if element == "i1" else None


@pytest.mark.parametrize(
    ("module", "name", "target"), cases("emulator", ("sm_90", "gfx942", "gfx1100"), 0.06)
)
def test_a_gpu_agrees_with_the_cpu(module: str, name: str, target: str) -> None:
    """Small sizes: odd ones, and ones whose rows are aligned."""
    path = ROOT / "stdlib-kernels" / f"{module}.qn"
    kernel = kernel_for(PROGRAM, path, name, target, options(module, name))
    for first in (3, 12):
        compare(kernel, module, name, first)


def compare(kernel: GpuKernel, module: str, name: str, first: int) -> None:
    declaration = getattr(quern.load(str(kernel.file)), name)
    results = kernel.operands[len(kernel.operands) - kernel.results :]
    inputs = kernel.operands[: len(kernel.operands) - kernel.results]
    known = {axis for operand in inputs for axis in operand.axes}
    if kernel.scalars or not known.issuperset(a for o in results for a in o.axes):
        pytest.skip("takes scalars or has extents of its own")
    sizes = {axis: first + 4 * place for place, axis in enumerate(kernel.axes)}
    shapes = [tuple(sizes[axis] for axis in operand.axes) for operand in inputs]
    arrays = [
        sample(operand.element, shape, seed)
        for seed, (operand, shape) in enumerate(zip(inputs, shapes, strict=True))
    ]
    if any(array is None for array in arrays):
        pytest.skip("an element type NumPy has not")
    kind = re.search(r"[\[ ]U: (\w+)", head(module, name))
    chosen = {"Complex": "c64", "Int": "i64"}
    given = {"U": chosen.get(kind[1], "f32")} if kind else {}
    try:
        expected = declaration(*arrays, **given, **constants(module, name))
    except (TypeError, quern.Error) as error:
        if not re.search("does not follow|not given|out of range", str(error)):
            raise
        pytest.skip("the arguments alone do not say all")
    expected = expected if isinstance(expected, tuple) else (expected,)
    wanted = [tuple(sizes[axis] for axis in operand.axes) for operand in results]
    if wanted != [np.shape(e) for e in expected]:
        pytest.skip("a call gives its packs other axes")
    outs = [np.zeros_like(np.asarray(e)) for e in expected]
    kernel.run([*arrays, *outs])
    for out, wanted in zip(outs, expected, strict=True):
        np.testing.assert_allclose(out, np.asarray(wanted), rtol=2e-5, atol=1e-6)
