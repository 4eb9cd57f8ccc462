"""Tensors for random programs: extents by name, elements laid out in many ways."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch

# An extent is a product or sum of these names, which the text computes with.
NAMES = "abcd"
EXTENTS = [1, 2, 3, 4, 5, 7, 8, 16, 17, 33]
Shape = tuple[str, ...]


@dataclass(frozen=True)
class Given:
    """An input: `how` says how its elements lie in memory."""

    name: str
    shape: Shape
    kind: str
    how: str


def extents(seed: int, zero: bool = True) -> dict[str, int]:
    """What the names are worth."""
    rng = random.Random(seed)
    sizes = {name: rng.choice(EXTENTS) for name in NAMES}
    if zero and rng.random() < 0.04:
        sizes[rng.choice(NAMES)] = 0
    return sizes


def _laid_out(value: torch.Tensor, how: str) -> torch.Tensor:
    rank = value.dim()
    if how == "permuted" and rank > 1:
        return value.permute(*range(1, rank), 0).contiguous().permute(rank - 1, *range(rank - 1))
    if how == "strided" and rank:
        wide = torch.zeros(*value.shape[:-1], 2 * value.shape[-1], dtype=value.dtype)
        wide[..., ::2] = value
        return wide[..., ::2]
    if how == "offset":
        store = torch.zeros(value.numel() + 3, dtype=value.dtype)
        store[3:] = value.reshape(-1)
        return store[3:].view(value.shape)
    if how == "expanded" and rank and value.shape[0]:
        return value[:1].clone().expand(value.shape)
    return value


def tensors(inputs: list[Given], sizes: dict[str, int], seed: int) -> list[torch.Tensor]:
    """Inputs for these extents; the same for the same seed."""
    generator = torch.Generator().manual_seed(seed)
    result = []
    for given in inputs:
        shape = [eval(extent, {}, dict(sizes)) for extent in given.shape]
        if given.kind == "i":
            value = torch.randint(0, 50, shape, generator=generator)
        else:
            value = torch.randn(shape, generator=generator)
        result.append(_laid_out(value, given.how))
    return result
