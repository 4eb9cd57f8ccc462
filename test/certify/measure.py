"""Errors of compiled functions in units in the last place, against more precise references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import quern
import torch
from functions import FUNCTIONS, source

# The integer type of the same width, the bits of the significand, and the
# exponent of the smallest normal number as frexp gives it.
FORMATS = {
    torch.float16: (torch.int16, 11, -13),
    torch.bfloat16: (torch.int16, 8, -125),
    torch.float32: (torch.int32, 24, -125),
    torch.float64: (torch.int64, 53, -1021),
}
CHUNK = 1 << 22
SPECIAL = [0.0, 1.0, 0.5, 2.0, 2.5, 3.0, 1e-30, 1e30, 88.5, 16777215.0, float("inf")]
SPECIAL = [*SPECIAL, *(-x for x in SPECIAL), float("nan")]


@dataclass
class Worst:
    """The largest error met, where, and how many values were wrong in kind: a NaN,
    an infinity, a zero or its sign. A correctly rounded result counts 0.5."""

    error: float = 0.5
    at: tuple[float, ...] = ()
    wrong: int = 0
    wrong_at: tuple[float, ...] = ()

    def join(self, other: Worst) -> Worst:
        larger = other if other.error > self.error else self
        first = self if self.wrong else other
        return Worst(larger.error, larger.at, self.wrong + other.wrong, first.wrong_at)


@cache
def compiled(name: str) -> quern.Module:
    return quern.compile(source(name), f"{name}.qn")


def every_input(dtype: torch.dtype, step: int = 1, start: int = 0) -> Iterator[list[torch.Tensor]]:
    """All bit patterns of a type of at most 32 bits, or every `step`-th."""
    stored = FORMATS[dtype][0]
    count = 1 << (8 * stored.itemsize)
    for begin in range(start, count, CHUNK * step):
        bits = torch.arange(begin, min(begin + CHUNK * step, count), step)
        yield [bits.to(stored).view(dtype)]  # the upper half are the negative numbers


def sampled(
    dtype: torch.dtype, operands: int, count: int, seed: int
) -> Iterator[list[torch.Tensor]]:
    """Special values in all combinations, then any bits, multiples of a half,
    neighbours of 1, and a moderate range."""
    special = torch.tensor(SPECIAL, dtype=dtype)
    yield [t.reshape(-1) for t in torch.meshgrid(*[special] * operands, indexing="ij")]
    generator = torch.Generator().manual_seed(seed)
    stored = FORMATS[dtype][0]
    limits = torch.iinfo(stored)
    for begin in range(0, count, CHUNK):
        n = min(CHUNK, count - begin) // 3 + 1
        shape = (operands, n)
        bits = torch.randint(limits.min, limits.max, shape, dtype=stored, generator=generator)
        yield list(bits.view(dtype))
        if operands == 2:  # powers take small multiples of a half apart
            halves = torch.randint(-7, 8, (n,), generator=generator) / 2
            yield [bits[0].view(dtype), halves.to(dtype)]
        uniform = torch.rand(shape, dtype=torch.float64, generator=generator)
        moderate = 40 * (uniform - 0.5)
        yield list(moderate.to(dtype))
        moderate[0] = 0.6 + 0.8 * uniform[0]
        yield list(moderate.to(dtype))


def exact(name: str, inputs: list[torch.Tensor]) -> np.ndarray | torch.Tensor:
    """The reference in the type that holds more digits than the inputs'."""
    function = FUNCTIONS[name]
    if inputs[0].dtype != torch.float64:
        return function.double(*(x.double() for x in inputs))
    assert function.extended is not None
    with np.errstate(all="ignore"):
        return function.extended(*(x.numpy().astype(np.longdouble) for x in inputs))


def compare(
    ours: torch.Tensor,
    reference: np.ndarray | torch.Tensor,
    inputs: list[torch.Tensor],
    floor: float = 0.0,
) -> Worst:
    if isinstance(reference, torch.Tensor):
        rounded = reference.to(ours.dtype)
    else:
        with np.errstate(all="ignore"):
            rounded = torch.from_numpy(reference.astype(np.float64))
    same = (rounded == ours) & (rounded.signbit() == ours.signbit())
    places = (~(same | (rounded.isnan() & ours.isnan()))).nonzero().flatten()
    if not len(places):
        return Worst()
    y = ours[places].double().numpy().astype(np.longdouble)
    index = places.numpy()
    r = (reference.numpy() if isinstance(reference, torch.Tensor) else reference)[index]
    return _errors(y, r.astype(np.longdouble), ours.dtype, [x[places] for x in inputs], floor)


def _errors(
    y: np.ndarray, r: np.ndarray, dtype: torch.dtype, inputs: list[torch.Tensor], floor: float
) -> Worst:
    _, digits, smallest = FORMATS[dtype]
    # An infinity stands for the power of two behind the largest number.
    top = np.ldexp(np.longdouble(1), 3 - smallest)
    kind = (np.isnan(y) != np.isnan(r)) | (np.isinf(r) & (y != r))
    kind |= (r == 0) | ((np.signbit(y) != np.signbit(r)) & (y == 0))
    bounded = np.clip(y, -top, top)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(np.maximum(np.abs(r), floor))[1], smallest)
        error = np.abs(bounded - r) / np.ldexp(np.longdouble(1), exponent - digits)
    error[kind | np.isnan(error)] = 0
    worst = int(error.argmax())

    def place(i: int) -> tuple[float, ...]:
        return tuple(float(x[i]) for x in inputs)

    wrong_at = place(int(kind.argmax())) if kind.any() else ()
    return Worst(float(error[worst]), place(worst), int(kind.sum()), wrong_at)


def measure(name: str, batches: Iterator[list[torch.Tensor]]) -> Worst:
    """The worst of one function over batches of inputs."""
    kernel = compiled(name).measured
    result = Worst()
    for inputs in batches:
        floor = FUNCTIONS[name].floor
        result = result.join(compare(kernel(*inputs), exact(name, inputs), inputs, floor))
    return result
