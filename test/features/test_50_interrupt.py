"""Interrupt a long compile (Ctrl-C): it stops at once, and nothing is broken."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

# Many different kernels; the program says when the compiler is at work, and waits
# half-way for an interrupt that a busy machine delivers late.
TEXT = """
import signal, sys, time, torch, quern
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
from quern.torch_backend import progress

class Telling(progress.Progress):
    def __call__(self, done, total):
        if done >= 1 and not self._is_shown:
            self._is_shown = True
            print("compiling", total, flush=True)
        if 2 * done > total:
            time.sleep(60)
        super().__call__(done, total)

from quern.torch_backend import compilation
compilation.Progress = Telling

def f(x):
    for i in range(200):
        x = torch.mm(torch.softmax(x * i + i, i % 2), x)
    return x

x = torch.randn(8, 8)
try:
    torch.compile(f, backend="quern")(x)
    print("too late", flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
compilation.Progress = progress.Progress
g = torch.compile(lambda x: torch.softmax(x, -1) + 1, backend="quern")
torch.testing.assert_close(g(x), torch.softmax(x, -1) + 1)
print("fine", flush=True)
"""


def test_stops_and_lives(tmp_path: Path) -> None:
    environment = {**os.environ, "QUERN_CACHE_DIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", TEXT], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    first = process.stdout.readline().split()
    assert first[0] == "compiling"
    assert int(first[1]) > 20
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=300)
    assert said.split() == ["stopped", "fine"]
    assert process.returncode == 0
