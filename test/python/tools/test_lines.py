"""Code that is loaded tells `perf` and gdb the lines of the text it is made of."""

import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TEXT = """elementwise silu[T: Float](x: T) -> T:
    let e = exp(-x)
    let d = 1 + e
    return x / d
"""
CALL = """
import numpy, quern
k = quern.load({path!r})
k.silu(numpy.ones(50, dtype="float32"))
"""
# What gdb reads: the descriptor's first entry, and from it the objects.
OBJECTS = """
import ctypes, pathlib
import _quern
class Entry(ctypes.Structure):
    pass
Entry._fields_ = [("next", ctypes.POINTER(Entry)), ("previous", ctypes.c_void_p),
                  ("object", ctypes.c_void_p), ("size", ctypes.c_uint64)]
class Descriptor(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("action", ctypes.c_uint32),
                ("relevant", ctypes.c_void_p), ("first", ctypes.POINTER(Entry))]
library = ctypes.CDLL(str(next(pathlib.Path(_quern.__file__).parent.glob("libquern.so*"))))
entry = Descriptor.in_dll(library, "__jit_debug_descriptor").first
while entry:
    print(ctypes.string_at(entry.contents.object, entry.contents.size).hex())
    entry = entry.contents.next
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "lines.qn"
    path.write_text(TEXT)
    return path


def run(kernel: Path, more: str = "", **variables: str) -> str:
    """In a process of its own, whose cache is empty."""
    done = subprocess.run(
        [sys.executable, "-c", CALL.format(path=str(kernel)) + more],
        env=os.environ | {"QUERN_CACHE_DIR": "-"} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def places(dump: bytes) -> Iterator[tuple[str, int]]:
    """File and line of every entry of a dump's records of debug information."""
    at = struct.unpack_from("<I", dump, 8)[0]
    while at < len(dump):
        kind, size = struct.unpack_from("<II", dump, at)
        if kind == 2:
            (count,) = struct.unpack_from("<Q", dump, at + 24)
            entry = at + 32
            for _ in range(count):
                (line,) = struct.unpack_from("<I", dump, entry + 8)
                end = dump.index(b"\0", entry + 16)
                yield dump[entry + 16 : end].decode(), line
                entry = end + 1
        at += size


def test_perf_learns_lines(kernel: Path, tmp_path: Path) -> None:
    run(kernel, JITDUMPDIR=str(tmp_path), QUERN_PERF="lines")
    (dump,) = tmp_path.rglob("*.dump")
    assert {line for file, line in places(dump.read_bytes()) if file == str(kernel)} >= {2, 3, 4}


def test_gdb_learns_lines(kernel: Path) -> None:
    objects = [bytes.fromhex(row) for row in run(kernel, OBJECTS, QUERN_GDB="1").split()]
    assert any(b"silu_task" in one and b"lines.qn" in one for one in objects)
    assert all(one.startswith(b"\x7fELF") and b".debug_line" in one for one in objects)


def test_nobody_is_told_who_does_not_ask(kernel: Path, tmp_path: Path) -> None:
    assert run(kernel, OBJECTS, JITDUMPDIR=str(tmp_path)) == ""
    assert not list(tmp_path.rglob("*.dump"))
