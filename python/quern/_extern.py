"""Runs the `extern` calls of an `op` through torch."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import torch

from .torch_names import OpOverloadPacket, _jit_get_schemas_for_operator

# A tensor as the extension describes it: element type, sizes, strides, address.
Described = tuple[str, list[int], list[int], int]


_SYMBOL = re.compile(r"([A-Za-z_]\w*)::([A-Za-z_]\w*)(?:\.(\w+))?", re.ASCII)


def _operator(symbol: str) -> Any:
    """`aten::mm`, `aten::sort.stable`: a packet chooses its overload by the arguments. Only what
    torch's dispatcher has under that name is an operator; other attributes are none."""
    match = _SYMBOL.fullmatch(symbol)
    namespace, name, overload = match.groups() if match else ("", "", None)
    schemas = _jit_get_schemas_for_operator(f"{namespace}::{name}") if match else []
    known = {schema.overload_name or "default" for schema in schemas}
    if not known or (overload and overload not in known):
        raise LookupError("torch has no such operator")
    packet = OpOverloadPacket
    found = getattr(getattr(torch.ops, namespace), name)
    if not isinstance(found, packet):
        raise LookupError("torch has no such operator")
    return getattr(found, overload) if overload else found


def _tensor(described: Described) -> torch.Tensor:
    name, sizes, strides, address = described
    dtype = getattr(torch, name)
    if 0 in sizes:
        return torch.empty_strided(sizes, strides, dtype=dtype)
    reach = 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    memory = (ctypes.c_char * (reach * dtype.itemsize)).from_address(address)
    return torch.frombuffer(memory, dtype=dtype).as_strided(sizes, strides)


def _meta(described: Described) -> torch.Tensor:
    name, sizes, strides, _ = described
    return torch.empty_strided(sizes, strides, dtype=getattr(torch, name), device="meta")


def _call(symbol: str, arguments: list[tuple[str, Any]], make: Any) -> list[torch.Tensor]:
    def value(given: Any) -> Any:
        if isinstance(given, tuple):
            return make(given)
        if isinstance(given, list) and given and isinstance(given[0], tuple):
            return [make(each) for each in given]
        return given

    plain = [value(given) for name, given in arguments if not name]
    named = {name: value(given) for name, given in arguments if name}
    results = _operator(symbol)(*plain, **named)
    return list(results) if isinstance(results, (tuple, list)) else [results]


def infer(symbol: str, arguments: list[tuple[str, Any]]) -> list[tuple[str, list[int]]]:
    """Element type and sizes of every result."""
    results = _call(symbol, arguments, _meta)
    return [(str(each.dtype).removeprefix("torch."), list(each.shape)) for each in results]


def run(symbol: str, arguments: list[tuple[str, Any]], results: list[Described]) -> None:
    """Calls the operator and copies what it gives."""
    with torch.no_grad():
        for target, result in zip(results, _call(symbol, arguments, _tensor), strict=True):
            _tensor(target).copy_(result)
