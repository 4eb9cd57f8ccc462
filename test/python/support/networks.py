"""Random networks of nodes, for the calls of test/kernels/networks.qn."""

from __future__ import annotations

import torch
from tree import ROOT

NETWORKS = ROOT / "test" / "kernels" / "networks.qn"


def distances(nodes: int) -> torch.Tensor:
    """Half of the ways are missing."""
    maker = torch.Generator().manual_seed(nodes)
    d = torch.rand(nodes, nodes, generator=maker)
    d[torch.rand(nodes, nodes, generator=maker) < 0.5] = torch.inf
    return d.fill_diagonal_(0)


def edges(nodes: int, count: int) -> torch.Tensor:
    return torch.randint(0, nodes, (2, count), generator=torch.Generator().manual_seed(count))
