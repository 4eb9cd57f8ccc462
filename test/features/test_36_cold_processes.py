"""Run two cold processes at once and kill one: no torn file, right results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TEXT = """
import numpy, quern
print("ready", flush=True)
pattern = "elementwise k{0}[T: Float](x: T) -> T:\\n    return exp(x) * {0} + 1\\n\\n"
text = "".join(pattern.format(i) for i in range(40))
k = quern.compile(text)
x = numpy.linspace(-1, 1, 100, dtype="float32")
for i in range(40):
    assert numpy.allclose(getattr(k, f"k{i}")(x), numpy.exp(x) * i + 1, rtol=1e-5)
from quern._session import session
print(session().counters()["compiles"])
"""


def start(cache: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "QUERN_CACHE_DIR": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", TEXT], stdout=subprocess.PIPE, text=True, env=environment
    )


def finish(process: subprocess.Popen[str]) -> int:
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return int(said.split()[-1])


def test_two_at_once_and_one_killed(tmp_path: Path) -> None:
    first, second, victim = (start(tmp_path) for _ in range(3))
    assert victim.stdout is not None
    assert victim.stdout.readline() == "ready\n"
    time.sleep(0.3)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    finish(first)
    finish(second)
    # All that lies there is whole: the next process compiles nothing.
    assert finish(start(tmp_path)) == 0
