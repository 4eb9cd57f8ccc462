"""What a process and its interpreter allow: threads, interpreters, exporters of memory."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import quern
import torch

SOURCE = """
elementwise next[T: Number](x: T) -> T:
    return x + 1

rowwise total(x: f32[R, C]) -> f32[R]:
    return sum(x over C)

op many(x: f32[N], rounds: int) -> f32[N]:
    var y = x
    for i in range(rounds):
        y = next(y)
    return y
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE)


def printed(text: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_threads_beyond_the_limit_are_refused() -> None:
    text = """
import _quern
for threads in (100000, 2000):
    try:
        _quern.Session(threads=threads)
    except _quern.Error as error:
        print(error)
session = _quern.Session(threads=2)
try:
    session.set_threads(1 << 30)
except _quern.Error as error:
    print(error)
"""
    hint = "the limit is 1024; `QUERN_MOST_THREADS` sets the limit"
    assert printed(text).split("\n") == [
        f"{count} threads are asked for, {hint}" for count in (100000, 2000, 1 << 30)
    ]
    assert "limit is 5000" in printed(text, QUERN_MOST_THREADS="5000")
    assert "2000" not in printed(text, QUERN_MOST_THREADS="5000")


def test_other_interpreters_are_refused() -> None:
    """In them the work would wait for ever for a lock of the main one."""
    text = """
import sys
import _xxsubinterpreters as interpreters
import quern
assert quern.compile("")
each = interpreters.create()
try:
    interpreters.run_string(each, f"import sys; sys.path[:] = {sys.path!r}\\n"
                                  "import quern\\nquern.compile('')")
except interpreters.RunFailedError as error:
    print("main interpreter" in str(error))
print("goes on", bool(quern.compile("")))
"""
    assert printed(text) == "True\ngoes on True"


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (ctypes.c_float, "f4"),
        (ctypes.c_double, "f8"),
        (ctypes.c_int32, "i4"),
        (ctypes.c_uint8, "u1"),
    ],
)
def test_arrays_of_ctypes(k: quern.Module, kind: type, dtype: str) -> None:
    """They export their memory without strides."""
    array = (kind * 5)(1, 2, 3, 4, 5)
    np.testing.assert_array_equal(k.next(array), np.array([2, 3, 4, 5, 6], dtype))
    rows = ((ctypes.c_float * 3) * 2)((1, 2, 3), (4, 5, 6))
    np.testing.assert_array_equal(k.total(rows), [6, 15])
    out = np.zeros(5, dtype)
    k.next(array, out=out)
    np.testing.assert_array_equal(out, np.array([2, 3, 4, 5, 6], dtype))


def test_other_exporters(k: quern.Module) -> None:
    for empty in ((ctypes.c_float * 0)(), memoryview(b"")):
        assert len(k.next(empty)) == 0
    assert k.next(memoryview(b"abc")).tolist() == [98, 99, 100]
    assert k.next(bytearray(b"abc")).tolist() == [98, 99, 100]


def test_a_tensor_that_is_resized_meanwhile(k: quern.Module) -> None:
    """Later calls with tensors of its size are right, whatever came of the call itself."""
    sizes = [(3, 40), (5, 24), (40, 3), (60, 2), (1, 120)]
    tensor, ends = torch.ones(120).view(sizes[0]), threading.Event()

    def resize() -> None:
        while not ends.is_set():
            for size in sizes:
                tensor.resize_(size)

    thread = threading.Thread(target=resize)
    thread.start()
    for number in range(60):
        fresh = quern.compile(SOURCE + "#" * (number % 7)) if number % 10 == 0 else k
        with contextlib.suppress(quern.Error):
            fresh.total(tensor)
    ends.set()
    thread.join()
    for rows, columns in sizes:
        for module in (k, fresh):
            torch.testing.assert_close(
                module.total(torch.ones(rows, columns)), torch.full((rows,), float(columns))
            )


def test_an_op_of_many_rounds(k: quern.Module) -> None:
    """Its temporaries are placed in a time that grows with their number, not with its square."""
    x = np.zeros(4, np.float32)
    np.testing.assert_array_equal(k.many(x, 50_000), np.full(4, 50_000, np.float32))


def test_an_op_of_many_rounds_is_interrupted() -> None:
    text = f"""
import signal, numpy, quern
k = quern.compile({SOURCE!r})
x = numpy.zeros(4, "f4")
k.many(x, 3)
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    k.many.results(x, 1_000_000)
    print("too late")
except KeyboardInterrupt:
    print("interrupted")
print(k.many(x, 3).tolist())
"""
    assert printed(text) == "interrupted\n[3.0, 3.0, 3.0, 3.0]"
