"""The backend that torch.compile calls."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition

from .decompositions import decomposition_table
from .fx_import import describe
from .layout import channels_last
from .options import flag, validate
from .report import refuse_fallbacks, report
from .state import State, state

_numbers = itertools.count()


def backend(
    module: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """Compiles a graph that Dynamo traced.

    >>> import torch, quern
    >>> f = torch.compile(lambda x: x * 2 + 1, backend=quern.backend)
    >>> f(torch.ones(2))
    tensor([3., 3.])
    """
    chosen = validate(options, mode)
    current = state()
    number = next(_numbers)
    compile_with = functools.partial(_compile, current, chosen, number)
    compiled: Callable[..., Any] = aot_autograd(
        fw_compiler=functools.partial(compile_with, "forward"),
        bw_compiler=functools.partial(compile_with, "backward"),
        inference_compiler=functools.partial(compile_with, "inference"),
        partition_fn=min_cut_rematerialization_partition,
        decompositions=decomposition_table(current.overloads(chosen)),
        keep_inference_input_mutations=True,
    )(module, example_inputs)
    return compiled


def _compile(
    current: State,
    options: Mapping[str, str],
    number: int,
    part: str,
    module: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
) -> Callable[..., Any]:
    from . import native

    if part == "inference" and options["executor"] == "quern":
        module = channels_last(module)
    builder = describe(module, native().GraphBuilder(f"graph{number}_{part}"))
    graph: Any = native().CompiledGraph(
        builder,
        current.backend,
        kernels=options["executor"] == "quern",
        fuse=options["fusion"] == "on",
        code_now=part != "backward",
        trace=_trace if flag("QUERN_TRACE") else None,
    )
    if options["fallback"] == "error":
        refuse_fallbacks(graph)
    # One list of arguments, which the callee empties. On the instance, since
    # Dynamo's wrappers copy a callable's own attributes only.
    graph._boxed_call = True
    report(current, part, module, graph)
    compiled: Callable[..., Any] = graph
    return compiled


def _trace(line: str) -> None:
    print(f"quern: {line}", flush=True)
