"""Runs a program again and again, in which the n-th allocation or call for a file fails."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "safety" / "failing_calls.c"

LOOP = """
import ctypes, errno, os, sys
shim = ctypes.CDLL(os.environ["LD_PRELOAD"])
what, kind, first, step, most = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])

def sweep(work, errors):
    '''`work(number)` does what is looked at, of its own kind for each number, and says whether
    it was right.'''
    assert work(10)
    failures, number, at = 0, 11, first
    while at < first + step * most:
        number += 2
        if kind == "memory":
            shim.failAllocation(ctypes.c_long(at))
        else:
            shim.failFile(ctypes.c_long(at), errno.ENOSPC if at % 2 else errno.EACCES)
        good, raised = True, False
        try:
            good = work(number)
        except errors:
            raised = True
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
    print("end", failures, "of", (at - first) // step)
"""
"""How a program sweeps; it has the names of its arguments."""


@functools.cache
def shim() -> Path:
    """The library that stands before the C library, made once a process."""
    names = ("clang", "clang-22", "clang++-22", "cc")
    compiler = next(filter(None, map(shutil.which, names)), None)
    assert compiler, "a C compiler makes the stand-in"
    library = Path(tempfile.mkdtemp(prefix="quern-shim-")) / "failing_calls.so"
    command = [compiler, "-x", "c", "-shared", "-fPIC", "-O1", str(SOURCE), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


def sweep(program: str, cache: str, what: str, kind: str, step: int, most: int) -> str:
    """The last line of the sweep; whatever the program says before is a finding."""
    everything = os.environ.get("QUERN_SWEEP") == "all"
    arguments = [what, kind, *map(str, (1, 1, 10**9) if everything else (1, step, most))]
    done = subprocess.run(
        [sys.executable, "-c", LOOP + program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=None if everything else 3000,
        env={**os.environ, "LD_PRELOAD": str(shim()), "QUERN_CACHE_DIR": cache},
    )
    assert done.returncode == 0, (arguments, done.stdout[-4000:], done.stderr[-4000:])
    lines = done.stdout.strip().split("\n")
    assert [line[:3] for line in lines] == ["end"], lines
    return lines[0]
