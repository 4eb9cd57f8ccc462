"""A GPU where there is none: the stand-in for CUDA's driver, whose launches the emulator executes.

Its memory is this process's, at the addresses that the emulator gives to global memory."""

from __future__ import annotations

import ctypes
import functools
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import torch

from emulator.ptx import Module
from emulator.ptx_types import GLOBAL, Array
from emulator.rounding import align_up
from emulator.state import Launch

SPACE = 1 << 30
#: The first part of the memory holds what modules declare for themselves.
DECLARED = 1 << 26
RUNNER = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_uint),
    ctypes.c_uint,
    ctypes.c_void_p,
)
#: The driver's numbers for the architecture, and its code of a kernel that went wrong.
MAJOR, MINOR, FAILED = 75, 76, 719
#: The stand-in's own: whether streams say that they are captured.
CAPTURING = 0
#: What a mapping is asked to be: readable, writable, private, nowhere else, and of no file.
PROTECTION, KIND = 3, 0x2 | 0x20 | 0x4000 | 0x100000


def mapped(address: int, size: int) -> Array:
    """Memory at that address."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    if libc.mmap(address, size, PROTECTION, KIND, -1, 0) != address:
        raise OSError(ctypes.get_errno(), f"no memory at {address:#x}")
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


class EmulatedDevice:
    """The driver, opened before anybody asks for it by name; `emulated` gives a process's one."""

    def __init__(self, stand_ins: Path) -> None:
        self.driver = ctypes.CDLL(str(stand_ins / "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)
        self.memory = mapped(GLOBAL, SPACE)
        self.modules: dict[bytes, Module] = {}
        self.declared = 0
        #: Entries that were launched, and what went wrong in one.
        self.launched: list[str] = []
        self.problem = ""
        self.runner = RUNNER(self._launch)
        self.driver.standin_execute.argtypes = (RUNNER, ctypes.c_uint64)
        self.driver.standin_execute(self.runner, GLOBAL + DECLARED)
        self.driver.standin_violations.restype = ctypes.c_char_p

    def become(self, target: str) -> None:
        """What devices say of themselves that are opened from now on."""
        number = int(target.removeprefix("sm_"))
        self.driver.standin_reset()
        self.driver.standin_attribute(MAJOR, number // 10)
        self.driver.standin_attribute(MINOR, number % 10)
        self.launched, self.problem = [], ""

    def capture(self, now: bool) -> None:
        """Streams say so; what is launched is executed all the same."""
        self.driver.standin_attribute(CAPTURING, int(now))

    def allocate(self, size: int) -> int:
        """An address; the memory stays."""
        context, address = ctypes.c_void_p(), ctypes.c_uint64()
        self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        self.driver.cuCtxPushCurrent_v2(context)
        code = self.driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        self.driver.cuCtxPopCurrent_v2(ctypes.byref(context))
        if code:
            raise MemoryError(f"the stand-in gives {code}")
        return address.value

    def bytes_at(self, address: int, size: int) -> Array:
        return self.memory[address - GLOBAL : address - GLOBAL + size]

    @property
    def violations(self) -> str:
        return (self.driver.standin_violations() or b"").decode()

    def _launch(self, image: bytes, entry: bytes, shape: Any, shared: int, parameter: int) -> int:
        try:
            module = self._module(image)
            function = module.functions[entry.decode()]
            size = function.param_size
            params = np.zeros(max(align_up(size, 16), 16), np.uint8)
            params[:size] = np.frombuffer(ctypes.string_at(parameter, size), np.uint8)
            spans, grid, block = self._spans(), list(shape[:3]), list(shape[3:6])
            self.launched.append(function.name)
            module.execute(
                Launch(module, function, grid, block, self.memory, spans, params, shared, True)
            )
        except Exception:
            self.problem = traceback.format_exc()
            return FAILED
        return 0

    def _module(self, image: bytes) -> Module:
        if known := self.modules.get(image):
            return known
        made = self.modules[image] = Module(image.decode())
        for name, (raw, alignment) in made.globals.items():
            at = align_up(self.declared, max(alignment, 256))
            self.declared = at + len(raw) + 256
            assert self.declared < DECLARED
            self.memory[at : at + len(raw)] = raw
            made.address[name] = GLOBAL + at
        return made

    def _spans(self) -> Array:
        """What may be accessed: the constants of modules, and what is allocated."""
        pairs = np.zeros((1 << 16, 2), np.uint64)
        pointer = pairs.ctypes.data_as(ctypes.c_void_p)
        count = self.driver.standin_memory(pointer, ctypes.c_long(len(pairs)))
        first = pairs[:count, 0].astype(np.int64) - GLOBAL
        behind = first + pairs[:count, 1].astype(np.int64)
        whole = [[0, max(self.declared, 1)]]
        return np.concatenate([whole, np.stack([first, behind], 1)]).astype(np.int64)


@functools.cache
def emulated(stand_ins: Path) -> EmulatedDevice:
    """The process's one."""
    return EmulatedDevice(stand_ins)


class FarTensor:
    """A tensor in that memory, which says by DLPack that it is a GPU's."""

    CUDA = 2

    def __init__(self, device: EmulatedDevice, tensor: torch.Tensor) -> None:
        reach = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
        size = 0 if 0 in tensor.shape else reach * tensor.itemsize
        memory = torch.from_numpy(device.bytes_at(device.allocate(size), max(size, 1)))
        kept = memory[: size or None].view(tensor.dtype) if size else memory.view(torch.uint8)
        #: The same memory as this process sees it.
        self.near = torch.as_strided(kept, tensor.shape, tensor.stride()) if size else tensor
        # An element that an expanded tensor has often is copied once.
        once = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in tensor.stride())
        self.near[once].copy_(tensor[once])

    def __dlpack__(self, **_: Any) -> Any:
        capsule = self.near.__dlpack__()
        place = ctypes.pythonapi.PyCapsule_GetPointer
        place.restype, place.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        kind = place(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)
        ctypes.c_int32.from_address(kind).value = self.CUDA
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.CUDA, 0
