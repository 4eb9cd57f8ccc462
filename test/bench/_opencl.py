"""OpenCL's side of `./dev bench kernels`: the same algorithms in OpenCL C, run on PoCL."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PINNED = (
    "pyopencl==2025.2.7",
    "platformdirs==4.14.7",
    "pytools==2026.1.1",
    "siphash24==1.9",
    "typing-extensions==4.16.0",
)

SOURCE = r"""
__kernel void transpose(__global const float *src, __global float *dst, int M, int N) {
  __local float tile[TILE][TILE + 1];
  int tx = get_local_id(0), ty = get_local_id(1);
  int x = get_group_id(0) * TILE + tx;
  for (int j = 0; j < TILE; j += 8) {
    int y = get_group_id(1) * TILE + ty + j;
    if (x < N && y < M) tile[ty + j][tx] = src[(size_t)y * N + x];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int u = get_group_id(1) * TILE + tx;
  for (int j = 0; j < TILE; j += 8) {
    int v = get_group_id(0) * TILE + ty + j;
    if (u < M && v < N) dst[(size_t)v * M + u] = tile[tx][ty + j];
  }
}

__kernel void matmul(__global const float *a, __global const float *b, __global float *out,
                     int M, int K, int N) {
  __local float left[MTILE][MTILE], right[MTILE][MTILE];
  int tx = get_local_id(0), ty = get_local_id(1);
  int row = get_group_id(1) * MTILE + ty, column = get_group_id(0) * MTILE + tx;
  float total = 0;
  for (int first = 0; first < K; first += MTILE) {
    left[ty][tx] = row < M && first + tx < K ? a[(size_t)row * K + first + tx] : 0;
    right[ty][tx] = first + ty < K && column < N ? b[(size_t)(first + ty) * N + column] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < MTILE; ++k) total = fma(left[ty][k], right[k][tx], total);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < M && column < N) out[(size_t)row * N + column] = total;
}

__kernel void histogram(__global const int *x, __global int *counts, int N) {
  __local int own[256];
  int t = get_local_id(0);
  own[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int first = get_group_id(0) * 256 * 16 + t;
  for (int item = 0; item < 16; ++item) {
    int i = first + item * 256;
    if (i < N) atomic_add(&own[x[i]], 1);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (own[t] != 0) atomic_add(&counts[t], own[t]);
}

__kernel void block_scan(__global const float *x, __global float *out, __global float *totals,
                         int N) {
  __local float sums[256];
  int t = get_local_id(0), i = get_group_id(0) * 256 + t;
  sums[t] = i < N ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < 256; distance *= 2) {
    float left = t >= distance ? sums[t - distance] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[t] += left;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < N) out[i] = sums[t];
  if (t == 255) totals[get_group_id(0)] = sums[t];
}

__kernel void radix_scatter(__global const uint *keys, __global const int *starts,
                            __global uint *out, int N, int B, int shift) {
  __local int flags[256];
  __local int taken[16];
  int t = get_local_id(0), i = get_group_id(0) * 256 + t;
  if (t < 16) taken[t] = starts[t * B + get_group_id(0)];
  uint key = 0;
  int digit = 16;
  if (i < N) { key = keys[i]; digit = (key >> shift) & 15; }
  flags[t] = digit;
  barrier(CLK_LOCAL_MEM_FENCE);
  int rank = 0;
  for (int other = 0; other < 256; ++other)
    if (other < t && flags[other] == digit) rank += 1;
  if (i < N) out[taken[digit] + rank] = key;
}

__kernel void stencil(__global const float *src, __global float *out, int H, int W, float weight) {
  __local float tile[10][34];
  int tx = get_local_id(0), ty = get_local_id(1);
  int x0 = get_group_id(0) * 32 - 1, y0 = get_group_id(1) * 8 - 1;
  for (int j = ty; j < 10; j += 8)
    for (int i = tx; i < 34; i += 32) {
      float value = 0;
      if (0 <= y0 + j && y0 + j < H && 0 <= x0 + i && x0 + i < W)
        value = src[(size_t)(y0 + j) * W + x0 + i];
      tile[j][i] = value;
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  int x = get_group_id(0) * 32 + tx, y = get_group_id(1) * 8 + ty;
  if (x < W && y < H)
    out[(size_t)y * W + x] = tile[ty + 1][tx + 1] +
        weight * ((tile[ty][tx + 1] + tile[ty + 2][tx + 1]) +
                  (tile[ty + 1][tx] + tile[ty + 1][tx + 2]));
}
"""


def apt(*arguments: str) -> None:
    """Runs apt-get as root, asking nothing."""
    command = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-q"]
    if os.geteuid() != 0:
        command.insert(0, "sudo")
    subprocess.run([*command, *arguments], check=True, stdout=sys.stderr)


def install() -> None:
    """PoCL from Debian; its Python side from PyPI, into a folder that only this benchmark sees."""
    if not list(Path("/etc/OpenCL/vendors").glob("pocl*")):
        apt("update")
        apt("install", "--no-install-recommends", "pocl-opencl-icd")
    folder = ROOT / "build" / "peers" / "-".join(PINNED[0].split("=="))
    if not folder.exists():
        partial = folder.with_suffix(".partial")
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--upgrade"]
        subprocess.run([*pip, "--target", partial, *PINNED], check=True)
        partial.rename(folder)
    sys.path.append(str(folder))


class Peer:
    """A device of PoCL with the kernels built for it."""

    def __init__(self) -> None:
        self.cl: Any = importlib.import_module("pyopencl")
        platforms = [p for p in self.cl.get_platforms() if "Portable" in p.name]
        self.context = self.cl.Context(platforms[0].get_devices()[:1])
        self.queue = self.cl.CommandQueue(self.context)
        options = ["-DTILE=32", "-DMTILE=16"]
        self.program = self.cl.Program(self.context, SOURCE).build(options)

    def call(
        self, name: str, grid: tuple[int, ...], block: tuple[int, ...], operands: list[Any]
    ) -> Callable[[], None]:
        """A call that works on the arrays themselves and waits for the end."""
        flags = self.cl.mem_flags.READ_WRITE | self.cl.mem_flags.USE_HOST_PTR
        given = [self.cl.Buffer(self.context, flags, hostbuf=x) if x.ndim else x for x in operands]
        kernel = self.cl.Kernel(self.program, name)
        kernel.set_args(*given)
        size = tuple(g * b for g, b in zip(grid, block, strict=True))

        def run(buffers: list[Any] = given) -> None:  # keeps them alive
            self.cl.enqueue_nd_range_kernel(self.queue, kernel, size, block).wait()

        return run
