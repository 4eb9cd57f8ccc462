"""Contractions, convolutions, attention and moves that `./dev bench cpu` times against eager."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

SOURCE = """
from math use exp

rowwise bench_mm[T: Float](a: T[M, K], b: T[K, N]) -> T[M, N]:
    return sum(a * b over K)

rowwise bench_bmm[T: Float](a: T[B, M, K], b: T[B, K, N]) -> T[B, M, N]:
    return sum(a * b over K)

rowwise bench_linear[T: Float](x: T[M, K], w: T[N, K], b: T[N]) -> T[M, N]:
    return sum(x * w over K) + b

rowwise bench_conv[T: Float](x: T[B, C, H, W], w: T[O, C, I, J], s: int, p: int)
        -> T[B, O, P = (H + 2 * p - I) // s + 1, Q = (W + 2 * p - J) // s + 1]:
    return sum(x.at(H = index(P) * s - p + index(I),
                    W = index(Q) * s - p + index(J), outside = 0) * w over (C, I, J))

rowwise bench_depthwise[T: Float](x: T[B, C, H, W], w: T[C, I, J], s: int, p: int)
        -> T[B, C, P = (H + 2 * p - I) // s + 1, Q = (W + 2 * p - J) // s + 1]:
    return sum(x.at(H = index(P) * s - p + index(I),
                    W = index(Q) * s - p + index(J), outside = 0) * w over (I, J))

rowwise bench_attention[T: Float](q: T[B, M, D], k: T[B, N, D], v: T[B, N, E], scale: acc(T))
        -> T[B, M, E]:
    let s = sum(q * k over D) * scale
    let p = exp(s - max(s over N))
    return sum(p * v over N) / sum(p over N)

rowwise bench_causal[T: Float](q: T[B, M, D], k: T[B, N, D], v: T[B, N, E], scale: acc(T))
        -> T[B, M, E]:
    let s = sum(q * k over D) * scale
    let seen = index(N) <= index(M)
    let p = exp(s - max(s over N where seen))
    return sum(p * v over N where seen) / sum(p over N where seen)

rowwise bench_column_sum[T: Float](x: T[R, C]) -> T[C]:
    return T(sum(x over R))

elementwise bench_add[T: Float](a: T, b: T) -> T:
    return a + b

elementwise bench_copy[T: Any](a: T) -> T:
    return a

@portable
rowwise bench_portable_sum[T: Float](x: T[R, C]) -> T[R]:
    return T(sum(x over C))

rowwise bench_free_sum[T: Float](x: T[R, C]) -> T[R]:
    return T(sum(x over C))
"""


DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "i8": torch.int8}


@dataclass(frozen=True)
class Row:
    name: str
    kernel: str
    operands: tuple[Any, ...]
    eager: Callable[..., torch.Tensor]


def products() -> Iterator[Row]:
    for n in (64, 128, 256, 512, 1024, 2048):
        yield Row(f"mm {n}", "mm", (torch.randn(n, n), torch.randn(n, n)), torch.mm)
    for m in (1, 2, 3, 4, 6, 8, 12, 16):
        yield Row(
            f"mm {m}x4096x1024", "mm", (torch.randn(m, 1024), torch.randn(1024, 4096)), torch.mm
        )
    for m in (1, 4, 8):
        skinny = (torch.randn(m, 1024), torch.randn(4096, 1024), torch.randn(4096))
        yield Row(f"linear {m}x4096x1024", "linear", skinny, functional.linear)
    for m, n, k in ((128, 3072, 768), (1000, 1000, 1000)):
        yield Row(f"mm {m}x{n}x{k}", "mm", (torch.randn(m, k), torch.randn(k, n)), torch.mm)
    operands = (torch.randn(96, 128, 64), torch.randn(96, 64, 128))
    yield Row("bmm 96x128x128x64", "bmm", operands, torch.bmm)
    linear = (torch.randn(512, 768), torch.randn(768, 768), torch.randn(768))
    yield Row("linear 512x768x768", "linear", linear, functional.linear)
    for n in (64, 512, 1024):
        pair = (torch.randn(n, n).bfloat16(), torch.randn(n, n).bfloat16())
        yield Row(f"mm bf16 {n}", "mm", pair, torch.mm)


def convolutions() -> Iterator[Row]:
    def conv(x: torch.Tensor, w: torch.Tensor, s: int, p: int) -> torch.Tensor:
        return functional.conv2d(x, w, stride=s, padding=p)

    def depthwise(x: torch.Tensor, w: torch.Tensor, s: int, p: int) -> torch.Tensor:
        return functional.conv2d(x, w[:, None], stride=s, padding=p, groups=w.shape[0])

    for c, o, k, size, stride in (
        (64, 64, 3, 56, 1),
        (3, 64, 7, 224, 2),
        (256, 64, 1, 56, 1),
        (256, 256, 3, 14, 1),
        (512, 512, 3, 7, 1),
    ):
        x, w = torch.randn(4, c, size, size), torch.randn(o, c, k, k)
        yield Row(f"conv {k}x{k} {c}-{o} {size}", "conv", (x, w, stride, k // 2), conv)
    for c, k, size in ((96, 3, 56), (240, 5, 14), (96, 7, 56)):
        x, w = torch.randn(4, c, size, size), torch.randn(c, k, k)
        yield Row(f"depthwise {k}x{k} {c} {size}", "depthwise", (x, w, 1, k // 2), depthwise)


def attention() -> Iterator[Row]:
    def full(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
        return functional.scaled_dot_product_attention(q[None], k[None], v[None], scale=scale)[0]

    def causal(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
        return functional.scaled_dot_product_attention(
            q[None], k[None], v[None], scale=scale, is_causal=True
        )[0]

    for tokens in (64, 512, 2048):
        operands = (*(torch.randn(8, tokens, 64) for _ in range(3)), 0.125)
        yield Row(f"attention {tokens}", "attention", operands, full)
        yield Row(f"causal {tokens}", "causal", operands, causal)


def moves() -> Iterator[Row]:
    for r, c in ((4096, 1024), (65536, 8), (1 << 22, 1), (64, 65536)):
        yield Row(f"column sum {r}x{c}", "column_sum", (torch.randn(r, c),), lambda x: x.sum(0))
    a, b = torch.randn(2048, 2048), torch.randn(2048, 2048)
    yield Row("a + b.T", "add", (a, b.T), torch.add)
    yield Row("copy (the limit)", "copy", (a,), torch.clone)
    yield Row("a.T", "copy", (a.T,), lambda x: x.contiguous())
    heads = torch.randn(8, 512, 16, 64).permute(0, 2, 1, 3)
    yield Row("permute 0213", "copy", (heads,), lambda x: x.contiguous())
    pixels = torch.randn(8, 64, 56, 56)
    yield Row("channels last", "copy", (pixels.permute(0, 2, 3, 1),), lambda x: x.contiguous())
    images = pixels.contiguous(memory_format=torch.channels_last)
    yield Row("channels first", "copy", (images,), lambda x: x.contiguous())
    for shape in ((8, 64, 14, 14), (16, 3, 224, 224)):
        small = torch.randn(shape).permute(0, 2, 3, 1)
        name = "channels last " + "x".join(map(str, shape))
        yield Row(name, "copy", (small,), lambda x: x.contiguous())
    for order in ((1, 0, 2), (0, 2, 1), (2, 1, 0)):
        cube = torch.randn(160, 160, 160).permute(order)
        yield Row(f"permute {order}", "copy", (cube,), lambda x: x.contiguous())
    for n, name in ((2049, "f32"), (1024, "f32"), (1448, "f64"), (2896, "bf16"), (4096, "i8")):
        x = torch.randn(n, n).to(DTYPES[name])
        yield Row(f"a.T {n} {name}", "copy", (x.T,), lambda x: x.contiguous())
    for r, c in ((4096, 1024), (65536, 64)):
        yield Row(f"portable sum {r}x{c}", "portable_sum", (torch.randn(r, c),), lambda x: x.sum(1))


SECTIONS = {
    "products": products,
    "convolutions": convolutions,
    "attention": attention,
    "moves": moves,
}
