"""Resampling kept whole: torch takes it apart before it asks any table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch._decomp.decompositions import upsample_compute_output_size
from torch._dispatch.python import no_python_dispatcher
from torch.nn.functional import interpolate
from torch.overrides import TorchFunctionMode

_NEAREST = {"nearest": "upsample_nearest", "nearest-exact": "_upsample_nearest_exact"}
_WEIGHTED = {
    "linear": "upsample_linear",
    "bilinear": "upsample_bilinear",
    "trilinear": "upsample_trilinear",
    "bicubic": "upsample_bicubic",
}


class _Whole(TorchFunctionMode):
    """Calls the operator that ATen runs, so that its parts do not read an image
    through lists of indices, and its derivative does not add through them."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func is interpolate:
            result = _resampled(*args, **(kwargs or {}))
            if result is not NotImplemented:
                return result
        return func(*args, **(kwargs or {}))


def _resampled(
    x: torch.Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """What `interpolate` does with arguments that it took before."""
    axes = x.dim() - 2
    corners: tuple[bool, ...] = ()
    if mode in _NEAREST:
        name = f"{_NEAREST[mode]}{axes}d"
    elif mode in _WEIGHTED and x.is_floating_point():
        name = f"{'_' * antialias}{_WEIGHTED[mode]}{axes}d{'_aa' * antialias}"
        corners = (bool(align_corners),)
    else:
        return NotImplemented
    size, factors = _each(size, axes), _each(scale_factor, axes)
    places = upsample_compute_output_size(x.shape, size, factors)  # type: ignore[no-untyped-call]
    if factors is None or recompute_scale_factor:
        factors = [None] * axes
    op = getattr(torch.ops.aten, name).default
    back = getattr(torch.ops.aten, f"{name}_backward").default
    if not _infers_any(op, x, places) or (x.requires_grad and not _infers_any(back, x, places)):
        return NotImplemented
    # The dispatcher's Python half is what would take the operator apart.
    with no_python_dispatcher():
        return op(x, places, *corners, *factors)


def _infers_any(op: Any, x: torch.Tensor, places: Sequence[Any]) -> bool:
    """Whether torch knows what an operator gives: where that is written in C++, only
    for sizes that are numbers."""
    is_symbolic = any(isinstance(n, torch.SymInt) for n in (*x.shape, *places))
    return not is_symbolic or torch._C.DispatchKey.Meta in op.py_kernels


def _each(given: Any, axes: int) -> list[Any] | None:
    if given is None:
        return None
    return list(given) if isinstance(given, (list, tuple)) else [given] * axes


def whole_resampling(module: torch.fx.GraphModule) -> AbstractContextManager[Any]:
    """While a graph is traced: only one that resamples pays for it."""
    graphs = (m.graph for m in module.modules() if isinstance(m, torch.fx.GraphModule))
    if any(graph.find_nodes(op="call_function", target=interpolate) for graph in graphs):
        return _Whole()
    return nullcontext()
