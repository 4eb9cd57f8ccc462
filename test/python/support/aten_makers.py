"""What arguments of ATen calls are made of: random tensors, and makers of the usual forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Maker = Callable[[torch.dtype], Iterator[Arguments]]


def randn(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    if dtype.is_floating_point:
        return torch.randn(shape, dtype=torch.float64).to(dtype)
    return torch.randint(0, 2 if dtype == torch.bool else 9, shape).to(dtype)


def numbers(*values: Any) -> Maker:
    """A tensor and each of the numbers."""

    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        for value in values:
            if dtype.is_floating_point or isinstance(value, int):
                yield (randn(dtype, 4, 7), value), {}
                yield (randn(dtype), value), {}

    return make


def number_first(*values: Any) -> Maker:
    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        for (x, value), kwargs in numbers(*values)(dtype):
            yield (value, x.abs() if dtype.is_floating_point else x), kwargs

    return make


def tensors(*shapes: tuple[int, ...]) -> Maker:
    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        yield tuple(randn(dtype, *shape) for shape in shapes), {}

    return make


def counted(*calls: tuple[Any, ...], **named: Any) -> Maker:
    """Calls with numbers alone."""

    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        for args in calls:
            yield args, {"dtype": dtype, **named}

    return make
