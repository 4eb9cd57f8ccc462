"""Training that once did something else than eager: mixed norms, two backwards, dropout
that is recomputed, constants among relaid images, empty results of symbolic sizes."""

from __future__ import annotations

import copy

import pytest
import quern
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def check(module: nn.Module, x: torch.Tensor, tolerance: float = 1e-4) -> None:
    """Results and gradients of a training step equal eager's, with equal dropout."""
    twin = copy.deepcopy(module)
    outcomes = []
    for each, call in ((module, module), (twin, torch.compile(twin, backend="quern"))):
        torch.manual_seed(1)
        own = x.detach().clone().requires_grad_(x.requires_grad)
        output = call(own)
        output.float().sin().sum().backward()
        gradients = [p.grad for p in each.parameters()]
        outcomes.append([output, own.grad, *gradients, *each.buffers()])
    torch.testing.assert_close(outcomes[1], outcomes[0], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "norm",
    [nn.LayerNorm(6), nn.GroupNorm(2, 4), nn.BatchNorm2d(4), nn.InstanceNorm2d(4, affine=True)],
)
def test_norms_of_narrow_inputs_keep_their_statistics_wide(norm: nn.Module) -> None:
    x = torch.linspace(-1, 2, 3 * 4 * 5 * 6).sin().view(3, 4, 5, 6).bfloat16()
    quern.reset_counters()
    check(norm, x.requires_grad_(), 3e-2)
    assert quern.counters()["fallbacks"] == {}


class _Recomputed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def part(y: torch.Tensor) -> torch.Tensor:
            return nn.functional.dropout(torch.relu(self.layer(y)), 0.5)

        result: torch.Tensor = checkpoint(part, x, use_reentrant=False)
        return result


@pytest.mark.filterwarnings("ignore:.*only Python can call it")
def test_recomputed_dropout_drops_the_same() -> None:
    check(_Recomputed(), torch.linspace(-1, 2, 32).view(4, 8).requires_grad_())


def test_a_backward_may_run_twice() -> None:
    module = nn.Sequential(nn.Linear(8, 16), nn.Softplus(), nn.Linear(16, 1))
    x = torch.linspace(-1, 2, 32).view(4, 8).requires_grad_()
    loss = torch.compile(lambda y: module(y).sum(), backend="quern")(x)
    once = torch.autograd.grad(loss, x, retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(loss, x), once)
    torch.testing.assert_close(torch.autograd.grad(module(x).sum(), x), once)


class _Stamped(nn.Module):
    """Convolutions, and a constant made in `forward`."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        stamp = torch.tensor([1.0, 2.0, 3.0])[:, None, None]
        result: torch.Tensor = self.second(torch.relu(self.first(x))) * stamp
        return result


def test_constants_among_relaid_images() -> None:
    check(_Stamped(), torch.linspace(-1, 2, 2 * 2 * 6 * 6).view(2, 2, 6, 6).requires_grad_())


def test_empty_results_of_symbolic_sizes_compute_nothing() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cos(x) * 2

    compiled = torch.compile(function, backend="quern", dynamic=True)
    quern.reset_counters()
    for rows in (3, 4):
        x = torch.ones(rows, 0, requires_grad=True)
        result = compiled(x)
        result.sum().backward()
        assert result.shape == (rows, 0)
    assert quern.counters()["fallbacks"] == {}
