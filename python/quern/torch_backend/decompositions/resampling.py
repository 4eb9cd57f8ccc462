"""Resampling kept whole: torch takes it apart before it asks any table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from inspect import signature
from typing import Any

import torch
from torch._dispatch.python import no_python_dispatcher
from torch.nn.functional import interpolate
from torch.overrides import TorchFunctionMode

_PARAMETERS = signature(interpolate)


class _Whole(TorchFunctionMode):
    """Leaves out the dispatcher's Python half, which takes the operator apart: its parts
    would read an image through lists of indices, and its derivative add through them."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        if func is not interpolate or not _infers_result(*args, **given):
            return func(*args, **given)
        with no_python_dispatcher():
            return func(*args, **given)


def _infers_result(*args: Any, **kwargs: Any) -> bool:
    """Whether torch knows what the operator and its derivative give: some of that is
    written in C++, only for sizes that are numbers."""
    given = _PARAMETERS.bind(*args, **kwargs).arguments
    x, size = given["input"], given.get("size")
    sizes = size if isinstance(size, (list, tuple)) else (size,)
    if any(isinstance(n, torch.SymInt) for n in sizes):
        return False
    is_symbolic = any(isinstance(n, torch.SymInt) for n in x.shape)
    return not is_symbolic or (given.get("mode") != "area" and not x.requires_grad)


def whole_resampling(module: torch.fx.GraphModule) -> AbstractContextManager[Any]:
    """While a graph is traced: only one that resamples pays for it."""
    graphs = (m.graph for m in module.modules() if isinstance(m, torch.fx.GraphModule))
    if any(graph.find_nodes(op="call_function", target=interpolate) for graph in graphs):
        return _Whole()
    return nullcontext()
