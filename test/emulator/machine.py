"""Runs the threads: who goes next, who waits, who has met."""

from __future__ import annotations

from typing import Any

import numpy as np

from emulator.arithmetic import Arithmetic
from emulator.bits import Bits
from emulator.matrices import Matrices
from emulator.moves import Moves
from emulator.ptx_types import EXIT, FENCES, MEET, PRED, RUN, U32, WAIT, Array, PtxError
from emulator.text import Ins

#: Atomic operations until threads that go round let others go on, whom they may wait for.
PATIENCE = 64


class Machine(Arithmetic, Bits, Matrices, Moves):
    """Blocks that run together."""

    def run(self, limit: int) -> None:
        """Until every thread has left; whoever is furthest behind goes next."""
        self.stuck, self.left, self.tries, self.turn = False, limit, 0, 0
        while True:
            ready = self.state == RUN
            if not ready.any():
                if self.idle():
                    return
                continue
            cur = self.next(ready)
            mask = (self.state != EXIT) & (self.state != WAIT) & (self.pc == cur)
            rest = self.pc[ready & (self.pc > cur)]
            meet = int(rest.min()) if len(rest) else len(self.f.code) + 1
            self.set_mask(mask)
            stop = self.together(cur, meet, mask)
            if stop is not None:
                exited = self.state[mask] == EXIT
                self.pc[mask], self.state[mask] = stop, np.where(exited, EXIT, RUN)

    def next(self, ready: Array) -> int:
        """Where threads go on: furthest behind, or elsewhere when those went round in vain."""
        if self.tries < PATIENCE:
            return int(self.pc[ready].min())
        self.tries, self.turn = 0, self.turn + 1
        places = np.unique(self.pc[ready])
        return int(places[self.turn % len(places)])

    def idle(self) -> bool:
        """Wakes threads that wait; true when all have left."""
        if self.release():
            return False
        if (self.state == EXIT).all():
            return True
        if (self.state == MEET).any() and not self.stuck:  # lanes they waited for may have left
            self.state[self.state == MEET], self.stuck = RUN, True
            return False
        lines = sorted({self.f.code[p].line for p in self.pc[self.state != EXIT]})
        raise PtxError(f"deadlock: threads wait for others at lines {lines}")

    def together(self, cur: int, meet: int, mask: Array) -> int | None:
        """Runs the threads of `mask` until they part or meet others: where they are then."""
        code, counts = self.f.code, self.mod.counts
        while cur < meet:
            if cur >= len(code):
                self.state[mask] = EXIT
                return cur
            ins = code[cur]
            counts[ins.op] = counts.get(ins.op, 0) + 1
            self.left -= 1
            if self.left < 0:
                raise PtxError("too many steps")
            guard = mask
            if ins.pred is not None:
                guard = mask & (self.regs[ins.pred] ^ ins.neg)
                if not guard.any():
                    cur += 1
                    continue
            if ins.op in ("bra", "brx"):
                to = self.branch(ins, cur, guard, mask)
                if to is None or (to < cur and self.tries >= PATIENCE):
                    return to
                cur = to
                continue
            self.tries += ins.op == "atom"
            if self.parts(ins, cur, guard, mask):
                return None
            self.step(ins, guard if guard is not mask else None)
            cur += 1
        return cur

    def branch(self, ins: Ins, cur: int, guard: Array, mask: Array) -> int | None:
        """Where all threads go; nothing when they part."""
        to = self.targets(ins, guard)
        if isinstance(to, int) and (ins.pred is None or np.array_equal(guard, mask)):
            return to
        self.pc[mask] = cur + 1
        self.pc[guard] = to if isinstance(to, int) else to[guard]
        self.state[mask] = RUN
        return None

    def parts(self, ins: Ins, cur: int, guard: Array, mask: Array) -> bool:
        """Whether some threads leave or wait here."""
        if ins.op in ("ret", "exit"):
            self.pc[mask], self.state[mask] = cur + 1, RUN
            self.state[guard], self.stuck = EXIT, False
            return True
        if ins.op == "barrier" and "cluster" in ins.mods:
            self.stuck = False
            if not self.meets_cluster(ins, guard):
                return False
            others = mask & ~guard
            self.pc[mask], self.state[others] = cur + 1, RUN
            self.release()
            return True
        if ins.op in ("bar", "barrier") and "warp" not in ins.mods:
            self.pc[mask], self.state[mask] = cur + 1, RUN
            self.arrive(ins, guard)
            self.stuck = False
            return True
        if ("sync" not in ins.mods or ins.op == "mma") and "warp" not in ins.mods:
            return False
        here = self.met(ins, guard)
        if np.array_equal(here, guard):
            self.stuck = False
            return False
        self.pc[mask], self.state[mask] = cur + 1, RUN
        self.pc[guard & ~here], self.state[guard & ~here] = cur, MEET
        if here.any():
            self.step(ins, here)
            self.stuck = False
        return True

    def step(self, ins: Ins, guard: Array | None) -> None:
        if guard is None:
            return self.execute(ins)
        old = self.mask, self.full, self.on
        self.set_mask(guard)
        self.execute(ins)
        self.mask, self.full, self.on = old

    def execute(self, ins: Ins) -> None:
        if ins.fn is None:
            if ins.op in FENCES:
                return
            raise PtxError(f"{ins} is not emulated")
        try:
            ins.fn(self, ins)
        except PtxError:
            raise
        except Exception as e:
            raise PtxError(f"{ins}: {type(e).__name__}: {e}") from e

    def targets(self, ins: Ins, guard: Array) -> Any:
        labels = self.f.labels
        if ins.op == "bra":
            return labels[ins.args[0][1]]
        table = np.array([labels[x] for x in self.f.tables[ins.args[1][1]]], np.int32)
        return table[np.where(guard, self.get(ins.args[0], U32), 0)]

    def met(self, ins: Ins, guard: Array) -> Array:
        """The threads of guard whose mask-mates (all that have not left) are there too."""
        if guard.all():
            return guard
        if ins.op == "elect" or ins.op in ("match", "redux", "vote", "shfl", "bar", "barrier"):
            member = np.broadcast_to(self.get(ins.args[-1], U32), (self.n,))
        else:
            member = np.full(self.n, 0xFFFFFFFF, np.uint32)
        bit = (1 << self.lane).astype(np.uint32)
        have = np.repeat(
            np.bitwise_or.reduceat(
                np.where(guard, bit, 0).astype(np.uint32), np.arange(0, self.n, 32)
            ),
            32,
        )
        live = np.repeat(
            np.bitwise_or.reduceat(
                np.where(self.state != EXIT, bit, 0).astype(np.uint32), np.arange(0, self.n, 32)
            ),
            32,
        )
        if (guard & (member & bit == 0)).any():
            raise PtxError(f"{ins}: a thread is not in its own membermask")
        return guard & (member & live & ~have == 0)

    def arrive(self, ins: Ins, guard: Array) -> None:
        nums = [a for a in ins.args if a[0] in "ir"]
        if "red" in ins.mods:
            self.bar_val[guard] = self.get(ins.args[-1], PRED)[guard]
            nums = nums[1:-1]
        pick = [np.broadcast_to(self.get(a, U32), (self.n,))[guard] for a in nums] + [0] * 2
        self.bar_id[guard], self.bar_need[guard] = pick[0], pick[1]
        self.state[guard] = WAIT
        if "arrive" in ins.mods:
            raise PtxError(f"{ins} is not emulated")
        self.release()

    def release(self) -> bool:
        done = self.release_clusters()
        waits = (self.state == WAIT) & (self.bar_id >= 0)
        for b in np.unique(self.block[waits]):
            mine = np.s_[b * self.per : (b + 1) * self.per]
            for i in np.unique(self.bar_id[mine][waits[mine]]):
                at = b * self.per + np.flatnonzero(waits[mine] & (self.bar_id[mine] == i))
                need = self.bar_need[at[0]] or np.count_nonzero(self.state[mine] != EXIT)
                if len(at) < need:
                    continue
                ins = self.f.code[self.pc[at[0]] - 1]
                if "red" in ins.mods:
                    v = self.bar_val[at] ^ (ins.args[-1][0] == "n" and False)
                    r = (
                        np.count_nonzero(v)
                        if "popc" in ins.mods
                        else v.all()
                        if "and" in ins.mods
                        else v.any()
                    )
                    self.regs[ins.args[0][1]][at] = r
                self.state[at], done = RUN, True
                self.epoch[b] += 1
        return done
