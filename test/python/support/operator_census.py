"""What keeps entries of the operator database from running in kernels alone.

`python test/python/support/operator_census.py [DTYPE] [ENTRY…]` traces the samples of each
entry, forward and backward, classifies every node and runs no kernel. It prints a line
for every reason to call ATen, then how many entries have it.
"""

from __future__ import annotations

import collections
import contextlib
import io
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import opinfo
import torch
from functorch.compile import make_boxed_func
from operator_gaps import GAPS
from quern import torch_backend
from quern.torch_backend.compilation import make_graph
from quern.torch_backend.decompositions import decomposition_table
from quern.torch_backend.fx_import import describe
from quern.torch_backend.options import validate
from quern.torch_backend.state import state
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition

Reason = tuple[str, str, str]
"""Kind, overload, why."""


def reasons(name: str, dtype: torch.dtype, preferred: str = "own") -> set[Reason]:
    """Every ATen call of an entry's samples, and why."""
    op = opinfo.entry(name)
    gradient = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    found: set[Reason] = set()
    options = validate({"preferred": preferred}, None)

    def look(module: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        builder = describe(module, torch_backend.native().GraphBuilder("census"))
        graph = make_graph(builder, "census", "backward", options)
        for _, overload, _, reason, kind in graph.opaque():
            if kind != "allocation":
                found.add((kind, overload, reason))
        boxed: Callable[..., Any] = make_boxed_func(module.forward)
        return boxed

    backend = aot_autograd(
        fw_compiler=look,
        partition_fn=min_cut_rematerialization_partition,
        decompositions=decomposition_table(state().overloads(options)),
        keep_inference_input_mutations=True,
    )

    def function(x: Any, *args: Any, **kwargs: Any) -> Any:
        return op.op(x, *args, **kwargs)

    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend, fullgraph=True)
    for sample in opinfo.samples(op, dtype, gradient):
        opinfo.outcome(compiled, sample, gradient)
    return found


def main(arguments: list[str]) -> None:
    """Prints the reasons of every entry, and their counts."""
    dtype: torch.dtype = getattr(torch, arguments[0] if arguments else "float32")
    count: collections.Counter[Reason] = collections.Counter()
    total = alone = 0
    for name in arguments[1:] or opinfo.entries(dtype):
        if name in GAPS:
            continue
        total += 1
        try:
            with (
                torch._dynamo.config.patch(recompile_limit=100),
                warnings.catch_warnings(),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                warnings.simplefilter("ignore")
                found = reasons(name, dtype)
        except Exception as error:
            found = {("raised", type(error).__name__, str(error).split("\n")[0][:100])}
        alone += not found
        count.update(found)
        print(name, "alone" if not found else f"{len(found)} reasons", sep="\t", flush=True)
        for reason in sorted(found):
            print(name, *reason, sep="\t", flush=True)
    print(f"{alone} of {total} entries call no ATen operator that computes")
    for (kind, overload, why), times in count.most_common():
        print(times, kind, overload, why, sep="\t")


if __name__ == "__main__":
    main(sys.argv[1:])
