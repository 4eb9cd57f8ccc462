"""Print one stage: `quern build --emit=STAGE`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import shell

KERNEL = "elementwise half[T: Float](x: T) -> T:\n    return x / 2\n"
SEEN = {
    "tokens": "elementwise",
    "ast": "half",
    "typed": "half",
    "qn": "qn.rowwise @half",
    "loops": "vector.",
    "llvm-dialect": "llvm.func",
    "llvm": "define",
    "asm": "ret",
    "ptx": ".entry",
}


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "k.qn"
    path.write_text(KERNEL)
    return path


@pytest.mark.parametrize("stage", SEEN)
def test_text(stage: str, kernel: Path) -> None:
    target = ["--target=sm_80"] if stage == "ptx" else []
    done = shell("quern", "build", str(kernel), f"--emit={stage}", *target)
    assert done.returncode == 0, done.stderr
    assert SEEN[stage] in done.stdout


def test_object(kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "k.o"
    done = shell("quern", "build", str(kernel), "--emit=obj", f"--output={out}")
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(b"\x7fELF")


def test_unknown_stage(kernel: Path) -> None:
    done = shell("quern", "build", str(kernel), "--emit=nothing")
    assert done.returncode == 2
    assert "no stage `nothing`" in done.stderr
