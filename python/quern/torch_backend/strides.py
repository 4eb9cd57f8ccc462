"""Strides of results for which tracing says something else than eager gives.

Some operators are traced as others that make their values, and lie in memory as those would: where
operands lie differently, that is not where eager puts its result. Eager is asked, with small
operands whose axes follow each other in memory as those of the graph do.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.node import Node

from ..torch_names import _disable_current_modes, tree_map_only
from .decompositions.indices import TRACED_OTHERWISE
from .overloads import is_elementwise


def eager_strides(node: Node) -> list[int] | None:
    """Those of a result that the graph only returns, if its operator may lie otherwise than traced;
    nothing where tracing says the same, or what it says must hold."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or not all(user.op == "output" for user in node.users):
        return None
    operands: list[Any] = [each.meta.get("val") for each in node.all_input_nodes]
    if not all(isinstance(each, torch.Tensor) and _is_plain(each) for each in [value, *operands]):
        return None
    if all(each.is_contiguous() for each in operands) or not _may_differ(node.target):
        return None
    small = _asked(node)
    if small is None or [n == 1 for n in small.shape] != [n == 1 for n in value.shape]:
        return None
    return _dense(value, small.stride())


def _may_differ(target: Any) -> bool:
    return target in TRACED_OTHERWISE or is_elementwise(target)


def _is_plain(value: torch.Tensor) -> bool:
    """Whether a tensor's layout is known in numbers, and its own."""
    numbers = (*value.shape, *value.stride())
    is_known = all(isinstance(number, int) for number in numbers)
    return is_known and value.layout == torch.strided and value.device.type == "cpu"


def _shrunk(shape: torch.Size) -> torch.Size:
    return torch.Size(min(size, 2) for size in shape)


def _like(value: torch.Tensor) -> torch.Tensor:
    """Ones, their axes in the same order in memory."""
    shape = _shrunk(value.shape)
    steps = sorted({stride for stride in value.stride() if stride})
    strides = [4 ** steps.index(stride) if stride else 0 for stride in value.stride()]
    reach = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    return torch.ones(max(reach, 1), dtype=value.dtype).as_strided(shape, strides)


def _asked(node: Node) -> torch.Tensor | None:
    """What eager makes of operands like those."""
    with _disable_current_modes(), torch.no_grad():
        args, kwargs = tree_map_only(
            Node, lambda each: _like(each.meta["val"]), (node.args, node.kwargs)
        )
        try:
            result = node.target(*args, **kwargs)  # type: ignore[operator]
        except (IndexError, RuntimeError):
            return None
    return result if isinstance(result, torch.Tensor) else None


def _dense(value: torch.Tensor, order: tuple[int, ...]) -> list[int] | None:
    """The strides of such a tensor without gaps, its axes in that order."""
    strides, step = [0] * value.dim(), 1
    for axis in sorted(range(value.dim()), key=lambda axis: (order[axis], value.shape[axis])):
        strides[axis] = step
        step *= max(value.shape[axis], 1)
    pairs = zip(value.shape, value.stride(), strides, strict=True)
    return strides if any(size > 1 and old != new for size, old, new in pairs) else None
