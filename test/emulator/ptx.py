"""Launches kernels of a PTX text on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from emulator.machine import Machine
from emulator.ptx_types import GLOBAL, KNOWN_SHAPE, TYPES, Array, PtxError, is_known
from emulator.rounding import align_up
from emulator.state import Launch
from emulator.text import Function, Text

GAP = 256
#: What lies between, before anybody writes there.
UNUSED = 0xA5


@dataclass
class Words:
    """A parameter of 64-bit words; an array among them stands for its address, and so do others'
    words."""

    items: Sequence[Any]
    in_memory: bool = False  #: the parameter says where they lie


class Heap:
    """Device memory while a kernel runs: what lies where, with gaps between."""

    def __init__(self) -> None:
        self.size = GAP
        self.parts: list[tuple[int, Array]] = []
        self.arrays: list[tuple[int, Array]] = []

    def add(self, raw: Array, alignment: int = GAP, odd: int = 0) -> int:
        at = align_up(self.size, max(alignment, GAP)) + odd
        self.parts.append((at, raw))
        self.size = at + len(raw) + GAP
        return GLOBAL + at

    def add_array(self, array: Array) -> np.uint64:
        """The same array has one address, as far from a multiple of 16 as it is here."""
        for at, known in self.arrays:
            if known is array:
                return np.uint64(GLOBAL + at)
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        address = self.add(raw, odd=array.ctypes.data % 16)
        self.arrays.append((address - GLOBAL, array))
        return np.uint64(address)

    def memory(self) -> Array:
        memory = np.full(align_up(self.size, GAP), UNUSED, np.uint8)
        for at, raw in self.parts:
            memory[at : at + len(raw)] = raw
        return memory

    def check(self, memory: Array) -> None:
        """What lies between stays as it is, where words of small elements reach there too."""
        between = np.ones(len(memory), bool)
        for at, raw in self.parts:
            between[at : at + len(raw)] = False
        if (changed := np.flatnonzero(between & (memory != UNUSED))).size:
            raise PtxError(f"byte {int(changed[0]):#x} behind an array was changed")

    def spans(self) -> Array:
        return np.array([(at, at + len(raw)) for at, raw in self.parts] or [(0, 0)], np.int64)


class Module(Text):
    """A PTX text whose kernels can be launched."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.address: dict[str, int] = {}
        for function in self.functions.values():
            for ins in function.code:
                names = [part for modifier in ins.mods for part in modifier.split("#")]
                known = all(n in TYPES or is_known(n) or KNOWN_SHAPE.match(n) for n in names)
                ins.fn = getattr(Machine, "op_" + ins.op, None) if known else None

    def launch(
        self,
        name: str,
        grid: Any,
        block: Any,
        args: Sequence[Any],
        shared: int = 0,
        races: bool = True,
        limit: int = 50_000_000,
    ) -> list[Array]:
        """Runs a kernel; the arrays among `args` come back as the kernel left them."""
        if name not in self.functions:
            raise KeyError(f"no kernel {name}; the text has {', '.join(self.functions)}")
        function = self.functions[name]
        shape, threads = ([*map(int, np.atleast_1d(t)), 1, 1][:3] for t in (grid, block))
        heap = Heap()
        self.address = {
            variable: heap.add(raw, alignment)
            for variable, (raw, alignment) in self.globals.items()
        }
        params = self._parameters(function, args, heap)
        memory = heap.memory()
        launch = Launch(self, function, shape, threads, memory, heap.spans(), params, shared, races)
        self.execute(launch, limit)
        heap.check(memory)
        for variable, (raw, _) in self.globals.items():
            raw[:] = memory[self.address[variable] - GLOBAL :][: len(raw)]
        return [
            memory[at : at + a.nbytes].copy().view(a.dtype).reshape(a.shape)
            for at, a in heap.arrays
        ]

    def execute(self, launch: Launch, limit: int = 50_000_000) -> None:
        """Runs all blocks, as many at a time as are a good length for NumPy."""
        function, shape, threads = launch.f, launch.grid, launch.block
        name = function.name
        if function.req and [*function.req, 1, 1][:3] != threads:
            raise PtxError(f"kernel {name} requires blocks of {function.req}, not {threads}")
        if function.most and int(np.prod(threads)) > function.most:
            raise PtxError(f"kernel {name} takes {function.most} threads, not {threads}")
        if shape[0] % function.cluster:
            raise PtxError(f"kernel {name} has clusters of {function.cluster}, {shape} blocks")
        total, step = int(np.prod(shape)), max(1, 16384 // align_up(int(np.prod(threads)), 32))
        step = max(function.cluster, step // function.cluster * function.cluster)
        with np.errstate(all="ignore"):
            for first in range(0, total, step):
                Machine(launch, range(first, min(first + step, total))).run(limit)

    def _parameters(self, function: Function, args: Sequence[Any], heap: Heap) -> Array:
        if len(args) != len(function.params):
            raise TypeError(f"{len(args)} arguments given, the kernel takes {len(function.params)}")

        def held_words(words: Words) -> Array:
            items = [np.uint64(int(plain(item)) & (2**64 - 1)) for item in words.items]
            return np.array(items, np.uint64)

        def plain(value: Any) -> Any:
            if isinstance(value, Words):
                return heap.add(held_words(value).view(np.uint8))
            return heap.add_array(value) if isinstance(value, np.ndarray) and value.ndim else value

        params = np.zeros(max(align_up(function.param_size, 16), 16), np.uint8)
        for (offset, size), value in zip(function.params.values(), args, strict=True):
            if isinstance(value, Words):
                in_memory = value.in_memory
                held = np.asarray(np.uint64(plain(value))) if in_memory else held_words(value)
            else:
                held = np.asarray(plain(value))
            raw = np.frombuffer(held.tobytes(), np.uint8)
            if len(raw) != size:
                raise TypeError(f"an argument has {len(raw)} bytes, the kernel wants {size}")
            params[offset : offset + size] = raw
        return params
