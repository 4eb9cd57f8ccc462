"""One allocation, or one call for a file, fails: an exception, and then all is well again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# `work(number)` does what is looked at with texts of its own, and says whether it was right.
TEXT = """
import ctypes, errno, os, sys
import numpy as np
import quern

shim = ctypes.CDLL(os.environ["LD_PRELOAD"])
what, kind, first, step, most = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
x = np.linspace(-1, 1, 4096, dtype=np.float32).reshape(4, 1024)

def text(number):
    return (f"rowwise f(x: f32[R, C]) -> f32[R]:\\n    return sum(x * x over C) * {number}\\n\\n"
            f"op g(x: f32[R, C]) -> f32[R]:\\n    let y = f(x)\\n    return f(x)\\n\\n")

def isRight(result, number):
    return np.allclose(result, (x.astype(np.float64) ** 2).sum(1) * number, rtol=1e-5)

warm = quern.compile(text(3))
warm.f(x)

def work(number):
    if what == "check":
        return quern.compile(text(number)).f is not None
    if what == "fault":
        try:
            quern.compile(text(number) + "rowwise f(x: f33) -> f32:\\n    return y\\n")
        except quern.Error:
            return True
        return False
    if what == "call":
        return isRight(quern.compile(text(number)).f(x), number)
    if what == "op":
        return isRight(quern.compile(text(number)).g(x), number)
    return isRight(warm.f(x), 3)

assert work(10)
failures, number, at = 0, 11, first
while at < first + step * most:
    number += 2
    if kind == "memory":
        shim.failAllocation(ctypes.c_long(at))
    else:
        shim.failFile(ctypes.c_long(at), errno.ENOSPC if at % 2 else errno.EACCES)
    try:
        good, raised = work(number), False
    except (MemoryError, quern.Error, OSError, ValueError, SystemError) as error:
        good, raised = True, True
    left = shim.allocationsToGo() if kind == "memory" else shim.filesToGo()
    shim.failAllocation(ctypes.c_long(0))
    shim.failFile(ctypes.c_long(0), 0)
    if not good:
        print("wrong at", at)
    failures += raised
    if not (work(number) and work(number + 1)):
        print("wrong after", at)
    if left > 0:
        break
    at += step
print("end", failures)
"""

SLICES = {"check": 211, "fault": 211, "call": 4999, "op": 4999, "warm": 1}


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("clang") or shutil.which("clang++-22") or shutil.which("cc")
    assert compiler, "a C compiler makes the stand-in"
    library = tmp_path_factory.mktemp("shim") / "failing_calls.so"
    source = Path(__file__).parent / "failing_calls.c"
    command = [compiler, "-x", "c", "-shared", "-fPIC", "-O1", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


def sweep(shim: Path, cache: str, *arguments: object) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", TEXT, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=3000,
        env={**os.environ, "LD_PRELOAD": str(shim), "QUERN_CACHE_DIR": cache},
    )
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout.split("\n")


@pytest.mark.parametrize("what", SLICES)
def test_every_slice_of_allocations(shim: Path, tmp_path: Path, what: str) -> None:
    """QUERN_SWEEP=all fails every one of them, which takes hours."""
    step = 1 if os.environ.get("QUERN_SWEEP") == "all" else SLICES[what]
    most = 10**9 if os.environ.get("QUERN_SWEEP") == "all" else 40
    lines = sweep(shim, str(tmp_path / "cache"), what, "memory", 1, step, most)
    assert lines[0].startswith("end"), lines


@pytest.mark.parametrize("what", ["call", "op"])
def test_every_call_for_a_file(shim: Path, tmp_path: Path, what: str) -> None:
    """A cache on a full disk, or one that may not be written, is no cache."""
    lines = sweep(shim, str(tmp_path / "cache"), what, "file", 1, 1, 100)
    assert lines[0].startswith("end"), lines
