"""Launches that serve several calls of a kernel, built with `--listed`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from emulator.kernels import GpuKernel
from emulator.ptx import Words
from emulator.ptx_types import Array

#: Words of a parameter, and of its head.
WHOLE, HEAD = 512, 3


@dataclass
class Table:
    """A row for each call, and which row every block has."""

    rows: list[Any] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)

    def add(self, words: Sequence[Any], blocks: int) -> None:
        self.rows += [*words, blocks, sum(self.blocks)]
        self.blocks.append(blocks)

    def parameter(self, far: bool) -> list[Any]:
        """The table in it, or an address."""
        last = sum(self.blocks[:-1])
        numbers = np.repeat(np.arange(len(self.blocks)), self.blocks)[: last + 1]
        numbers = np.pad(numbers.astype(np.uint16), (0, -len(numbers) % 4))
        words = [*self.rows, *map(int, numbers.view(np.uint64))]
        head = [Words(words) if far else 0, 8 * len(self.rows), last]
        whole = head if far else [*head, *words]
        assert len(whole) <= WHOLE
        return [*whole, *[0] * (WHOLE - len(whole))]


def run_together(
    kernel: GpuKernel,
    calls: Sequence[Sequence[Array]],
    scalars: Sequence[Sequence[Any]],
    far: bool,
) -> None:
    """Launches everything, with tables in memory if `far`; calls whose entries are the same share
    a launch."""
    kernel.errors = np.zeros(3, np.int64)
    sizes = [kernel.sizes(call) for call in calls]
    flat = [[kernel.owner(array) for array in call] for call in calls]
    rooms = [
        np.zeros(max(kernel.workspace(launch, of) for launch in kernel.abi["launches"]))
        for of in sizes
    ]
    for launch in kernel.abi["launches"]:
        tables: dict[Any, Table] = {}
        for call, own, of, room, numbers in zip(calls, flat, sizes, rooms, scalars, strict=True):
            words = [
                kernel.word(word, own, room, call, of, numbers) for word in kernel.abi["words"]
            ]
            runs = kernel.runs(launch, words)
            shape = kernel.shape(launch, of, words, 3) if runs else None
            if shape is None:
                continue
            symbol, grid, block, shared, _ = shape
            tables.setdefault((symbol, block, shared), Table()).add(words, grid)
        for (symbol, block, shared), table in tables.items():
            parameter, blocks = table.parameter(far), sum(table.blocks)
            back = kernel.execute(symbol, blocks, block, parameter, shared)
            seen = {id(w): w for w in table.rows if isinstance(w, np.ndarray) and w.ndim}
            for array, now in zip(seen.values(), back, strict=True):
                array[...] = now
