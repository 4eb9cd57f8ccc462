"""The library's elementwise kernels against PyTorch eager, one case a row of the operator table."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import quern
import torch
from torch.testing._internal.common_methods_invocations import op_db

KERNELS = Path(__file__).resolve().parents[2] / "stdlib-kernels"
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int32, torch.int64, torch.uint8]
TYPES = {
    "Float": FLOATS,
    "Number": FLOATS + INTEGERS,
    "Real": FLOATS + INTEGERS,
    "Ordered": [*FLOATS, *INTEGERS, torch.bool],
    "Int": INTEGERS,
    "Integral": [*INTEGERS, torch.bool],
    "Any": [*FLOATS, *INTEGERS, torch.bool],
}
# Values for arguments that have no default in the schema.
SCALARS = {"alpha": 1.5, "beta": 1.2, "delta": 0.7, "exponent": 2.5, "input_scale": 0.9}
SCALARS |= {"lambd": 0.5, "max_val": 1.0, "min_val": -1.0, "negative_slope": 0.2, "other": 3}
SCALARS |= {"scale": 1.1, "threshold": 1, "value": 2, "weight": 0.3, "max": 1, "min": 0}
# Reached by entries of the database that have another name.
UNNAMED = {"embedding_dense", "_to_copy", "copy", "_fused_rms_norm", "max_pool2d_with_indices"}
ROWS = [row for row in quern.operators() if row["kind"] == "elementwise"]


@cache
def module(file: str) -> Any:
    return quern.load(KERNELS / file)


def overload(row: dict[str, Any]) -> Any:
    name, _, variant = row["overload"].removeprefix("aten::").partition(".")
    return getattr(getattr(torch.ops.aten, name), variant or "default")


def constants(row: dict[str, Any]) -> dict[str, Any]:
    """What the attribute fixes: `approximate = "tanh"`."""
    words = {"true": True, "false": False, "none": None}
    found = {}
    for name, text in row["bindings"]:
        if text in words:
            found[name] = words[text]
        elif text.startswith('"'):
            found[name] = text.strip('"')
        elif text.lstrip("-").isdigit():
            found[name] = int(text)
    return found


def tensor(dtype: torch.dtype, shape: tuple[int, ...], seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    values = 4 * torch.rand(shape, generator=generator) - 2
    if dtype == torch.bool:
        return values > 0
    return values.to(dtype) if dtype.is_floating_point else (values * 20).abs().to(dtype) + 1


def cases() -> list[Any]:
    rows = [r for r in ROWS if len(r["dtypes"]) <= 1]
    return [
        pytest.param(row, dtype, id=f"{row['declaration']}-{row['overload'][6:]}-{str(dtype)[6:]}")
        for row in rows
        for dtype in (TYPES[row["dtypes"][0]] if row["dtypes"] else [torch.bool])
    ]


def parameters(row: dict[str, Any]) -> list[tuple[str, bool]]:
    """Names of the declaration's parameters, and whether each is a number."""
    text = (KERNELS / row["file"]).read_text()
    head = re.search(rf"elementwise {row['declaration']}(?:\[[^\]]*\])?\((.*?)\)\s*->", text, re.S)
    assert head
    fields = re.findall(r"(\w+): ([^,=]*?(?:\([^)]*\))?)\s*(=|,|$)", head[1])
    return [(name, "acc(" in kind or sign == "=") for name, kind, sign in fields]


def arguments(row: dict[str, Any], x: list[torch.Tensor]) -> tuple[list[Any], dict[str, Any], Any]:
    """Eager's arguments by position and by name, and ours by position."""
    fixed = constants(row)
    eager: list[Any] = []
    named: dict[str, Any] = {}
    values: dict[str, Any] = {}
    tensors = iter(x)
    for argument in overload(row)._schema.arguments:
        value: Any
        if argument.name in fixed:
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
        values[argument.name] = value
        if argument.kwarg_only:
            named[argument.name] = value
        else:
            eager.append(value)
    ours: list[Any] = []
    given = (v for v in values.values() if isinstance(v, torch.Tensor))
    aliases = dict(row["bindings"])
    for name, is_number in parameters(row):
        source = aliases.get(name, name)
        if is_number:
            ours.append(values[source])
        elif source in values and not isinstance(values[source], torch.Tensor):
            ours.append(torch.tensor(values[source], dtype=x[0].dtype))
        else:
            ours.append(next(given))
    return eager, named, ours


@pytest.mark.parametrize(("row", "dtype"), cases())
@pytest.mark.parametrize("layout", ["contiguous", "strided", "empty"])
def test_values(row: dict[str, Any], dtype: torch.dtype, layout: str) -> None:
    shape = (0, 3) if layout == "empty" else (9, 37)
    inputs = [tensor(dtype, shape, seed) for seed in range(4)]
    if layout == "strided":
        inputs = [t.t().contiguous().t() if i % 2 else t[:, ::2] for i, t in enumerate(inputs)]
        inputs = [t[:, :19] for t in inputs]
    eager, named, ours = arguments(row, inputs)
    try:
        expected = overload(row)(*eager, **named)
    except (RuntimeError, NotImplementedError) as error:
        pytest.skip(f"eager does not take it: {error}")
    expected = expected[0] if isinstance(expected, tuple) else expected
    result = getattr(module(row["file"]), row["declaration"])(*ours)
    if result.dtype != expected.dtype:
        pytest.skip("promotion is the binder's part, tested through the backend")
    # Eager rounds every step of a composite to f16, a kernel once at its end.
    close = {"rtol": 4e-3, "atol": 1e-3} if dtype == torch.float16 else {}
    torch.testing.assert_close(result, expected, equal_nan=True, **close)


def test_every_row_has_a_sample() -> None:
    """Elementwise rows have their case above, the others an entry of the operator
    database, which runs through the backend."""
    names = {name for op in op_db for name in (op.name, op.aten_name, op.aten_backward_name)}
    names |= {name.rpartition(".")[2] for name in names if name}
    here = {row["overload"] for row, _ in (case.values for case in cases())}
    missing = []
    for row in quern.operators():
        base = row["overload"].removeprefix("aten::").partition(".")[0]
        base = base.removesuffix("_backward")
        known = {base, base.strip("_"), base.removeprefix("native_")} & names
        known = known or row["overload"] in here or base in UNNAMED
        if not known:
            missing.append(row["overload"])
    assert not missing
