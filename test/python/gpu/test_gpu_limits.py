"""Kernels at the limits of a device: words, offsets, large tiles, every architecture."""

from __future__ import annotations

import json
import re
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest
import torch
from emulator.amd import AmdKernel, kernel_for
from emulator.kernels import GpuKernel, quern
from kernel_cases import bits, floats
from slices import gpus
from tree import ROOT, build_dir

TARGETS = gpus("limits")
NVIDIA = [target for target in TARGETS if target.startswith("sm_")]
PROGRAM = build_dir() / "bin" / "quern"
SCHEDULES = ROOT / "test" / "emulator" / "schedules.qn"
CUDA = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin"
SOFT = """
rowwise wide(x: f32[R, C]) -> f32[R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)
"""
PRODUCT = """
rowwise wide(a: T[M, K], b: T[K, N]) -> f32[M, N]:
    return sum(f32(a) * f32(b) over K)
"""
#: More operands with strides of their own than a driver has room for parameters.
MANY = 180


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [f"x{n}" for n in range(MANY)]
    file = tmp_path_factory.mktemp("limits") / "many.qn"
    file.write_text(
        f"elementwise many({', '.join(f'{n}: f32' for n in names)}) -> f32:\n"
        f"    return {' + '.join(names)}\n"
    )
    return file


@pytest.mark.parametrize("target", TARGETS)
def test_very_many_words_lie_in_memory(many: Path, target: str) -> None:
    built = kernel_for(PROGRAM, many, "many", target, ["--ranks=many=3"])
    assert built.abi["words_in_memory"]
    rng = np.random.default_rng(3)
    given = [rng.integers(0, 9, (3, 4, 5)).astype("f4") for _ in range(MANY)]
    given[5] = given[5].transpose(1, 0, 2).copy().transpose(1, 0, 2)
    out = np.zeros((3, 4, 5), "f4")
    built.run([*given, out])
    np.testing.assert_array_equal(out, sum(given))


def assembled(file: Path, name: str, target: str, folder: Path, *options: str) -> str:
    """What the assembler says of the code."""
    text = folder / "k.ptx"
    words = [PROGRAM, "build", file, name, "--emit=ptx", f"--target={target}", *options]
    subprocess.run([*words, "-o", text], check=True)
    words = [CUDA / "ptxas", "-v", f"-arch={target}", text, "-o", folder / "k.cubin"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_assembler_takes_very_many_words(many: Path, tmp_path: Path) -> None:
    assembled(many, "many", "sm_80", tmp_path, "--ranks=many=4")


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize(
    ("file", "name"),
    [("matmul", "mm"), ("matmul", "bmm"), ("matmul", "addmm"), ("matmul", "baddbmm"),
     ("matmul", "linear"), ("convolution_tiles", "products")],
)  # fmt: skip
def test_tiles_of_products_stay_in_registers(
    file: str, name: str, target: str, tmp_path: Path
) -> None:
    text = ROOT / "stdlib-kernels" / f"{file}.qn"
    told = assembled(text, name, target, tmp_path, "--types=T=bf16")
    frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", told)
    assert len(frames) == 4
    assert all(frame == spilled == "0" for frame, spilled in frames), told


@pytest.mark.parametrize("target", NVIDIA)
def test_columns_of_many_operations_stay_in_registers(target: str, tmp_path: Path) -> None:
    """Powers take many of them: eight rows at once were put into memory."""
    file = ROOT / "stdlib-kernels" / "distances.qn"
    told = assembled(file, "cdist_backward", target, tmp_path, "--constants=P=else")
    frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", told)
    assert len(frames) == 5
    assert all(frame == spilled == "0" for frame, spilled in frames), told


@pytest.mark.parametrize("target", NVIDIA)
@pytest.mark.parametrize("name", ["mm", "mm_rows"])
@pytest.mark.parametrize("shape", [(128, 256, 64), (130, 264, 72), (40, 520, 200)])
def test_large_tiles_of_products(name: str, shape: tuple[int, int, int], target: str) -> None:
    """Where there are enough of them a device runs these; here whatever the extents are."""
    m, n, k = shape
    built = kernel_for(PROGRAM, SCHEDULES, name, target, ["--types=T=bf16"])
    built.forced = "_large"
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.standard_normal(s).astype("f4") for s in ((m, k), (k, n)))
    left, right = bits(a), bits(b)
    exact = floats(left).astype("f8") @ floats(right).astype("f8")
    if name == "mm_rows":
        right = np.ascontiguousarray(right.T)
    out = np.zeros((m, n), left.dtype)
    built.run([left, right, out])
    np.testing.assert_allclose(floats(out), exact, rtol=1e-2, atol=1e-2 * abs(exact).max())


