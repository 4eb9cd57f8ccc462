"""Votes, shuffles and reductions among the lanes of a warp."""

from __future__ import annotations

import numpy as np

from emulator.ptx_types import B32, PRED, U32, Array, PtxError
from emulator.rounding import leading
from emulator.state import State
from emulator.text import Ins


class Warps(State):
    """Instructions among lanes."""

    def warps(self, v: Array) -> Array:
        return np.broadcast_to(v, (self.n,)).reshape(-1, 32)

    def op_bar(self, ins: Ins) -> None:
        pass  # bar.warp.sync: meeting was all

    op_barrier = op_bar

    def op_activemask(self, ins: Ins) -> None:
        self.put(ins.args[0], U32, self.bits(np.ones(self.n, bool)))

    def bits(self, p: Array) -> Array:
        """The ballot of every thread's warp, over the threads that are here."""
        w = (self.warps(p & self.mask).astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1)
        return np.repeat(w, 32).astype(np.uint32)

    def op_vote(self, ins: Ins) -> None:
        p, member = self.get(ins.args[1], PRED), self.get(ins.args[-1], U32)
        ballot, here = self.bits(p) & member, self.bits(np.ones(self.n, bool)) & member
        how = next(m for m in ins.mods if m in ("all", "any", "uni", "ballot"))
        r = {
            "all": ballot == here,
            "any": ballot != 0,
            "uni": (ballot == here) | (ballot == 0),
            "ballot": ballot,
        }[how]
        self.put(ins.args[0], U32 if how == "ballot" else PRED, r)

    def op_shfl(self, ins: Ins) -> None:
        v, b, c = self.get(ins.args[1], B32), self.get(ins.args[2], U32), self.get(ins.args[3], U32)
        b, c, lane = b.astype(np.int64) & 31, c.astype(np.int64), self.lane
        seg, clamp = c >> 8 & 31, c & 31
        top, low = lane & seg | clamp & ~seg & 31, lane & seg
        src, ok = {
            "up": (lane - b, lane - b >= top),
            "down": (lane + b, lane + b <= top),
            "bfly": (lane ^ b, (lane ^ b) <= top),
            "idx": (low | b & ~seg & 31, (low | b & ~seg & 31) <= top),
        }[next(m for m in ins.mods if m in ("up", "down", "bfly", "idx"))]
        at = np.where(ok, self.warp * 32 + src, np.arange(self.n))
        if not self.mask[at[self.on]].all():
            raise PtxError(f"{ins}: reads from a lane that is not here")
        self.put(ins.args[0], B32, np.broadcast_to(v, (self.n,))[at])
        if ins.args[0][0] == "2":
            self.put(ins.args[0][2], PRED, ok)

    def op_match(self, ins: Ins) -> None:
        v = self.warps(self.get(ins.args[1], ins.t))
        same = (v[:, :, None] == v[:, None, :]) & self.warps(self.mask)[:, None, :]
        m = (
            (same.astype(np.uint64) << np.arange(32, dtype=np.uint64))
            .sum(2)
            .astype(np.uint32)
            .ravel()
        )
        here = self.bits(np.ones(self.n, bool))
        if "any" in ins.mods:
            return self.put(ins.args[0], U32, m)
        self.put(ins.args[0], U32, np.where(m == here, m, 0).astype(np.uint32))
        if ins.args[0][0] == "2":
            self.put(ins.args[0][2], PRED, m == here)

    def op_redux(self, ins: Ins) -> None:
        t, how = ins.t, next(m for m in ins.mods if m in ("add", "min", "max", "and", "or", "xor"))
        v, on, member = (
            self.warps(x) for x in (self.get(ins.args[1], t), self.mask, self.get(ins.args[2], U32))
        )
        out = np.zeros(self.n, t.np)
        fn = {
            "add": np.add,
            "min": np.minimum,
            "max": np.maximum,
            "and": np.bitwise_and,
            "or": np.bitwise_or,
            "xor": np.bitwise_xor,
        }[how]
        for w in range(len(v)):
            for m in np.unique(member[w][on[w]]):
                k = on[w] & (int(m) >> np.arange(32) & 1).astype(bool)
                out[w * 32 + np.flatnonzero(k)] = fn.reduce(v[w][k]).astype(t.np)
        self.put(ins.args[0], t, out)

    def op_elect(self, ins: Ins) -> None:
        first = self.bits(np.ones(self.n, bool))
        lead = np.uint32(31) - leading(first & (~first + np.uint32(1)), 32)
        self.put(ins.args[0][1], U32, lead)
        self.put(ins.args[0][2], PRED, self.lane == lead)
