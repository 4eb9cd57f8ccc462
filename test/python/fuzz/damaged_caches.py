"""Cache folders with damaged files: the process lives, and results are those of no cache at all."""

from __future__ import annotations

import functools
import os
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _quern
import numpy as np

TEXT = """
elementwise wave[T: Float](x: T) -> T:
    return sin(x) * 2 + 1

rowwise total[T: Float](x: T[R, C]) -> T[R]:
    return sum(x over C)

rowwise soft(x: f32[R, C]) -> f32[R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)
"""
X = np.linspace(-1, 1, 60, dtype=np.float32).reshape(4, 15)


def results(folder: Path) -> list[Any]:
    session: Any = _quern.Session(threads=1, cache=str(folder))
    module = session.compile(TEXT, "damaged.qn")
    calls: list[Callable[[Any], Any]] = [module.wave, module.total, module.soft]
    return [call(x) for x in (X, X.astype(np.float64)[:, :7]) for call in calls[: 2 + (x is X)]]


@functools.cache
def wanted() -> tuple[Path, list[Any]]:
    """A whole cache folder, and what kernels from it give."""
    folder = Path(tempfile.mkdtemp(prefix="quern-cache-"))
    return folder, results(folder)


def apart(body: Callable[[], str]) -> str:
    """What the body says in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        # Warnings of folders that cannot be used are many, and right.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            said = body()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode()[:60000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = file.read().decode()
    _, status = os.waitpid(child, 0)
    return said if status == 0 else f"the process ended with {status}"


def bytes_changed(rng: random.Random, data: bytes) -> bytes:
    """The bytes with some of them wrong, too few or too many."""
    changed = bytearray(data)
    kind = rng.choice(["flip", "flip", "zero", "cut", "extend", "head", "double", "noise", "empty"])
    if kind == "cut":
        return data[: rng.randrange(len(data) + 1)]
    if kind == "extend":
        return data + rng.randbytes(rng.choice([1, 8, 4096]))
    if kind == "double":
        return data + data
    if kind == "noise":
        return rng.randbytes(len(data))
    if kind == "empty" or not data:
        return b""
    limit = min(80, len(data)) if kind == "head" else len(data)
    for _ in range(rng.choice([1, 1, 2, 16])):
        at = rng.randrange(limit)
        changed[at] = 0 if kind == "zero" else changed[at] ^ 1 << rng.randrange(8)
    return bytes(changed)


def damage(rng: random.Random, folder: Path) -> str:
    """Changes one file, or puts something else in its place."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    file, other = rng.choice(files), rng.choice(files)
    kind = rng.choice(["bytes"] * 6 + ["swap", "folder", "link", "pipe", "unreadable", "writable"])
    if kind == "bytes":
        file.write_bytes(bytes_changed(rng, file.read_bytes()))
    elif kind == "swap":
        file.write_bytes(other.read_bytes())
    elif kind == "unreadable":
        file.chmod(0)
    elif kind == "writable":
        file.chmod(0o666)
    else:
        file.unlink()
        if kind == "folder":
            file.mkdir()
        elif kind == "link":
            file.symlink_to(rng.choice([str(other), "/dev/zero", "/nowhere", str(folder)]))
        else:
            os.mkfifo(file)
    return f"{kind} of {file.name}"


def run(seed: int) -> str:
    """What is wrong after the damage of this number, or nothing."""
    rng = random.Random(seed)
    whole, exact = wanted()
    folder = Path(tempfile.mkdtemp(prefix="quern-damaged-"))
    try:
        shutil.copytree(whole, folder, dirs_exist_ok=True)
        done = [damage(rng, folder) for _ in range(rng.choice([1, 1, 2, 4]))]

        def body() -> str:
            # A second time with what the first one mended.
            for _ in range(2):
                for ours, theirs in zip(results(folder), exact, strict=True):
                    np.testing.assert_array_equal(ours, theirs)
            return ""

        said = apart(body)
        return said and f"seed {seed}: {done}: {said}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
