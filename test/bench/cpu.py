"""Kernels on the CPU against eager and the peers: paired rounds, lower quartile of the ratios.

`./dev bench cpu [SECTION]… [--peers inductor,numba,jax] [--only NAME]`; sections: elementwise,
rows, products, convolutions, attention, moves (these four against eager alone, moves against a
copy of as many bytes too), busy, compile, portable (against the free order)
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import _products
import _rows
import quern
import torch
from _elementwise import (
    FUNCTIONS,
    Function,
    jax_call,
    numba_call,
    quern_source,
    written_out,
)
from _rows import KERNELS, LENGTHS, SOURCE, RowKernel, inductor_call
from _timing import geomean, lower_quartile_ratio, median, rounds

PINNED = {"numba": "numba==0.68.1", "jax": "jax==0.10.2"}
COPY = "quern copying as many bytes"
SIZES = {"16 KiB": 1 << 12, "256 KiB": 1 << 16, "1 MiB": 1 << 18, "64 MiB": 1 << 24}


def install(peers: list[str]) -> None:
    for peer in peers:
        if peer in PINNED and importlib.util.find_spec(peer) is None:
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", PINNED[peer]], check=True)


def against(peer: str) -> str:
    """Our call on what a peer is given, if that is not tensors."""
    return f"quern against {peer}"


def elementwise_calls(
    function: Function, count: int, module: Any, peers: list[str]
) -> dict[str, Callable[[], Any]]:
    operands = [torch.randn(count) + 0.1 for _ in range(function.operands)]
    out = torch.empty(count)
    ours = getattr(module, f"bench_{function.name}")
    calls: dict[str, Callable[[], Any]] = {"quern": written_out(ours, operands, out, "out=")}
    calls["eager"] = lambda: function.eager(*operands)
    arrays = [operand.numpy() for operand in operands]
    if "inductor" in peers:
        compiled = torch.compile(function.eager, dynamic=False)
        calls["inductor"] = lambda: compiled(*operands)
    if "numba" in peers:
        result = out.numpy()
        calls["numba"] = numba_call(function, arrays, result, count >= 1 << 16)
        calls[against("numba")] = written_out(ours, arrays, result, "out=")
    if "jax" in peers:
        calls["jax"] = jax_call(function, arrays)
    return calls


def report(label: str, calls: dict[str, Callable[[], Any]]) -> float:
    """Prints a row; returns our ratio to the best of the others."""
    for call in calls.values():
        call()
    times = rounds(calls)
    ratios = {
        name: lower_quartile_ratio(times.get(against(name), times["quern"]), values)
        for name, values in times.items()
        if not name.startswith("quern")
    }
    best = min(ratios, key=lambda name: ratios[name])
    cells = "  ".join(f"{name} {ratio:6.2f}x" for name, ratio in ratios.items())
    if COPY in times:
        cells += f"  {100 * lower_quartile_ratio(times['quern'], times[COPY]):4.0f}% of a copy"
    print(f"{label:28} {median(times['quern']):10.1f} us  {cells}  best: {best}", flush=True)
    return ratios[best]


def bench_elementwise(options: argparse.Namespace) -> None:
    module = quern.compile(quern_source(), "elementwise.qn")
    for size, count in SIZES.items():
        ratios = []
        for function in FUNCTIONS:
            if options.only and options.only != function.name:
                continue
            torch._dynamo.reset()
            calls = elementwise_calls(function, count, module, options.peers)
            ratios.append(report(f"{function.name} {size}", calls))
        print(f"{'geomean ' + size:28} {geomean(ratios):.3f}x of the best, "
              f"{sum(r < 0.95 for r in ratios)} of {len(ratios)} rows below 0.95")  # fmt: skip


def row_calls(kernel: RowKernel, length: int, module: Any, peers: list[str]) -> dict[str, Any]:
    x = torch.randn((1 << 22) // length, length)
    operands = [x, torch.randn(length), torch.randn(length)] if kernel.affine else [x]
    ours = getattr(module, f"bench_{kernel.name}")
    out = ours(*operands)
    calls: dict[str, Any] = {"quern": lambda: ours(*operands, out=out)}
    calls["eager"] = lambda: kernel.eager(*operands)
    if "inductor" in peers:
        calls["inductor"] = inductor_call(kernel, operands)
    if "numba" in peers:
        arrays, result = [operand.numpy() for operand in operands], out.numpy()
        calls["numba"] = _rows.numba_call(kernel, arrays, result)
        calls[against("numba")] = lambda: ours(*arrays, out=result)
    return calls


def bench_rows(options: argparse.Namespace) -> None:
    module = quern.compile(SOURCE, "rows.qn")
    ratios = []
    for kernel in KERNELS:
        if options.only and options.only != kernel.name:
            continue
        for length in LENGTHS:
            torch._dynamo.reset()
            calls = row_calls(kernel, length, module, options.peers)
            ratios.append(report(f"{kernel.name} {length}", calls))
    print(f"{'geomean':28} {geomean(ratios):.3f}x of the best, "
          f"{sum(r < 0.95 for r in ratios)} of {len(ratios)} rows below 0.95")  # fmt: skip


def copy_of_as_many_bytes(module: Any, row: _products.Row) -> Callable[[], Any]:
    """A copy that reads and writes as many bytes as a row does, in equal parts."""
    moved = [*(x for x in row.operands if isinstance(x, torch.Tensor)), row.eager(*row.operands)]
    # Written once: pages of zeros that nobody wrote to are all the same one.
    source = torch.ones(sum(x.nbytes for x in moved) // 8)
    return functools.partial(module.bench_copy, source, out=module.bench_copy(source))


def bench_products(options: argparse.Namespace, section: str) -> None:
    """A section of `_products`: a table of rows against eager."""
    module = quern.compile(_products.SOURCE, "products.qn")
    ratios = []
    for row in _products.SECTIONS[section]():
        if options.only and options.only not in row.name:
            continue
        ours = getattr(module, f"bench_{row.kernel}")
        calls: dict[str, Any] = {
            "quern": functools.partial(ours, *row.operands, out=ours(*row.operands)),
            "eager": functools.partial(row.eager, *row.operands),
        }
        if section == "moves":
            calls[COPY] = copy_of_as_many_bytes(module, row)
        ratios.append(report(row.name, calls))
    print(f"{'geomean ' + section:28} {geomean(ratios):.3f}x of eager, "
          f"{sum(r < 0.85 for r in ratios)} of {len(ratios)} rows below 0.85")  # fmt: skip


def spent_calls(call: Callable[[], Any], count: int = 1500) -> list[float]:
    """Microseconds of every call, sorted."""
    for _ in range(count // 10):
        call()
    spent = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        spent.append(1e6 * (time.perf_counter() - start))
    return sorted(spent)


def bench_busy(_options: argparse.Namespace) -> None:
    """A 256 KiB call with the other core taken, against the same call on one thread, in turn."""
    import _quern

    x = torch.randn(1 << 16)
    out = torch.empty_like(x)
    sessions = [_quern.Session(threads=threads) for threads in (1, 2)]
    alone, busy = (s.compile(quern_source(), "elementwise.qn").bench_exp for s in sessions)
    pairs = []
    for _ in range(9):
        one = spent_calls(lambda: alone(x, out=out))
        other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            pairs.append((one, spent_calls(lambda: busy(x, out=out))))
        finally:
            other.kill()
            other.wait()
    for part, label in ((0.5, "median"), (0.99, "p99")):
        at = int(part * len(pairs[0][0]))
        one, two = (median([pair[which][at] for pair in pairs]) for which in (0, 1))
        ratio = median([b[at] / a[at] for a, b in pairs])
        print(f"busy neighbour, {label}: {two:.1f} us, one thread {one:.1f}, {ratio:.2f}x")


PORTABLE = """
rowwise free_sum[T: Float](x: T[R, C]) -> T[R]:
    return T(sum(x over C))

