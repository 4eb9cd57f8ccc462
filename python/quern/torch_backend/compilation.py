"""What becomes of the graphs that Dynamo traces."""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ..torch_names import (
    GmWrapper,
    OutputCode,
    SerializableAOTDispatchCompiler,
    SerializableCompiledFunction,
    TracingContext,
    aot_autograd,
    innermost_fn,
    min_cut_rematerialization_partition,
    patch_functorch,
)
from . import native
from .assumptions import compare_numbers, sizes_kept, without_unread_sizes
from .cache import CachedGraph, LoggedBuilder, caching, key_tag, open_folder
from .check import Checker
from .collecting import without_full_collections
from .debug.folder import DebugFolder
from .decompositions import (
    copy_written_inputs,
    decomposition_table,
    drop_copies,
    functions_traced,
    join_sums,
)
from .fx_import import describe
from .layout import relaid
from .observers import Event, ObservedGraph, Observer
from .options import flag
from .profile import Profiler
from .progress import Progress
from .recomputed import mark_recomputed
from .recording import recorded, records
from .repeats import merge_repeats
from .report import debug_folder, refuse_fallbacks, report
from .slices import sliced
from .state import CompiledGraphRecord, State, state

_numbers = itertools.count()


def compile_graph(
    module: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    mode: str | None,
    chosen: Mapping[str, str],
) -> Callable[..., Any]:
    """Compiles a graph that Dynamo traced, with all options' values."""
    job = _Job(state(), chosen, next(_numbers), str(module.graph), records(mode, example_inputs))
    compile_with = aot_autograd(
        fw_compiler=job.compiler("forward"),
        bw_compiler=job.compiler("backward"),
        inference_compiler=job.compiler("inference"),
        partition_fn=job.partition,
        decompositions=decomposition_table(job.state.overloads(job.options)),
        keep_inference_input_mutations=True,
    )
    compare_numbers(module)
    folder = job.folder
    cached = caching(job.options, folder) if folder else contextlib.nullcontext()
    with cached, functions_traced(module), sizes_kept(module), without_full_collections():
        compiled: Callable[..., Any] = compile_with(module, example_inputs)
    return _directly(module, compiled)


def _directly(module: torch.fx.GraphModule, compiled: Callable[..., Any]) -> Callable[..., Any]:
    """The same function without AOTAutograd's layers that only pass arguments on."""
    whole = innermost_fn(compiled)
    inner = getattr(whole, "__wrapped__", None)
    has_own = any(True for _ in itertools.chain(module.parameters(), module.buffers()))
    if inner is None or has_own or isinstance(module, GmWrapper):
        return compiled
    boxed = inner.compiled_fn if isinstance(inner, SerializableCompiledFunction) else inner

    @functools.wraps(whole)
    def call(*arguments: Any) -> Any:
        return boxed(list(arguments))

    return call


def make_graph(
    builder: Any,
    name: str,
    part: str,
    options: Mapping[str, str],
    observe: Callable[[Event], None] | None = None,
    written: Callable[[str], None] | None = None,
) -> Any:
    """The native graph of a description; `written` takes its program before kernels are made."""
    progress = Progress(name)
    graph: Any = native().CompiledGraph(
        builder,
        state().backend,
        kernels=options["executor"] == "quern",
        fuse=options["fusion"] == "on",
        prefer_aten=options["preferred"] == "aten",
        code_now=part != "backward",
        strict=options["fallback"] == "error",
        keeps_checks=options["bounds"] == "all",
        trace=_trace if flag("QUERN_TRACE") else None,
        observe=observe,
        progress=progress,
        written=written,
    )
    progress.close()
    # One list of arguments, which the callee empties. On the instance, since
    # Dynamo's wrappers copy a callable's own attributes only.
    graph._boxed_call = True
    return graph


