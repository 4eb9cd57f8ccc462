"""Executes kernels for AMD's GPUs: their LLVM IR, compiled for this machine, thread by thread."""

from __future__ import annotations

import ctypes
import functools
import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from emulator.kernels import GpuKernel
from emulator.ptx import Words
from emulator.ptx_types import Array

HERE = Path(__file__).parent
CLANG = "clang++-22"
OPTIONS = ("-fPIC", "-march=x86-64-v3", "-w")
DECLARED = re.compile(
    r"^declare (?P<result>[^@]*?) ?@llvm\.amdgcn\.(?P<name>\S+?)\((?P<types>.*)\).*$"
)
BITS = {"float": 32, "double": 64, "half": 16, "bfloat": 16}
#: Bytes before and behind an array that must stay as they are.
GUARD = 4096


class AmdError(Exception):
    """What went wrong in a kernel."""


@functools.cache
def folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="lanes")


@functools.cache
def runtime() -> Path:
    made = Path(folder().name) / "lanes.o"
    words = [CLANG, "-O1", "-std=c++20", *OPTIONS, "-c", HERE / "lanes.cpp", "-o", made]
    subprocess.run(words, check=True)
    return made


def size_of(kind: str) -> int:
    vector = re.match(r"<(\d+) x (\w+)>", kind)
    count, element = (int(vector[1]), vector[2]) if vector else (1, kind)
    return count * max(8, BITS.get(element) or int(element.removeprefix("i"))) // 8


def split(types: str) -> list[str]:
    """The types of a list of parameters."""
    parts = re.findall(r"<[^>]*>|[^,<\s][^,]*", types)
    return [part if part[0] == "<" else part.split()[0] for part in parts]


def wrapper(result: str, name: str, types: Sequence[str]) -> str:
    """A function that hands its operands over in memory."""
    words = result.split(">")
    kind = words[0].split()[-1] if len(words) == 1 else result[result.index("<") :]
    parameters = ", ".join(f"{kind_} %a{n}" for n, kind_ in enumerate(types))
    lines = [
        f'@"name.{name}" = private constant [{len(name) + 1} x i8] c"{name}\\00"',
        f'define internal {kind} @"amd.{name}"({parameters}) alwaysinline {{',
        f"  %r = alloca {'i64' if kind == 'void' else kind}",
        f"  %l = alloca [{len(types) + 1} x ptr]",
    ]
    for n, kind_ in enumerate(types):
        lines += [
            f"  %m{n} = alloca {kind_}",
            f"  store {kind_} %a{n}, ptr %m{n}",
            f"  %p{n} = getelementptr ptr, ptr %l, i32 {n}",
            f"  store ptr %m{n}, ptr %p{n}",
        ]
    size = 0 if kind == "void" else size_of(kind)
    lines += [f'  call void @quern_lanes(ptr @"name.{name}", ptr %r, ptr %l, i32 {size})']
    if kind == "void":
        return "\n".join([*lines, "  ret void", "}"])
    return "\n".join([*lines, f"  %v = load {kind}, ptr %r", f"  ret {kind} %v", "}"])


def for_this_machine(text: str) -> str:
    """The module with the vendor's operations as calls."""
    text = re.sub(r"^target .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^attributes (#\d+) = .*$", r"attributes \1 = { nounwind }", text, flags=re.M)
    text = re.sub(r"\bbyref\([^)]*\) ?", "", text).replace("amdgpu_kernel ", "")
    lines, wrappers = [], ["declare void @quern_lanes(ptr, ptr, ptr, i32)"]
    for line in text.splitlines():
        if found := DECLARED.match(line):
            wrappers.append(wrapper(found["result"], found["name"], split(found["types"])))
        else:
            lines.append(re.sub(r"@llvm\.amdgcn\.([\w.]+)", r'@"amd.\1"', line))
    return "\n".join([*lines, *wrappers, ""])


def compiled(text: str) -> ctypes.CDLL:
    with tempfile.NamedTemporaryFile("w", suffix=".ll", dir=folder().name, delete=False) as file:
        file.write(for_this_machine(text))
    image = Path(file.name).with_suffix(".so")
    words = [CLANG, "-O0", *OPTIONS, "-shared", "--rtlib=compiler-rt", "-x", "ir", file.name]
    done = subprocess.run(
        [*words, "-x", "none", runtime(), "-o", image], capture_output=True, text=True
    )
    if done.returncode:
        raise AmdError(done.stderr)
    library = ctypes.CDLL(str(image))
    library.quern_run.restype = ctypes.c_char_p
    return library


class Guarded:
    """A copy of an array between bytes that nobody may write."""

    def __init__(self, array: Array) -> None:
        self.array, odd = array, array.ctypes.data % 16
        self.memory = np.full(array.nbytes + 2 * GUARD + 32, 0xA5, np.uint8)
        self.first = GUARD - (self.memory.ctypes.data + GUARD) % 16 + 16 + odd
        self.inside[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)

    @property
    def inside(self) -> Array:
        return self.memory[self.first : self.first + self.array.nbytes]

    @property
    def address(self) -> int:
        return self.memory.ctypes.data + self.first

    def back(self) -> Array:
        outside = self.memory[: self.first], self.memory[self.first + self.array.nbytes :]
        if any((part != 0xA5).any() for part in outside):
            raise AmdError("a kernel wrote beside an array")
        return self.inside.view(self.array.dtype).reshape(self.array.shape).copy()


@dataclass
class AmdKernel(GpuKernel):
    """One declaration, built for a target of AMD."""

    target: str = "gfx942"
    backwards: bool = False
    library: ctypes.CDLL | None = field(init=False, default=None)

    @property
    def warp(self) -> int:
        return 64 if self.target.startswith("gfx9") else 32

    @property
    def meaning(self) -> str:
        return f"{self.warp} {for_this_machine(self.code)} {json.dumps(self.abi)}"

    def prepare(self) -> None:
        self.code = self.build("llvm")

    def execute(
        self, symbol: str, grid: Any, block: Any, words: Sequence[Any], shared: int
    ) -> list[Array]:
        guarded: dict[int, Guarded] = {}
        tables: list[Array] = []

        def held(words: Sequence[Any]) -> Array:
            return np.array([number(word) & (2**64 - 1) for word in words], np.uint64)

        def number(word: Any) -> int:
            if isinstance(word, Words):
                tables.append(held(word.items))
                return int(tables[-1].ctypes.data)
            if isinstance(word, np.ndarray) and word.ndim:
                if id(word) not in guarded:
                    guarded[id(word)] = Guarded(word)
                return guarded[id(word)].address
            return int(word)

        raw = held(words)
        shapes = [
            (ctypes.c_uint * 3)(*[*map(int, np.atleast_1d(n)), 1, 1][:3]) for n in (grid, block)
        ]
        self.library = self.library or compiled(self.code)
        entry = ctypes.cast(getattr(self.library, symbol), ctypes.c_void_p)
        error = self.library.quern_run(
            entry, ctypes.c_void_p(raw.ctypes.data), *shapes, self.warp, int(self.backwards)
        )
        if error:
            raise AmdError(f"{symbol}: {error.decode()}")
        return [one.back() for one in guarded.values()]


def kernel_for(
    program: Path, file: Path, name: str, target: str, options: Sequence[str] = ()
) -> GpuKernel:
    """PTX for the emulator, or code for AMD that this machine runs."""
    kind = GpuKernel if target.startswith("sm_") else AmdKernel
    return kind(program, file, name, target, options)
