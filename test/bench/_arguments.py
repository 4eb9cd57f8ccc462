"""Arguments of the calls that `./dev bench ops` times, from an overload's schema and a row's own
constants and element types."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch
from _grown import REFUSALS, from_database
from _ops import makers
from aten_binding import Call
from aten_types import (
    CONSTRAINTS,
    DTYPES,
    Row,
    UnfitError,
    accumulator,
    admits,
    axes_of,
    element_of,
    literal,
)

Values = dict[str, Any]
WIDTH = 256  # elements of a row
MOST = 1 << 26  # elements of a tensor
# Element types in the order in which one is chosen.
LADDER = (torch.float32, torch.int32, torch.bool, torch.complex64)


def types_of(row: Row) -> dict[str, torch.dtype]:
    """An element type for each type parameter: one for all where there is one."""
    kinds = {n: k for n, k, is_fixed in row["parameters"] if is_fixed and k in CONSTRAINTS}
    common = [d for d in LADDER if all(admits(kind, d) for kind in kinds.values())]
    # Without one, integers are places.
    ladder = (*common, torch.float32, torch.int64, torch.bool, torch.complex64)
    return DTYPES | {n: next(d for d in ladder if admits(k, d)) for n, k in kinds.items()}


def first_type(row: Row) -> torch.dtype:
    types = types_of(row)
    kinds = (n for n, k, is_fixed in row["parameters"] if is_fixed and k in CONSTRAINTS)
    return next((types[n] for n in kinds), torch.float32)


def tensor(dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
    """Numbers for which nothing overflows."""
    if dtype == torch.bool:
        return torch.rand(shape) < 0.5
    if not dtype.is_floating_point and not dtype.is_complex:
        return torch.randint(1, 9, shape, dtype=dtype)
    return torch.rand(shape, dtype=dtype) + 0.25


def number(kind: str, place: int) -> Any:
    """Each is larger than those before, as bounds are."""
    known = {"int": 1 + place, "float": 0.5 + place, "number": 2 + place, "bool": False}
    if kind not in known:
        raise UnfitError(f"no arguments: {kind}")
    return known[kind]


def fixed(row: Row, op: Any) -> Values:
    """What the row says of arguments: constants, and the last of two axes."""
    values: Values = {}
    kinds = {a.name: str(a.type) for a in op._schema.arguments}
    own = {name for name, _, _ in row["parameters"]}
    for left, right in row["bindings"]:
        if left not in kinds or right in own or right == "_" or right == "generator":
            continue
        known = literal(right)
        if known is NotImplemented:
            known = [1] if "List" in kinds[left] else 1
        values[left] = known
    return values


def extents(kinds: list[str], axes: list[str], n: int) -> dict[str, int]:
    """Of each axis, that tensors have `n` elements."""
    names = {axis for kind in kinds for axis in axes_of(kind) if axis}
    if not axes:
        if len(names) > 1:
            raise UnfitError("no arguments: several axes")
        return dict.fromkeys(names, n)
    sizes = {name: WIDTH if name in axes else max(n // WIDTH, 1) for name in names}
    if any(math.prod(sizes[axis] for axis in axes_of(kind) if axis) > MOST for kind in kinds):
        raise UnfitError("no arguments: several long axes")
    return sizes


def generic(row: Row, op: Any, n: int) -> Values:
    """Tensors as the declaration's parameters are, and a number for every other argument
    without a default."""
    rank = 1 if row["kind"] == "elementwise" else 2
    values = fixed(row, op)
    for argument in op._schema.arguments:
        kind = str(argument.type)
        if argument.name in values:
            continue
        if kind == "Tensor":
            values[argument.name] = torch.empty([1] * rank)
        elif not argument.has_default_value():
            values[argument.name] = number(kind, sum(not tensors(v) for v in values.values()))
    call = Call(row, op, [], values)
    types = types_of(row)
    taken = {id(v): call.kind(name) for name, v in call.sources.items() if tensors(v)}
    sizes = extents(list(taken.values()), list(call.dims), n)
    for name, value in values.items():
        if tensors(value):
            kind = taken.get(id(value), "f32")
            element = element_of(kind)
            dtype = types.get(element) or accumulator(types[element[4:-1]])
            count = max(n * 4 // dtype.itemsize if dtype.is_complex else n, 1)
            shape = [count] if rank == 1 else [sizes[axis] for axis in axes_of(kind) if axis]
            values[name] = tensor(dtype, shape)
    return values


def tensors(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def tabled(row: Row, op: Any, given: tuple[Any, ...]) -> Values:
    """The table's values, with the row's constants in their place, in a type that it takes."""
    names = [argument.name for argument in op._schema.arguments]
    values = dict(zip(names, given, strict=False))
    dtype = first_type(row)
    for name, value in values.items():
        if tensors(value) and value.dtype == torch.float32 and dtype != torch.float32:
            values[name] = tensor(dtype, list(value.shape))
    constants = {n: literal(r) for n, r in row["bindings"] if n in names}
    return values | {n: v for n, v in constants.items() if v is not NotImplemented}


def arguments(row: Row, op: Any, n: int) -> Iterator[Values]:
    """Calls of which the first that fits the row is measured."""
    special = makers(row["overload"].partition("::")[2])
    for maker in special:
        yield tabled(row, op, maker(n))
    if not special:
        with suppress(UnfitError, *REFUSALS):
            yield generic(row, op, n)

    def takes(values: Values, results: list[Any]) -> bool:
        with suppress(UnfitError, *REFUSALS):
            function, positional, named = Call(row, op, *bound(op, values)).prepared(results)
            function(*positional, **named)
            return True
        return False

    yield from from_database(row["overload"], op, first_type(row), n, takes)


def bound(op: Any, values: Values) -> tuple[list[Any], Values]:
    """Values by their place as far as each is given, the others by name."""
    args: list[Any] = []
    for argument in op._schema.arguments:
        if argument.kwarg_only or argument.name not in values:
            break
        args.append(values[argument.name])
    placed = [argument.name for argument in op._schema.arguments][: len(args)]
    return args, {name: value for name, value in values.items() if name not in placed}
