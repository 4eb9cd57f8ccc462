"""Achieved bandwidth against a device copy, products and attention against PyTorch, launch cost.

`./dev gpu-bench [-k PART]`. Every figure is a median of paired rounds on the current device.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from device_library import HERE, Library
from gpu_test import SCHEDULES, STDLIB

ROUNDS = 15
Run = Callable[[], object]


def milliseconds(run: Run, calls: int) -> float:
    """Of one call, on the device's clock."""
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    first.record()
    for _ in range(calls):
        run()
    last.record()
    last.synchronize()
    return float(first.elapsed_time(last)) / calls


def paired(ours: Run, other: Run) -> tuple[float, float]:
    """Medians of both, measured in turns."""
    for run in (ours, other):
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    calls = max(1, min(200, int(5 / max(milliseconds(other, 3), 1e-3))))
    rounds = [(milliseconds(ours, calls), milliseconds(other, calls)) for _ in range(ROUNDS)]
    return statistics.median(r[0] for r in rounds), statistics.median(r[1] for r in rounds)


def against_copy(lib: Library) -> None:
    print("elementwise and rows: share of a device copy's bandwidth")
    activations, softmax = lib.load(STDLIB / "activations.qn"), lib.load(SCHEDULES)
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.randn(1 << 28, device="cuda").to(dtype)
        out = torch.empty_like(x)
        run = activations.bind("silu", [x]).prepare([out])
        mine, copy = paired(run, lambda x=x, out=out: out.copy_(x))  # type: ignore[misc]
        rate = 2 * x.nbytes / copy / 1e6
        print(f"  silu {dtype}: {copy / mine:.1%} of {rate:.0f} GB/s")
    for columns in (256, 1000, 1024, 4096, 16384, 50257, 65536, 131072, 262144):
        x = torch.randn((1 << 27) // columns, columns, device="cuda")
        out = torch.empty_like(x)
        run = softmax.bind("softmax", [x]).prepare([out])
        mine, copy = paired(run, lambda x=x, out=out: out.copy_(x))  # type: ignore[misc]
        layer = lib.load(STDLIB / "layer_norm.qn")
        w, b = torch.ones(columns, device="cuda"), torch.zeros(columns, device="cuda")
        kernel = layer.bind("layer_norm", [x, w, b, 1e-5])
        norm, again = paired(
            kernel.prepare(kernel.outputs()),
            lambda x=x, out=out: out.copy_(x),  # type: ignore[misc]
        )
        print(f"  {columns} columns: softmax {copy / mine:.1%}, layer norm {again / norm:.1%}")


def against_torch(lib: Library) -> None:
    print("products: share of PyTorch's speed")
    module = lib.load(SCHEDULES)
    for size in (1024, 2048, 4096, 8192):
        a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in "ab")
        out = torch.empty_like(a)
        run = module.bind("mm", [a, b]).prepare([out])
        mine, other = paired(run, lambda a=a, b=b, out=out: torch.mm(a, b, out=out))  # type: ignore[misc]
        rate = 2 * size**3 / mine / 1e9
        print(f"  bf16 {size}: {other / mine:.1%}, {rate:.0f} TFLOP/s")
    attention = lib.load(STDLIB / "attention.qn")
    q, k, v = (torch.randn(4, 16, 1024, 64, device="cuda").bfloat16() for _ in "qkv")
    kernel = attention.bind("attention", [q, k, v, None, 0.0])
    functional = torch.nn.functional.scaled_dot_product_attention
    mine, other = paired(kernel.prepare(kernel.outputs()), lambda: functional(q, k, v))
    print(f"  attention 4x16x1024x64: {other / mine:.1%}")


def launch_cost(lib: Library) -> None:
    """On the host's clock; the runner measures the driver's own call."""
    x = torch.randn(1024, device="cuda")
    out = torch.empty_like(x)
    run = lib.load(STDLIB / "activations.qn").bind("silu", [x]).prepare([out])
    times = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(100):
            run()
        times.append((time.perf_counter() - begin) / 100)
    torch.cuda.synchronize()
    print(f"launch through ctypes: {min(times) * 1e6:.2f} us")
    runner = HERE / "bin" / "gpu-runner"
    if runner.exists():
        subprocess.run([runner, HERE / "lib" / "libquern.so"], check=False)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev gpu-bench")
    parser.add_argument("-k", default="", help="parts with this in their name")
    chosen = parser.parse_args()
    lib = Library()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    for part in (against_copy, against_torch, launch_cost):
        if chosen.k in part.__name__:
            part(lib)
    return 0


if __name__ == "__main__":
    sys.exit(main())
