"""Streams that begin turned round and have rows added to them: laid in rows inside a graph."""

from __future__ import annotations

import copy

import pytest
import torch
from quern.torch_backend.layout import relaid
from torch import nn
from torch.func import functional_call
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten


class Encoder(nn.Module):
    """As speech encoders are; may give the stream out."""

    def __init__(self, shows: bool = False) -> None:
        super().__init__()
        self.first = nn.Conv1d(3, 8, 3, padding=1)
        self.places = nn.Parameter(torch.randn(20, 8))
        self.norm = nn.LayerNorm(8)
        self.inner = nn.Linear(8, 8)
        self.shows = shows

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        stream = torch.relu(self.first(x)).permute(0, 2, 1) + self.places
        for _ in range(2):
            stream = stream + self.inner(self.norm(stream))
        given = self.norm(stream)
        return (given, stream) if self.shows else (given,)


def traced(network: nn.Module, x: torch.Tensor) -> tuple[GraphModule, list[torch.Tensor]]:
    state = dict(network.state_dict())

    def function(*values: torch.Tensor) -> object:
        return functional_call(network, dict(zip(state, values, strict=False)), values[-1])

    inputs = [*state.values(), x]
    return make_fx(function, tracing_mode="fake")(*inputs), inputs


def sums(module: GraphModule) -> list[torch.Tensor]:
    nodes = module.graph.find_nodes(op="call_function", target=aten.add.Tensor)
    return [node.meta["val"] for node in nodes]


def test_the_stream_is_laid_in_rows_once() -> None:
    module, inputs = traced(Encoder().eval(), torch.randn(2, 3, 20))
    assert not any(each.is_contiguous() for each in sums(module))
    other = relaid(module)
    assert all(each.is_contiguous() for each in sums(other))
    assert len(other.graph.find_nodes(op="call_function", target=aten.clone.default)) == 1
    for ours, eager in zip(other(*inputs), module(*inputs), strict=True):
        torch.testing.assert_close(ours, eager)
        assert ours.stride() == eager.stride()


def test_a_stream_that_is_given_out_stays_as_it_is() -> None:
    module, _ = traced(Encoder(shows=True).eval(), torch.randn(2, 3, 20))
    assert relaid(module) is module


@pytest.mark.parametrize("shows", [False, True])
def test_compiled(shows: bool) -> None:
    eager = Encoder(shows)
    ours = copy.deepcopy(eager)
    compiled = torch.compile(ours, backend="quern", fullgraph=True)
    x = torch.randn(2, 3, 20)
    with torch.no_grad():
        for one, other in zip(compiled(x), eager(x), strict=True):
            torch.testing.assert_close(one, other)
            assert one.stride() == other.stride()
    for call in (eager, compiled):
        sum(each.square().sum() for each in call(x)).backward()
    for one, other in zip(ours.parameters(), eager.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-4)
        assert one.grad.stride() == other.grad.stride()
