"""Derivatives of the number of differing elements, which are 0 whatever is given, as eager's."""

from __future__ import annotations

import torch
from aten_types import module


def strange(*shape: int) -> torch.Tensor:
    """Numbers, an infinity and what is none."""
    x = torch.randn(shape)
    x.view(-1)[1::5] = float("inf")
    x.view(-1)[2::7] = float("nan")
    return x


def test_between_rows() -> None:
    given = strange(2, 6, 5), strange(2, 6, 3), strange(2, 5, 3), 0.0, strange(2, 6, 5)
    got = module("distances.qn").cdist_backward(*given)
    assert torch.equal(got, torch.ops.aten._cdist_backward(*given))


def test_between_pairs() -> None:
    given = strange(15), strange(6, 3), 0.0, strange(15)
    got = module("distances.qn").pdist_backward(*given)
    assert torch.equal(got, torch.ops.aten._pdist_backward(*given))
