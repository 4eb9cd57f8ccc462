"""Damaged recordings: programs that do them again say what is wrong, and end well."""

from __future__ import annotations

import functools
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from damaged_caches import bytes_changed
from tree import build_dir

QUERN = build_dir() / "bin" / "quern"
MEMORY = 8 << 30
#: Leaves the file of a compilation that fails.
FAILING = """
import numpy, quern
text = '''rowwise spread[T: Float, N: int](x: T[R, C]) -> T[R, C]:
    var s = x
    for i in range(N):
        s = s + s.at(C = index(C) - 1, outside = 0)
    return s
'''
try:
    quern.compile(text).spread(numpy.ones((3, 5), 'f4'), N=4000)
except quern.Error:
    pass
"""
#: Leaves the program and the tensors of a graph's call.
GRAPH = """
import torch
def f(x, y):
    return torch.softmax((x * y).sin(), -1), (x + 1).sum(0)
torch.compile(f, backend="quern")(torch.ones(3, 5), torch.ones(5))
"""
NUMBERS = [0, -1, 1, 2**31, 2**32, 2**62, -(2**63), 2**63, 2**64, 1e308, 0.5]


@functools.cache
def whole() -> tuple[Path, Path, Path]:
    """A folder with one recording of either kind, the file of one, the program of the other."""
    folder = Path(tempfile.mkdtemp(prefix="quern-recording-"))
    more = {"QUERN_REPRODUCE": str(folder / "kept"), "QUERN_DEBUG": str(folder / "graph")}
    for text in (FAILING, GRAPH):
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", text],
            env={**os.environ, **more, "QUERN_CACHE_DIR": "-"},
            check=True,
            stdout=subprocess.DEVNULL,
        )
    kept = next((folder / "kept").iterdir())
    value = json.loads(kept.read_text())
    value["specialization"]["constants"] = ["i2"]
    kept.write_text(json.dumps(value))
    program = next((folder / "graph").rglob("launches.json")).parent.parent / "program.qn"
    assert program.exists()
    return folder, kept.relative_to(folder), program.relative_to(folder)


def value_changed(rng: random.Random, value: Any) -> Any:
    """The value with one of its parts changed."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key, result = rng.choice(sorted(value)), dict(value)
        if rng.random() < 0.1:
            del result[key]
        else:
            result[key] = value_changed(rng, value[key])
        return result
    if isinstance(value, list) and value and rng.random() < 0.85:
        at, items = rng.randrange(len(value)), list(value)
        kind = rng.random()
        if kind < 0.1:
            del items[at]
        elif kind < 0.2:
            items.insert(at, rng.choice(value))
        else:
            items[at] = value_changed(rng, value[at])
        return items
    others: list[Any] = [None, True, [], {}, "", "f16", "i64", "x" * 300, [[]], *NUMBERS]
    if isinstance(value, str) and value:
        others += [value[:-1], value + value, value[::-1]] * 4
    return rng.choice(others)


def damage(rng: random.Random, folder: Path, file: Path) -> str:
    """Changes a file of the recording: as JSON, or its bytes."""
    files = [file] if file.suffix == ".json" else sorted(file.parent.joinpath("recorded").iterdir())
    chosen = rng.choice([*files, *[f for f in files if f.suffix == ".json"] * len(files)])
    if chosen.suffix == ".json" and rng.random() < 0.8:
        chosen.write_text(json.dumps(value_changed(rng, json.loads(chosen.read_text()))))
    elif rng.random() < 0.05:
        chosen.unlink()
    else:
        chosen.write_bytes(bytes_changed(rng, chosen.read_bytes()))
    return str(chosen.relative_to(folder))


def bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(seed: int) -> str:
    """What is wrong after the damage of this number, or nothing."""
    rng = random.Random(seed)
    source, kept, program = whole()
    with tempfile.TemporaryDirectory(prefix="quern-damaged-") as name:
        folder = Path(name)
        shutil.copytree(source, folder, dirs_exist_ok=True)
        is_kept = rng.random() < 0.5
        file = folder / (kept if is_kept else program)
        done = damage(rng, folder, file)
        words = ["build", f"--replay={file}"] if is_kept else ["run", str(file)]
        try:
            ended = subprocess.run(
                [QUERN, *words],
                capture_output=True,
                check=False,
                timeout=120,
                preexec_fn=bounded,
                env={**os.environ, "QUERN_CACHE_DIR": "-"},
            )
        except subprocess.TimeoutExpired:
            return f"seed {seed}: {done}: takes more than two minutes"
        if ended.returncode in (0, 1, 2) and (ended.returncode == 0 or ended.stderr):
            return ""
        end = ended.stderr.decode(errors="replace")[-2000:]
        return f"seed {seed}: {done}: ended with {ended.returncode}: {end}"
