"""A forked child calls and compiles graphs, whatever its parent's threads were doing."""

from __future__ import annotations

import forking
import pytest

# Threads of the parent call and compile graphs all the time: large tensors, sizes that change.
# Children do the same work. Dynamo has locks of its own, which a child may find taken: graphs are
# called without its guards, and it gets another lock for its compilations.
TEXT = """
import faulthandler, os, random, sys, threading, time
import torch, quern
import torch._dynamo.convert_frame as frames

torch.set_num_threads(1)
ends = False

def rows(x):
    return torch.softmax(x * 2 + 1, 1).sum(0)

def large(x):
    return (x * 3).exp() - x

def fresh(number, backend="quern"):
    scope = {"torch": torch}
    exec(f"def new(x):\\n    return torch.tanh(x * {number}) + {number}\\n", scope)
    return torch.compile(scope["new"], backend=backend)

def graph(function, *arguments, **options):
    # What the backend makes of it, without Dynamo's guards around it.
    made = []

    def keep(module, inputs):
        made.append(quern.backend(module, inputs))
        return made[-1]

    torch.compile(function, backend=keep, **options)(*arguments)
    return made[-1]

x = torch.ones(8, 64)
wide_input = torch.ones(1 << 18)
rows_graph, wide = graph(rows, x, dynamic=True), graph(large, wide_input)
fresh(1)(x)

def shared(x):
    return rows_graph(*x.shape, x)[0]
kernels = quern.compile(
    "elementwise f(x: f32) -> f32:\\n    return x + 1\\n\\n"
    "op g(x: f32[N]) -> f32[N]:\\n    return f(f(x))\\n"
)
import numpy as np
host = np.ones(1024, np.float32)
kernels.g(host)

def call():
    size = 2
    while not ends:
        size = size % 600 + 1
        shared(torch.ones(size, 64))
        wide(wide_input)
        quern.counters()

def compile_graphs(number):
    while not ends:
        number += 1
        fresh(number)(x)

def child():
    faulthandler.dump_traceback_later(150, exit=True)
    frames.compile_lock = threading.RLock()
    for size in (3, 8, 601):
        y = torch.rand(size, 64)
        torch.testing.assert_close(shared(y), rows(y))
    torch.testing.assert_close(wide(wide_input)[0], large(wide_input))
    assert (kernels.g(host) == 3).all()
    number = random.random()
    torch.testing.assert_close(fresh(number)(x), torch.tanh(x * number) + number)
    quern.counters()

threads = [threading.Thread(target=call), threading.Thread(target=call)]
if sys.argv[3] == "compiles":
    threads.append(threading.Thread(target=compile_graphs, args=(1000,)))
for thread in threads:
    thread.start()
random.seed(int(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    time.sleep(random.random() * 0.05)
    status = forked(child, 180)
    print(status, flush=True)
    if status:
        break
ends = True
for thread in threads:
    thread.join()
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("seed", "forks", "work"), [(1, 40, "calls"), (2, 15, "compiles")])
def test_children_call_and_compile_graphs(seed: int, forks: int, work: str) -> None:
    done = forking.run(TEXT, seed, forks, work)
    assert done.stdout.split() == ["0"] * forks, done.stderr
    assert done.returncode == 0, done.stderr
