"""Recurrent networks without gradients run in kernels, step after step."""

from __future__ import annotations

from typing import Any

import pytest
import quern
import torch
from torch import nn

LAYERS: dict[str, dict[str, Any]] = {
    "one": {},
    "two": {"num_layers": 2},
    "both ways": {"num_layers": 2, "bidirectional": True},
    "no bias": {"bias": False},
    "batch first": {"batch_first": True},
}


def compiled(module: nn.Module, *args: Any) -> Any:
    torch._dynamo.reset()
    quern.reset_counters()
    with torch.no_grad(), torch._dynamo.config.patch(allow_rnn=True):
        result = torch.compile(module, backend="quern", fullgraph=True)(*args)
    assert not quern.counters()["fallbacks"]
    return result


def agree(module: nn.Module, *args: Any, bound: float = 1e-5) -> None:
    with torch.no_grad():
        expected = module(*args)
    torch.testing.assert_close(compiled(module, *args), expected, rtol=bound, atol=bound)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("name", LAYERS)
def test_networks(kind: str, name: str) -> None:
    torch.manual_seed(0)
    module = getattr(nn, kind)(5, 7, **LAYERS[name]).eval()
    agree(module, torch.randn(6, 3, 5))


def test_states_go_in_and_out() -> None:
    module = nn.LSTM(5, 7, bidirectional=True).eval()
    agree(module, torch.randn(4, 2, 5), (torch.randn(2, 2, 7), torch.randn(2, 2, 7)))


def test_a_sequence_without_a_batch() -> None:
    agree(nn.LSTM(5, 7).eval(), torch.randn(4, 5))


def test_wide_states_of_long_sequences() -> None:
    torch.manual_seed(0)
    agree(nn.LSTM(64, 130).eval(), torch.randn(50, 17, 64), bound=1e-4)


def test_bf16() -> None:
    torch.manual_seed(0)
    agree(nn.LSTM(16, 32).bfloat16().eval(), torch.randn(5, 4, 16).bfloat16(), bound=2e-2)


def test_changed_weights_count() -> None:
    module = nn.LSTM(5, 7).eval()
    x = torch.randn(4, 2, 5)
    agree(module, x)
    with torch.no_grad():
        module.weight_hh_l0.mul_(2)
    agree(module, x)
