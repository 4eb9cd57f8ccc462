"""Threads in one plan, forks after first use, the interpreter's exit, and torch without Quern."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HEAD = """
import os, sys, threading
import torch, quern

# MKL's first call, made by two threads, may give numbers that are not exact (conftest.py).
torch.zeros(8).sin()

def f(x, w):
    return torch.softmax((x * w).sin() + 1, -1) @ w.t()

x, w = torch.randn(64, 48), torch.randn(48)
w = w.expand(32, 48).contiguous()
def g(x):
    return torch.softmax((x * w[0]).sin() + 1, -1) @ w.t()
wanted = g(x)
"""


def said(text: str, *options: str, limit: int = 300, **more: str) -> str:
    """What a process of its own prints; it must end by itself, well."""
    done = subprocess.run(
        [sys.executable, *options, "-c", HEAD + text],
        capture_output=True,
        text=True,
        timeout=limit,
        env={**os.environ, **more},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


THREADS = """
def together(count, work):
    wrong = []
    start = threading.Barrier(count)
    def run(number):
        try:
            start.wait()
            work(number)
        except BaseException as error:
            wrong.append(repr(error))
    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong, wrong
"""


def test_threads_run_one_plan() -> None:
    text = """
c = torch.compile(g, backend="quern")
c(x)
def work(number):
    own = torch.randn(64, 48, generator=torch.Generator().manual_seed(number))
    known = g(own)
    for _ in range(200):
        torch.testing.assert_close(c(own), known)
together(4, work)
print("done", quern.counters()["graphs"])
"""
    assert said(THREADS + text) == "done 1"


def test_threads_compile_at_once() -> None:
    text = """
c = torch.compile(g, backend="quern")
other = torch.compile(lambda x: (x * 2).cumsum(0).relu(), backend="quern")
def work(number):
    if number % 2:
        torch.testing.assert_close(c(x), wanted)
    else:
        torch.testing.assert_close(other(x), (x * 2).cumsum(0).relu())
together(4, work)
print("done")
"""
    assert said(THREADS + text) == "done"


def test_threads_train_one_model() -> None:
    text = """
model = torch.nn.Sequential(torch.nn.Linear(48, 16), torch.nn.GELU(), torch.nn.LayerNorm(16))
c = torch.compile(model, backend="quern")
known = torch.autograd.grad(model(x).sin().sum(), list(model.parameters()))
torch.testing.assert_close(torch.autograd.grad(c(x).sin().sum(), list(model.parameters())), known)
def work(number):
    for _ in range(50):
        ours = torch.autograd.grad(c(x).sin().sum(), list(model.parameters()))
        torch.testing.assert_close(ours, known)
together(3, work)
print("done")
"""
    assert said(THREADS + text) == "done"


def test_threads_call_one_kernel() -> None:
    text = """
k = quern.compile("rowwise total[T: Float](x: T[*R, C]) -> T[*R]:\\n    return sum(x over C)\\n")
def work(number):
    own = torch.full((number + 1, 3000), float(number))
    for _ in range(200):
        assert torch.equal(k.total(own), torch.full((number + 1,), 3000.0 * number))
together(4, work)
print("done")
"""
    assert said(THREADS + text) == "done"


FORK = """
def child(work):
    pid = os.fork()
    if pid:
        assert os.waitpid(pid, 0)[1] == 0
        return
    try:
        work()
        code = 0
    except BaseException:
        import traceback
        traceback.print_exc()
        code = 1
    os._exit(code)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_a_fork_after_first_use(threads: int) -> None:
    """The child has none of the pool's threads; both go on, with plans and new kernels."""
    text = f"""
torch.set_num_threads({threads})
c = torch.compile(g, backend="quern")
big = torch.randn(4000, 48)
c(big)
k = quern.compile("elementwise double(x: f32) -> f32:\\n    return x + x\\n")
k.double(big)
def work():
    # libgomp's own threads do not survive a fork.
    torch.set_num_threads(1)
    torch.testing.assert_close(c(x), wanted)
    torch.testing.assert_close(c(big), g(big))
    assert torch.equal(k.double(big), big * 2)
    fresh = quern.compile("elementwise triple(x: f32) -> f32:\\n    return x * 3\\n")
    torch.testing.assert_close(fresh.triple(big), big * 3)
    other = torch.compile(lambda x: x.cos().sum(-1), backend="quern")
    torch.testing.assert_close(other(x), x.cos().sum(-1))
child(work)
torch.testing.assert_close(c(big), g(big))
child(work)
print("done")
"""
    assert said(FORK + text) == "done"


def test_graphs_follow_torchs_threads() -> None:
    """A number that is set after a graph was compiled holds from its next call."""
    text = """
import os
def tasks():
    return len(os.listdir("/proc/self/task"))
torch.set_num_threads(1)
c = torch.compile(lambda t: t.sin() + 1, backend="quern", dynamic=True)
big = torch.randn(4000, 48)
c(big)
before = tasks()
torch.set_num_threads(3)
torch.testing.assert_close(c(big), big.sin() + 1)
print(tasks() - before)
"""
    assert int(said(text)) >= 2


