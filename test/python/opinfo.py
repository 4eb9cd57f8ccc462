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
UNORDERED = ("sort", "msort", "argsort", "topk", "kthvalue")
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


def assert_same(ours: dict[str, Any], eager: dict[str, Any], op: OpInfo, dtype: Any) -> None:
    """Values by PyTorch's tolerances, types, shapes and strides exactly."""
    assert ours.keys() == eager.keys()
    for key, expected in eager.items():
        assert len(ours[key]) == len(expected), key
        for index, (a, b) in enumerate(zip(ours[key], expected, strict=True)):
            what = f"{key}[{index}]"
            if not isinstance(b, torch.Tensor):
                assert a == b or a is b or (a != a and b != b), what
                continue
            if op.name.startswith(UNDEFINED):
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
