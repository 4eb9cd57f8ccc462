"""Print one stage: `quern build --emit=STAGE`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import python, shell

KERNEL = "elementwise half[T: Float](x: T) -> T:\n    return x / 2\n"
SEEN = {
    "tokens": "elementwise",
    "ast": "half",
    "typed": "half",
    "qn": "qn.rowwise @half",
    "schedule": 'qn.schedule for "',
    "loops": "vector.",
    "llvm-dialect": "llvm.func",
    "llvm": "define",
    "asm": "ret",
    "ptx": ".entry",
    "gpu": "ptx_kernelcc",
    "abi": "pointer",
}
OF_GPUS = ("ptx", "gpu")


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "k.qn"
    path.write_text(KERNEL)
    return path


@pytest.mark.parametrize("stage", SEEN)
def test_text(stage: str, kernel: Path) -> None:
    target = ["--target=sm_80"] if stage in OF_GPUS else []
    done = shell("quern", "build", str(kernel), f"--emit={stage}", *target)
    assert done.returncode == 0, done.stderr
    assert SEEN[stage] in done.stdout


@pytest.mark.parametrize(("stage", "target"), [("obj", "native"), ("hsaco", "gfx942")])
def test_object(stage: str, target: str, kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "k.o"
    words = (f"--emit={stage}", f"--target={target}", f"--output={out}")
    done = shell("quern", "build", str(kernel), *words)
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(b"\x7fELF")


def test_unknown_stage(kernel: Path) -> None:
    done = shell("quern", "build", str(kernel), "--emit=nothing")
    assert done.returncode == 2
    assert "no stage `nothing`" in done.stderr


@pytest.mark.parametrize(
    ("target", "stages"),
    [
        ("x86-64-v3", ["tools", "qn", "schedule", "loops", "llvm-dialect", "llvm", "obj"]),
        ("sm_80", ["tools", "qn", "schedule", "gpu", "llvm-dialect", "llvm", "ptx"]),
    ],
)
def test_times(kernel: Path, target: str, stages: list[str]) -> None:
    done = shell("quern", "build", str(kernel), "--timing", f"--target={target}")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["half", *stages]
    assert all(float(row[1]) >= 0 for row in rows)
    assert abs(float(rows[0][1]) - sum(float(row[1]) for row in rows[1:])) < 0.1


def test_times_are_no_stage(kernel: Path) -> None:
    done = shell("quern", "build", str(kernel), "--timing", "--emit=qn")
    assert done.returncode == 2
    assert "takes the place of" in done.stderr


def test_perf_learns_names() -> None:
    text = """
import os, numpy, quern
k = quern.compile("elementwise named[T: Float](x: T) -> T:\\n    return x * 2\\n")
k.named(numpy.ones(5, dtype="float32"))
path = "/tmp" + f"/perf-{os.getpid()}.map"
print(open(path).read() if os.path.exists(path) else "nothing")
if os.path.exists(path):
    os.remove(path)
"""
    assert python(text, QUERN_PERF="").strip() == "nothing"
    rows = [line.split() for line in python(text, QUERN_PERF="1").splitlines() if line]
    assert "quern::named_task" in [row[2] for row in rows]
    assert all(int(row[0], 16) > 0 and int(row[1], 16) > 0 for row in rows)
