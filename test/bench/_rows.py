"""The row kernels `./dev bench cpu` times, in every contestant's own words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

SOURCE = """
@fastmath
rowwise bench_sum[T: Float](x: T[R, C]) -> T[R]:
    return T(sum(x over C))

@fastmath
rowwise bench_max[T: Float](x: T[R, C]) -> T[R]:
    return max(x over C)

@fastmath
rowwise bench_softmax[T: Float](x: T[R, C]) -> T[R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)

@fastmath
rowwise bench_layer_norm[T: Float](x: T[R, C], w: T[C], b: T[C]) -> T[R, C]:
    let n = T(size(C))
    let mean = sum(x over C) / n
    let d = x - mean
    let v = sum(d * d over C) / n
    return d * rsqrt(v + 1e-5) * w + b

@fastmath
rowwise bench_rms_norm[T: Float](x: T[R, C], w: T[C], b: T[C]) -> T[R, C]:
    return x * rsqrt(sum(x * x over C) / T(size(C)) + 1e-5) * w

@fastmath
rowwise bench_logsumexp[T: Float](x: T[R, C]) -> T[R]:
    let m = max(x over C)
    return m + log(sum(exp(x - m) over C))

@fastmath
rowwise bench_var[T: Float](x: T[R, C]) -> T[R]:
    let n = T(size(C))
    let d = x - sum(x over C) / n
    return sum(d * d over C) / (n - 1)

@fastmath
rowwise bench_argmax[T: Float](x: T[R, C]) -> i64[R]:
    return argmax(x over C)
"""


@dataclass(frozen=True)
class RowKernel:
    """`loops` is Numba's: what makes `out[r]`, or all of it, of `row`, the loops written out."""

    name: str
    affine: bool  # takes weight and bias
    eager: Callable[..., torch.Tensor]
    loops: str


def _rms(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.rms_norm(x, (x.shape[1],), w, 1e-5)


def _layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, (x.shape[1],), w, b, 1e-5)


TOP = """
top = f32(-inf)
for c in range(n):
    top = max(top, row[c])
"""

MEAN = """
total = f32(0)
for c in range(n):
    total += row[c]
mean = total / f32(n)
square = f32(0)
for c in range(n):
    square += (row[c] - mean) * (row[c] - mean)
"""

KERNELS = (
    RowKernel("sum", False, lambda x: x.sum(1), """
total = f32(0)
for c in range(n):
    total += row[c]
out[r] = total
"""),
    RowKernel("max", False, lambda x: x.amax(1), TOP + "out[r] = top"),
    RowKernel("softmax", False, lambda x: x.softmax(1), TOP + """
total = f32(0)
for c in range(n):
    out[r, c] = math.exp(row[c] - top)
    total += out[r, c]
for c in range(n):
    out[r, c] /= total
"""),
    RowKernel("layer_norm", True, _layer, MEAN + """
scale = f32(1) / math.sqrt(square / f32(n) + f32(1e-5))
for c in range(n):
    out[r, c] = (row[c] - mean) * scale * w[c] + b[c]
"""),
    RowKernel("rms_norm", True, _rms, """
square = f32(0)
for c in range(n):
    square += row[c] * row[c]
scale = f32(1) / math.sqrt(square / f32(n) + f32(1e-5))
for c in range(n):
    out[r, c] = row[c] * scale * w[c]
"""),
    RowKernel("logsumexp", False, lambda x: x.logsumexp(1), TOP + """
total = f32(0)
for c in range(n):
    total += math.exp(row[c] - top)
out[r] = top + math.log(total)
"""),
    RowKernel("var", False, lambda x: x.var(1), MEAN + "out[r] = square / f32(n - 1)"),
    RowKernel("argmax", False, lambda x: x.argmax(1), """
place = 0
for c in range(n):
    if row[c] > row[place]:
        place = c
out[r] = place
"""),
)  # fmt: skip

NAMES = ("x", "w", "b")
LENGTHS = (16, 64, 256, 1024, 4096, 32768, 262144)


def inductor_call(kernel: RowKernel, operands: list[torch.Tensor]) -> Callable[[], Any]:
    compiled = torch.compile(kernel.eager, dynamic=False)
    return lambda: compiled(*operands)


def numba_call(kernel: RowKernel, arrays: list[Any], out: Any) -> Callable[[], Any]:
    import math

    import numba
    import numpy

    source = [f"def kernel({', '.join(NAMES[: len(arrays)])}, out):", "    n = x.shape[1]"]
    source += ["    for r in prange(x.shape[0]):", "        row = x[r]"]
    source += ["        " + line for line in kernel.loops.strip().splitlines()]
    scope: dict[str, Any] = {"math": math, "f32": numpy.float32, "inf": math.inf}
    scope["prange"] = numba.prange
    exec("\n".join(source), scope)  # the text is this file's own
    compiled = numba.njit(fastmath=True, parallel=True)(scope["kernel"])
    return lambda: compiled(*arrays, out)
