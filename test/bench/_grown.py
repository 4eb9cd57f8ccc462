"""Calls of an overload that the operator database makes, with more of the same: arguments of rows
whose schema does not say enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import opinfo
import quern
import torch
from aten_calls import (
    Calls,
    Visitor,
    backward,
    entries_for,
    visit,
    visit_directly,
    visit_samples,
)
from torch.testing._internal.opinfo.core import SampleInput
from torch.utils._pytree import tree_leaves

Values = dict[str, Any]
Fits = Callable[[torch.Tensor, torch.Tensor], bool]
LOOKED_AT = 64  # calls
TRIED = 12
# By which a call is none.
REFUSALS = (LookupError, MemoryError, RuntimeError, TypeError, ValueError, quern.Error)
SHORTEST = 4  # elements of a tensor of which there can be more
SIDE = 32  # of inner axes, where they can be longer

# Which tensors are made longer together with the largest one.
WAYS: dict[str, Fits] = {
    "of its shape": lambda x, main: x.shape == main.shape,
    "as long as it": lambda x, main: x.dim() > 0 and x.shape[0] == main.shape[0],
    "alone": lambda x, main: x is main,
}


def database_calls(name: str, op: Any, dtype: torch.dtype) -> list[tuple[Values, list[Any]]]:
    """Arguments of calls that reach the overload, and what it gave, the largest first."""
    found: list[tuple[Values, list[Any]]] = []
    names = [argument.name for argument in op._schema.arguments]

    def visitor(func: Any, args: Any, kwargs: Any, result: Any) -> bool:
        if func is op:
            results = list(result) if isinstance(result, (list, tuple)) else [result]
            found.append((dict(zip(names, args, strict=False)) | kwargs, results))
        return len(found) >= LOOKED_AT

    for entry in entries_for(op._schema.name.partition("::")[2]):
        visit_wide(entry, dtype, visitor)
        visit(entry, dtype, visitor)
        if not found:
            visit_directly(entry, op, dtype, visitor)
    visit_samples(name, op, dtype, visitor)
    return sorted(found, key=lambda call: -largest(call[0]).numel())


def visit_wide(entry: str, dtype: torch.dtype, visitor: Visitor) -> None:
    """An entry's samples with longer inner axes, so that derivatives have them too."""
    op = opinfo.entry(entry)
    if dtype not in op.supported_dtypes("cpu"):
        return
    gradient = opinfo.has_gradient(op, dtype) and dtype.is_floating_point
    for sample in islice(op.sample_inputs("cpu", dtype, requires_grad=False), TRIED):
        given = (sample.input, sample.args, sample.kwargs)
        main = largest(given)
        counts = [1, *(-(-SIDE // max(extent, 1)) for extent in main.shape[1:])]
        if not main.dim() or leaves_short(sample, main, counts):
            continue
        x, *args = (repeated(v, main, counts, WAYS["of its shape"]) for v in given[:1] + given[1])
        if gradient and isinstance(x, torch.Tensor):
            x.requires_grad_()
        with suppress(*REFUSALS), Calls(visitor):
            backward(op.op(x, *args, **sample.kwargs), SampleInput(x), gradient)


def leaves_short(sample: SampleInput, main: torch.Tensor, counts: list[int]) -> bool:
    """Whether another tensor has an axis that is made longer, which it stays too short for:
    eager looks not always, and writes behind it."""
    longer = {extent for extent, by in zip(main.shape, counts, strict=True) if by > 1}
    tensors = [x for x in tree_leaves((sample.input, sample.args)) if isinstance(x, torch.Tensor)]
    others = [x for x in tensors if x.shape != main.shape]
    others += [x for x in tree_leaves(sample.kwargs) if isinstance(x, torch.Tensor)]
    return any(longer & set(x.shape) for x in others)


def largest(value: Any) -> torch.Tensor:
    every = [x for x in tree_leaves(value) if isinstance(x, torch.Tensor)]
    return max(every, key=torch.Tensor.numel, default=torch.empty(0))


def repeated(value: Any, main: torch.Tensor, counts: list[int], fits: Fits) -> Any:
    """So many times along each axis: the tensors that fit, and lists that are shapes."""
    if isinstance(value, torch.Tensor):
        own = (counts + [1] * value.dim())[: value.dim()]
        return value.detach().repeat(own if fits(value, main) else [1] * value.dim())
    if not isinstance(value, (list, tuple)):
        return value
    if all(isinstance(each, int) for each in value):
        return extents(list(value), main, counts)
    return [repeated(each, main, counts, fits) for each in value]


def extents(value: list[int], main: torch.Tensor, counts: list[int]) -> list[int]:
    """The numbers, or the main one's shape or that of another tensor with as many rows, longer."""
    if value == list(main.shape):
        return [extent * by for extent, by in zip(value, counts, strict=True)]
    if len(value) == main.dim() > 1 and value[0] == main.shape[0]:
        return [value[0] * counts[0], *value[1:]]
    return value


def grown(values: Values, n: int) -> Iterator[Values]:
    """A call with `n` elements in every way, first with longer inner axes."""
    main = largest(values)
    if main.numel() < SHORTEST or not main.dim():
        return
    inner = [-(-SIDE // extent) for extent in main.shape[1:]]
    for sides in (inner, [1] * len(inner)):
        for fits in WAYS.values():
            size = main.numel() * torch.Size(sides).numel()
            counts = [max(n // size, 1), *sides]
            yield {k: repeated(v, main, counts, fits) for k, v in values.items()}


def from_database(
    name: str, op: Any, dtype: torch.dtype, n: int, takes: Callable[[Values, list[Any]], bool]
) -> Iterator[Values]:
    """Grown calls that a row takes, which looks at shapes where eager may write out of bounds."""
    calls = (call for call in database_calls(name, op, dtype) if takes(*call))
    for values, results in islice(calls, TRIED):
        yield from (more for more in grown(values, n) if takes(more, results))