@pytest.mark.parametrize(
    "target",
    ["sm_86", "sm_89", "sm_120", "gfx950", "gfx1101", "gfx1102", "gfx1151", "gfx1200"],
)
def test_relatives_of_the_tested_targets(target: str) -> None:
    """They have code of their own, which computes the same."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal((5, 700)).astype("f4")
    out = np.zeros_like(x)
    kernel_for(PROGRAM, SCHEDULES, "softmax", target).run([x, out])
    wanted = torch.from_numpy(x).double().softmax(1).numpy()
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-7)
    a, b = (rng.standard_normal(s).astype("f4") for s in ((33, 40), (40, 80)))
    left, right = bits(a), bits(b)
    product = np.zeros((33, 80), left.dtype)
    kernel_for(PROGRAM, SCHEDULES, "mm", target, ["--types=T=bf16"]).run([left, right, product])
    exact = floats(left).astype("f8") @ floats(right).astype("f8")
    np.testing.assert_allclose(floats(product), exact, rtol=1e-2, atol=2e-2)


class Replayed(GpuKernel):
    """A kernel whose text, types and layouts stand in a file, as those of a kept compilation do."""

    def build(self, stage: str) -> str:
        return quern(self.program, f"--replay={self.file}", f"--emit={stage}")


class ReplayedForAmd(Replayed, AmdKernel):
    """The same, whose code this machine runs."""


def replayed(folder: Path, text: str, target: str, operands: int) -> GpuKernel:
    """What is compiled for tensors beyond 2 GiB."""
    kept = {
        "kernel": "wide",
        "target": target,
        "stage": "",
        "name": "wide.qn",
        "text": text,
        "modules": [],
        "specialization": {
            "types": [],
            "constants": [],
            "ranks": [1] * operands,
            "operands": ["d1"] * operands,
            "units": [],
            "lists": [],
            "narrow": False,
        },
    }
    file = folder / "wide.json"
    file.write_text(json.dumps(kept))
    kind = Replayed if target in NVIDIA else ReplayedForAmd
    built = kind(PROGRAM, file, "wide", target)
    assert " wide" in built.build("qn")
    return built


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [37, 1000, 5000])
def test_offsets_of_64_bits(target: str, columns: int, tmp_path: Path) -> None:
    """What kernels for tensors beyond 2 GiB compute, on small ones."""
    x = np.random.default_rng(columns).standard_normal((3, columns)).astype("f4")
    out = np.zeros_like(x)
    replayed(tmp_path, SOFT, target, 2).run([x, out])
    wanted = torch.from_numpy(x).double().softmax(1).numpy()
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["bf16", "f32"])
@pytest.mark.parametrize("shape", [(130, 136, 40), (70, 264, 200)])
def test_products_with_offsets_of_64_bits(
    kind: str, shape: tuple[int, int, int], target: str, tmp_path: Path
) -> None:
    m, n, k = shape
    built = replayed(tmp_path, PRODUCT.replace("T", kind), target, 3)
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.standard_normal(s).astype("f4") for s in ((m, k), (k, n)))
    if kind == "bf16":
        a, b = floats(bits(a)), floats(bits(b))
    out = np.zeros((m, n), "f4")
    built.run([bits(a), bits(b), out] if kind == "bf16" else [a, b, out])
    np.testing.assert_allclose(out, a.astype("f8") @ b, rtol=1e-4, atol=1e-4)
