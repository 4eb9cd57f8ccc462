"""The compiler through its C interface, on tensors of PyTorch: only addresses are taken."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

HERE = Path(__file__).resolve().parent
#: jit/C.h
HOST, CUDA, HIP = 0, 0x10000, 0x20000
NONE, TENSOR, INTEGER, REAL, BOOL, TEXT = range(6)
DTYPES = {
    torch.bool: b"bool",
    torch.int8: b"i8",
    torch.int16: b"i16",
    torch.int32: b"i32",
    torch.int64: b"i64",
    torch.uint8: b"u8",
    torch.uint32: b"u32",
    torch.float16: b"f16",
    torch.bfloat16: b"bf16",
    torch.float32: b"f32",
    torch.float64: b"f64",
    torch.complex64: b"c64",
    torch.complex128: b"c128",
    torch.uint16: b"u16",
    torch.uint64: b"u64",
}
NAMED = {name.decode(): dtype for dtype, name in DTYPES.items()}


class CTensor(ctypes.Structure):
    """`quern_tensor`."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_char_p),
        ("rank", ctypes.c_int32),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("writable", ctypes.c_int32),
        ("device", ctypes.c_int32),
    )


class CArgument(ctypes.Structure):
    """`quern_argument`."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("tensor", CTensor),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("text", ctypes.c_char_p),
    )


class QuernError(Exception):
    """What the compiler or the driver said."""


def library_path() -> Path:
    """In the archive beside this file, in a checkout in a build folder."""
    given = os.environ.get("QUERN_LIBRARY")
    places = [
        Path(given) if given else HERE / "lib" / "libquern.so",
        HERE.parents[1] / "build" / "release" / "lib" / "libquern.so",
        HERE.parents[1] / "build" / "dev" / "lib" / "libquern.so",
    ]
    found = [place for place in places if place.exists()]
    if not found:
        raise QuernError(f"no libquern.so at {', '.join(map(str, places))}")
    return found[0]


def device_of(tensor: torch.Tensor) -> int:
    if tensor.device.type == "cpu":
        return HOST
    return (HIP if torch.version.hip else CUDA) + (tensor.device.index or 0)


def stream() -> int:
    return int(torch.cuda.current_stream().cuda_stream) if torch.cuda.is_available() else 0


class Library:
    """libquern.so with a session."""

    def __init__(self, threads: int = 0, path: Path | None = None) -> None:
        self.lib = ctypes.CDLL(str(path or library_path()))
        for name in ("quern_open", "quern_compile", "quern_bind"):
            getattr(self.lib, name).restype = ctypes.c_void_p
        self.error = ctypes.c_char_p()
        self.session = self.checked(
            self.lib.quern_open(b"-", threads, ctypes.byref(self.error)), "opening a session"
        )

    def checked(self, handle: int | None, doing: str) -> ctypes.c_void_p:
        if handle is None:
            text = (self.error.value or b"").decode()
            raise QuernError(f"{doing}: {text}")
        return ctypes.c_void_p(handle)

    def compile(self, text: str, name: str) -> Module:
        made = self.lib.quern_compile(
            self.session, text.encode(), name.encode(), ctypes.byref(self.error)
        )
        return Module(self, self.checked(made, name))

    def load(self, path: Path) -> Module:
        return self.compile(path.read_text(), path.name)


class Module:
    """A checked text."""

    def __init__(self, owner: Library, handle: ctypes.c_void_p) -> None:
        self.owner, self.handle = owner, handle

    def bind(self, name: str, arguments: Sequence[Any], **constants: Any) -> Kernel:
        return Kernel(self, name, arguments, constants)

    def __call__(self, name: str, *arguments: Any, **constants: Any) -> Any:
        """Binds, runs, and gives the outputs: one, or a tuple."""
        kernel = self.bind(name, arguments, **constants)
        outputs = kernel.outputs()
        kernel.prepare(outputs)()
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


class Kernel:
    """A declaration bound to arguments; keeps them alive."""

    def __init__(
        self, module: Module, name: str, arguments: Sequence[Any], constants: dict[str, Any]
    ) -> None:
        self.owner, self.module, self.name = module.owner, module, name
        self.tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
        self.kept: list[Any] = []
        given = [self.argument(value, None) for value in arguments]
        given += [self.argument(value, key.encode()) for key, value in constants.items()]
        made = self.owner.lib.quern_bind(
            module.handle,
            name.encode(),
            (CArgument * len(given))(*given),
            len(given),
            ctypes.byref(self.owner.error),
        )
        self.handle = self.owner.checked(made, name)
        self.device = self.tensors[0].device if self.tensors else torch.device("cpu")

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.owner.lib.quern_free_kernel(self.handle)

    def argument(self, value: Any, name: bytes | None) -> CArgument:
        made = CArgument(NONE, name)
        if isinstance(value, torch.Tensor):
            rank = value.dim()
            shape = [(ctypes.c_int64 * rank)(*n) for n in (value.shape, value.stride())]
            self.kept += shape
            made.kind = TENSOR
            made.tensor = CTensor(
                value.data_ptr(), DTYPES[value.dtype], rank, *shape, 1, device_of(value)
            )
        elif isinstance(value, bool):
            made.kind, made.integer = BOOL, int(value)
        elif isinstance(value, int):
            made.kind, made.integer = INTEGER, value
        elif isinstance(value, float):
            made.kind, made.real = REAL, value
        elif isinstance(value, str):
            made.kind, made.text = TEXT, value.encode()
        return made

    def outputs(self) -> list[torch.Tensor]:
        made = []
        for number in range(self.owner.lib.quern_output_count(self.handle)):
            kind, sizes = ctypes.c_char_p(), ctypes.POINTER(ctypes.c_int64)()
            rank = self.owner.lib.quern_output(
                self.handle, number, ctypes.byref(kind), ctypes.byref(sizes)
            )
            dtype = NAMED[(kind.value or b"").decode()]
            made.append(torch.empty(sizes[:rank], dtype=dtype, device=self.device))
        return made

    def prepare(self, outputs: Sequence[torch.Tensor] = ()) -> Any:
        """A function that launches on the current stream, and does nothing else."""
        tensors = [*self.tensors, *outputs]
        pointers = (ctypes.c_void_p * len(tensors))(*[t.data_ptr() for t in tensors])
        run, error, count = self.owner.lib.quern_run_on, self.owner.error, len(tensors)
        where = ctypes.c_void_p(stream() if self.device.type != "cpu" else 0)

        def launch() -> None:
            if run(self.handle, pointers, count, where, ctypes.byref(error)):
                raise QuernError(f"{self.name}: {(error.value or b'').decode()}")

        self.kept.append(tensors)
        return launch
