"""PyTorch's own operator database as test cases for the backend."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.testing._internal import common_methods_invocations
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils import _pytree as pytree

SAMPLES = 4


# Results whose values nobody promises.
UNDEFINED = ("empty", "new_empty")
# Eager gives equal values places in no order that it promises, and types of 16 bits have many.
PICKS = ("sort", "argsort", "topk", "kthvalue")  # the last result has places
UNORDERED = (*PICKS, "msort")
FIRST_BITS = {torch.bfloat16: 0x3F80, torch.float16: 0x3C00}  # of 1


def unseeded(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls without the seeding that some entries do inside the function under
    test: Dynamo does not trace it, and `outcome` seeds outside."""
    return function(*args, **kwargs)


common_methods_invocations.wrapper_set_seed = unseeded


def entries(dtype: torch.dtype) -> list[str]:
    """Names of the entries that take `dtype` on the CPU."""
    return [full_name(op) for op in op_db if dtype in op.supported_dtypes("cpu")]


def full_name(op: OpInfo) -> str:
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def entry(name: str) -> OpInfo:
    return next(op for op in op_db if full_name(op) == name)


def untied(x: torch.Tensor) -> torch.Tensor:
    """Values in the same order, each further from the next than the tolerance."""
    with torch.no_grad():
        ranks = x.flatten().double().argsort(stable=True).argsort()
        step = max(1, min(16, 16000 // max(1, x.numel())))
        bits = (FIRST_BITS[x.dtype] + step * ranks).to(torch.int16)
        values = bits.view(x.dtype).reshape(x.shape)
    return values.requires_grad_(x.requires_grad)


def samples(op: OpInfo, dtype: torch.dtype, with_gradient: bool) -> Iterator[SampleInput]:
    """The first few samples of an entry."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = op.sample_inputs("cpu", dtype, requires_grad=with_gradient)
        for sample in itertools.islice(made, SAMPLES):
            if op.name in UNORDERED and dtype in FIRST_BITS:
                sample.input = untied(sample.input)
            yield sample


def has_gradient(op: OpInfo, dtype: torch.dtype) -> bool:
    return op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)


def joined(names: list[str], dtype: torch.dtype) -> tuple[Any, SampleInput]:
    """One function for all samples of several entries, and its own sample."""
    calls = [
        (op.op, sample)
        for op in map(entry, names)
        for sample in samples(op, dtype, has_gradient(op, dtype))
    ]

    def function(inputs: Any, args: Any, kwargs: Any) -> list[Any]:
        each = zip(calls, inputs, args, kwargs, strict=True)
        return [op(x, *more, **named) for (op, _), x, more, named in each]

    args = [sample.args for _, sample in calls], [sample.kwargs for _, sample in calls]
    return function, SampleInput([sample.input for _, sample in calls], args=args)


def leaves(value: Any) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves(value) if leaf is not None]


def copied(sample: SampleInput) -> SampleInput:
    """The same values in tensors of its own, strides and all."""

    def copy(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            return value
        with torch.no_grad():
            twin = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype)
            twin.copy_(value)
        return twin.requires_grad_(value.requires_grad)

    return SampleInput(
        pytree.tree_map(copy, sample.input),
        args=pytree.tree_map(copy, sample.args),
        kwargs=pytree.tree_map(copy, sample.kwargs),
    )


def outcome(function: Any, sample: SampleInput, with_gradient: bool) -> dict[str, Any]:
    """Results, and gradients of the inputs for a seeded cotangent."""
    own = copied(sample)
    torch.manual_seed(7)
    output = function(own.input, *own.args, **own.kwargs)
    result: dict[str, Any] = {"output": leaves(output)}
    if not with_gradient:
        return result
    inputs = [
        leaf
        for leaf in leaves((own.input, own.args, own.kwargs))
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    outputs = [
        leaf for leaf in result["output"] if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    if not inputs or not outputs:
        return result
    torch.manual_seed(11)
    cotangents = [torch.randn(o.shape, dtype=o.dtype) for o in outputs]
    gradients = torch.autograd.grad(outputs, inputs, cotangents, allow_unused=True)
    result["gradients"] = [g for g in gradients if g is not None]
    return result


def in_float64(function: Any, dtype: torch.dtype) -> Any:
    """The function with all that is of `dtype` as float64, its results rounded once."""

    def cast(value: Any, old: torch.dtype, new: torch.dtype) -> Any:
        return value.to(new) if isinstance(value, torch.Tensor) and value.dtype == old else value

    def exact(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = pytree.tree_map(lambda v: cast(v, dtype, torch.float64), (args, kwargs))
        result = function(*args, **kwargs)
        return pytree.tree_map(lambda v: cast(v, torch.float64, dtype), result)

    return exact


def distance(results: dict[str, Any], exact: dict[str, Any], dtype: torch.dtype) -> float:
    """The largest difference in tolerances, over all tensors of floating point."""
    farthest = 0.0
    for key, expected in exact.items():
        for a, b in zip(results[key], expected, strict=True):
            if isinstance(b, torch.Tensor) and b.dtype.is_floating_point and b.numel():
                a, b = a.double(), b.double()
                off = torch.where(torch.isclose(a, b, equal_nan=True), 0.0, (a - b).abs())
                off = off / (_atol(dtype) + _rtol(dtype) * b.abs())
                farthest = max(farthest, off.nan_to_num(torch.inf).max().item())
    return farthest


def same_picks(source: torch.Tensor, ours: torch.Tensor, eager: torch.Tensor) -> bool:
    """Whether places along one axis name equal elements of `source`, none of them twice."""
    for axis in range(source.dim()):
        a, b = (p if p.dim() == source.dim() else p.unsqueeze(axis) for p in (ours, eager))
        beside, expected = (
            [*shape[:axis], *shape[axis + 1 :]] for shape in (a.shape, source.shape)
        )
        inside = [bool(((p >= 0) & (p < source.shape[axis])).all()) for p in (a, b)]
        is_once = bool(a.sort(axis).values.diff(dim=axis).all())
        if beside != expected or not all(inside) or not is_once:
            continue
        x, y = source.gather(axis, a), source.gather(axis, b)
        if bool(torch.isclose(x, y, rtol=0, atol=0, equal_nan=True).all()):
            return True
    return False


def in_eagers_places(
    ours: dict[str, Any], eager: dict[str, Any], name: str, sample: SampleInput
) -> dict[str, Any]:
    """Our results with eager's places of equal values, where their order is free."""
    if name not in PICKS or sample.kwargs.get("stable"):
        return ours
    *values, places = ours["output"]
    expected = eager["output"][-1]
    if places.shape != expected.shape or not same_picks(sample.input, places, expected):
        return ours
    return {**ours, "output": [*values, places.clone().copy_(expected)]}


def assert_same(
    ours: dict[str, Any], eager: dict[str, Any], name: str, sample: SampleInput, dtype: torch.dtype
) -> None:
    """Values by PyTorch's tolerances, types, shapes and strides exactly, for an operator's name."""
    assert ours.keys() == eager.keys()
    ours = in_eagers_places(ours, eager, name, sample)
    for key, expected in eager.items():
        assert len(ours[key]) == len(expected), key
        for index, (a, b) in enumerate(zip(ours[key], expected, strict=True)):
            what = f"{key}[{index}]"
            if not isinstance(b, torch.Tensor):
                assert a == b or a is b or (a != a and b != b), what
                continue
            if name.startswith(UNDEFINED):
                assert (a.shape, a.dtype) == (b.shape, b.dtype), what
                continue
            torch.testing.assert_close(
                a,
                b,
                equal_nan=True,
                rtol=_rtol(dtype),
                atol=_atol(dtype),
                msg=lambda m, what=what: f"{what}: {m}",
            )
            if b.layout == torch.strided and b.numel() and key == "output":
                assert real_strides(a) == real_strides(b), f"{what}: {a.stride()} {b.stride()}"


def real_strides(tensor: torch.Tensor) -> list[int]:
    """The strides along axes that are stepped along."""
    return [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size != 1]


def _rtol(dtype: torch.dtype) -> float:
    return {torch.bfloat16: 3e-2, torch.float16: 4e-3}.get(dtype, 1e-4)


def _atol(dtype: torch.dtype) -> float:
    return {torch.bfloat16: 3e-2, torch.float16: 4e-3}.get(dtype, 1e-4)
