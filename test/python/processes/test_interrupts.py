"""Ctrl-C while a kernel compiles or runs: the call ends, the process lives, and ends well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def printed(text: str, **variables: str) -> list[str]:
    """The words that a program prints which ends well, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
        timeout=300,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout.split()


def test_a_call_that_compiles_is_interrupted(tmp_path: Path) -> None:
    words = printed(TEXT, QUERN_CACHE_DIR=str(tmp_path), QUERN_MOST_OPERATIONS="9000000")
    assert words == ["stopped"] * 5 + ["compiled", "2"]


# Launches that would take months end at an error of one block, and at an alarm.
LAUNCHES = """
import signal, numpy as np, quern
signal.signal(signal.SIGALRM, signal.default_int_handler)
kernels = quern.compile(
    "kernel all(x: i64[N], y: mut i64[N]):\\n    launch grid(1 << 40) block(1)\\n"
    "    atomic_add(y[x[block.x % N]], 1)\\n\\n"
    "op through(x: i64[N], y: mut i64[N]):\\n    all(x, y)\\n"
)
good, y = np.zeros(256, np.int64), np.zeros(256, np.int64)
bad = good.copy()
bad[100] = 256
for call in (kernels.all, kernels.through):
    try:
        call(bad, y)
    except quern.Error as error:
        print("QN2050" in str(error))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        call(good, y)
    except KeyboardInterrupt:
        print("stopped")
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_launch_ends_early(threads: int) -> None:
    assert printed(LAUNCHES, QUERN_THREADS=str(threads)) == ["True", "stopped"] * 2


# Seconds and minutes of the other kinds, whose units take milliseconds.
KINDS = """
import signal, numpy as np, quern
signal.signal(signal.SIGALRM, signal.default_int_handler)
kernels = quern.compile(
    "elementwise slow(x: i64) -> i64:\\n    var y = x\\n    for i in range(1 << 16):\\n"
    "        y = (y * 5 + 1) ^ (y >> 7)\\n    return y\\n\\n"
    "rowwise rows(x: i64[R, C]) -> i64[R]:\\n    return sum(slow(x) over C)\\n\\n"
    "rowwise waves(x: f32[N], y: f32[M]) -> f32[N]:\\n    return sum(sin(x * y) over M)\\n\\n"
    "op twice(x: i64[N]) -> i64[N]:\\n    return slow(slow(x))\\n\\n"
    "elementwise wave(x: f32) -> f32:\\n    return sin(x)\\n\\n"
    "op many(x: f32[N]) -> f32[N]:\\n    var y = x\\n    for i in range(1000):\\n"
    "        y = wave(y)\\n    return y\\n"
)
x, y = np.ones(1 << 22, np.int64), np.ones(1 << 17, np.float32)
for call in (
    lambda n: kernels.slow(x[:n]),
    lambda n: kernels.rows(x[:n].reshape(-1, 16)),
    lambda n: kernels.waves(y[:n], y[:n]),
    lambda n: kernels.twice(x[:n]),
    lambda n: kernels.many(np.ones(min(4 * n, 1 << 24), np.float32)),
):
    call(16)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        call(1 << 22)
        print("too late")
    except KeyboardInterrupt:
        print("stopped")
"""

GRAPHS = """
import signal, torch, quern
signal.signal(signal.SIGALRM, signal.default_int_handler)

def waves(x):
    return torch.sin(x[:, None] * x).sum(1)

def products(x):
    for _ in range(200):
        x = x @ x
    return x

for function, executor in ((waves, "quern"), (products, "aten")):
    fast = torch.compile(
        function, backend="quern", dynamic=True, options={"executor": executor}
    )
    # Sizes alone differ, so that nothing is traced or compiled once the clock runs.
    small, large = torch.rand(64), torch.rand(1 << 18)
    if executor == "aten":
        small, large = torch.ones(64, 64), torch.ones(2048, 2048)
    torch.testing.assert_close(fast(small), function(small))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        fast(large)
        print("too late")
    except KeyboardInterrupt:
        print("stopped")
    torch.testing.assert_close(fast(small), function(small))
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_launches_of_every_kind_end_early(threads: int) -> None:
    assert printed(KINDS, QUERN_THREADS=str(threads)) == ["stopped"] * 5


def test_a_graph_that_runs_is_interrupted() -> None:
    assert printed(GRAPHS, PYTHONWARNINGS="ignore") == ["stopped"] * 2


# One graph is compiled, one for which a call brings sizes that need code of their own: each takes
# the compiler many seconds.
GRAPH_CODE = """
import signal, time, torch, quern
signal.signal(signal.SIGALRM, signal.default_int_handler)

def steps(x, count):
    for i in range(1, count):
        x = torch.sin(x * i) + torch.pow(x, i + 0.5)
    return x

def small(x):
    return steps(x, 2)

def long(x):
    return steps(x, 400)

fast = torch.compile(small, backend="quern")
x = torch.ones(4)
torch.testing.assert_close(fast(x), small(x))
from quern.torch_backend import compilation
made, inner = [], compilation.make_graph

def make(*arguments, **named):
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    start = time.process_time()
    try:
        return inner(*arguments, **named)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        made.append(time.process_time() - start)

compilation.make_graph = make
try:
    torch.compile(long, backend="quern")(x)
    print("too late")
except KeyboardInterrupt:
    print("stopped")
before = time.process_time()
time.sleep(1)
print("rests" if time.process_time() - before < 0.2 else "goes on")
torch.testing.assert_close(torch.compile(lambda x: small(x) + 1, backend="quern")(x), small(x) + 1)
"""


def test_a_graph_that_is_compiled_is_interrupted(tmp_path: Path) -> None:
    words = printed(GRAPH_CODE, QUERN_CACHE_DIR=str(tmp_path), PYTHONWARNINGS="ignore")
    assert words == ["stopped", "rests"]
