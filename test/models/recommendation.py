"""DLRM: embedding bags and dense features with pairwise products."""

from itertools import pairwise

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from models import Task


def mlp(widths: list[int], last_relu: bool) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*(layers if last_relu else layers[:-1]))


class DLRM(nn.Module):
    """Dots of all pairs of feature vectors below the diagonal feed the top."""

    def __init__(self, bags: int, rows: int, width: int, bottom: list[int], top: list[int]) -> None:
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum") for _ in range(bags))
        self.bottom = mlp([*bottom, width], last_relu=True)
        pairs = torch.tril_indices(bags + 1, bags + 1, -1)
        self.register_buffer("left", pairs[0])
        self.register_buffer("right", pairs[1])
        self.top = mlp([width + pairs.shape[1], *top], last_relu=False)

    def forward(self, dense: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        x = self.bottom(dense)
        features = torch.stack([x, *(bag(ids[i]) for i, bag in enumerate(self.bags))], 1)
        dots = torch.bmm(features, features.transpose(1, 2))
        pairs = dots[:, self.left, self.right]
        return self.top(torch.cat([x, pairs], 1)).squeeze(1)


def dlrm(tiny: bool) -> Task:
    batch, bags, rows, width, per_bag = (37, 3, 101, 16, 3) if tiny else (16384, 8, 50000, 64, 4)
    bottom, top = ([13, 24], [24, 1]) if tiny else ([13, 512, 256], [512, 256, 1])
    labels = torch.randint(0, 2, (batch,)).float()
    inputs = {
        "dense": torch.randn(batch, 13),
        "ids": torch.randint(0, rows, (bags, batch, per_bag)),
    }
    return Task(
        "dlrm",
        DLRM(bags, rows, width, bottom, top),
        inputs,
        lambda logits: binary_cross_entropy_with_logits(logits.float(), labels),
    )
