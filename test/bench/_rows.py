"""The row kernels `./dev bench cpu` times, in every contestant's own words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

SOURCE = """
rowwise bench_sum[T: Float](x: T[R, C]) -> T[R]:
    return T(sum(x over C))

rowwise bench_max[T: Float](x: T[R, C]) -> T[R]:
    return max(x over C)

rowwise bench_softmax[T: Float](x: T[R, C]) -> T[R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)

rowwise bench_layer_norm[T: Float](x: T[R, C], w: T[C], b: T[C]) -> T[R, C]:
    let n = T(size(C))
    let mean = sum(x over C) / n
    let d = x - mean
    let v = sum(d * d over C) / n
    return d * rsqrt(v + 1e-5) * w + b

rowwise bench_rms_norm[T: Float](x: T[R, C], w: T[C], b: T[C]) -> T[R, C]:
    return x * rsqrt(sum(x * x over C) / T(size(C)) + 1e-5) * w

rowwise bench_logsumexp[T: Float](x: T[R, C]) -> T[R]:
    let m = max(x over C)
    return m + log(sum(exp(x - m) over C))

rowwise bench_var[T: Float](x: T[R, C]) -> T[R]:
    let n = T(size(C))
    let d = x - sum(x over C) / n
    return sum(d * d over C) / (n - 1)

rowwise bench_argmax[T: Float](x: T[R, C]) -> i64[R]:
    return argmax(x over C)
"""


@dataclass(frozen=True)
class RowKernel:
    name: str
    affine: bool  # takes weight and bias
    eager: Callable[..., torch.Tensor]


def _rms(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.rms_norm(x, (x.shape[1],), w, 1e-5)


def _layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, (x.shape[1],), w, b, 1e-5)


KERNELS = (
    RowKernel("sum", False, lambda x: x.sum(1)),
    RowKernel("max", False, lambda x: x.amax(1)),
    RowKernel("softmax", False, lambda x: x.softmax(1)),
    RowKernel("layer_norm", True, _layer),
    RowKernel("rms_norm", True, _rms),
    RowKernel("logsumexp", False, lambda x: x.logsumexp(1)),
    RowKernel("var", False, lambda x: x.var(1)),
    RowKernel("argmax", False, lambda x: x.argmax(1)),
)

LENGTHS = (16, 64, 256, 1024, 4096, 32768, 262144)


def inductor_call(kernel: RowKernel, operands: list[torch.Tensor]) -> Callable[[], Any]:
    compiled = torch.compile(kernel.eager, dynamic=False)
    return lambda: compiled(*operands)
