"""Write a shared-memory kernel and run it with no GPU: NumPy's result."""

from __future__ import annotations

import numpy as np
import quern

SOURCE = """
kernel product[TILE: int = 16](a: f32[M, K], b: f32[K, N], out: mut f32[M, N]):
    launch grid((N + TILE - 1) // TILE, (M + TILE - 1) // TILE) block(TILE, TILE)
    shared left: f32[TILE, TILE]
    shared right: f32[TILE, TILE]
    let row = block.y * TILE + thread.y
    let column = block.x * TILE + thread.x
    var total = f32(0)
    for first in range(0, K, TILE):
        var value = f32(0)
        if row < M and first + thread.x < K:
            value = a[row, first + thread.x]
        left[thread.y, thread.x] = value
        value = f32(0)
        if first + thread.y < K and column < N:
            value = b[first + thread.y, column]
        right[thread.y, thread.x] = value
        barrier()
        for k in range(TILE):
            total = fma(left[thread.y, k], right[k, thread.x], total)
        barrier()
    if row < M and column < N:
        out[row, column] = total

kernel sums(x: i64[N], out: mut i64[N]):
    launch grid(1) block(128)
    shared all: i64[128]
    all[thread.x] = x[thread.x] if thread.x < N else i64(0)
    barrier()
    var distance = 1
    while distance < 128:
        var left = i64(0)
        if thread.x >= distance:
            left = all[thread.x - distance]
        barrier()
        all[thread.x] += left
        barrier()
        distance *= 2
    if thread.x < N:
        out[thread.x] = all[thread.x]

kernel counts(x: u8[N], out: mut i32[BINS]):
    launch grid((N + 255) // 256) block(64)
    shared own: i32[256]
    for bin in range(thread.x, 256, 64):
        own[bin] = 0
    barrier()
    for item in range(4):
        let i = (block.x * 4 + item) * 64 + thread.x
        if i < N:
            atomic_add(own[i64(x[i])], 1)
    barrier()
    for bin in range(thread.x, 256, 64):
        atomic_add(out[bin], own[bin])
"""


def test_tiled_product() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((37, 21), "f4"), rng.standard_normal((21, 50), "f4")
    out = np.empty((37, 50), "f4")
    quern.compile(SOURCE).product(a, b, out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-5)


def test_scan() -> None:
    x = np.random.default_rng(1).integers(-99, 99, 101)
    out = np.empty_like(x)
    quern.compile(SOURCE).sums(x, out)
    np.testing.assert_array_equal(out, np.cumsum(x))


def test_histogram() -> None:
    x = np.random.default_rng(2).integers(0, 256, 5000).astype("u1")
    out = np.zeros(256, "i4")
    quern.compile(SOURCE).counts(x, out)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=256))
