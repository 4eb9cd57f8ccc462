"""Runs kernels that `quern build` made for a GPU: packet, geometry and workspace."""

from __future__ import annotations

import functools
import json
import operator
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from emulator.headers import Header, Operand, read
from emulator.ptx import Module, Words
from emulator.ptx_types import Array

ERROR_BYTES = 24


def signed(value: int, width: int = 64) -> int:
    value &= 2**width - 1
    return value - 2**width if value >> (width - 1) else value


#: Steps of a launch's geometry, or of its condition, that take two numbers.
STEPS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": lambda a, b: 0 if b == 0 else abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1),
    "remainder": lambda a, b: 0 if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1),
    "smallest": min,
    "largest": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shift-left": lambda a, b: a << b if b < 64 else 0,
    "shift-right": lambda a, b: a >> min(b, 63),
    "equal": lambda a, b: int(a == b),
    "less": lambda a, b: int(a < b),
} | {
    f"{name}-unsigned": lambda a, b, of=of: of(a % 2**64, b % 2**64)
    for name, of in {
        "divide": lambda a, b: a // b if b else 0,
        "remainder": lambda a, b: a % b if b else 0,
        "smallest": min,
        "largest": max,
        "shift-right": lambda a, b: a >> min(b, 64),
        "less": lambda a, b: int(a < b),
    }.items()
}


def evaluate(geometry: dict[str, Any], words: Sequence[Any]) -> list[int]:
    """Blocks along x, y, z, and the threads of a block."""
    values: list[int] = []
    for step in geometry["steps"]:
        of, kind = [values[n] for n in step.get("of", [])], step["step"]
        if kind == "constant":
            value = int(step["value"])
        elif kind == "word":
            value = int(words[step["value"]])
        elif kind == "choose":
            value = of[1] if of[0] else of[2]
        elif kind == "sign-extend":
            value = signed(of[0], step["value"])
        elif kind == "zero-extend":
            value = of[0] & (2 ** step["value"] - 1)
        else:
            value = STEPS[kind](*of)
        values.append(signed(value))
    return [values[n] for n in geometry["results"]]


