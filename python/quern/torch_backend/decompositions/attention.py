"""Attention with scores and masks that a function gives, as its parts, which fuse to one kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_OPERATOR = torch.ops.higher_order.flex_attention
# The package has the operator under the module's name.
_flex = import_module("torch._higher_order_ops.flex_attention")


class _Apart(TorchFunctionMode):
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        return (_parts if func is _OPERATOR else func)(*args, **(kwargs or {}))


def _parts(query: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    out, *sums = _flex.math_attention(query, *args, **kwargs)
    if not query.is_contiguous():
        out = _flex._permute_strides(out, query.stride())
    return out, *sums


def attention_apart(module: torch.fx.GraphModule) -> AbstractContextManager[Any]:
    """While a graph is traced: only one that has the operator pays for it."""
    graphs = (m.graph for m in module.modules() if isinstance(m, torch.fx.GraphModule))
    if any(graph.find_nodes(op="call_function", target=_OPERATOR) for graph in graphs):
        return _Apart()
    return nullcontext()
