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
from aten_samples import samples
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

# Entries that reach an overload whose name says nothing of them.
CONVOLUTIONS = tuple(
    f"nn.functional.conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3)
)
POOLS = tuple(f"nn.functional.max_pool{n}d" for n in (1, 2, 3))
NLL = ("nn.functional.nll_loss", "nn.functional.cross_entropy")
INDEX = ("__getitem__", "index_put", "nn.functional.interpolate.bicubic")
MIRRORS = ("nn.functional.pad.reflect",)
EDGES = ("nn.functional.pad.replicate", "nn.functional.pad.replicate_negative")
RESAMPLED = tuple(
    f"nn.functional.interpolate.{mode}"
    for mode in ("nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear")
)
GRIDS = ("grid_sampler_2d", "grid_sampler_3d", "nn.functional.grid_sample")
FOURIER = ("fft.fft", "fft.ifft2", "fft.rfft", "fft.rfftn", "fft.ihfft", "fft.irfft", "fft.irfftn")
FRACTIONS = tuple(f"nn.functional.fractional_max_pool{n}d" for n in (2, 3))
REACHED_BY: dict[str, tuple[str, ...]] = {
    "_to_copy": ("to", "float", "half", "double", "bool", "long"),
    "_unsafe_index": INDEX,
    "_unsafe_index_put": INDEX,
    "convolution": CONVOLUTIONS,
    "convolution_backward": CONVOLUTIONS,
    "index": INDEX,
    "index_put": INDEX,
    "max_pool2d_with_indices": POOLS,
    "max_pool2d_with_indices_backward": POOLS,
    "max_pool3d_with_indices": POOLS,
    "max_pool3d_with_indices_backward": POOLS,
    "nll_loss2d_backward": NLL,
    "nll_loss2d_forward": NLL,
    "nll_loss_backward": NLL,
    "nll_loss_forward": NLL,
    "_unique2": ("unique",),
    "select_backward": ("select", "__getitem__"),
    "slice_backward": ("__getitem__", "narrow"),
}


def reached_by(base: str) -> tuple[str, ...] | None:
    """Families whose members share their entries, and single overloads."""
    for part, entries in (
        ("reflection_pad", MIRRORS),
        ("replication_pad", EDGES),
        ("upsample_", RESAMPLED),
        ("grid_sampler", GRIDS),
        ("embedding_bag", ("nn.functional.embedding_bag",)),
        ("fractional_max_pool", FRACTIONS),
        ("_fft_", FOURIER),
    ):
        if part in base:
            return entries
    return REACHED_BY.get(base)


# Sees a call with its result; true when it has seen enough.
Visitor = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], bool]


class Calls(TorchDispatchMode):
    """Shows every call to the visitor, after ATen has run it."""

    def __init__(self, visit: Visitor) -> None:
        super().__init__()
        self.visit, self.is_enough = visit, False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        self.is_enough = self.visit(func, *tree_map(settled, (args, kwargs, result)))
        return result


def settled(value: Any) -> Any:
    """A tensor whose memory holds its values: below a mode nobody resolves a lazy bit."""
    if isinstance(value, torch.Tensor) and value.is_conj():
        value = torch._conj(value).conj_physical()
    if isinstance(value, torch.Tensor) and value.is_neg():
        value = torch._neg_view(value).neg()
    return value


@cache
def names_of(entry: str) -> frozenset[str]:
    op = opinfo.entry(entry)
    names = {op.name, op.aten_name, op.aten_backward_name, *(a.name for a in op.aliases)}
    names |= {(name or "").rpartition(".")[2] for name in names}
    names.add(op.name.replace(".", "_"))
    return frozenset(name.strip("_") for name in names if name)


def entries_for(base: str) -> list[str]:
    """Entries of the database that should reach an operator of that name."""
    known = reached_by(base)
    if known is not None:
        return list(known)
    wanted = {base.strip("_"), base.strip("_").removeprefix("native_")}
    wanted |= {name.removesuffix("_backward") for name in wanted}
    wanted |= {name.removesuffix("_forward") for name in wanted}
    return [opinfo.full_name(op) for op in op_db if names_of(opinfo.full_name(op)) & wanted]


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def visit(entry: str, dtype: torch.dtype, visitor: Visitor, limit: int = 80) -> None:
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
            with Calls(visitor) as calls:
                output = op.op(sample.input, *sample.args, **sample.kwargs)
                backward(output, sample, gradient)
            if calls.is_enough:
                return


def visit_directly(entry: str, overload: Any, dtype: torch.dtype, visitor: Visitor) -> None:
    """Calls an operator that ATen takes apart, with the entry's samples where its
    schema takes them."""
    op = opinfo.entry(entry)
    if dtype not in op.supported_dtypes("cpu"):
        return
    with quiet():
        for sample in islice(op.sample_inputs("cpu", dtype, requires_grad=False), 12):
            args = (sample.input, *sample.args)
            try:
                result = overload(*args, **sample.kwargs)
            except (RuntimeError, TypeError):
                continue
            visitor(overload, args, sample.kwargs, result)


def visit_samples(name: str, overload: Any, dtype: torch.dtype, visitor: Visitor) -> None:
    """Calls an overload with this repository's own arguments for it."""
    torch.manual_seed(0)
    for args, kwargs in samples(name, dtype):
        try:
            result = overload(*copied(args), **kwargs)
        except (RuntimeError, TypeError, ValueError):
            continue
        visitor(overload, args, kwargs, result)


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operator may write to its arguments; the row starts from the same values."""
    return tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in args)


def backward(output: Any, sample: Any, gradient: bool) -> None:
    leaves = opinfo.leaves(output)
    outputs = [o for o in leaves if isinstance(o, torch.Tensor) and o.requires_grad]
    given = opinfo.leaves((sample.input, sample.args, sample.kwargs))
    inputs = [i for i in given if isinstance(i, torch.Tensor) and i.requires_grad]
    if gradient and outputs and inputs:
        cotangents = [torch.randn_like(o) for o in outputs]
        torch.autograd.grad(outputs, inputs, cotangents, allow_unused=True)
