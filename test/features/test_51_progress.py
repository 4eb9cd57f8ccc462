"""Watch a long compile: a progress bar on a terminal, quiet elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

TEXT = """
from quern.torch_backend.progress import Progress
bar = Progress("graph0_inference", quiet={quiet})
for done in range(4):
    bar(done, 4)
bar.close()
print("end", flush=True)
"""


def on_terminal(quiet: float) -> str:
    """What a program shows that has a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", TEXT.format(quiet=quiet)], stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    assert process.wait() == 0
    os.close(ours)
    return shown.decode()


def test_bar_on_a_terminal() -> None:
    shown = on_terminal(0.0)
    assert "quern: graph0_inference [" in shown
    assert "2/4 kernels" in shown


def test_short_work_shows_none() -> None:
    assert "kernels" not in on_terminal(60.0)


def test_quiet_elsewhere() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TEXT.format(quiet=0.0)], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("end\n", "")
