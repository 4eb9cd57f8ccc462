"""What the threads of a chunk of blocks hold, and the operands of instructions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from emulator.ptx_types import EXIT, FLOAT, RUN, SINT, TYPES, UINT, Array, PtxError, Type
from emulator.rounding import align_up
from emulator.text import Function


@dataclass
class Launch:
    """What all blocks of a launch see."""

    mod: Any
    f: Function
    grid: list[int]
    block: list[int]
    mem: Array
    spans: Array
    params: Array
    dynamic: int
    races: bool


class State:
    """Registers, memories and program counters of the threads of some blocks."""

    def __init__(self, launch: Launch, blocks: range):
        self.mod, self.f, self.mem, self.spans = launch.mod, launch.f, launch.mem, launch.spans
        self.params, self.races = launch.params, launch.races
        self.launch, f, block, dynamic = launch, launch.f, launch.block, launch.dynamic
        per, nb = int(np.prod(block)), len(blocks)
        self.per = align_up(per, 32)
        self.n = n = self.per * nb
        t = np.arange(n)
        self.block, self.lane, self.warp = t // self.per, t % 32, t // 32
        t, g = t % self.per, np.array(blocks)[self.block]
        self.special = self._special(t, g)
        self.regs = [
            np.zeros(n, bool) if b == 1 else np.full(n, 0xA5A5A5A5A5A5A5A5 & (2**b - 1), UINT[b])
            for b in f.reg_bits
        ]
        self.dynamic = align_up(self.mod.shared_size, 16)
        self.ssize = align_up(self.dynamic + dynamic, 16) or 16
        self.smem = np.full(self.ssize * nb, 0xA5, np.uint8)
        self.lsize = align_up(f.local_size, 16) or 16
        self.local = np.full(self.lsize * n, 0xA5, np.uint8)
        self.epoch = np.ones(nb, np.int32)
        # For each byte of shared memory: epoch and warp of the last write, and of the last
        # read (-2: several warps).
        if self.races:
            self.wrote, self.read = (np.zeros((2, self.ssize * nb), np.int32) for _ in "wr")
        # Of a cluster's barrier: how often threads came and waited, how often it was passed,
        # and of each byte when it was last written, and read from another block.
        self.arrived, self.waited = (np.zeros(n, np.int32) for _ in "aw")
        self.rounds = np.zeros(-(-nb // f.cluster), np.int32)
        if self.races and f.cluster > 1:
            self.far_wrote, self.far_read = (np.full(self.ssize * nb, -1, np.int32) for _ in "wr")
        self.pc, self.state = np.zeros(n, np.int32), np.where(t < per, RUN, EXIT).astype(np.int8)
        self.bar_id, self.bar_need, self.bar_val = (
            np.zeros(n, np.int32),
            np.zeros(n, np.int32),
            np.zeros(n, bool),
        )
        self.async_group, self.async_copies, self.carry = (
            np.zeros(n, np.int64),
            [],
            np.zeros(n, bool),
        )

    def _special(self, t: Array, g: Array) -> dict[str, Array]:
        """The special registers, from thread numbers in and block numbers."""
        grid, block, dynamic = self.launch.grid, self.launch.block, self.launch.dynamic
        every = np.arange(self.n)
        special: dict[str, Any] = {
            "laneid": self.lane,
            "warpid": every // 32,
            "nwarpid": self.per // 32,
            "smid": 0,
            "nsmid": 1,
            "gridid": 1,
            "clock": 0,
            "clock64": 0,
            "globaltimer": 0,
            "dynamic_smem_size": dynamic,
            "total_smem_size": self.mod.shared_size + dynamic,
        }
        for k, i in zip("xyz", range(3), strict=False):
            special[f"tid.{k}"] = t // int(np.prod(block[:i])) % block[i]
            special[f"ctaid.{k}"] = g // int(np.prod(grid[:i])) % grid[i]
            special[f"ntid.{k}"], special[f"nctaid.{k}"] = block[i], grid[i]
        one = 1 << self.lane
        for k, v in {
            "eq": one,
            "lt": one - 1,
            "le": 2 * one - 1,
            "gt": 2**32 - 2 * one,
            "ge": 2**32 - one,
        }.items():
            special[f"lanemask_{k}"] = v
        return {
            k: np.asarray(v).astype(np.uint64 if k in ("clock64", "globaltimer") else np.uint32)
            for k, v in special.items()
        }

    def get(self, a: Any, t: Type) -> Array:
        k = a[0]
        if k == "r":
            v = self.regs[a[1]]
            if t.bits == 1 or v.dtype == bool:
                return v
            bits = v.dtype.itemsize * 8
            if bits != t.bits:
                v = v.astype(UINT[t.bits])
        elif k == "i":
            if t.float and t.kind == "f" and not t.packed:
                return np.asarray(a[1], t.np)
            if isinstance(a[1], float):
                return np.asarray(a[1], np.float32).view(np.uint32)
            v = np.asarray(a[1] & (2**t.bits - 1), UINT.get(t.bits, np.uint64))
            if t.bits == 1:
                return v.astype(bool)
        elif k == "f":
            v = np.asarray(a[1], UINT[a[2]])
            if a[2] != t.bits:
                v = v.view(FLOAT[a[2]]).astype(t.np).view(UINT[t.bits])
        elif k == "s":
            if a[1] not in self.special:
                raise PtxError(f"special register %{a[1]} is not emulated")
            v = self.special[a[1]].astype(UINT[t.bits])
        elif k == "n":
            return ~self.get(a[1], t)
        elif k == "a":
            v = np.asarray(self.symbol(a[1]) + a[2], UINT[t.bits])
        elif k == "v":
            parts = [
                self.get(x, TYPES[f"b{t.bits // len(a[1])}"]).astype(UINT[t.bits]) for x in a[1]
            ]
            v = sum(
                (p << UINT[t.bits](i * t.bits // len(parts)) for i, p in enumerate(parts)),
                UINT[t.bits](0),
            )
        else:
            raise PtxError(f"operand {a}")
        if t.kind == "bf" and not t.packed:
            return (v.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return v.view(t.np)

    def put(self, a: Any, t: Type, v: Any) -> None:
        if a[0] == "_":
            return
        if a[0] == "v":
            u, w = np.asarray(v).view(UINT[t.bits]), t.bits // len(a[1])
            for i, x in enumerate(a[1]):
                self.put(x, TYPES[f"b{w}"], (u >> UINT[t.bits](i * w)).astype(UINT[w]))
            return
        if a[0] == "2":
            a = a[1]
        dst = self.regs[a[1]]
        if dst.dtype != bool:
            v = np.asarray(v)
            if t.kind == "bf" and not t.packed and v.dtype == np.float32:
                v = (v.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
            elif t.kind == "s" and dst.dtype.itemsize * 8 > t.bits:
                v = v.astype(SINT[dst.dtype.itemsize * 8])
            elif v.dtype.kind == "f":
                v = v.view(UINT[v.dtype.itemsize * 8])
        if self.full:
            np.copyto(dst, v, casting="unsafe")
        else:
            np.copyto(dst, v, where=self.mask, casting="unsafe")

    def symbol(self, name: str) -> int:
        if name in self.mod.address:
            return self.mod.address[name]
        for table in (self.mod.shared, self.f.local):
            if name in table:
                return table[name]
        if name in self.mod.dynamic:
            return self.dynamic
        if name in self.f.params:
            return self.f.params[name][0]
        raise PtxError(f"unknown symbol {name} (calls, and so their parameters, are not emulated)")

    def set_mask(self, mask: Array) -> None:
        self.mask = mask
        self.full = bool(mask.all())
        self.on = np.flatnonzero(mask)