def test_workers_of_a_data_loader() -> None:
    text = """
c = torch.compile(lambda t: (t * 2 + 1).sin(), backend="quern")
c(torch.ones(3))
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 12
    def __getitem__(self, index):
        return c(torch.full((3,), float(index)))
for context in ("fork", "spawn"):
    loader = torch.utils.data.DataLoader(
        Data(), batch_size=4, num_workers=2,
        multiprocessing_context=context if context == "fork" else None)
    got = torch.cat(list(loader))
    rows = torch.arange(12.0)[:, None].expand(12, 3)
    torch.testing.assert_close(got, (rows * 2 + 1).sin())
    torch.testing.assert_close(c(torch.ones(3)), torch.full((3,), 3.0).sin())
print("done")
"""
    assert said(text) == "done"


EXITS = {
    "threads that run": """
c = torch.compile(g, backend="quern")
c(x)
def some_time():
    for _ in range(2000):
        c(x)
for _ in range(3):
    threading.Thread(target=some_time).start()
print("done", flush=True)
""",
    # torch's own calls end the process badly there (Python 3.11), kernels do not.
    "threads that never end": """
import numpy
k = quern.compile("elementwise double(x: f32) -> f32:\\n    return x + x\\n")
numbers = numpy.ones(300000, dtype="float32")
k.double(numbers)
def forever():
    while True:
        k.double(numbers)
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
import time; time.sleep(0.3)
print("done", flush=True)
""",
    "threads that compile": """
def some_time():
    for number in range(3):
        torch.compile(lambda x: (x + number).sin() * w[0], backend="quern")(x)
for _ in range(2):
    threading.Thread(target=some_time).start()
print("done", flush=True)
""",
    "a call at exit": """
import atexit
c = torch.compile(g, backend="quern")
c(x)
def last():
    torch.testing.assert_close(c(x), wanted)
    print("done", flush=True)
atexit.register(last)
""",
    "graphs in a cycle": """
class Holder:
    pass
holder = Holder()
holder.c = torch.compile(g, backend="quern")
holder.c(x)
holder.me = holder
torch.holder = holder
print("done", flush=True)
""",
}


@pytest.mark.parametrize("what", list(EXITS))
def test_the_interpreter_exits(what: str) -> None:
    assert said(EXITS[what], limit=120) == "done"


def test_an_interrupt_ends_a_process_that_runs() -> None:
    text = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
c = torch.compile(g, backend="quern")
c(x)
print("ready", flush=True)
while True:
    c(x)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", HEAD + text],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    for _ in range(60):  # Dynamo takes an interrupt inside of a guard for one that does not hold
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=5)
            break
        except subprocess.TimeoutExpired:
            continue
    else:
        process.kill()
        pytest.fail("it goes on")
    assert "KeyboardInterrupt" in errors
    assert process.returncode in (1, -signal.SIGINT)


def test_torch_is_as_it_was() -> None:
    """What Quern sets for its own compiling is set back, and other backends go on."""
    text = """
import torch._functorch.config as functorch
def settings():
    return (torch.compiler.config.cache_key_tag, functorch.bundled_autograd_cache,
            functorch.force_non_lazy_backward_lowering, torch.get_num_threads(),
            torch.is_grad_enabled(), torch.get_default_dtype())
before = settings()
eager = torch.compile(g, backend="aot_eager")
torch.testing.assert_close(eager(x), wanted)
model = torch.nn.Linear(48, 8)
c = torch.compile(model, backend="quern")
c(x).sum().backward()
torch.compile(g, backend="quern")(x)
try:
    torch.compile(lambda t: torch.special.hermite_polynomial_h(t, 3), backend="quern",
                  options={"fallback": "error"})(x)
except Exception:
    pass
assert settings() == before, (settings(), before)
torch._dynamo.reset()
torch.testing.assert_close(torch.compile(g, backend="aot_eager")(x), wanted)
torch.testing.assert_close(model(x), torch.nn.functional.linear(x, model.weight, model.bias))
print("done")
"""
    assert said(text) == "done"


def test_torch_without_the_package(tmp_path: Path) -> None:
    """Where the backend is listed but its package is gone, torch still works and says so."""
    (tmp_path / "quern.py").write_text("raise ImportError('quern is gone')\n")
    text = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import torch
f = lambda x: x.sin() * 2
x = torch.ones(4)
torch.testing.assert_close(torch.compile(f, backend="aot_eager")(x), f(x))
assert "quern" not in sys.modules
try:
    torch.compile(f, backend="quern")(x)
except Exception as error:
    assert "quern" in str(error)
else:
    raise AssertionError("there is no such backend")
torch.testing.assert_close(torch.compile(f, backend="aot_eager")(x), f(x))
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == "done"


def test_a_folder_that_takes_no_more_kernels_is_said_once(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    text = f"""
import shutil, numpy, quern
kernel = quern.compile("elementwise f[T: Real](x: T) -> T:\\n    return x + 1\\n").f
for element in ("f4", "f8", "i4"):
    assert kernel(numpy.zeros(3, element)).sum() == 3
    shutil.rmtree({str(folder)!r}, ignore_errors=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        env={**os.environ, "QUERN_CACHE_DIR": str(folder)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"cannot write to cache folder `{folder}`: No such file") == 1
    assert done.stderr.count("warning") == 1
