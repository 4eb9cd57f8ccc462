"""Makes calls of a declaration from what it says: extents, operands, numbers, constants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from emulator.declared import TAKEN, Declaration, Parameter, Typed, split
from emulator.headers import Header, Operand

Array = np.ndarray[Any, Any]
ELEMENTS: dict[str, Any] = {
    "f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8, "i16": np.int16,
    "i32": np.int32, "i64": np.int64, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32,
    "ui64": np.uint64, "complex<f32>": np.complex64, "complex<f64>": np.complex128,
}  # fmt: skip
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


def sample(element: str, shape: Sequence[int], seed: int) -> Array:
    """Floats are in (0, 1), integers 1 or 2."""
    random = np.random.default_rng(seed)
    kind = np.dtype(ELEMENTS[element])
    if kind.kind == "c":
        parts = random.random((2, *shape)) * 0.9 + 0.05
        return np.asarray(parts[0] + 1j * parts[1]).astype(kind)
    if kind.kind == "f":
        return np.asarray(random.random(shape) * 0.9 + 0.05).astype(kind)
    if kind.kind == "b":
        return np.asarray(random.random(shape) < 0.5)
    return np.asarray(random.integers(1, 3, shape)).astype(kind)


def chosen(declaration: Declaration) -> dict[str, Any]:
    """A value for each compile-time parameter that has no default and follows from nothing."""
    values: dict[str, Any] = {}
    for name, kind in declaration.constants.items():
        if kind.startswith("match ") or len(split(kind, "=")) > 1:
            continue
        several = re.fullmatch(r"bool\[(\d+)\]", kind)
        words = re.findall(r'"([^"]*)"', kind)
        plain = {"bool": True, "int": 1}.get(kind, words[0] if words else None)
        values[name] = (True,) * int(several[1]) if several else plain
    return values


def options(declaration: Declaration) -> list[str]:
    """The same for `quern build`."""
    words = []
    for name, value in chosen(declaration).items():
        digits = isinstance(value, tuple)
        text = "".join(str(int(v)) for v in value) if digits else str(value)
        words.append(f"{name}={text.lower() if isinstance(value, bool) else text}")
    return ["--constants=" + ",".join(words)] if words else []


def subjects(declaration: Declaration) -> dict[str, float]:
    """Numbers that choose among bodies, with the first of their choices."""
    pairs = [re.match(r"match (\w+) \{([^,}]+)", kind) for kind in declaration.constants.values()]
    return {found[1]: float(found[2]) for found in pairs if found}


def extents(axes: Sequence[str], first: int, number: int) -> Iterator[dict[str, int]]:
    """Different ones where axes are few, small where they are many; the last are all the same."""
    count = len(axes)
    step, begin = (4, first) if count < 4 else (1, 2 + number)
    sizes = [begin + step * place for place in range(count)]
    if count > 6:
        sizes = [2 + 2 * number * place // count % 2 for place in range(count)]
    for order in (sizes, sizes[::-1], [max(sizes, default=1)] * count):
        yield dict(zip(axes, order, strict=True))


def folded(typed: Typed, shape: Sequence[int]) -> list[int]:
    """The shape with joined axes as one, as a caller has it."""
    if typed.axes is None:
        return list(shape)
    rest = iter(shape)
    return [prod(next(rest) for _ in parts) for parts in typed.axes]


def unfolded(typed: Typed, array: Array, sizes: dict[str, int]) -> Array:
    """The same memory with joined axes apart, as a kernel has it."""
    shape: list[int] = []
    for parts, extent in zip(typed.axes or [[""]] * array.ndim, array.shape, strict=True):
        shape += [sizes[part] for part in parts] if len(parts) > 1 else [extent]
    return array.reshape(shape)


class Maker:
    """Makes one call: numbers that are no extents begin at `number`, or at 0.5, and are `apart`."""

    def __init__(self, declaration: Declaration, header: Header, number: int, apart: int) -> None:
        self.declaration, self.number, self.apart = declaration, number, apart
        self.order, self.joined = list(header.order), header.joined
        self.subjects = subjects(declaration)
        self.call, self.ends = Call(), list[int]()

    def make(self, sizes: dict[str, int]) -> Call:
        call, self.call.extents = self.call, sizes
        for parameter in self.declaration.parameters:
            call.given.append(self.argument(parameter))
        types = {name: TAKEN.get(kind, "f32") for name, kind in self.declaration.types.items()}
        ranks = dict.fromkeys(self.declaration.packs, 1)
        call.named = {**types, **ranks, **chosen(self.declaration)}
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
        return complex(value, self.word(parameter.name)) if is_complex else value

    def tensors(self, typed: Typed) -> list[Array]:
        """They share out the axis along which they are joined."""
        total = self.call.extents[self.joined]
        self.ends = [total * (place + 1) // LISTED for place in range(LISTED)]
        lengths = np.diff(self.ends, prepend=0).tolist()
        return [self.tensor(typed, {**self.call.extents, self.joined: n}) for n in lengths]

    def tensor(self, typed: Typed, sizes: dict[str, int]) -> Array:
        operand = self.order.pop(0)
        assert isinstance(operand, Operand)
        shape = [sizes[axis] for axis in operand.axes]
        array = sample(operand.element, shape, len(self.call.arrays))
        self.call.arrays.append(array)
        return array.reshape(folded(typed, shape))

    def word(self, name: str) -> Any:
        kind = self.order.pop(0)
        assert isinstance(kind, str)
        further = self.apart * len(self.call.scalars)
        number = self.subjects.get(name, self.call.extents.get(name, self.number + further))
        real = self.subjects.get(name, 0.5 + further)
        value = ELEMENTS[kind]({"i1": number == 1, "f32": real, "f64": real}.get(kind, number))
        self.call.scalars.append(value)
        return value.item()


def made(declaration: Declaration, header: Header) -> list[Operand]:
    """The operands that a call gives back; what it writes in place is a parameter."""
    count = header.results - sum(p.typed.mutable for p in declaration.parameters)
    return header.operands[len(header.operands) - count :]


def calls(declaration: Declaration, header: Header, first: int, number: int) -> Iterator[Call]:
    """Calls that differ in their extents; not all of them need to be legal."""
    inputs = len(header.operands) - len(made(declaration, header))
    known = [a for a in header.axes if any(a in o.axes for o in header.operands[:inputs])]
    for apart in (0, 1):
        for sizes in extents(known, first, number):
            yield Maker(declaration, header, number, apart).make(sizes)


def results(declaration: Declaration, expected: Any, sizes: dict[str, int]) -> list[Array]:
    """What a call gave, as its kernel would make it: without those that are absent."""
    several = expected if isinstance(expected, tuple) else (expected,)
    pairs = zip(declaration.results, several, strict=True)
    return [unfolded(typed, np.asarray(one), sizes) for typed, one in pairs if one is not None]
