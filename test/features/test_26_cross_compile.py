"""Cross-compile without the device: PTX, a code object, another CPU's object."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from support import shell

KERNEL = "elementwise half[T: Float](x: T) -> T:\n    return x / 2\n"
X86, AARCH64, AMDGPU = 62, 183, 224


@pytest.mark.parametrize(
    ("target", "stage", "machine"),
    [
        ("x86-64-v2", "obj", X86),
        ("x86-64-v4", "obj", X86),
        ("aarch64", "obj", AARCH64),
        ("gfx90a", "hsaco", AMDGPU),
    ],
)
def test_object_of(target: str, stage: str, machine: int, tmp_path: Path) -> None:
    source, out = tmp_path / "k.qn", tmp_path / "k.out"
    source.write_text(KERNEL)
    done = shell(
        "quern", "build", str(source), f"--target={target}", f"--emit={stage}", f"--output={out}"
    )
    assert done.returncode == 0, done.stderr
    head = out.read_bytes()[:20]
    assert head.startswith(b"\x7fELF")
    assert struct.unpack("<H", head[18:20])[0] == machine


def test_ptx(tmp_path: Path) -> None:
    source = tmp_path / "k.qn"
    source.write_text(KERNEL)
    done = shell("quern", "build", str(source), "--target=sm_90", "--emit=ptx")
    assert done.returncode == 0, done.stderr
    assert ".target sm_90" in done.stdout
    assert ".entry" in done.stdout
