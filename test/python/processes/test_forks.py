"""A forked child does the same work as its parent, whatever that was doing at the fork."""

from __future__ import annotations

import forking
import pytest

# Threads of the parent check, compile and run all the time; children do so too.
TEXT = """
import os, random, sys, threading, time
import numpy as np, quern

def text(number):
    lines = "".join(f"    y = sin(y * {i}) + {number}\\n" for i in range(int(sys.argv[2])))
    return "elementwise f(x: f32) -> f32:\\n    var y = x\\n" + lines + "    return y\\n\\n" \\
        "op g(x: f32[N]) -> f32[N]:\\n    return f(f(x))\\n\\n" \\
        "rowwise total(x: f32[R, C]) -> f32[R]:\\n    return sum(x over C)\\n"

x = np.ones((64, 4096), np.float32)
ends = False

def work(seed):
    number = seed * 100000
    while not ends:
        number += 1
        module = quern.compile(text(number))
        module.f(x[0])
        for _ in range(20):
            module.total(x)

def child():
    module = quern.compile(text(-1))
    assert np.isfinite(module.f(x[0])).all()
    assert np.isfinite(module.g(x[0])).all()
    assert (module.total(x) == 4096).all()
    assert (shared.total(x) == 4096).all()
    # What the parent was compiling is compiled here.
    assert np.isfinite(quern.compile(text(100001)).f(x[0])).all()

shared = quern.compile(text(-2))
shared.total(x)
threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
for thread in threads:
    thread.start()
random.seed(int(sys.argv[1]))
for _ in range(int(sys.argv[3])):
    time.sleep(random.random() * 0.1)
    print(forked(child, 120))
ends = True
for thread in threads:
    thread.join()
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("seed", "lines", "forks"), [(1, 5, 25), (2, 60, 15), (3, 1, 25)])
def test_children_work(seed: int, lines: int, forks: int) -> None:
    done = forking.run(TEXT, seed, lines, forks, QUERN_THREADS="2")
    assert done.stderr == ""
    assert done.stdout.split() == ["0"] * forks
    assert done.returncode == 0


# The child waits for a kernel that its parent is compiling at the fork.
SAME = """
import os, threading, time
import numpy as np, quern
lines = "".join(f"    y = sin(y * {i}) + pow(y, {i}.5)\\n" for i in range(100))
text = "elementwise f(x: f32) -> f32:\\n    var y = x\\n" + lines + "    return y\\n"
module = quern.compile(text)
x = np.ones(16, np.float32)
thread = threading.Thread(target=module.f, args=(x,))
thread.start()
time.sleep(0.1)
process = os.fork()
if process == 0:
    module.f(x)
    os._exit(7)
thread.join()
print(os.waitpid(process, 0)[1] >> 8)
"""


def test_a_child_makes_what_its_parent_was_making() -> None:
    done = forking.run(SAME)
    assert (done.stdout.split(), done.stderr) == (["7"], "")


# A handler of a signal forks in the midst of a call that compiles.
HANDLER = """
import os, signal
import numpy as np, quern
lines = "".join(f"    y = sin(y * {i}) + pow(y, {i}.5)\\n" for i in range(40))
text = "elementwise f(x: f32) -> f32:\\n    var y = x\\n" + lines + "    return y\\n"
module = quern.compile(text)
x = np.ones(16, np.float32)
children = []
signal.signal(signal.SIGALRM, lambda *_: children.append(os.fork()))
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    module.f(x)
    print("made")
except RuntimeError as error:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(200)
    assert "a signal handler forked" in str(error)
    module.f(x)
    os._exit(7)
print(os.waitpid(children[0], 0)[1] >> 8)
"""


def test_a_handler_forks_while_its_thread_waits() -> None:
    done = forking.run(HANDLER)
    assert (done.stdout.split(), done.stderr) == (["made", "7"], "")
