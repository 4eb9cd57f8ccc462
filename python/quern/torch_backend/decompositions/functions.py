"""Functions that torch takes apart before it asks any table, and what is traced for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from inspect import signature
from typing import Any

import torch
from torch.nn.functional import interpolate, multilabel_margin_loss
from torch.overrides import TorchFunctionMode

from ...torch_names import no_python_dispatcher
from .attention import attention_parts

_PARAMETERS = signature(interpolate)


def _image(*args: Any, **kwargs: Any) -> Any:
    """Taken apart, the image would be read through lists of indices."""
    traced = _whole(interpolate) if _infers_result(*args, **kwargs) else interpolate
    return traced(*args, **kwargs)


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


def _whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """Without the dispatcher's Python half, which takes the operator apart."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with no_python_dispatcher():
            return function(*args, **kwargs)

    return call


_TRACED: Mapping[Callable[..., Any], Callable[..., Any]] = {
    interpolate: _image,
    # Its parts do not give eager's margin (losses.py).
    multilabel_margin_loss: _whole(multilabel_margin_loss),
    torch.ops.higher_order.flex_attention: attention_parts,
}


class _Traced(TorchFunctionMode):
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        return _TRACED.get(func, func)(*args, **(kwargs or {}))


def functions_traced(module: torch.fx.GraphModule) -> AbstractContextManager[Any]:
    """While a graph is traced: only one that has such a function pays for it."""
    graphs = (m.graph for m in module.modules() if isinstance(m, torch.fx.GraphModule))
    if any(g.find_nodes(op="call_function", target=f) for g in graphs for f in _TRACED):
        return _Traced()
    return nullcontext()
