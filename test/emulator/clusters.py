"""Blocks of a cluster: their barrier, and reads of each other's shared memory."""

from __future__ import annotations

import numpy as np

from emulator.ptx_types import EXIT, RUN, U32, WAIT, Array, PtxError
from emulator.state import State
from emulator.text import Ins

#: An address in the memory of block `n` of a cluster begins at `(n + 1) << FAR`.
FAR = 24
#: Instead of the number of a block's own barrier.
OF_CLUSTER = -1


class Clusters(State):
    """Instructions among the blocks of a cluster."""

    def op_mapa(self, ins: Ins) -> None:
        t, rank = ins.t, self.get(ins.args[2], U32)
        if (np.broadcast_to(rank, (self.n,))[self.on] >= self.f.cluster).any():
            raise PtxError(f"{ins}: a cluster has {self.f.cluster} blocks")
        far = (rank.astype(t.np) + t.np(1)) << t.np(FAR)
        self.put(ins.args[0], t, self.get(ins.args[1], t) + far)

    def meets_cluster(self, ins: Ins, guard: Array) -> bool:
        """Arrives at the barrier of a cluster, or waits there: whether threads wait."""
        if "arrive" in ins.mods:
            self.arrived[guard] += 1
            if (self.arrived[guard] - self.waited[guard] > 1).any():
                raise PtxError(f"{ins}: a thread arrives again before it has waited")
            return False
        self.waited[guard] += 1
        self.bar_id[guard], self.state[guard] = OF_CLUSTER, WAIT
        return True

    def release_clusters(self) -> bool:
        """Wakes those that wait until all threads of their cluster have arrived."""
        done, size = False, self.per * self.f.cluster
        waits = (self.state == WAIT) & (self.bar_id == OF_CLUSTER)
        for number in np.unique(np.flatnonzero(waits) // size):
            mine = np.s_[number * size : (number + 1) * size]
            live = self.state[mine] != EXIT
            come = self.arrived[mine][live].min()
            go = waits[mine] & (self.waited[mine] <= come)
            if not go.any():
                continue
            self.state[mine][go], self.bar_id[mine][go], done = RUN, 0, True
            first = number * self.f.cluster
            self.epoch[first : first + self.f.cluster] += 1
            self.rounds[number] = come
        return done

    def owner(self, ins: Ins, addr: Array, lanes: Array) -> tuple[Array, Array]:
        """The block in whose memory an address of a cluster lies, and where."""
        far, block = addr >> FAR, self.block[lanes]
        if not far.any():
            return block, addr
        first = block // self.f.cluster * self.f.cluster
        block = np.where(far > 0, first + far - 1, block)
        gone = (self.state.reshape(-1, self.per) == EXIT).all(1)
        if gone[block].any():
            raise PtxError(f"{ins}: reads the memory of a block that has ended")
        return block, addr & ((1 << FAR) - 1)

    def far_race(self, at: Array, block: Array, foreign: Array, write: bool) -> Array:
        """What a block writes and another reads has the cluster's barrier between."""
        now = self.rounds[block // self.f.cluster]
        if write:
            hit = self.far_read[at] == now
            self.far_wrote[at] = now
            return hit
        self.far_read[at[foreign]] = now[foreign]
        return foreign & (self.far_wrote[at] == now)
