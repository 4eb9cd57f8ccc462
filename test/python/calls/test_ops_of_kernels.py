"""Ops that launch explicit kernels in loops, until what the host reads says so."""

from __future__ import annotations

import numpy as np
import pytest
import quern
import torch
from networks import NETWORKS, distances, edges


def shortest(d: torch.Tensor) -> torch.Tensor:
    """One node after the other may lie on the way."""
    for k in range(len(d)):
        d = torch.minimum(d, d[:, k, None] + d[None, k])
    return d


def smallest(ends: torch.Tensor, nodes: int) -> torch.Tensor:
    """The smallest node that each is connected with."""
    label = np.arange(nodes)
    for u, v in ends.T.tolist():
        label[np.isin(label, [label[u], label[v]])] = min(label[u], label[v])
    return torch.from_numpy(label)


@pytest.mark.parametrize("nodes", [0, 1, 16, 33, 100])
def test_ways_between_all_nodes(nodes: int) -> None:
    d = distances(nodes)
    wanted = shortest(d)
    quern.load(NETWORKS).all_distances(d)
    torch.testing.assert_close(d, wanted)


@pytest.mark.parametrize(("nodes", "count"), [(1, 0), (9, 4), (300, 200), (2000, 3000)])
def test_connected_nodes(nodes: int, count: int) -> None:
    ends = edges(nodes, count)
    label = quern.load(NETWORKS).components(ends[0].clone(), ends[1].clone(), nodes)
    assert torch.equal(label, smallest(ends, nodes))


def test_a_long_chain_is_connected() -> None:
    u = torch.arange(999, 0, -1)
    assert not quern.load(NETWORKS).components(u, u - 1, 1000).any()
