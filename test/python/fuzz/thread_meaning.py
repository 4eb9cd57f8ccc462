"""What a `kernel` means: all threads go through the statements together, under masks."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import quern
from scalar_reference import HELD, Array

WARP = """
kernel warp(y: mut i64[N]):
    launch grid(1) block(1)
    y[0] = target.warp_size
"""


@functools.cache
def host_warp() -> int:
    """Threads of a warp on this CPU."""
    out = np.zeros(1, "i8")
    quern.compile(WARP, "warp.qn").warp(out)
    return int(out[0])


class Left:
    """Who has left a loop, or the round of it at hand."""

    def __init__(self, count: int):
        self.ended, self.gone = np.zeros(count, bool), np.zeros(count, bool)

    def begin(self, mask: Array) -> Array:
        """Who begins another round."""
        self.gone = self.ended.copy()
        return mask & ~self.ended

    def leave(self, mask: Array, for_good: bool) -> None:
        self.gone |= mask
        if for_good:
            self.ended |= mask


class Threads:
    """What all threads of a launch hold."""

    def __init__(self, block: tuple[int, ...], blocks: int, warp: int, inputs: dict[str, Array]):
        self.size, self.blocks, self.inputs = int(np.prod(block)), blocks, inputs
        count = self.size * blocks
        every = np.arange(count)
        self.thread = every % self.size
        self.block = every // self.size
        warps = -(-self.size // warp)
        self.lane, self.warp = self.thread % warp, self.block * warps + self.thread // warp
        self.first, self.width = every - self.lane, warp
        self.alive = np.ones(count, bool)
        self.loops: list[Left] = []
        self.values: dict[str, Array] = {
            "thread.x": self.thread % block[0],
            "thread.y": self.thread // block[0] % (*block, 1, 1)[1],
            "thread.z": self.thread // int(np.prod((*block, 1, 1)[:2])),
            "block.x": self.block,
            "lane()": self.lane,
            "flat": self.thread,
        }
        self.counts = np.zeros(8, "i4")
        self.outputs: dict[str, Array] = {}

    def full(self, value: Any, t: str) -> Array:
        return np.full(len(self.thread), value, HELD[t])

    def set(self, name: str, value: Array, mask: Array) -> None:
        old = self.values.get(name, np.zeros_like(value))
        self.values[name] = np.where(mask, value, old)

    @contextlib.contextmanager
    def inside(self) -> Iterator[Left]:
        """While a loop runs."""
        self.loops.append(Left(len(self.thread)))
        yield self.loops[-1]
        self.loops.pop()

    def stays(self) -> Array:
        """Who is still in the round of the innermost loop."""
        return ~self.loops[-1].gone if self.loops else np.ones(len(self.thread), bool)


Meaning = Callable[[Threads, Array], Array]
Effect = Callable[[Threads, Array], None]


@dataclass
class Term:
    """An expression of element type `type`, and its value in every thread."""

    text: str
    type: str
    meaning: Meaning


@dataclass
class Program:
    """A kernel `k`, and what its statements do."""

    seed: int
    block: tuple[int, ...]
    blocks: int
    lines: list[str] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        outs = ", ".join(f"out{n}: mut {t}[N]" for n, t in enumerate(self.outputs))
        head = f"kernel k(a: i32[N], b: f32[N], counts: mut i32[C], {outs}, n: int):"
        launch = f"launch grid({self.blocks}) block({', '.join(map(str, self.block))})"
        uses = "from reductions use all, any, argmax, count, max, min, sum\n\n"
        return uses + "\n    ".join([head, launch, *self.lines]) + "\n"

    def inputs(self) -> list[Array]:
        rng = np.random.default_rng(self.seed)
        count = int(np.prod(self.block)) * self.blocks
        floats = (rng.integers(-40, 40, count) / 4).astype("f4")
        return [rng.integers(-50, 50, count).astype("i4"), floats]

    def run(self, warp: int) -> list[Array]:
        """The counts and the outputs for warps of this size."""
        a, b = self.inputs()
        threads = Threads(self.block, self.blocks, warp, {"a": a, "b": b})
        everyone = np.ones(len(a), bool)
        with np.errstate(all="ignore"):
            for effect in self.effects:
                effect(threads, everyone & threads.alive)
        return [threads.counts, *(threads.outputs[f"out{n}"] for n in range(len(self.outputs)))]


def together(t: Threads, key: Array, mask: Array, reduce: Callable[[Array], Any]) -> Array:
    """Each thread of the mask gets what `reduce` makes of the members of its group, by thread."""
    out: Array | None = None
    for group in np.unique(key[mask]):
        at = np.flatnonzero(mask & (key == group))
        made = np.asarray(reduce(at))
        if out is None:
            out = np.zeros(len(key), made.dtype)
        out[at] = made
    return np.zeros(len(key), "i8") if out is None else out
