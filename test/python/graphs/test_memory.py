"""Large tensors of compiled graphs: mapped once, and no more of them than eager has."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from peak_memory import peak_bytes
from quern.torch_backend.state import state
from torch import nn


def _usage() -> dict[str, int]:
    usage: dict[str, int] = state().backend.memory()
    return usage


def _network() -> nn.Module:
    layers = [nn.Linear(512, 512), nn.GELU(), nn.LayerNorm(512)]
    return nn.Sequential(*layers, nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 512))


def test_later_calls_map_nothing() -> None:
    module = _network()
    compiled = torch.compile(module, backend="quern")
    x = torch.randn(4096, 512)
    with torch.no_grad():
        compiled(x)
        before = _usage()
        for _ in range(3):
            torch.testing.assert_close(compiled(x), module(x))
    after = _usage()
    assert before["mapped"] == after["mapped"] > 0
    assert after["peak"] == before["peak"]


def test_memory_goes_with_the_graph() -> None:
    result = torch.compile(torch.sin, backend="quern")(torch.ones(1 << 20))
    held = _usage()["in_use"]
    assert held >= result.numel() * 4
    del result
    assert _usage()["in_use"] <= held - (4 << 20)


@pytest.mark.parametrize("training", [False, True])
def test_no_more_than_eager(training: bool) -> None:
    module = _network()
    x = torch.randn(4096, 512)

    def step(call: Callable[..., torch.Tensor]) -> None:
        if training:
            call(x).square().sum().backward()
            module.zero_grad(set_to_none=True)
        else:
            with torch.no_grad():
                call(x)

    compiled = torch.compile(module, backend="quern")
    for call in (module, compiled):
        step(call)
    assert peak_bytes(lambda: step(compiled)) <= peak_bytes(lambda: step(module))


def test_results_take_the_memory_of_what_nobody_reads_any_more() -> None:
    x, w = torch.randn(1024, 512).double(), torch.randn(512, 512).double()
    compiled = torch.compile(lambda: torch.sin(x @ w), backend="quern", fullgraph=True)
    with torch.no_grad():
        compiled()
        # The product and its sine, which eager has at one time.
        assert peak_bytes(compiled) < 1.5 * 1024 * 512 * 8
        torch.testing.assert_close(compiled(), torch.sin(x @ w))


def test_what_others_hold_is_not_taken() -> None:
    w = torch.randn(512, 512, dtype=torch.float64, requires_grad=True)
    x = torch.randn(1024, 512).double()
    compiled = torch.compile(lambda w: torch.sin(x @ w), backend="quern", fullgraph=True)
    y, wanted = compiled(w), torch.sin(x @ w)
    grad = torch.randn_like(y)
    expected = torch.autograd.grad(wanted, w, grad)
    # The product is kept for both calls.
    for _ in range(2):
        found = torch.autograd.grad(y, w, grad, retain_graph=True)
        torch.testing.assert_close(found, expected)


def test_memory_that_is_not_ours_is_not_taken() -> None:
    array = torch.randn(1 << 20).numpy()
    before = array.copy()
    compiled = torch.compile(torch.sin, backend="quern", fullgraph=True)
    compiled(torch.from_numpy(array))
    assert (array == before).all()


def test_a_result_that_is_given_twice_is_not_taken() -> None:
    def function(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        product = x @ w
        return product.t(), torch.sin(product), torch.cos(product).sum(0)

    x, w = torch.randn(700, 300).double(), torch.randn(300, 500).double()
    compiled = torch.compile(function, backend="quern", fullgraph=True)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x, w), function(x, w))
