"""The library's elementwise kernels against PyTorch eager, one case a row of the operator table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from aten_binding import Call
from aten_calls import entries_for
from aten_draws import CASES as SHARES
from aten_draws import OTHERS as OTHER_DRAWS
from aten_lists import ON_LISTS
from aten_samples import SAMPLES
from aten_types import UnfitError, draws, literal, overload
from slices import matrix

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int32, torch.int64, torch.uint8]
TYPES = {
    "Float": FLOATS,
    "Number": FLOATS + INTEGERS,
    "Real": FLOATS + INTEGERS,
    "Ordered": [*FLOATS, *INTEGERS, torch.bool],
    "Int": INTEGERS,
    "Integral": [*INTEGERS, torch.bool],
    "Bool": [torch.bool],
    "Any": [*FLOATS, *INTEGERS, torch.bool],
    "Complex": [torch.complex64, torch.complex128],
}
# Values for arguments that have no default in the schema.
SCALARS = {"alpha": 1.5, "beta": 1.2, "delta": 0.7, "exponent": 2.5, "input_scale": 0.9}
SCALARS |= {"lambd": 0.5, "max_val": 1.0, "min_val": -1.0, "negative_slope": 0.2, "other": 3}
SCALARS |= {"scale": 1.1, "threshold": 1, "value": 2, "weight": 0.3, "max": 1, "min": 0, "self": 2}
# Overloads that eager has on other devices only: arguments and what they give.
OF_DEVICES: dict[str, Callable[[torch.Tensor], tuple[tuple[Any, ...], torch.Tensor]]] = {
    "aten::_copy_from": lambda x: ((x, torch.empty(x.shape, dtype=torch.float16)), x.half()),
}
# Attention that torch has for GPUs only; `test_attention_tiles.py` and an emulated device run it.
OF_GPUS = {
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_flash_attention",
}
ROWS = [row for row in quern.operators() if row["kind"] == "elementwise"]


def tensor(dtype: torch.dtype, shape: tuple[int, ...], seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    values = 4 * torch.rand(shape, generator=generator) - 2
    if dtype == torch.bool:
        return values > 0
    if dtype.is_complex:
        return torch.complex(values, values.flip(0)).to(dtype)
    return values.to(dtype) if dtype.is_floating_point else (values * 20).abs().to(dtype) + 1


def tested() -> dict[str, dict[str, Any]]:
    rows = [r for r in ROWS if len(r["dtypes"]) <= 1 and not draws(r)]
    return {f"{row['declaration']}-{row['overload'][6:]}": row for row in rows}


TESTED = tested()
CASES = matrix(
    "elementwise rows",
    [
        (name, str(dtype)[6:], layout)
        for name, row in TESTED.items()
        for dtype in (TYPES[row["dtypes"][0]] if row["dtypes"] else [torch.bool])
        for layout in ("contiguous", "strided", "empty")
    ],
    group=lambda case: case[0],
    quick=0.15,
)


def arguments(row: dict[str, Any], x: list[torch.Tensor]) -> tuple[list[Any], dict[str, Any]]:
    """Eager's arguments, by position and by name."""
    fixed = {left: literal(right) for left, right in row["bindings"]}
    eager: list[Any] = []
    named: dict[str, Any] = {}
    tensors = iter(x)
    for argument in overload(row["overload"])._schema.arguments:
        value: Any
        if fixed.get(argument.name, NotImplemented) is not NotImplemented:
            value = fixed[argument.name]
        elif "Tensor" in str(argument.type):
            value = next(tensors)
            if argument.name == "buffer":  # e^-|x|, as the forward leaves it
                value = torch.exp(-eager[1].abs())
            if argument.name in ("condition", "mask"):
                value = value > 0 if value.dtype != torch.bool else value
        elif argument.has_default_value() and argument.default_value is not None:
            value = argument.default_value
        else:
            value = SCALARS.get(argument.name)
            if x[0].dtype == torch.bool and value is not None:
                value = bool(value)  # else promotion would leave bool
        if argument.kwarg_only:
            named[argument.name] = value
        else:
            eager.append(value)
    return eager, named


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_values(case: tuple[str, str, str]) -> None:
    name, dtype_name, layout = case
    row, dtype = TESTED[name], getattr(torch, dtype_name)
    shape = (0, 3) if layout == "empty" else (9, 37)
    inputs = [tensor(dtype, shape, seed) for seed in range(4)]
    if layout == "strided":
        inputs = [t.t().contiguous().t() if i % 2 else t[:, ::2] for i, t in enumerate(inputs)]
        inputs = [t[:, :19] for t in inputs]
    op = overload(row["overload"])
    eager, named = arguments(row, inputs)
    try:
        expected = op(*eager, **named)
    except (RuntimeError, NotImplementedError) as error:
        pytest.skip(f"eager does not take it: {error}")
    expected = list(expected) if isinstance(expected, tuple) else [expected]
    try:
        results = Call(row, op, eager, named).run(expected)
    except UnfitError as reason:
        pytest.skip(str(reason))
    # Eager rounds every step of a composite to f16 or bf16, a kernel once at its end.
    narrow = {torch.float16: (4e-3, 1e-3), torch.bfloat16: (3e-2, 8e-3)}
    close = dict(zip(("rtol", "atol"), narrow.get(dtype, ()), strict=False))
    for one, other in zip(results, expected, strict=False):
        if one.numel():
            torch.testing.assert_close(one, other, equal_nan=True, **close)


def test_every_row_has_a_sample() -> None:
    """Elementwise rows have their case above, draws theirs in their own file; the others
    an entry of the operator database or arguments of this repository's. A declaration
    that has a sample under one of its names has it under all."""
    here = {row["overload"] for row in TESTED.values()}
    here |= {*SAMPLES, *ON_LISTS, *SHARES, *OTHER_DRAWS, *OF_DEVICES, *OF_GPUS}
    rows = quern.operators()
    known = {(row["file"], row["line"]) for row in rows if row["overload"] in here}
    missing = {
        row["overload"]
        for row in rows
        if (row["file"], row["line"]) not in known
        and not entries_for(overload(row["overload"])._schema.name.partition("::")[2])
    }
    assert not missing


@pytest.mark.parametrize("overload_name", OF_DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_rows_that_the_host_of_eager_lacks(overload_name: str, dtype: torch.dtype) -> None:
    x = tensor(dtype, (9, 37), 0).t()
    args, expected = OF_DEVICES[overload_name](x)
    row = next(row for row in quern.operators() if row["overload"] == overload_name)
    found = Call(row, overload(overload_name), args, {}).run([expected])
    torch.testing.assert_close(found[0], expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
def test_the_first_of_equal_values_has_the_place(dtype: torch.dtype) -> None:
    x = torch.randint(0, 3, (2, 3, 8, 9), generator=torch.Generator().manual_seed(0)).to(dtype)
    op = overload("aten::max_pool2d_with_indices")
    args = (x, [3, 3], [2, 2], [1, 1])
    rows = [r for r in quern.operators() if r["overload"] == "aten::max_pool2d_with_indices"]
    row = next(r for r in rows if len(r["results"]) == 2)
    expected = list(op(*args))
    torch.testing.assert_close(Call(row, op, args, {}).run(expected), expected, rtol=0, atol=0)
