"""Loads, stores, atomics and copies, each checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from emulator.clusters import Clusters
from emulator.ptx_types import (
    B64,
    GLOBAL,
    LOCAL,
    PARAM,
    PRED,
    SHARED,
    TYPES,
    UINT,
    WINDOWS,
    Array,
    PtxError,
    Type,
)
from emulator.rounding import narrow
from emulator.text import Ins


class Memory(Clusters):
    """Instructions that access memory."""

    def where(self, ins: Ins, a: Any, lanes: Array) -> Array:
        """(address of every lane in lanes) of a memory operand."""
        base, off = a[1], a[2]
        v = self.get(
            base, B64 if base[0] != "r" else TYPES[f"b{self.regs[base[1]].dtype.itemsize * 8}"]
        ).astype(np.uint64)
        return np.broadcast_to(v, (self.n,))[lanes].astype(np.int64) + off

    @staticmethod
    def generic(ins: Ins, addr: Array) -> tuple[str, Array]:
        """The space generic addresses lead to, and where they lead there."""
        kinds = np.select(
            [addr >= GLOBAL, addr >= PARAM, addr >= LOCAL, addr >= SHARED], [0, 1, 2, 3], 4
        )
        if (kinds != kinds[0]).any() or kinds[0] == 4:
            raise PtxError(
                f"{ins}: generic addresses in several spaces or in none: "
                f"{int(addr[kinds != 0][0]):#x}"
            )
        space = ("global", "param", "local", "shared")[kinds[0]]
        return space, addr - WINDOWS[space]

    def resolve(
        self,
        ins: Ins,
        space: str | None,
        addr: Array,
        lanes: Array,
        size: int,
        write: bool | None,
    ) -> tuple[Array, Array]:
        """Backing array and byte offsets, after the checks."""
        if space is None:
            space, addr = self.generic(ins, addr)
        bad = addr % size != 0
        if bad.any():
            raise PtxError(f"{ins}: address {int(addr[bad][0]):#x} is not aligned to {size}")
        if space in ("global", "const"):
            off = addr - GLOBAL
            # Hardware exchanges no less than an aligned word, which no allocation ends within.
            slack = 3 if ins.whole_word else 0
            i = np.searchsorted(self.spans[:, 0], off + slack, "right") - 1
            first, behind = self.spans[np.clip(i, 0, None)].T
            bad = (off + slack < first) | (off + size - slack > behind)
            back = self.mem
        elif space == "shared":
            block, addr = self.owner(ins, addr, lanes)
            bad, off, back = (
                (addr < 0) | (addr + size > self.ssize),
                block * self.ssize + addr,
                self.smem,
            )
        elif space == "local":
            bad, off, back = (
                (addr < 0) | (addr + size > self.lsize),
                lanes * self.lsize + addr,
                self.local,
            )
        else:
            bad, off, back = (addr < 0) | (addr + size > len(self.params)), addr, self.params
        if bad.any():
            k = int(np.flatnonzero(bad)[0])
            raise PtxError(
                f"{ins}: {space} access of {size} bytes out of bounds at {int(addr[k]):#x} by "
                f"thread {lanes[k] % self.per}, "
                f"block {self.block[lanes[k]]} of the chunk"
            )
        if space == "shared" and self.races and write is not None:
            self.race(ins, off, lanes, size, write)
        return back, off

    def race(self, ins: Ins, off: Array, lanes: Array, size: int, write: bool) -> None:
        at = (off[:, None] + np.arange(size)).ravel()
        block = np.repeat(off // self.ssize, size)
        warp, ep = np.repeat(self.warp[lanes], size), self.epoch[block]
        hit = (self.wrote[0][at] == ep) & (self.wrote[1][at] != warp)
        if write:
            hit |= (self.read[0][at] == ep) & (self.read[1][at] != warp)
            self.wrote[0][at], self.wrote[1][at] = ep, warp
            hit |= self.wrote[1][at] != warp
        else:
            other = (self.read[0][at] == ep) & (self.read[1][at] != warp)
            self.read[0][at], self.read[1][at] = ep, np.where(other, -2, warp)
            several = self.read[1][at] != np.where(other, -2, warp)
            self.read[1][at[several]] = -2
        if self.f.cluster > 1:
            hit |= self.far_race(at, block, block != np.repeat(self.block[lanes], size), write)
        if hit.any():
            k = int(np.flatnonzero(hit)[0])
            raise PtxError(
                f"{ins}: race on shared byte {int(at[k]) % self.ssize:#x} between warps "
                f"{int(warp[k])} and another, no barrier between"
            )

    @staticmethod
    def space(ins: Ins) -> str | None:
        return next((m.split("#")[0] for m in ins.mods if m.split("#")[0] in WINDOWS), None)

    def op_ld(self, ins: Ins) -> None:
        t, lanes, dst = ins.t, self.on, ins.args[0]
        many = [dst] if dst[0] != "v" else dst[1]
        width = t.bits // 8
        back, off = self.resolve(
            ins,
            self.space(ins),
            self.where(ins, ins.args[1], lanes),
            lanes,
            width * len(many),
            False,
        )
        vals = [back.view(UINT[t.bits])[off // width + i] for i in range(len(many))]
        for x, v in zip(many, vals, strict=False):
            out = np.zeros(self.n, UINT[t.bits])
            out[lanes] = v
            self.put(x, t, out.view(t.np) if t.kind == "s" else out)

    op_ldu = op_ld

    def op_st(self, ins: Ins) -> None:
        t, lanes, src = ins.t, self.on, ins.args[1]
        many = [src] if src[0] != "v" else src[1]
        width, raw = t.bits // 8, TYPES[f"b{t.bits}"]
        vals = [np.broadcast_to(self.get(x, raw), (self.n,))[lanes] for x in many]
        back, off = self.resolve(
            ins,
            self.space(ins),
            self.where(ins, ins.args[0], lanes),
            lanes,
            width * len(many),
            True,
        )
        for i, v in enumerate(vals):
            back.view(UINT[t.bits])[off // width + i] = v

    def op_atom(self, ins: Ins, result: bool = True) -> None:
        t, lanes = ins.t, self.on
        args = ins.args if result else [("_",), *ins.args]
        kind = next(
            m
            for m in ins.mods
            if m in ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
        )
        width = t.bits // 8
        back, off = self.resolve(
            ins, self.space(ins), self.where(ins, args[1], lanes), lanes, width, None
        )
        cells, at = back.view(UINT[t.bits]), off // width
        ops = [
            np.broadcast_to(self.get(a, TYPES[f"b{t.bits}"]), (self.n,))[lanes] for a in args[2:]
        ]
        out = np.zeros(self.n, UINT[t.bits])
        left = np.arange(len(lanes))
        while len(left):  # lanes that share a cell take turns
            _, first = np.unique(at[left], return_index=True)
            k = left[first]
            old = cells[at[k]]
            out[lanes[k]] = old
            cells[at[k]] = self.combine(kind, t, old, *[o[k] for o in ops])
            left = np.delete(left, first)
        self.put(args[0], TYPES[f"b{t.bits}"], out)

    def op_red(self, ins: Ins) -> None:
        if "async" in ins.mods:
            raise PtxError(f"{ins} is not emulated")
        self.op_atom(ins, False)

    @staticmethod
    def combine(kind: str, t: Type, old: Array, b: Array, c: Array | None = None) -> Array:
        if kind == "cas":
            return np.where(old == b, c, old)
        if kind == "exch":
            return b
        if kind in ("and", "or", "xor"):
            return {"and": old & b, "or": old | b, "xor": old ^ b}[kind]
        if kind in ("inc", "dec"):
            return (
                np.where(old >= b, 0, old + 1)
                if kind == "inc"
                else np.where((old == 0) | (old > b), b, old - 1)
            )
        if t.packed or t.kind == "bf":
            lo, hi = (
                (Memory.half_add(t, old >> s, b >> s) for s in (0, 16))
                if t.packed
                else (Memory.half_add(t, old, b), 0)
            )
            return (
                (lo | np.asarray(hi).astype(old.dtype) << old.dtype.type(16)).astype(old.dtype)
                if t.packed
                else lo.astype(old.dtype)
            )
        x, y = old.view(t.np), b.view(t.np)
        if kind == "add":
            return (x + y).view(old.dtype)
        return ({"min": np.minimum, "max": np.maximum}[kind](x, y)).astype(t.np).view(old.dtype)

    @staticmethod
    def half_add(t: Type, a: Array, b: Array) -> Array:
        a, b = (np.asarray(v & 0xFFFF).astype(np.uint16) for v in (a, b))
        if t.kind == "bf":
            f = narrow(
                sum(
                    (v.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
                    for v in (a, b)
                ),
                t,
            )
            return f.view(np.uint32) >> np.uint32(16)
        return (a.view(np.float16) + b.view(np.float16)).view(np.uint16).astype(np.uint32)

    def op_cp(self, ins: Ins) -> None:
        if "commit_group" in ins.mods:
            self.async_group[self.on] += 1
        elif "wait_group" in ins.mods or "wait_all" in ins.mods:
            keep = ins.args[0][1] if "wait_group" in ins.mods else 0
            rest = []
            for lanes, group, dst, src, size, given in self.async_copies:
                now = self.mask[lanes] & (
                    (group < self.async_group[lanes] - keep) | ("wait_all" in ins.mods)
                )
                if now.any():
                    self.copy(ins, lanes[now], dst[now], src[now], size, given[now])
                if not now.all():
                    left = (part[~now] for part in (lanes, group, dst, src))
                    rest.append((*left, size, given[~now]))
            self.async_copies = rest
        elif "async" in ins.mods and "bulk" not in ins.mods and len(ins.args) in (3, 4):
            size = ins.args[2][1]
            given = self.get(ins.args[-1], TYPES["u32"])
            self.async_copies.append(
                (
                    self.on,
                    self.async_group[self.on].copy(),
                    self.where(ins, ins.args[0], self.on),
                    self.where(ins, ins.args[1], self.on),
                    size,
                    np.broadcast_to(given, (self.n,))[self.on].astype(np.int64),
                )
            )
        else:
            raise PtxError(f"{ins} is not emulated")

    def copy(self, ins: Ins, lanes: Array, dst: Array, src: Array, size: int, given: Array) -> None:
        """The first `given` bytes are copied, the others become zero."""
        if (given > size).any():
            raise PtxError(f"{ins}: copies {int(given.max())} of {size} bytes")
        d, do = self.resolve(ins, "shared", dst, lanes, size, True)
        for count in np.unique(given):
            some, i = given == count, np.arange(count)
            d[do[some][:, None] + np.arange(size)] = 0
            if (src[some] % size).any():
                raise PtxError(f"{ins}: a source is not aligned to {size}")
            if count == 0:
                continue
            s, so = self.resolve(ins, "global", src[some], lanes[some], 1, None)
            self.resolve(ins, "global", src[some] + count - 1, lanes[some], 1, None)
            d[do[some][:, None] + i] = s[so[:, None] + i]

    def op_cvta(self, ins: Ins) -> None:
        t, v = ins.t, self.get(ins.args[1], ins.t)
        base = t.np(WINDOWS[self.space(ins)])
        self.put(ins.args[0], t, v - base if "to" in ins.mods else v + base)

    def op_isspacep(self, ins: Ins) -> None:
        v = np.broadcast_to(self.get(ins.args[1], B64), (self.n,))
        kind = np.select([v >= GLOBAL, v >= PARAM, v >= LOCAL, v >= SHARED], [0, 1, 2, 3], 4)
        self.put(
            ins.args[0], PRED, kind == ("global", "param", "local", "shared").index(self.space(ins))
        )
