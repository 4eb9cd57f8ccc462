"""Ctrl-C while a kernel compiles: the call ends, the process lives, and ends well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# The alarm rings where the compiler has long been at work on text that takes it many times as long.
TEXT = """
import signal, numpy as np, quern
signal.signal(signal.SIGALRM, signal.default_int_handler)
lines = [f"    y = sin(y * {i}) + pow(y, {i}.5)\\n" for i in range(1500)]
kernels = quern.compile(
    "elementwise long(x: f32) -> f32:\\n    var y = x\\n" + "".join(lines) + "    return y\\n\\n"
    "elementwise short(x: f32) -> f32:\\n    return x + 1\\n\\n"
    "op both(x: f32[N]) -> f32[N]:\\n    return long(short(x))\\n\\n"
    "rowwise first(x: f32[N]) -> f32[]:\\n    return max(x over N)\\n\\n"
    "op read(x: f32[N]) -> f32:\\n    return host(first(long(x)))\\n\\n"
    "op rounds(x: f32[N]) -> f32[N]:\\n    var y = x\\n"
    "    while host(first(y)) > 0:\\n        y = short(x)\\n    return y\\n"
)
x = np.ones(4, np.float32)
for call in (kernels.long, kernels.both, kernels.read, kernels.long, kernels.rounds):
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        call(x)
        print("too late")
    except KeyboardInterrupt:
        print("stopped")
assert (kernels.short(x) == 2).all()
from quern._session import session
print("compiled", session().counters()["compiles"])
"""


def test_a_call_that_compiles_is_interrupted(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TEXT],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "QUERN_CACHE_DIR": str(tmp_path)},
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["stopped"] * 5 + ["compiled", "2"]
    assert done.returncode == 0
