"""Calls of a graph on a GPU, recorded once and replayed as one: CUDA graphs.

Which tensors lie where from call to call, and how long, is decided by torch's own CUDA graph
trees, which other backends use as well. Asked for by a mode, since the results of a call are only
good until the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..torch_names import TracingContext

#: Those that torch's own backend records in, too.
MODES = ("reduce-overhead", "max-autotune")


def records(mode: str | None, inputs: Sequence[Any]) -> bool:
    """Whether calls with such inputs are to be recorded."""
    return mode in MODES and any(isinstance(each, torch.Tensor) and each.is_cuda for each in inputs)


def recorded(
    graph: Callable[..., Any], module: torch.fx.GraphModule, inputs: Sequence[Any], part: str
) -> Callable[..., Any]:
    """What runs the graph the first times and then replays it; the graph itself, with a line in
    torch's log, where it does something that cannot be recorded."""
    from ..torch_names import cudagraph_trees, cudagraph_utils, cudagraphs

    is_backward = part == "backward"
    fixed = _fixed_inputs(module, is_backward)
    if problem := cudagraphs.check_for_skip(module, len(fixed)):
        cudagraph_utils.log_cudagraph_skip_and_bump_counter(f"not recorded due to {problem}")
        return _unrecorded(graph, inputs) if is_backward else graph
    run: Any = cudagraph_trees.cudagraphify_impl(
        graph,
        list(inputs),
        fixed,
        device_index=cudagraphs.get_device_index(module),
        is_backward=is_backward,
        is_inference=part == "inference",
        stack_traces=cudagraphs.get_stack_traces(module),
        placeholders=cudagraph_utils.get_placeholder_info(module.graph),
        mutated_input_idxs=tuple(cudagraphs.find_input_mutations(module.graph)),
    )
    run._boxed_call = True
    return run  # type: ignore[no-any-return]


def _fixed_inputs(module: torch.fx.GraphModule, is_backward: bool) -> Sequence[int]:
    """Inputs that lie at one address in every call: parameters, and what the forward saved."""
    if is_backward:
        from ..torch_names import count_tangents

        return range(count_tangents(module))
    context = TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return ()
    return list(context.fw_metadata.static_input_indices)


def _unrecorded(graph: Callable[..., Any], inputs: Sequence[Any]) -> Callable[..., Any]:
    """A backward that is not recorded, behind a forward that may be."""
    from ..torch_names import cudagraph_trees

    device = next(each.device for each in inputs if isinstance(each, torch.Tensor))

    def run(given: list[Any]) -> Any:
        manager = cudagraph_trees.get_manager(device.index or 0, create_if_none_exists=False)
        if manager is not None:
            manager.set_to_running_backward()
        return graph(given)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run