class _Job:
    """One graph of Dynamo's, which becomes one or two of AOTAutograd's."""

    def __init__(
        self,
        current: State,
        options: Mapping[str, str],
        number: int,
        before: str,
        is_recorded: bool = False,
    ) -> None:
        self.state = current
        self.options = options
        self._number = number
        self._seeds = options["random"] == "philox"
        self._before = before
        self._start = time.perf_counter()
        # Who looks at a graph wants to see it compiled.
        watching = any(flag(f"QUERN_{name}") for name in ("CHECK", "PROFILE", "VERBOSE"))
        watching = bool(watching or debug_folder() or current.watchers)
        self._is_recorded = is_recorded and not watching
        self.folder = None if watching or is_recorded else open_folder()

    def partition(
        self, joint: torch.fx.GraphModule, joint_inputs: Sequence[Any], **options: Any
    ) -> tuple[torch.fx.GraphModule, torch.fx.GraphModule]:
        """Forward and backward from the graph of both."""
        joint.graph.eliminate_dead_code()
        merge_repeats(joint)
        if self.options["executor"] == "quern":
            join_sums(joint)
            joint = relaid(joint)
        copies = copy_written_inputs(joint)
        with patch_functorch(cse=False):
            parts: tuple[torch.fx.GraphModule, torch.fx.GraphModule]
            parts = min_cut_rematerialization_partition(joint, joint_inputs, **options)
        drop_copies(parts[0], copies)
        mark_recomputed(*parts)
        return parts

    def compiler(self, part: str) -> Any:
        """What AOTAutograd calls with each graph of this kind."""
        compile_part = functools.partial(self._compile, part)
        if self.folder:
            return SerializableAOTDispatchCompiler(OutputCode, compile_part)
        return compile_part

    def _compile(
        self, part: str, module: torch.fx.GraphModule, example_inputs: Sequence[Any]
    ) -> Any:
        start = time.perf_counter()
        name = f"graph{self._number}_{part}"
        if part == "forward":
            _donate_nothing()
        without_unread_sizes(module)
        if self.options["executor"] == "quern":
            module = sliced(module)
        traced = module
        if part == "inference" and self.options["executor"] == "quern":
            module = relaid(module)
        builder = LoggedBuilder(native().GraphBuilder(name))
        inner = functools.partial(self._inner, name, part)
        # Training's graphs, and those laid anew, keep what was promised when they were traced.
        as_eager = part == "inference" and module is traced
        describe(module, builder, seeds=self._seeds, compiles=inner, as_eager=as_eager)
        imported = time.perf_counter() - start
        watched, debug = self._watched(name, part, module)
        observe = watched.step if watched else None
        written = None
        if debug:
            written = functools.partial(debug.write_program, self._before, str(module.graph))
        graph = make_graph(builder.builder, name, part, self.options, observe, written)
        if self.options["fallback"] == "error":
            refuse_fallbacks(graph)
        # The backward was traced with the forward.
        trace = {} if part == "backward" else {"trace": start - self._start}
        stages = graph.times()
        order = ("groups", "program", "compiled", "plan")
        times = {**trace, "import": imported, **{name: stages[name] for name in order}}
        record = CompiledGraphRecord(name, part, module, graph, self._before, times)
        report(self.state, record)
        if debug:
            debug.write(record)
        if watched:
            watched.attach(graph)
            return watched
        if self._is_recorded:
            return recorded(graph, module, example_inputs, part)
        if not self.folder:
            return graph
        tag = key_tag(self.options)
        return CachedGraph(graph, name, part, self.options, builder.calls, tag)

    def _inner(
        self, owner: str, part: str, name: str, module: torch.fx.GraphModule
    ) -> Callable[..., Any]:
        """A graph that an operator of another one calls: a branch, or a loop's body."""
        name = f"{owner}_{name}"
        inner = functools.partial(self._inner, name, part)
        builder = native().GraphBuilder(name)
        describe(module, builder, seeds=self._seeds, compiles=inner)
        graph = make_graph(builder, name, part, self.options)
        if self.options["fallback"] == "error":
            refuse_fallbacks(graph)
        report(self.state, CompiledGraphRecord(name, part, module, graph, self._before))
        is_one = isinstance(next(iter(reversed(module.graph.nodes))).args[0], torch.fx.Node)

        def call(*arguments: Any) -> Any:
            results = graph(list(arguments))
            return results[0] if is_one else results

        return call

    def _watched(
        self, name: str, part: str, module: torch.fx.GraphModule
    ) -> tuple[ObservedGraph | None, DebugFolder | None]:
        """Who watches the graph's calls, if the environment asks for anybody."""
        observers: list[Observer] = []
        if flag("QUERN_CHECK"):
            apart = functools.partial(self._apart, name, module)
            observers.append(Checker(module, name, apart))
        if flag("QUERN_PROFILE"):
            observers.append(Profiler(name))
        folder = debug_folder()
        debug = DebugFolder(folder / name) if folder else None
        if debug:
            observers.append(debug)
        return (ObservedGraph(observers) if observers else None), debug

    def _apart(self, name: str, module: torch.fx.GraphModule, checker: Observer) -> ObservedGraph:
        """The same graph with every operator a kernel of its own."""
        watched = ObservedGraph([checker])
        builder = describe(module, native().GraphBuilder(name), seeds=self._seeds)
        options = {**self.options, "fusion": "off"}
        watched.attach(make_graph(builder, name, "inference", options, watched.step))
        return watched


def _donate_nothing() -> None:
    """A graph never writes to what was saved for it, so that a backward may run
    twice (`retain_graph`), which AOTAutograd refuses where tensors were donated."""
    context = TracingContext.try_get()
    if context is not None and context.fw_metadata is not None:
        context.fw_metadata.bw_donated_idxs = []


def _trace(line: str) -> None:
    print(f"quern: {line}", flush=True)