def quern(program: Path, *words: str) -> str:
    done = subprocess.run([program, "build", *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"quern build {' '.join(words)}: {done.stderr}")
    return done.stdout


@dataclass
class GpuKernel:
    """One declaration, built for a target."""

    program: Path
    file: Path
    declaration: str
    target: str = "sm_90"
    options: Sequence[str] = ()
    #: The end of an entry's name that is taken whatever the extents are.
    forced: str = ""
    header: Header = field(init=False)
    errors: Array = field(init=False)
    code: str = field(init=False)

    def __post_init__(self) -> None:
        self.abi: dict[str, Any] = json.loads(self.build("abi"))
        self.prepare()
        self.header = read(self.build("qn"))

    @property
    def axes(self) -> list[str]:
        return self.header.axes

    @property
    def operands(self) -> list[Operand]:
        return self.header.operands

    def prepare(self) -> None:
        """Makes what `execute` needs."""
        self.code = self.build("ptx")

    @functools.cached_property
    def module(self) -> Module:
        return Module(self.code)

    @property
    def meaning(self) -> str:
        """All that a run depends on: targets that have the same need only one."""
        head = r"^\.(version|target) .*$"
        return re.sub(head, "", self.code, flags=re.MULTILINE) + json.dumps(self.abi)

    def execute(
        self, symbol: str, grid: Any, block: Any, words: Sequence[Any], shared: int
    ) -> list[Array]:
        """Runs an entry on a packet; gives its arrays, each once, as they are then."""
        packet = Words(words, self.abi.get("words_in_memory", False))
        return self.module.launch(symbol, grid, block, [packet], shared=shared)

    def build(self, stage: str) -> str:
        return quern(
            self.program,
            str(self.file),
            self.declaration,
            f"--emit={stage}",
            f"--target={self.target}",
            *self.options,
        )

    def run(
        self,
        arrays: Sequence[Array],
        scalars: Sequence[Any] = (),
        extents: Mapping[str, int] | None = None,
        blocks: int = 3,
    ) -> list[Array]:
        """Launches everything, for all extents its entries are meant for; gives the operands."""
        sizes = dict(extents or {}) | self.sizes(arrays)
        memory = [np.lib.stride_tricks.as_strided(a, a.shape, a.strides) for a in arrays]
        flat = [self.owner(array) for array in memory]
        self.errors = np.zeros(3, np.int64)
        workspace = np.zeros(max(self.workspace(launch, sizes) for launch in self.abi["launches"]))
        for launch in self.abi["launches"]:
            words = [
                self.word(w, flat, workspace, memory, sizes, scalars) for w in self.abi["words"]
            ]
            if not self.runs(launch, words):
                continue
            shape = self.shape(launch, sizes, words, blocks)
            if shape is None:
                continue
            symbol, grid, block, shared, behind = shape
            back = self.execute(symbol, grid, block, [*words, *behind], shared)
            kept = [w for w in words if isinstance(w, np.ndarray) and w.ndim]
            seen: list[Array] = []
            for array in kept:
                if not any(array is one for one in seen):
                    seen.append(array)
            for array, now in zip(seen, back, strict=True):
                array[...] = now
        return list(arrays)

    @staticmethod
    def runs(launch: dict[str, Any], words: Sequence[Any]) -> bool:
        """Of launches that compute the same, the words choose."""
        return "when" not in launch or evaluate(launch["when"], words)[0] != 0

    def sizes(self, arrays: Sequence[Array]) -> dict[str, int]:
        """The extents that operands have along axes."""
        sizes: dict[str, int] = {}
        for operand, array in zip(self.operands, arrays, strict=True):
            sizes.update(zip(operand.axes, array.shape, strict=True))
        return sizes

    def shape(
        self, launch: dict[str, Any], sizes: dict[str, int], words: list[Any], blocks: int
    ) -> tuple[str, Any, Any, int, list[int]] | None:
        """Entry, grid, block, bytes asked for and the words behind the packet."""
        if "geometry" in launch:
            geometry = launch["geometry"]
            values = evaluate(geometry, words)
            if min(values) <= 0:
                return None
            symbol = launch["entries"][0]["symbol"]
            return symbol, values[:3], values[3:], geometry["shared_bytes"], [0, 0, 0]
        entry = self.entry(launch, sizes)
        units = self.units(entry, sizes)
        if units == 0:
            return None
        teams = -(-units // entry["units_per_block"])
        grid = (teams if entry.get("once") else min(teams, blocks)) * entry.get("cluster", 1)
        threads = entry["threads"]
        if step := entry.get("step_lanes"):
            lanes = sizes[self.axes[launch["lane_axis"]]]
            threads = min(max(-(-lanes // step), 1) * entry["step_threads"], threads)
        return entry["symbol"], grid, threads, entry.get("shared_bytes", 0), [grid]

    @staticmethod
    def owner(array: Array) -> Array:
        """The flat memory a view lies in, from its first element on."""
        last = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True))
        count = 0 if 0 in array.shape else last // array.itemsize + 1
        return np.lib.stride_tricks.as_strided(array, (max(count, 1),), (array.itemsize,))

    def workspace(self, launch: dict[str, Any], sizes: dict[str, int]) -> int:
        words = (-(-term["bytes"] * self.units(term, sizes) // 8) for term in launch["workspace"])
        return max(1, sum(words))

    def units(self, tiled: dict[str, Any], sizes: dict[str, int]) -> int:
        counts = [(-(-sizes[self.axes[t["axis"]]] // t["elements"]), t) for t in tiled["tiles"]]
        return prod(min(count, t.get("most", count)) for count, t in counts)

    def entry(self, launch: dict[str, Any], sizes: dict[str, int]) -> Any:
        lane = launch["lane_axis"]
        lanes = sizes.get(self.axes[lane], 0) if 0 <= lane < len(self.axes) else 0
        if self.forced:
            return next(e for e in launch["entries"] if e["symbol"].endswith(self.forced))
        fits = (
            entry
            for entry in launch["entries"]
            if (entry["most_lanes"] < 0 or lanes <= entry["most_lanes"])
            and self.units(entry, sizes) >= entry.get("least_units", 0)
            and all(sizes[self.axes[t["axis"]]] >= t.get("least", 0) for t in entry["tiles"])
        )
        return next(fits)

    def word(
        self,
        word: dict[str, Any],
        flat: Sequence[Array],
        workspace: Array,
        arrays: Sequence[Array],
        sizes: dict[str, int],
        scalars: Sequence[Any],
    ) -> Any:
        kind = word["kind"]
        if kind == "error-record":
            return self.errors
        if kind == "workspace":
            return workspace
        if kind == "extent":
            return sizes[self.axes[word["axis"]]]
        if kind == "scalar":
            raw = np.asarray(scalars[word["operand"]]).tobytes()
            return int.from_bytes(raw, "little")
        place = [operand.number for operand in self.operands].index(word["operand"])
        if kind == "pointer":
            return flat[place]
        return arrays[place].strides[word["axis"]] // arrays[place].itemsize
