"""`_foreach_` operators taken apart, so that every tensor's part can be fused."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from ...torch_names import OpOverload, _dispatch_get_all_op_names

_aten = torch.ops.aten

# Where one tensor's operator has another name than the list's.
_NAMES = {
    ("norm", "Scalar"): "linalg_vector_norm",
    ("maximum", "Scalar"): "clamp_min",
    ("maximum", "ScalarList"): "clamp_min",
    ("minimum", "Scalar"): "clamp_max",
    ("minimum", "ScalarList"): "clamp_max",
}


def _single(name: str, overload: str) -> Any:
    """The operator on one tensor, or None."""
    return getattr(_aten, _NAMES.get((name, overload), name), None)


def _apart(op: OpOverload, single: Any, keyword: str | None) -> Callable[..., Any]:
    parameters = [argument.name for argument in op._schema.arguments]

    @functools.wraps(single)
    def each(*args: Any, **kwargs: Any) -> list[Any]:
        given = dict(zip(parameters, args, strict=False)) | kwargs
        results = []
        length = next(len(value) for value in args if isinstance(value, (list, tuple)))
        for index in range(length):
            own = {
                name: value[index] if isinstance(value, (list, tuple)) else value
                for name, value in given.items()
            }
            last = own.pop(keyword) if keyword in own else None
            alpha = {"alpha": own.pop("alpha")} if "alpha" in own else {}
            value = {} if last is None else {"value": last}
            results.append(single(*own.values(), **alpha, **value))
        return results

    return each


@functools.cache
def foreach_decompositions() -> dict[Any, Callable[..., Any]]:
    """A function on every list for every functional `_foreach_` operator that has
    an operator on one tensor."""
    table: dict[Any, Callable[..., Any]] = {}
    for full in _dispatch_get_all_op_names():
        name, _, overload = full.partition(".")
        base = name.removeprefix("aten::_foreach_")
        if base == name or base.endswith("_") or "out" in overload:
            continue
        single = _single(base, overload)
        op = getattr(getattr(_aten, f"_foreach_{base}"), overload or "default")
        is_fused = base in ("addcdiv", "addcmul")
        if single is None or (is_fused and overload == "Tensor") or not op._schema.returns:
            continue
        keyword = {"Scalar": "value", "ScalarList": "scalars"}.get(overload) if is_fused else None
        table[op] = _apart(op, single, keyword)
    return table
