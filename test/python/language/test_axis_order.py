"""Axes come in the order of written types, whichever operand is written first."""

from __future__ import annotations

import quern
import torch

TEXT = """
from softmax use softmax

rowwise scaled(x: f32[N, C], w: f32[C]) -> (f32[N, C], f32[N, C]):
    return softmax(w * x), softmax(x * w)

rowwise attention(q: f32[M, D], k: f32[N, D], v: f32[N, D]) -> f32[M, D]:
    let s: f32[M, N] = sum(k * q over D)
    return sum(softmax(s) * v over N)

rowwise picked(x: f32[N, C], w: f32[C], i: i64[K], j: i64[K]) -> f32[K]:
    return (w * x)[i, j]

rowwise placed(x: f32[N, C], w: f32[C], i: i64[K], j: i64[K], v: f32[K]) -> f32[N, C]:
    return scatter(w * x, at = (i, j), v, with = last)

rowwise results(x: f32[N]) -> (low: f32[N], high: f32[N]):
    return (high = max(x, 0.0), low = min(x, 0.0))

rowwise same_columns[T: Any](x: T[N], y: T[M]) -> (T[N, M], T[N, M]):
    return expand(x over M), expand(y over N)

rowwise sums_of_the_same(x: f32[N], w: f32[M]) -> f32[N]:
    return sum(expand(x over M) over M where w > 0)
"""


def test_orders() -> None:
    k = quern.compile(TEXT)
    generator = torch.Generator().manual_seed(5)
    x, w = torch.randn(6, 9, generator=generator), torch.randn(9, generator=generator)
    for result in k.scaled(x, w):
        torch.testing.assert_close(result, torch.softmax(x * w, 1))
    q, keys, v = (torch.randn(n, 9, generator=generator) for n in (4, 6, 6))
    wanted = torch.softmax(q @ keys.T, 1) @ v
    torch.testing.assert_close(k.attention(q, keys, v), wanted)
    i, j = torch.tensor([5, 0, 3]), torch.tensor([8, 2, 7])
    assert torch.equal(k.picked(x, w, i, j), (x * w)[i, j])
    expected = x * w
    expected[i, j] = torch.arange(3.0)
    assert torch.equal(k.placed(x, w, i, j, torch.arange(3.0)), expected)


def test_named_results() -> None:
    k = quern.compile(TEXT)
    x = torch.tensor([-1.0, 2.0])
    low, high = k.results(x)
    assert torch.equal(low, x.clamp(max=0))
    assert torch.equal(high, x.clamp(min=0))


def test_expanded() -> None:
    k = quern.compile(TEXT)
    for dtype in (torch.float32, torch.bool, torch.int8, torch.complex64, torch.bfloat16):
        x, y = torch.arange(4).to(dtype), torch.arange(3).to(dtype)
        first, second = k.same_columns(x, y)
        assert torch.equal(first, x[:, None].expand(4, 3))
        assert torch.equal(second, y[None].expand(4, 3))
    x, w = torch.arange(4.0), torch.tensor([1.0, -1.0, 2.0])
    assert torch.equal(k.sums_of_the_same(x, w), 2 * x)
