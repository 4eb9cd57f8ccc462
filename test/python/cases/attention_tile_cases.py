"""Calls of attention by matrix instructions, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, bits, floats

#: Queries, keys, heads, groups of heads that share keys, width, causal.
SHAPES = (
    (70, 50, 2, 1, 32, False),
    (64, 130, 1, 1, 64, False),
    (90, 90, 2, 2, 64, True),
    (5, 200, 2, 1, 64, True),
    (17, 33, 1, 1, 128, False),
    (80, 70, 1, 1, 48, True),
)


def small(element: str, *shape: int) -> tuple[Array, Array]:
    """Numbers as f64, and as the element type holds them."""
    x = np.random.default_rng(sum(shape)).standard_normal(shape).astype("f4")
    if element == "bf16":
        return floats(bits(x)).astype("f8"), bits(x)
    return x.astype("f2").astype("f8"), x.astype("f2")


def attention(q: Array, k: Array, v: Array, scale: float, causal: bool) -> tuple[Array, Array]:
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    s = np.einsum("bhme,bhne->bhmn", q, k) * scale
    if causal:
        s[..., np.triu(np.ones(s.shape[-2:], bool), 1)] = -np.inf
    s[s < np.finfo("f4").min] = -np.inf
    most = s.max(-1, keepdims=True)
    most[np.isneginf(most)] = 0
    p = np.exp(s - most)
    total = np.maximum(p.sum(-1, keepdims=True), 1)
    return np.einsum("bhmn,bhne->bhme", p / total, v), (most + np.log(total))[..., 0]


def cases() -> Iterator[Case]:
    for element in ("bf16", "f16"):
        for m, n, heads, groups, width, causal in SHAPES:
            pairs = [
                small(element, 1, h, rows, width)
                for h, rows in ((heads, m), (groups, n), (groups, n))
            ]
            (q, k, v), held = zip(*pairs, strict=True)
            if element == "bf16":  # a query that sees no key: its scores are all too low
                np.abs(k, out=k)
                q[0, 0, 3] = floats(bits(np.float32([-8e37])))
                held = tuple(bits(x.astype("f4")) for x in (q, k, v))
            keys, warps = 64 if width <= 64 else 32, 8 if m > 80 else 4
            y, logsumexp = attention(4 * q, k, v, width**-0.5, causal)
            four = bits(floats(held[0]) * 4) if element == "bf16" else held[0] * np.float16(4)
            yield Case(
                "attention_tiles",
                "attention_tiles",
                [four, *held[1:], np.zeros_like(held[0]), np.zeros((1, heads, m), "f4")],
                [y, logsumexp],
                types={"T": element},
                constants={"D": width, "KEYS": keys, "WARPS": warps, "CAUSAL": int(causal)},
                scalars=(np.float32(width**-0.5), width, keys, warps),
                tolerance={"f16": 2e-3, "bf16": 1.6e-2}[element],
            )
