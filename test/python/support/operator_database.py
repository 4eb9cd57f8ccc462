"""Which entries of the operator database agree with eager in one element type.

`python test/python/support/operator_database.py DTYPE [ENTRY…] [--shard 2/4] [--together 16]
[--out FILE]` runs the samples of every entry, each entry in a process of its own, or so many in one
graph that is halved where it does not agree: ten times as fast. Entries that differ are run once
more by `aot_eager`, which gives the traced graph to ATen unchanged: what differs there too is not
ours.
Where floating values differ, both are held against those of float64, rounded once.
An entry that takes more than 300 seconds of processor time, or waits ten times as long, hangs.
A line an entry goes to FILE; what the file has already is not run again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import signal
import sys
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import opinfo
import torch
from quern import torch_backend

Answer = tuple[str, str]
SECONDS = 300


def errors(function: Any, dtype: torch.dtype, ours: Any, eager: Any, *how: Any) -> str:
    """How far both are from the exact results, in tolerances."""
    try:
        exact = opinfo.outcome(opinfo.in_float64(function, dtype), *how)
    except Exception as error:
        return f"no float64: {type(error).__name__}"
    far = (opinfo.distance(results, exact, dtype) for results in (ours, eager))
    return "off by {:.3g}, eager by {:.3g}".format(*far)


def judge(name: str, dtype: torch.dtype, backend: str) -> Answer:
    """`same`, or how the entry fails."""
    op = opinfo.entry(name)
    gradient = opinfo.has_gradient(op, dtype)

    def function(x: Any, *args: Any, **kwargs: Any) -> Any:
        return op.op(x, *args, **kwargs)

    compiled = torch.compile(function, backend=backend, fullgraph=True)
    for number, sample in enumerate(opinfo.samples(op, dtype, gradient)):
        try:
            eager = opinfo.outcome(function, sample, gradient)
            ours = opinfo.outcome(compiled, sample, gradient)
        except Exception as error:
            first = (str(error).strip() or "no message").splitlines()[0]
            return "raised", f"sample {number}: {type(error).__name__}: {first[:200]}"
        try:
            opinfo.assert_same(ours, eager, op.name, sample, dtype)
        except AssertionError as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            far = errors(function, dtype, ours, eager, sample, gradient)
            return "differs", f"sample {number}: {far}: {' '.join(lines[:8])[:300]}"
    return "same", ""


def judge_joined(names: list[str], dtype: torch.dtype) -> Answer:
    """`same` where all samples of all entries agree in one graph."""
    try:
        function, sample = opinfo.joined(names, dtype)
        gradient = dtype.is_floating_point or dtype.is_complex
        eager = opinfo.outcome(function, sample, gradient)
        compiled = torch.compile(function, backend="quern", fullgraph=True)
        opinfo.assert_same(opinfo.outcome(compiled, sample, gradient), eager, "", sample, dtype)
    except Exception:
        return "differs", ""
    return "same", ""


def _child(pipe: Any, judged: Any, *task: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    torch._logging.set_logs(all=50)
    warnings.simplefilter("ignore")
    with torch._dynamo.config.patch(recompile_limit=100):
        pipe.send(judged(*task))


def apart(judged: Any, *task: Any) -> Answer:
    """What `judged` says of the task, in a process that may die or hang."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(theirs, judged, *task))
    process.start()
    theirs.close()
    try:
        answer: Answer = ours.recv() if ours.poll(10 * SECONDS) else ("hangs", "")
    except EOFError:
        process.join()
        code = process.exitcode
        answer = ("hangs", "") if code == -signal.SIGXCPU else ("died", f"exit code {code}")
    process.kill()
    process.join()
    return answer


def batches(names: list[str], size: int) -> list[list[str]]:
    """The entries by `size`; each for itself whose results are compared in a way of their own."""
    special = opinfo.UNDEFINED + opinfo.UNORDERED
    single = [name for name in names if size == 1 or name.startswith(special)]
    others = [name for name in names if name not in single]
    cut = [others[first : first + size] for first in range(0, len(others), size)]
    return [[name] for name in single] + cut


def answers(names: list[str], dtype: torch.dtype) -> Iterator[tuple[str, str, str]]:
    """Each entry's answer, from as few graphs as agree whole."""
    if len(names) == 1:
        yield names[0], *apart(judge, names[0], dtype, "quern")
    elif apart(judge_joined, names, dtype)[0] == "same":
        yield from ((name, "same", "") for name in names)
    else:
        half = len(names) // 2
        yield from answers(names[:half], dtype)
        yield from answers(names[half:], dtype)


def main() -> None:
    parser = argparse.ArgumentParser(prog="operator_database.py")
    parser.add_argument("dtype")
    parser.add_argument("entries", nargs="*")
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--together", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    dtype = getattr(torch, options.dtype)
    torch_backend.native()  # once, for all that are forked
    part, parts = map(int, options.shard.split("/"))
    names = options.entries or opinfo.entries(dtype)[part - 1 :: parts]
    old = options.out.read_text().splitlines() if options.out and options.out.exists() else []
    known = {line.split("\t")[0]: line for line in old}
    unknown = batches([name for name in names if name not in known], options.together)
    for name, kind, why in chain.from_iterable(answers(batch, dtype) for batch in unknown):
        aten = "same" if kind == "same" else apart(judge, name, dtype, "aot_eager")[0]
        known[name] = "\t".join((name, kind, aten, why.replace("\t", " ")))
        print(known[name], flush=True)
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(known[name] + "\n")
    found = [known[name].split("\t") for name in names]
    ours, theirs = (sum(row[place] == "same" for row in found) for place in (1, 2))
    print(f"{options.dtype}: {len(found)} entries, {ours} agree, through ATen at least {theirs}")


if __name__ == "__main__":
    sys.exit(main())
