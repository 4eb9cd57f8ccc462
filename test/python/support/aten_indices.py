"""Lists of index tensors as ATen takes them: masks, absent ones, broadcast, axes in any order."""

from __future__ import annotations

from collections.abc import Sequence

import torch


class Indices:
    """The list brought into the form that a row takes: `tensors` of one shape for
    the axes that stand first after `order`."""

    def __init__(self, x: torch.Tensor, given: Sequence[torch.Tensor | None]) -> None:
        expanded: list[torch.Tensor | None] = []
        for each in given:
            if each is not None and each.dtype in (torch.bool, torch.uint8):
                expanded += each.nonzero(as_tuple=True)
            else:
                expanded.append(each)
        self.axes = [d for d, each in enumerate(expanded) if each is not None]
        found = [each for each in expanded if each is not None]
        self.tensors = [t.to(torch.int64) for t in torch.broadcast_tensors(*found)]
        self.order = [*self.axes, *(d for d in range(x.dim()) if d not in self.axes)]
        self.rank = self.tensors[0].dim()
        is_run = self.axes == list(range(self.axes[0], self.axes[-1] + 1))
        self.place = self.axes[0] if is_run else 0

    def read_order(self, rank: int) -> list[int]:
        """Where the axes of a read stand: index axes first in ours, at `place` in ATen's."""
        rest = list(range(self.rank, rank))
        return [*rest[: self.place], *range(self.rank), *rest[self.place :]]

    def written(self, x: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """The values of a write, with the index axes first."""
        rest = [n for d, n in enumerate(x.shape) if d not in self.axes]
        shape = [*rest[: self.place], *self.tensors[0].shape, *rest[self.place :]]
        order = self.read_order(len(shape))
        return values.expand(shape).permute([order.index(d) for d in range(len(shape))])
