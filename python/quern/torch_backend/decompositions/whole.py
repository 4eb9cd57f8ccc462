"""Operators kept whole that torch takes apart before it asks any table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from inspect import signature
from typing import Any

import torch
from torch._dispatch.python import no_python_dispatcher
from torch.nn.functional import interpolate, multilabel_margin_loss
from torch.overrides import TorchFunctionMode

_FUNCTIONS = (interpolate, multilabel_margin_loss)
_PARAMETERS = signature(interpolate)


class _Whole(TorchFunctionMode):
    """Leaves out the dispatcher's Python half, which takes these apart: an image would be
    read through lists of indices, and the margin is not eager's (losses.py)."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        if func not in _FUNCTIONS or (func is interpolate and not _infers_result(*args, **given)):
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


def operators_whole(module: torch.fx.GraphModule) -> AbstractContextManager[Any]:
    """While a graph is traced: only one that has such an operator pays for it."""
    graphs = (m.graph for m in module.modules() if isinstance(m, torch.fx.GraphModule))
    if any(g.find_nodes(op="call_function", target=f) for g in graphs for f in _FUNCTIONS):
        return _Whole()
    return nullcontext()
