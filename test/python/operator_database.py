"""Which entries of the operator database agree with eager in one element type.

`python test/python/operator_database.py DTYPE [--shard 2/4] [--out FILE] [ENTRY…]` runs the samples
of every entry, each entry in a process of its own. Entries that differ are run once more by
`aot_eager`, which gives the traced graph to ATen unchanged: what differs there too is not ours.
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
    gradient = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)

    def function(x: Any, *args: Any, **kwargs: Any) -> Any:
        return op.op(x, *args, **kwargs)

    compiled = torch.compile(function, backend=backend, fullgraph=True)
    for number, sample in enumerate(opinfo.samples(op, dtype, gradient)):
        try:
            eager = opinfo.outcome(function, sample, gradient)
            ours = opinfo.outcome(compiled, sample, gradient)
            opinfo.assert_same(ours, eager, op, sample, dtype)
        except AssertionError as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            far = errors(function, dtype, ours, eager, sample, gradient)
            return "differs", f"sample {number}: {far}: {' '.join(lines[:8])[:300]}"
        except Exception as error:
            first = (str(error).strip() or "no message").splitlines()[0]
            return "raised", f"sample {number}: {type(error).__name__}: {first[:200]}"
    return "same", ""


def _child(pipe: Any, *task: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    torch._logging.set_logs(all=50)
    warnings.simplefilter("ignore")
    with torch._dynamo.config.patch(recompile_limit=100):
        pipe.send(judge(*task))


def alone(name: str, dtype: torch.dtype, backend: str) -> Answer:
    """The same in a process that may die or hang."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(theirs, name, dtype, backend))
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="operator_database.py")
    parser.add_argument("dtype")
    parser.add_argument("entries", nargs="*")
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    dtype = getattr(torch, options.dtype)
    torch_backend.native()  # once, for all that are forked
    part, parts = map(int, options.shard.split("/"))
    names = options.entries or opinfo.entries(dtype)[part - 1 :: parts]
    old = options.out.read_text().splitlines() if options.out and options.out.exists() else []
    known = {line.split("\t")[0]: line for line in old}
    for name in names:
        if name in known:
            continue
        kind, why = alone(name, dtype, "quern")
        aten = "same" if kind == "same" else alone(name, dtype, "aot_eager")[0]
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
