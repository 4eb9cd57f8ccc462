"""Achieved bandwidth against a device copy, products and attention against PyTorch, launch cost.

`./dev gpu-bench [-k PART] [--device N]`. Every figure is a median of paired rounds on one device,
and stands beside its bar, where it has one. The bars are an H200's.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from device_library import HERE, Library, library_path
from gpu_test import SCHEDULES, STDLIB, reason

ROUNDS = 15
Run = Callable[[], object]


class Report:
    """Figures as they come, and how many keep their bars."""

    def __init__(self) -> None:
        self.kept = self.missed = self.failed = 0

    def share(self, name: str, value: float, bar: float | None, beside: str = "") -> None:
        text = f"  {name}: {value:.1%}{beside}"
        if bar is not None:
            holds = value >= bar
            self.kept, self.missed = self.kept + holds, self.missed + (not holds)
            text += f", bar {bar:.0%}: {'kept' if holds else 'missed'}"
        print(text, flush=True)

    def attempt(self, name: str, measure: Callable[[], None]) -> None:
        """A figure that cannot be had is said, and the others come all the same."""
        try:
            measure()
        except Exception as error:
            self.failed += 1
            print(f"  {name}: FAILED: {reason(error)}", flush=True)
        torch.cuda.empty_cache()


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


def elements(most: int, tensors: int = 4, each: int = 4) -> int:
    """As many as wanted, or what the device's free memory has room for."""
    room = torch.cuda.mem_get_info()[0] // (tensors * each)
    return min(most, 1 << max(room.bit_length() - 1, 0))


def against_copy(lib: Library, report: Report) -> None:
    print("elementwise and rows: share of a device copy's bandwidth")
    activations, softmax, layer = (
        lib.load(STDLIB / f"{name}.qn") for name in ("activations", "softmax", "layer_norm")
    )

    def elementwise(dtype: torch.dtype) -> None:
        x = torch.randn(elements(1 << 28), device="cuda").to(dtype)
        out = torch.empty_like(x)
        run = activations.bind("silu", [x]).prepare([out])
        mine, copy = paired(run, lambda: out.copy_(x))
        beside = f" of {2 * x.nbytes / copy / 1e6:.0f} GB/s"
        report.share(f"silu {dtype}", copy / mine, 0.92, beside)

    def rows(columns: int) -> None:
        x = torch.randn(max(1, elements(1 << 27) // columns), columns, device="cuda")
        out = torch.empty_like(x)
        run = softmax.bind("softmax", [x]).prepare([out])
        mine, copy = paired(run, lambda: out.copy_(x))
        report.share(f"softmax {columns} columns", copy / mine, 0.85)
        w, b = torch.ones(columns, device="cuda"), torch.zeros(columns, device="cuda")
        kernel = layer.bind("layer_norm", [x, w, b, 1e-5])
        norm, again = paired(kernel.prepare(kernel.outputs()), lambda: out.copy_(x))
        report.share(f"layer norm {columns} columns", again / norm, 0.85)

    for dtype in (torch.float32, torch.bfloat16):
        report.attempt(f"silu {dtype}", lambda dtype=dtype: elementwise(dtype))  # type: ignore[misc]
    for columns in (256, 1000, 1024, 4096, 16384, 50257, 65536, 131072, 262144):
        report.attempt(f"{columns} columns", lambda columns=columns: rows(columns))  # type: ignore[misc]


def against_torch(lib: Library, report: Report) -> None:
    print("products: share of PyTorch's speed")
    module = lib.load(SCHEDULES)

    def product(size: int) -> None:
        a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in "ab")
        out = torch.empty_like(a)
        run = module.bind("mm", [a, b]).prepare([out])
        mine, other = paired(run, lambda: torch.mm(a, b, out=out))
        beside = f", {2 * size**3 / mine / 1e9:.0f} TFLOP/s"
        report.share(f"bf16 {size}", other / mine, 0.5 if size >= 4096 else None, beside)

    def attention(width: int, causal: bool) -> None:
        q, k, v = (torch.randn(4, 16, 1024, width, device="cuda").bfloat16() for _ in "qkv")
        name = "attention_causal_on_gpu" if causal else "attention_on_gpu"
        given = [q, k, v, 0.0] if causal else [q, k, v, None, 0.0]
        kernel = lib.load(STDLIB / "attention.qn").bind(name, given)
        outs = kernel.outputs()
        functional = torch.nn.functional.scaled_dot_product_attention
        run = kernel.prepare(outs)
        mine, other = paired(run, lambda: functional(q, k, v, is_causal=causal))
        wanted = functional(q, k, v, is_causal=causal)
        torch.testing.assert_close(outs[0], wanted, rtol=2e-2, atol=1e-2)
        flops = 4 * 4 * 16 * 1024**2 * width / (2 if causal else 1)
        label = f"attention 4x16x1024x{width}" + (" causal" if causal else "")
        beside = f", {mine * 1e3:.0f} us, {flops / mine / 1e9:.0f} TFLOP/s"
        report.share(label, other / mine, None, beside)

    for size in (1024, 2048, 4096, 8192):
        report.attempt(f"bf16 {size}", lambda size=size: product(size))  # type: ignore[misc]
    for width, causal in ((64, False), (64, True), (128, False), (128, True)):
        report.attempt("attention", lambda w=width, c=causal: attention(w, c))  # type: ignore[misc]


def launch_cost(lib: Library, report: Report) -> None:
    """On the host's clock; the runner measures the driver's own call."""
    print("launches: host time")

    def through_python() -> None:
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
        print(f"  through ctypes: {min(times) * 1e6:.2f} us", flush=True)

    def through_c() -> None:
        words = [HERE / "bin" / "gpu-runner", library_path(), str(torch.cuda.current_device())]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        print(f"  {done.stdout.strip()}", flush=True)
        report.kept += "kept" in done.stdout
        report.missed += "missed" in done.stdout

    report.attempt("through ctypes", through_python)
    if (HERE / "bin" / "gpu-runner").exists():
        report.attempt("launch", through_c)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev gpu-bench")
    parser.add_argument("-k", default="", help="parts with this in their name")
    parser.add_argument("--device", type=int, default=0, help="which of several GPUs")
    chosen = parser.parse_args()
    torch.cuda.set_device(chosen.device)
    lib, report = Library(), Report()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}", flush=True)
    for part in (against_copy, against_torch, launch_cost):
        if chosen.k in part.__name__:
            part(lib, report)
    print(f"bars: {report.kept} kept, {report.missed} missed; {report.failed} figures failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
