"""Kernels on threads with small stacks: frames are short, and long ones touch every page."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _quern
import pytest
import quern
import torch
from aten_binding import Call
from aten_comparison import Checked
from aten_types import UnfitError, draws
from slices import matrix
from tree import ROOT

SMALL = 128 << 10
#: Of a frame, and of the arrays in it: dsl/lower/TaskMemory.h.
MOST, PAGE = 64 << 10, 4096
TARGETS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")


def on_small_stack(function: Callable[[], Any]) -> Any:
    """What a function gives on a thread of its own with a stack of 128 KiB."""
    made: list[Any] = []

    def run() -> None:
        try:
            made.append((function(), None))
        except BaseException as error:
            made.append((None, error))

    before = threading.stack_size(SMALL)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    result, error = made[0]
    if error is not None:
        raise error
    return result


class OnSmallStack(Checked):
    """Runs a row's kernel for each call to its overload."""

    def compare(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        expected = list(result) if isinstance(result, (tuple, list)) else [result]
        if not self.row["results"] or draws(self.row):
            self.reasons.add("its kernel is not compared")
            return
        try:
            call = Call(self.row, func, args, kwargs)
            ours = on_small_stack(lambda: call.run(expected))
        except UnfitError as why:
            self.reasons.add(str(why))
            return
        self.judge(ours, expected, call, lambda: func(*args, **kwargs))
        self.count += 1


ROWS = {
    f"{row['declaration']}-{row['overload'].partition('::')[2]}": row for row in quern.operators()
}


@pytest.mark.parametrize("name", matrix("stacks", ROWS, group=lambda _: None, quick=0.03))
def test_library_kernels(name: str) -> None:
    OnSmallStack(ROWS[name], torch.float32).visit_all()


LARGE = """
rowwise product[T: Float](x: T[M, K], y: T[K, N]) -> T[M, N]:
    return T(sum(x * y over K))

rowwise both[T: Float](x: T[M, K], y: T[N, K], z: T[N, K]) -> T[M, N]:
    return T(sum(x * y over K) + sum(x * z over K))

rowwise deep[T: Float](x: T[M, K], y: T[N, K]) -> T[M, N]:
    return T(sum(x * y over K))

rowwise distances[T: Float](x: T[M, K], y: T[N, K]) -> T[M, N]:
    return T(sum(abs(x - y) over K))

rowwise normed[T: Float](x: T[R, C]) -> T[R, C]:
    let s = moments(x over C)
    return T((x - s.mean) / s.m2)

rowwise turned[T: Any](x: T[A, B]) -> T[B, A]:
    return x

rowwise in_order[T: Float](x: T[R, C]) -> T[R, C]:
    return sort_by(x over C)

@portable
rowwise portable[T: Float](x: T[R, C]) -> acc(T)[R]:
    return sum(x over C)

kernel arrays[T: Float](x: T[N], y: mut T[N]):
    launch grid(size(N) // 256) block(256)
    shared all: T[4096]
    local own: T[64]
    for i in range(64):
        own[i] = x[block.x * 256 + (thread.x + i) % 256]
    for i in range(thread.x, 4096, 256):
        all[i] = own[(i // 256) % 64]
    barrier()
    y[block.x * 256 + thread.x] = all[4095 - thread.x]
"""


def calls(module: Any) -> dict[str, tuple[Any, Any]]:
    """Kernels that need much memory of their own, and what they give."""
    draw = torch.Generator().manual_seed(3)
    x, y, z = (torch.randn(300, 700, generator=draw) for _ in range(3))
    few, long = (torch.randn(20, 40000, generator=draw) for _ in range(2))
    var = x.double().var(1, correction=0, keepdim=True) * 700
    words = torch.arange(512.0)

    def arrays() -> Any:
        made = torch.zeros(512)
        module.arrays(words, made)
        return made

    places = [j // 256 * 256 + (270 - j % 256) % 256 for j in range(512)]
    return {
        "product": (lambda: module.product(x, y.T.contiguous()), x.double() @ y.double().T),
        "both": (lambda: module.both(x, y, z), x.double() @ (y + z).double().T),
        "deep": (lambda: module.deep(few, long), few.double() @ long.double().T),
        "distances": (lambda: module.distances(x, y), torch.cdist(x.double(), y.double(), 1)),
        "normed": (lambda: module.normed(x), (x - x.mean(1, keepdim=True)) / var),
        "turned": (lambda: module.turned(x), x.T),
        "in_order": (lambda: module.in_order(x), x.sort(1).values),
        "portable": (lambda: module.portable(x), x.double().sum(1)),
        "arrays": (arrays, words[places]),
    }


@pytest.mark.parametrize("threads", [1, 3])
def test_kernels_with_much_memory_of_their_own(threads: int) -> None:
    module = _quern.Session(cache="-", threads=threads).compile(LARGE, "large.qn")
    for name, (call, exact) in calls(module).items():
        made = on_small_stack(call)
        torch.testing.assert_close(
            made.double(), exact.double(), rtol=1e-4, atol=1e-2, msg=lambda text, n=name: n + text
        )


def frames(assembly: str) -> dict[str, tuple[int, bool]]:
    """Bytes that each function takes of the stack, and whether it touches every page of them."""
    made = {}
    for name, body in re.findall(r"\.type\t(\S+),@function\n(.*?)\n\.Lfunc_end", assembly, re.S):
        assert not re.search(r"subq\s+%\w+, %rsp", body), f"{name} takes unknown amounts"
        steps = [int(n) for n in re.findall(r"subq\s+\$(\d+), %rsp", body)]
        pages = [int(n) for n in re.findall(r"leaq\s+-(\d+)\(%rsp\), %r11", body)]
        pushes = 8 * len(re.findall(r"pushq", body))
        taken = pushes + (max(pages) + steps[-1] if pages else sum(steps))
        made[name] = (taken, bool(re.search(r"movq\s+\$0, \(%rsp\)", body)))
    return made


@pytest.mark.parametrize("target", TARGETS)
def test_frames_are_short_and_probed(target: str, tmp_path: Path) -> None:
    path = tmp_path / "large.qn"
    path.write_text(LARGE)
    texts = [path, *sorted((ROOT / "test/kernels").glob("*.qn"))]
    chosen = matrix(f"frames-{target}", range(len(texts)), group=lambda n: n == 0, quick=0)
    for text in [texts[number] for number in chosen]:
        command = ["quern", "build", str(text), "--emit=asm", f"--target={target}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = frames(done.stdout)
        assert found, done.stderr
        for name, (taken, is_probed) in found.items():
            assert taken <= MOST, f"{text.name}: {name} takes {taken} bytes"
            assert is_probed or taken <= 2 * PAGE, f"{text.name}: {name} has no probes"
