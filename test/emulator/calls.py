"""Makes calls of a declaration from what it says: extents, operands, numbers, constants."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from emulator.declared import TAKEN, Declaration, Parameter, Typed, split
from emulator.headers import Header, Operand

Array = np.ndarray[Any, Any]
ELEMENTS: dict[str, Any] = {
    "bf16": np.uint16, "f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "ui8": np.uint8,
    "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64, "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}  # fmt: skip
#: Constraints that admit every float.
ADMIT_FLOATS = ("Any", "Ordered", "Number", "Real", "Float")
#: What a list of tensors has where `quern build` makes the code.
LISTED = 2


@dataclass
class Call:
    """The arguments of a call, and what the kernel behind it takes for them."""

    given: list[Any] = field(default_factory=list)
    named: dict[str, Any] = field(default_factory=dict)
    #: The memory of `given`, with joined axes apart.
    arrays: list[Array] = field(default_factory=list)
    scalars: list[np.generic] = field(default_factory=list)
    extents: dict[str, int] = field(default_factory=dict)


def in_memory(element: str, numbers: Any) -> Array:
    """Numbers as a kernel reads them: NumPy has bits for bf16. They are cut, not rounded."""
    if element != "bf16":
        return np.asarray(numbers).astype(ELEMENTS[element])
    return np.asarray(np.asarray(numbers, np.float32).view(np.uint32) >> 16, np.uint16)


def numbers_of(element: str, array: Array) -> Array:
    """What the memory of a kernel means."""
    if element != "bf16":
        return array
    return np.asarray(array.astype(np.uint32) << 16, np.uint32).view(np.float32)


def as_given(element: str, array: Array) -> torch.Tensor:
    """The same memory as a caller has it who has bf16."""
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if element == "bf16" else tensor


def sample(element: str, shape: Sequence[int], seed: int) -> Array:
    """Floats are in (0, 1), integers 1 or 2."""
    random = np.random.default_rng(seed)
    kind = np.dtype(ELEMENTS[element])
    if kind.kind == "c":
        parts = random.random((2, *shape)) * 0.9 + 0.05
        return np.asarray(parts[0] + 1j * parts[1]).astype(kind)
    if element == "bf16" or kind.kind == "f":
        return in_memory(element, random.random(shape) * 0.9 + 0.05)
    if kind.kind == "b":
        return np.asarray(random.random(shape) < 0.5)
    return np.asarray(random.integers(1, 3, shape)).astype(kind)


def values(kind: str) -> list[Any]:
    """What a compile-time parameter is given, one after the other: every choice that it has."""
    given, *default = split(kind, "=")
    if given.startswith("match "):
        return split(given[given.index("{") + 1 : -1])
    several = re.fullmatch(r"bool\[(\d+)\]", given)
    if several:
        places = range(int(several[1]))
        return [(True,) * len(places), *(tuple(n == one for n in places) for one in places)]
    plain: dict[str, list[Any]] = {"bool": [True, False], "int": [] if default else [1, 2, 0]}
    return plain.get(given) or re.findall(r'"([^"]*)"', given)


def variants(declaration: Declaration) -> range:
    """In as many calls each choice is made at least once."""
    kinds = declaration.constants.values()
    return range(max((len(values(kind)) for kind in kinds), default=1))


def picked(declaration: Declaration, variant: int) -> dict[str, Any]:
    pairs = [(name, values(kind)) for name, kind in declaration.constants.items()]
    return {name: listed[variant % len(listed)] for name, listed in pairs if listed}


def chosen(declaration: Declaration, variant: int = 0) -> dict[str, Any]:
    """A value for each compile-time parameter that follows from nothing."""
    kinds = declaration.constants
    every = picked(declaration, variant).items()
    return {name: value for name, value in every if not kinds[name].startswith("match ")}


def options(declaration: Declaration, variant: int = 0, element: str = "f32") -> list[str]:
    """The same for `quern build`, and what the numbers of the call choose."""
    words = []
    for name, value in picked(declaration, variant).items():
        digits = isinstance(value, tuple)
        text = "".join(str(int(v)) for v in value) if digits else str(value)
        words.append(f"{name}={text.lower() if isinstance(value, bool) else text}")
    types = [f"--types=T={element}"] if element != "f32" else []
    return types + (["--constants=" + ",".join(words)] if words else [])


def subjects(declaration: Declaration, variant: int = 0) -> dict[str, float]:
    """Numbers that choose among bodies; `else` is one that is not listed."""
    numbers: dict[str, float] = {}
    every = picked(declaration, variant)
    for name, kind in declaration.constants.items():
        if found := re.match(r"match (\w+) ", kind):
            listed = [float(one) for one in values(kind) if one != "else"]
            other = max(one for one in listed if math.isfinite(one)) + 1.5
            numbers[found[1]] = other if every[name] == "else" else float(every[name])
    return numbers


def extents(axes: Sequence[str], first: int, number: int) -> Iterator[dict[str, int]]:
    """Different ones where axes are few, small where they are many; the last are all the same: 3
    things have as many pairs."""
    count = len(axes)
    step, begin = (4, first) if count < 4 else (1, 2 + number)
    sizes = [begin + step * place for place in range(count)]
    if count > 6:
        sizes = [2 + 2 * number * place // count % 2 for place in range(count)]
    for order in (sizes, sizes[::-1], [max(sizes, default=1)] * count, [3] * count):
        yield dict(zip(axes, order, strict=True))


def folded(typed: Typed, shape: Sequence[int]) -> list[int]:
    """The shape with joined axes as one, as a caller has it."""
    if typed.axes is None:
        return list(shape)
    rest = iter(shape)
    return [math.prod(next(rest) for _ in parts) for parts in typed.axes]


def unfolded(typed: Typed, array: Array, sizes: dict[str, int]) -> Array:
    """The same memory with joined axes apart, as a kernel has it."""
    shape: list[int] = []
    for parts, extent in zip(typed.axes or [[""]] * array.ndim, array.shape, strict=True):
        shape += [sizes[part] for part in parts] if len(parts) > 1 else [extent]
    return array.reshape(shape)


@dataclass(frozen=True)
class Way:
    """How a call is made: the choices, what `T` is, and numbers that are no extents: they begin at
    `number`, or at 0.5, and are `apart`; integers of tensors are 0 where they are `empty`."""

    number: int
    variant: int = 0
    element: str = "f32"
    apart: int = 0
    empty: bool = False


class Maker:
    """Makes one call."""

    def __init__(self, declaration: Declaration, header: Header, way: Way) -> None:
        self.declaration, self.way = declaration, way
        self.order, self.joined = list(header.order), header.joined
        self.subjects = subjects(declaration, way.variant)
        self.call, self.ends = Call(), list[int]()

    def make(self, sizes: dict[str, int]) -> Call:
        call, self.call.extents = self.call, sizes
        for parameter in self.declaration.parameters:
            call.given.append(self.argument(parameter))
        types = {name: TAKEN.get(kind, "f32") for name, kind in self.declaration.types.items()}
        if self.way.element != "f32":
            types["T"] = self.way.element
        ranks = dict.fromkeys(self.declaration.packs, 1)
        call.named = {**types, **ranks, **chosen(self.declaration, self.way.variant)}
        call.scalars += [np.int64(end) for end in self.ends]
        return call

    def argument(self, parameter: Parameter) -> Any:
        typed = parameter.typed
        if typed.listed:
            return self.tensors(typed)
        if isinstance(self.order[0], Operand):
            return self.tensor(typed, self.call.extents)
        if typed.axes is not None:
            self.call.extents.setdefault(typed.axes[0][0].removeprefix("*"), 1)
            return [self.word(parameter.name)]
        value = self.word(parameter.name)
        is_complex = self.declaration.types.get(typed.element) == "Complex"
        return complex(value, self.word(parameter.name, is_imaginary=True)) if is_complex else value

    def tensors(self, typed: Typed) -> list[Any]:
        """They share out the axis along which they are joined."""
        total = self.call.extents[self.joined]
        self.ends = [total * (place + 1) // LISTED for place in range(LISTED)]
        lengths = np.diff(self.ends, prepend=0).tolist()
        return [self.tensor(typed, {**self.call.extents, self.joined: n}) for n in lengths]

    def tensor(self, typed: Typed, sizes: dict[str, int]) -> Any:
        operand = self.order.pop(0)
        assert isinstance(operand, Operand)
        shape = [sizes[axis] for axis in operand.axes]
        array = sample(operand.element, shape, len(self.call.arrays))
        if self.way.empty and operand.element != "bf16" and array.dtype.kind in "iu":
            array = np.zeros_like(array)
        self.call.arrays.append(array)
        array = array.reshape(folded(typed, shape))
        return as_given(operand.element, array) if self.way.element == "bf16" else array

    def word(self, name: str, is_imaginary: bool = False) -> Any:
        """A number that chooses among bodies is real."""
        kind = self.order.pop(0)
        assert isinstance(kind, str)
        further = self.way.apart * len(self.call.scalars)
        number = self.subjects.get(name, self.call.extents.get(name, self.way.number + further))
        real = self.subjects.get(name, 0.5 + further)
        if is_imaginary and name in self.subjects:
            real = 0
        is_real = kind in ("bf16", "f16", "f32", "f64")
        value = in_memory(kind, number == 1 if kind == "i1" else real if is_real else number)
        self.call.scalars.append(value.reshape(1)[0])
        return numbers_of(kind, value).item()


def made(declaration: Declaration, header: Header) -> list[Operand]:
    """The operands that a call gives back; what it writes in place is a parameter."""
    count = header.results - sum(p.typed.mutable for p in declaration.parameters)
    return header.operands[len(header.operands) - count :]


def calls(declaration: Declaration, header: Header, first: int, way: Way) -> Iterator[Call]:
    """Calls that differ in their extents; not all of them need to be legal."""
    inputs = len(header.operands) - len(made(declaration, header))
    known = [a for a in header.axes if any(a in o.axes for o in header.operands[:inputs])]
    for apart, empty in ((0, False), (1, False), (0, True)):
        each = replace(way, apart=apart, empty=empty)
        for sizes in extents(known, first, way.number):
            yield Maker(declaration, header, each).make(sizes)


def memory_of(tensor: Any) -> Array:
    """An array over a tensor that a call gave."""
    return np.asarray(tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor)


def results(declaration: Declaration, expected: Any, sizes: dict[str, int]) -> list[Array]:
    """What a call gave, as its kernel would make it: without those that are absent."""
    several = expected if isinstance(expected, tuple) else (expected,)
    pairs = zip(declaration.results, several, strict=True)
    return [unfolded(typed, memory_of(one), sizes) for typed, one in pairs if one is not None]
