"""Programs with more of something than a word has bits or a stack has bytes."""

from __future__ import annotations

import numpy as np
import pytest
import quern
import torch

ARRAYS = """
kernel kept(x: f32[N], y: mut f32[N]):
    launch grid((N + 63) // 64) block(64)
    local a: f32[20000]
    let i = block.x * 64 + thread.x
    if i < N:
        for j in range(20000):
            a[j] = x[i] + f32(j)
    barrier()
    if i < N:
        y[i] = a[19999] - a[i]

kernel reversed(x: f32[N], y: mut f32[N]):
    launch grid(1) block(256)
    shared a: f32[1000000]
    for i in range(thread.x, N, 256):
        a[i] = x[i]
    barrier()
    for i in range(thread.x, N, 256):
        y[i] = a[N - 1 - i]
"""


def test_local_axes_without_number() -> None:
    """Each sum over a window brings in an axis of its own."""
    step = "    s = (s + sum(x.at(W = index(W) + i, outside = 0) over i: 0 .. {})) % 1000"
    lines = [step.format(2 + n % 3) for n in range(90)]
    head = "rowwise f(x: i64[R, W]) -> i64[R, W]:\n    var s = x\n"
    text = head + "\n".join(lines) + "\n    return s\n"
    x = torch.arange(36).reshape(4, 9)
    ahead = [torch.nn.functional.pad(x, (0, i))[:, i:] for i in range(4)]
    wanted = x
    for n in range(90):
        wanted = (wanted + sum(ahead[: 2 + n % 3])) % 1000
    assert torch.equal(quern.compile(text).f(x), wanted)


def test_arrays_beyond_the_stack() -> None:
    """Local ones that outlive a barrier are as many as the block's threads."""
    k = quern.compile(ARRAYS)
    x = np.arange(200, dtype="f4") * 3
    y = np.zeros_like(x)
    k.kept(x, y)
    assert (y == (x + 19999) - (x + np.arange(200, dtype="f4"))).all()
    x = np.arange(999_999, dtype="f4")
    y = np.zeros_like(x)
    k.reversed(x, y)
    assert (y == x[::-1]).all()


def test_sums_of_rows_and_columns_in_turn() -> None:
    """Made on demand, each sum would be made again for every element of the next."""
    lines = [f"    let v{i} = v{i - 1} / sum(v{i - 1} over {'RC'[i % 2]})" for i in range(1, 13)]
    head = "rowwise f(x: f64[R, C]) -> f64[R, C]:\n    let v0 = x\n"
    x = torch.rand(37, 53, dtype=torch.float64) + 0.5
    wanted = x
    for i in range(1, 13):
        wanted = wanted / wanted.sum(i % 2, keepdim=True)
    k = quern.compile(head + "\n".join(lines) + "\n    return v12\n")
    torch.testing.assert_close(k.f(x), wanted)


def test_three_products_in_one() -> None:
    """The first is stored for the second, and the second for the third."""
    k = quern.compile("""
rowwise f(a: f64[M, K], b: f64[K, N], c: f64[N, P], d: f64[P, Q]) -> f64[M, Q]:
    let ab = sum(a * b over K)
    let abc = sum(ab * c over N)
    return sum(abc * d over P)
""")
    shapes = ((5, 7), (7, 11), (11, 13), (13, 17))
    a, b, c, d = (torch.randn(shape, dtype=torch.float64) for shape in shapes)
    torch.testing.assert_close(k.f(a, b, c, d), a @ b @ c @ d)


def test_neighbours_of_neighbours() -> None:
    """Each link reads the one before at two places: 2 to the power of 40 reads of the first."""
    step = "    let v{} = v{} - v{}.at(C = index(C) - 1, outside = 0)"
    lines = [step.format(i, i - 1, i - 1) for i in range(1, 41)]
    head = "rowwise f(x: i64[R, C]) -> i64[R, C]:\n    let v0 = x\n"
    x = torch.randint(-9, 9, (3, 70))
    wanted = x
    for _ in range(40):
        wanted = wanted - torch.nn.functional.pad(wanted, (1, 0))[:, :-1]
    k = quern.compile(head + "\n".join(lines) + "\n    return v40\n")
    assert torch.equal(k.f(x), wanted)


def test_places_of_places() -> None:
    """Each link asks the one before where to ask it: 2 to the power of 12 gathers of the first."""
    lines = [f"    let v{i} = v{i - 1}.at(C = v{i - 1})" for i in range(1, 13)]
    k = quern.compile(
        "rowwise f(v0: i64[C]) -> i64[C]:\n" + "\n".join(lines) + "\n    return v12\n"
    )
    v = torch.randperm(1000)
    wanted = v
    for _ in range(12):
        wanted = wanted[wanted]
    assert torch.equal(k.f(v), wanted)
    v[7] = 1000
    with pytest.raises(quern.Error, match="QN2050"):
        k.f(v)


def test_places_that_nobody_asks_for() -> None:
    """What the last link does not read may lie anywhere."""
    lines = [f"    let v{i} = v{i - 1} - v{i - 1}.at(C = at)" for i in range(1, 9)]
    head = "rowwise f(v0: i64[C], at: i64[C], few: i64[K]) -> i64[K]:\n"
    k = quern.compile(head + "\n".join(lines) + "\n    return v8.at(C = few)\n")
    v, at, few = (
        torch.randint(-9, 9, (50,)),
        torch.randint(0, 20, (50,)),
        torch.randint(0, 20, (30,)),
    )
    at[20:] = 99
    wanted = v[:20]
    for _ in range(8):
        wanted = wanted - wanted[at[:20]]
    assert torch.equal(k.f(v, at, few), wanted[few])


def test_functions_that_call_others_twice() -> None:
    """The same call is made once: not 2 to the power of 60 of the first."""
    lines = [f"fn h{i}(x: f64) -> f64:\n    return h{i - 1}(x) * 0.5 + h{i - 1}(x) / 4.0\n"
             for i in range(1, 61)]  # fmt: skip
    first = "fn h0(x: f64) -> f64:\n    return x * x\n"
    k = quern.compile(first + "".join(lines) + "elementwise f(x: f64) -> f64:\n    return h60(x)\n")
    x = torch.randn(50, dtype=torch.float64)
    torch.testing.assert_close(k.f(x), x * x * 0.75**60)
