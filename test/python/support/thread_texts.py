"""Texts of explicit `kernel`s that run on the CPU and on every GPU."""

from __future__ import annotations

import numpy as np
from tree import ROOT

KERNELS = ROOT / "test" / "kernels"

TOGETHER = """
kernel divided(x: i32[N], y: mut i32[N]):
    launch grid(1) block(64)
    if x[thread.x] > 0:
        barrier()
    y[thread.x] = 1

kernel fill(y: mut i32[N], width: int):
    launch grid(1) block(width)
    if thread.x < N:
        y[thread.x] = 1

kernel square(y: mut i32[N], side: int):
    launch grid(1) block(side, side)
    y[thread.x] = 1

kernel shaped(y: mut i32[N], blocks: int, threads: int):
    launch grid(1, blocks) block(threads)
    y[block.y * threads + thread.x] = 1

kernel gather(x: f32[N], i: i64[M], y: mut f32[M]):
    launch grid((M + 31) // 32) block(32)
    let at = block.x * 32 + thread.x
    if at < M:
        y[at] = x[i[at]]

kernel lanes(x: i32[N], y: mut i32[6, N], bits: mut i64[N]):
    launch grid(1) block(N)
    let i = thread.x
    let v = x[i]
    y[0, i] = shuffle_xor(v, 1)
    y[1, i] = shuffle_up(v, 2)
    y[2, i] = shuffle_down(v, 3)
    y[3, i] = shuffle(v, (lane() * 5 + 1) % target.warp_size)
    y[4, i] = i32(vote_any(v > 90)) + 2 * i32(vote_all(v > 5))
    y[5, i] = i32(target.warp_size)
    warp_barrier()
    bits[i] = i64(ballot(v % 2 == 0))

kernel atomics(x: i32[N], y: mut i32[8], won: mut i32[N]):
    launch grid((N + 63) // 64) block(64)
    let i = block.x * block_size.x + thread.x
    if i < N:
        let v = x[i]
        atomic_add(y[0], v)
        atomic_min(y[1], v)
        atomic_max(y[2], v)
        atomic_and(y[3], v)
        atomic_or(y[4], v)
        atomic_xor(y[5], v, order = "seq_cst")
        if atomic_cas(y[6], 0, 1) == 0:
            won[i] = 1
        atomic_exchange(y[7], i32(grid_size.x), order = "acq_rel", scope = "system")
"""

MORE = """
kernel transpose[T: Any, TILE: int = 16](src: T[M, N], dst: mut T[N, M]):
    launch grid((N + TILE - 1) // TILE, (M + TILE - 1) // TILE) block(TILE, TILE)
    shared tile: T[TILE, TILE + 1]
    let x = block.x * TILE + thread.x
    let y = block.y * TILE + thread.y
    if x < N and y < M:
        tile[thread.y, thread.x] = src[y, x]
    barrier()
    let u = block.y * TILE + thread.x
    let v = block.x * TILE + thread.y
    if u < M and v < N:
        dst[v, u] = tile[thread.x, thread.y]

op transposed[T: Any](x: T[M, N]) -> T[N, M]:
    let out = empty(T, (N, M))
    transpose(x, out)
    return out

kernel parted[THREADS: int = 64](y: mut i32[N]):
    launch grid(1) block(THREADS)
    if thread.x < 9:
        barrier()
    y[thread.x] = 1

kernel collatz(x: i64[N], steps: mut i32[N]):
    launch grid((N + 63) // 64) block(64)
    let i = block.x * 64 + thread.x
    if i >= N:
        return
    var n = x[i]
    var count = i32(0)
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        count += 1
    steps[i] = count

kernel ragged(first: i64[R], last: i64[R], x: f64[N], y: mut f64[R]):
    launch grid((R + 31) // 32) block(32)
    let r = block.x * 32 + thread.x
    if r < R:
        var total = f64(0)
        for i in range(first[r], last[r], 2):
            total += x[i]
        y[r] = total

kernel own_arrays(x: f32[N, K], y: mut f32[N, K]):
    launch grid((N + 31) // 32) block(32)
    local a: f32[8]
    let r = block.x * 32 + thread.x
    if r < N:
        for k in range(8):
            a[k] = x[r, k] * 2
    barrier()
    if r < N:
        for k in range(7, -1, -1):
            y[r, 7 - k] = a[k]

kernel rounds(x: i32[N], y: mut i32[N]):
    launch grid(1) block(N)
    shared s: i32[1024]
    var a = x[thread.x]
    var b = i32(thread.x)
    var k = 0
    while k < 3:
        s[thread.x] = a
        barrier()
        if k < 2:
            a = b
            b = s[(thread.x + 1) % block_size.x]
            barrier()
        else:
            a = a + s[0]
        barrier()
        k += 1
    y[thread.x] = a * 1000 + b
"""

SUMS = """
kernel totals(x: f64[N], y: mut f64[4, N], last: mut i64[N]):
    launch grid(1) block(N)
    let v = x[thread.x]
    y[0, thread.x] = sum(v over block)
    y[1, thread.x] = max(v over block where v < 0.5)
    y[2, thread.x] = sum(v over warp)
    let m = mean(v over block)
    barrier()
    y[3, thread.x] = v - m
    last[thread.x] = i64(target.warp_size)

kernel scans[X: int = 24, Y: int = 4](x: i64[Y, X], y: mut i64[5, Y, X]):
    launch grid(1) block(X, Y)
    let v = x[thread.y, thread.x]
    y[0, thread.y, thread.x] = scan(sum, v over block)
    y[1, thread.y, thread.x] = scan(sum, v over block, exclusive)
    y[2, thread.y, thread.x] = scan(max, v over block, reverse)
    y[3, thread.y, thread.x] = scan(sum, v over block, reverse, exclusive)
    y[4, thread.y, thread.x] = scan(sum, v over warp)

kernel places[X: int = 24, Y: int = 4](x: i64[Y, X], best: mut i64[3, Y, X],
                                       seen: mut i64[2, Y, X]):
    launch grid(1) block(X, Y)
    let v = x[thread.y, thread.x]
    best[0, thread.y, thread.x] = argmax(v over block)
    best[1, thread.y, thread.x] = argmin(v over block)
    best[2, thread.y, thread.x] = argmax(v over warp)
    let largest, place = scan(cummax, v over block)
    seen[0, thread.y, thread.x] = largest
    seen[1, thread.y, thread.x] = place

reduction cummax:
    state: (value: i64 = -1000, place: i64 = -1)
    step(s, x: i64, i: index): (x, i) if x > s.value else (s.value, s.place)
    merge(a, b): b if b.value > a.value else a
    finish(s): (s.value, s.place)

kernel blocks(x: i32[N], y: mut i32[B]):
    launch grid((N + 127) // 128) block(128)
    let i = block.x * 128 + thread.x
    var v = i32(0)
    if i < N:
        v = x[i]
    let total = i32(sum(v over block))
    if thread.x == 0:
        y[block.x] = total
"""


def pick(v: np.ndarray, source: np.ndarray) -> np.ndarray:
    """What a shuffle gives: the thread's own value where there is no source."""
    here = (source >= 0) & (source < len(v))
    return np.where(here, v[np.where(here, source, 0)], v)
