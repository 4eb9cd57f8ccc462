"""The ATen calls that entries of the operator database make, forward and backward."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any

import opinfo
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

# Entries that reach an overload whose name says nothing of them.
REACHED_BY: dict[str, tuple[str, ...]] = {}

Visitor = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None]


class Calls(TorchDispatchMode):
    """Shows every call to the visitor, after ATen has run it."""

    def __init__(self, visit: Visitor) -> None:
        super().__init__()
        self.visit = visit

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        self.visit(func, args, kwargs, result)
        return result


@cache
def names_of(entry: str) -> frozenset[str]:
    op = opinfo.entry(entry)
    names = {op.name, op.aten_name, op.aten_backward_name, *(a.name for a in op.aliases)}
    names |= {(name or "").rpartition(".")[2] for name in names}
    return frozenset(name.strip("_") for name in names if name)


def entries_for(base: str) -> list[str]:
    """Entries of the database that should reach an operator of that name."""
    if base in REACHED_BY:
        return list(REACHED_BY[base])
    wanted = {base.strip("_"), base.strip("_").removeprefix("native_")}
    wanted |= {name.removesuffix("_backward") for name in wanted}
    wanted |= {name.removesuffix("_forward") for name in wanted}
    return [opinfo.full_name(op) for op in op_db if names_of(opinfo.full_name(op)) & wanted]


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def visit(entry: str, dtype: torch.dtype, visitor: Visitor, limit: int = 12) -> None:
    """Runs an entry's first samples, with gradients where it has them."""
    op = opinfo.entry(entry)
    if dtype not in op.supported_dtypes("cpu"):
        return
    gradient = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    gradient = gradient and dtype.is_floating_point
    torch.manual_seed(0)
    with quiet():
        samples = op.sample_inputs("cpu", dtype, requires_grad=gradient)
        for sample in islice(samples, limit):
            with Calls(visitor):
                output = op.op(sample.input, *sample.args, **sample.kwargs)
                backward(output, sample, gradient)


def backward(output: Any, sample: Any, gradient: bool) -> None:
    leaves = opinfo.leaves(output)
    outputs = [o for o in leaves if isinstance(o, torch.Tensor) and o.requires_grad]
    given = opinfo.leaves((sample.input, sample.args, sample.kwargs))
    inputs = [i for i in given if isinstance(i, torch.Tensor) and i.requires_grad]
    if gradient and outputs and inputs:
        cotangents = [torch.randn_like(o) for o in outputs]
        torch.autograd.grad(outputs, inputs, cotangents, allow_unused=True)
