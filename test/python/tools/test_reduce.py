"""`quern reduce`: what fails still fails, is smaller, and reads well."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FAILING = """
import numpy, quern
text = '''from math use exp

fn unused(x: f32) -> f32:
    return exp(x)

rowwise spread[T: Float, N: int](x: T[R, C]) -> T[R, C]:
    var s = x
    var other = exp(x) * 17
    for i in range(N):
        if i == 3:
            continue
        s = s + s.at(C = index(C) - 1, outside = 0)
        other = other + 1
    return s + other
'''
try:
    quern.compile(text).spread(numpy.ones((3, 5), 'f4'), N=4000)
except quern.Error:
    pass
"""
HANG = """
import sys, time
if "while true" in open(sys.argv[1]).read():
    time.sleep(60)
"""
CRASH = """
import os, signal, sys
if "exp(" in open(sys.argv[1]).read():
    os.kill(os.getpid(), signal.SIGSEGV)
"""
LOOPS = """from math use exp, log

kernel waits(x: mut f32[N]):
    launch grid(1) block(1)
    let a = exp(x[0]) + log(x[1] * 3)
    for i in range(4):
        if x[i] > a:
            break
    while true:
        x[0] = x[0] + a * 2
"""


def reduce(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["quern", "reduce", str(file), *words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_a_compilation_that_was_kept(tmp_path: Path) -> None:
    more = {"QUERN_REPRODUCE": str(tmp_path / "kept"), "QUERN_CACHE_DIR": "-"}
    subprocess.run([sys.executable, "-c", FAILING], env={**os.environ, **more}, check=True)
    [kept] = (tmp_path / "kept").iterdir()
    shows = "quern build --replay={} --emit=llvm 2>&1 | grep -q QN1338"
    small = tmp_path / "small.json"
    done = reduce(kept, "-o", str(small), "--json", "--", "sh", "-c", shows)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stderr)
    assert told["status"] == 0
    assert told["linesAfter"] < told["linesBefore"]
    before, after = json.loads(kept.read_text()), json.loads(small.read_text())
    assert {**before, "text": ""} == {**after, "text": ""}
    # The signature belongs to the rest of the file.
    assert "rowwise spread[T: Float, N: int](x: T[R, C]) -> T[R, C]:" in after["text"]
    assert "unused" not in after["text"]
    assert "other" not in after["text"]
    assert (
        subprocess.run(["sh", "-c", shows.replace("{}", str(small))], check=False).returncode == 0
    )


@pytest.mark.parametrize(
    ("script", "seconds", "left"), [(HANG, "1", "while"), (CRASH, "60", "exp(")]
)
def test_a_command_that_hangs_or_crashes(
    tmp_path: Path, script: str, seconds: str, left: str
) -> None:
    file, command = tmp_path / "loops.qn", tmp_path / "command.py"
    file.write_text(LOOPS)
    command.write_text(script)
    more = ["--trials=60"] if script == HANG else []
    done = reduce(file, f"--seconds={seconds}", *more, "--", sys.executable, str(command), "{}")
    assert done.returncode == 0, done.stderr
    assert left in done.stdout
    assert len(done.stdout) < len(LOOPS) / 2
    assert file.read_text() == LOOPS


def test_what_lies_beside_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner.qn").write_text("fn twice(x: f32) -> f32:\n    return x + x\n")
    file = tmp_path / "uses.qn"
    file.write_text("from folder.inner use twice\n\nfn f(x: f32) -> f32:\n    return twice(x)\n")
    done = reduce(file, "--", "sh", "-c", "quern check {} && grep -q twice {}")
    assert done.returncode == 0, done.stderr
    assert "from folder.inner use twice" in done.stdout
    assert (tmp_path / "folder" / "inner.qn").exists()
