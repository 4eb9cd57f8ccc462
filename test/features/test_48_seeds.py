"""Seed random numbers: eager's own or those that kernels count, replayed exactly."""

from __future__ import annotations

from pathlib import Path

import pytest
import quern
import torch
from torch import nn

COUNTED = """
@aten("native_dropout", seed = generator, train = true)
elementwise counted_dropout[T: Float](x: T, p: f64, seed: i64) -> (T, bool):
    let bits, _, _, _ = philox(seed, index())
    let keeps = f64(uniform(bits)) >= p
    return T(f64(x) / (1 - p)) if keeps else 0, keeps

@aten("bernoulli.p", seed = generator)
elementwise counted_bernoulli[T: Number](_x: T, p: f64, seed: i64) -> T:
    let bits, _, _, _ = philox(seed, index())
    return T(1 if f64(uniform(bits)) < p else 0)

@aten("rand", seed = generator, dtype = U, layout = _, device = _, pin_memory = _)
rowwise counted_rand[U: Float](size: int[*S], seed: i64[]) -> U[*P = size]:
    let bits, _, _, _ = philox(seed, index(*P))
    return U(uniform(bits))
"""


@pytest.fixture(scope="module")
def counted() -> dict[str, str]:
    """The fast mode, with kernels of the test's own."""
    quern.register_aten("aten::bernoulli.p", COUNTED)
    return {"random": "philox"}


def test_dropout_equals_eagers_and_replays() -> None:
    model = nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.5), nn.ReLU())
    x = torch.randn(64, 16)
    compiled = torch.compile(model, backend="quern")
    torch.manual_seed(7)
    expected = model(x)
    quern.reset_counters()
    results = []
    for _ in range(2):
        torch.manual_seed(7)
        results.append(compiled(x))
    torch.testing.assert_close(results[0], expected)
    assert torch.equal(*results)
    assert not torch.equal(results[0], compiled(x))
    assert sum(quern.counters()["random"].values()) == 3


def test_attention_without_dropout_draws_nothing() -> None:
    attend = torch.compile(nn.functional.scaled_dot_product_attention, backend="quern")
    q, k, v = torch.randn(3, 2, 4, 8, 16)
    quern.reset_counters()
    expected = nn.functional.scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(attend(q, k, v), expected)
    assert quern.counters()["random"] == {}


def test_backward_sees_the_same_mask() -> None:
    drop = torch.compile(lambda t: nn.functional.dropout(t, 0.5) * 2, backend="quern")
    x = torch.ones(200, requires_grad=True)
    y = drop(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(gradient, y.detach())


def test_kernels_draw_by_counting(counted: dict[str, str]) -> None:
    model = nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.25), nn.ReLU())
    x = torch.randn(64, 16)
    compiled = torch.compile(model, backend="quern", options=counted, fullgraph=True)
    quern.reset_counters()
    results = []
    for _ in range(2):
        torch.manual_seed(7)
        results.append(compiled(x))
    assert torch.equal(*results)
    assert not torch.equal(results[0], compiled(x))
    assert quern.counters()["random"] == {}
    assert quern.counters()["fallbacks"] == {}


def test_counted_mask_is_the_backwards_too(counted: dict[str, str]) -> None:
    drop = torch.compile(
        lambda t: nn.functional.dropout(t, 0.25) * 2, backend="quern", options=counted
    )
    x = torch.ones(40000, requires_grad=True)
    y = drop(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(gradient, y.detach())
    assert abs((y == 0).float().mean().item() - 0.25) < 0.01


def test_every_node_and_every_size_has_numbers_of_its_own(counted: dict[str, str]) -> None:
    draw = torch.compile(
        lambda t: (torch.rand(t.shape[0], 30), torch.rand(t.shape[0], 30) + t),
        backend="quern",
        options=counted,
        dynamic=True,
    )
    quern.reset_counters()
    for rows in (4, 1000):
        a, b = draw(torch.zeros(rows, 1))
        assert a.shape == b.shape == (rows, 30)
        assert not torch.equal(a, b)
    assert quern.counters()["random"] == {}
    assert 0 <= a.min() < 0.01
    assert 0.99 < a.max() < 1
    assert abs(a.mean().item() - 0.5) < 0.01
    assert abs(torch.corrcoef(torch.stack([a.flatten(), b.flatten()]))[0, 1].item()) < 0.03


def test_what_has_no_counting_kernel_is_drawn_by_aten(counted: dict[str, str]) -> None:
    draw = torch.compile(
        lambda t: torch.poisson(t) + nn.functional.dropout(t, 0.5), backend="quern", options=counted
    )
    quern.reset_counters()
    draw(torch.ones(100))
    assert quern.counters()["random"] == {"aten::poisson": 1}


def test_check_and_debug_take_drawn_numbers(
    counted: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("QUERN_CHECK", "1")
    monkeypatch.setenv("QUERN_DEBUG", str(tmp_path))
    torch._dynamo.reset()
    drop = torch.compile(
        lambda t: nn.functional.dropout(t.sin(), 0.5) * 2, backend="quern", options=counted
    )
    drop(torch.ones(100))
    assert list(tmp_path.iterdir())