rowwise free_mean[T: Float](x: T[R, C]) -> T[R]:
    return T(sum(x over C) / acc(T)(size(C)))

rowwise free_softmax[T: Float](x: T[R, C]) -> T[R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)
"""

TERMS = (
    "exp({v})",
    "tanh({v})",
    "sqrt(abs({v}))",
    "{v} * y",
    "{v} + y",
    "max({v}, y)",
    "1 / (1 + {v} * {v})",
)


def chain(index: int, generator: random.Random) -> list[str]:
    """Two to five terms; the index makes every text different."""
    lines = [f"    let v0 = x * {index}.5 + y"]
    for step in range(1, generator.randint(2, 5)):
        lines.append(f"    let v{step} = " + generator.choice(TERMS).format(v=f"v{step - 1}"))
    return lines


KINDS = {
    "elementwise": ("elementwise {name}[T: Float](x: T, y: T) -> T:", "return {last}"),
    "rowwise": (
        "rowwise {name}[T: Float](x: T[R, C], y: T[R, C]) -> T[R, C]:",
        "return {last} / sum({last} * {last} over C)",
    ),
    "contraction": (
        "rowwise {name}[T: Float](x: T[R, C], y: T[R, C], w: T[N, C]) -> T[R, N]:",
        "return sum({last} * w over C)",
    ),
    "window": (
        "rowwise {name}[T: Float](x: T[R, C], y: T[R, C], w: T[O, K]) -> T[O, R, P = C - K + 1]:",
        "return sum({last}.at(C = index(P) + index(K)) * w over K)",
    ),
}


def random_kernel(index: int, generator: random.Random, kind: str) -> str:
    head, tail = KINDS[kind]
    lines = chain(index, generator)
    last = tail.format(last=f"v{len(lines) - 1}")
    return "\n".join([head.format(name=f"k{index}"), *lines, "    " + last, ""])


def bench_compile(options: argparse.Namespace) -> None:
    """Text to a first result, no cache: 100 different kernels a kind."""
    import _quern

    session = _quern.Session(cache="-")
    generator = random.Random(7)
    x, y, w = torch.rand(8, 40) + 0.5, torch.rand(8, 40) + 0.5, torch.rand(24, 40)
    filters = torch.rand(4, 5)
    third = {"contraction": [w], "window": [filters]}
    for kind in KINDS:
        if options.only and options.only != kind:
            continue
        spent = []
        for index in range(101):
            source = random_kernel(index, generator, kind)
            start = time.perf_counter()
            module = session.compile(source, f"k{index}.qn")
            getattr(module, f"k{index}")(x, y, *third.get(kind, []))
            spent.append(1e3 * (time.perf_counter() - start))
        spent = sorted(spent[1:])
        print(
            f"cold compile, {kind}: median {statistics.median(spent):.1f} ms, p99 {spent[98]:.1f}",
            flush=True,
        )


def bench_portable(options: argparse.Namespace) -> None:
    """Orders fixed by the extent alone, against the free order of the same kernel."""
    module = quern.compile(
        "from math use exp\n"
        + PORTABLE
        + PORTABLE.replace("rowwise free_", "@portable\nrowwise fixed_"),
        "portable.qn",
    )
    ratios = []
    for name in ("sum", "mean", "softmax"):
        for length in LENGTHS:
            x = torch.randn((1 << 22) // length, length)
            calls = {}
            for label, order in (("quern", "fixed"), ("free", "free")):
                kernel = getattr(module, f"{order}_{name}")
                calls[label] = functools.partial(kernel, x, out=kernel(x))
            ratios.append(report(f"portable {name} {length}", calls))
    print(f"{'geomean':28} {geomean(ratios):.3f}x of the free order, "
          f"{sum(r < 0.87 for r in ratios)} of {len(ratios)} rows below 0.87")  # fmt: skip


SECTIONS = {"elementwise": bench_elementwise, "rows": bench_rows}
SECTIONS |= {name: functools.partial(bench_products, section=name) for name in _products.SECTIONS}
SECTIONS |= {"busy": bench_busy, "compile": bench_compile, "portable": bench_portable}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    parser.add_argument("--peers", default="inductor,numba,jax")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.peers = [peer for peer in options.peers.split(",") if peer]
    torch.set_num_threads(2)
    install(options.peers)
    for section in options.sections or list(SECTIONS):
        SECTIONS[section](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
