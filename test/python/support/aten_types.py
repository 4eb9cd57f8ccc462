"""What the texts in an `@aten` row and in a declaration's signature say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import quern
import torch
import torch._inductor.inductor_prims  # defines `prims::fma`

KERNELS = Path(__file__).resolve().parents[3] / "stdlib-kernels"
DTYPES = {
    "bool": torch.bool,
    "i64": torch.int64,
    "i8": torch.int8,
    "i32": torch.int32,
    "f32": torch.float32,
    "f64": torch.float64,
}
FLOATS = {torch.float16, torch.bfloat16, torch.float32, torch.float64}
WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}
Row = dict[str, Any]
CONSTRAINTS = {"Any", "Ordered", "Number", "Real", "Integral", "Int", "Float", "Bool", "Complex"}


class UnfitError(Exception):
    """Why a row is not for a call: another row, or ATen, takes it."""


def flat(values: Iterable[Any]) -> list[Any]:
    """With the elements of lists in their place."""
    return [each for v in values for each in (v if isinstance(v, (list, tuple)) else [v])]


@cache
def module(file: str) -> Any:
    return quern.load(KERNELS / file)


@cache
def overload(name: str) -> Any:
    namespace, _, rest = name.partition("::")
    base, _, variant = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), variant or "default")


def admits(constraint: str, dtype: torch.dtype) -> bool:
    """Whether a type parameter's constraint takes the type."""
    is_float, is_bool = dtype in FLOATS, dtype == torch.bool
    if dtype.is_complex:  # the language has no type for halves of 16 bits
        return constraint in ("Any", "Number", "Complex") and dtype != torch.complex32
    return {
        "Any": True,
        "Ordered": True,
        "Number": not is_bool,
        "Real": not is_bool,
        "Integral": not is_float,
        "Int": not is_float and not is_bool,
        "Float": is_float,
        "Bool": is_bool,
        "Complex": False,
    }[constraint]


def draws(row: Row) -> bool:
    """Whether a number of the generator goes in."""
    return any(right == "generator" for _, right in row["bindings"])


def literal(text: str) -> Any:
    """A constant of an attribute; NotImplemented for a name."""
    if text in WORDS:
        return WORDS[text]
    if text.startswith("("):
        return [literal(part.strip()) for part in text.strip("()").split(",")]
    if text.startswith('"'):
        return text.strip('"')
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?[\d.]+(e-?\d+)?", text):
        return float(text)
    return NotImplemented


def promotion(text: str) -> tuple[str, set[str]]:
    """The kind, and the arguments that take part where the attribute lists them."""
    listed = re.fullmatch(r"promotes\((?:(\w+), )?args = \(?([^()]*)\)?\)", text)
    if not listed:
        return text, set()
    return listed[1] or "default", set(re.findall(r"\w+", listed[2]))


def axes_of(kind: str) -> list[str]:
    """Names of a tensor type's axes in order, `*R` for a pack."""
    inside = re.search(r"\[(.*)\]", kind)
    return [part.split("=")[0].strip() for part in inside[1].split(",")] if inside else []


def element_of(kind: str) -> str:
    return re.split(r"\[(?![^(]*\))", kind.removeprefix("mut "))[0].rstrip("?")


def accumulator(dtype: torch.dtype) -> torch.dtype:
    if dtype == torch.float64 or dtype.is_complex:
        return dtype
    return torch.float32 if dtype.is_floating_point else torch.int64


def number_of(name: str, value: torch.Tensor) -> Any:
    if value.dim():
        raise UnfitError(f"{name} is a number")
    return value.item()


def expanded(value: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    try:
        return value.expand(list(shape))
    except RuntimeError as error:
        raise UnfitError(f"shapes: {error}") from None


def ordered(row: Row, axis: str, dims: list[int]) -> list[int]:
    """Dimensions in their order, which they have where each of them has a number of its own."""
    numbered = any(kind == f"int[{axis}]" for _, kind, _ in row["parameters"])
    if numbered and dims != sorted(set(dims)):
        raise UnfitError("the kernel takes the axes in their order, each of them once")
    return sorted(dims)


def refuse_empty(values: Iterable[Any], dims: Sequence[int] | None) -> None:
    """Along these dimensions of the first tensor, or all, there must be an element."""
    main = next(v for v in flat(values) if isinstance(v, torch.Tensor))
    if main.dim() and any(main.shape[d] == 0 for d in dims or range(main.dim())):
        raise UnfitError("there is no element")


def unnamed(kind: str) -> str:
    """`y: T[*R]` without the result's name."""
    return re.sub(r"^\w+: ", "", kind)
