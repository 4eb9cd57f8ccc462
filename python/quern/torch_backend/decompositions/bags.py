"""Bags of rows of a table: what their derivatives are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...torch_names import statically_known_true

_aten = torch.ops.aten


def _with_gradients(*args: Any, **kwargs: Any) -> Any:
    """The same sums; where they come from is kept by both, and read by nobody."""
    return _aten._embedding_bag.default(*args, **kwargs)


def _finding_bags(op: Any, place: int) -> Callable[..., Any]:
    """The bag of every row is found by the offsets once more, as eager does wherever it has
    kept nothing: the forward pass neither makes it nor saves it."""

    def found(*args: Any, **kwargs: Any) -> Any:
        given, offsets = args[place], args[place - 1]
        if statically_known_true(given.numel() == 0):
            return NotImplemented
        return op(*args[:place], offsets.narrow(0, 0, 0), *args[place + 1 :], **kwargs)

    return found


def bag_decompositions() -> dict[Any, Callable[..., Any]]:
    """For the operators that make bags, and those that take what these have kept."""
    backward = _aten._embedding_bag_backward.default
    weights = _aten._embedding_bag_per_sample_weights_backward.default
    return {
        _aten._embedding_bag_forward_only.default: _with_gradients,
        backward: _finding_bags(backward, 3),
        weights: _finding_bags(weights, 4),
    }
