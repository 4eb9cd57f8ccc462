"""What the reductions of `test/emulator/ordered.qn` mean, one element after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def affine(x: Array) -> Array:
    a, b = np.ones(x.shape[1:], np.int64), np.zeros(x.shape[1:], np.int64)
    for v in x:
        a, b = a * v, b * v + v + 3
    return a ^ b


def matrices(x: Array) -> Array:
    p, s = np.ones((2, *x.shape[1:]), np.int64)
    q, r = np.zeros((2, *x.shape[1:]), np.int64)
    for i, v in enumerate(x):
        p, q, r, s = p * v + q, p + q * i, r * v + s, r + s * i
    return p ^ (q * 3) ^ (r * 5) ^ (s * 7)


def first_positive(x: Array) -> Array:
    state = np.zeros(x.shape[1:], np.int64)
    for v in x:
        state = np.where(state > 0, state, np.where(v > 0, v, 0))
    return state


def last_positive(x: Array) -> Array:
    state = np.zeros(x.shape[1:], np.int64)
    for v in x:
        state = np.where(v > 0, v, state)
    return state


def brackets(x: Array) -> Array:
    left, right = np.zeros((2, *x.shape[1:]), np.int64)
    for v in x:
        closes = v <= 0
        left = left + (closes & (right == 0))
        right = np.where(closes, np.maximum(right - 1, 0), right + 1)
    return left * 100000 + right


def text_hash(x: Array, where: Array | None = None, steps: bool = False) -> Array:
    state, states = np.zeros(x.shape[1:], np.uint32), []
    for i, v in enumerate(x):
        with np.errstate(over="ignore"):
            now = state * np.uint32(31) + v.astype(np.uint32)
        state = now if where is None else np.where(where[i], now, state)
        states.append(state)
    return np.stack(states).astype(np.int64) if steps else state.astype(np.int64)


def rows(x: Array) -> list[Array]:
    of: tuple[Callable[[Array], Array], ...]
    of = (affine, matrices, first_positive, last_positive, brackets, text_hash)
    with np.errstate(over="ignore"):
        return [f(x.T) for f in of]


def columns(x: Array) -> list[Array]:
    with np.errstate(over="ignore"):
        return [affine(x), matrices(x), brackets(x)]


def both(x: Array) -> list[Array]:
    r = x.shape[0]
    with np.errstate(over="ignore"):
        return [
            matrices(x.reshape(r, -1).T),
            matrices(x.transpose(0, 2, 1).reshape(r, -1).T),
            text_hash(x.reshape(-1)),
        ]


def numbers(*shape: int) -> Array:
    """Mostly nothing, so that the first and the last positive one are rare."""
    generator = np.random.default_rng(sum(shape) + len(shape))
    x = generator.integers(-3, 5, shape)
    return x * (generator.random(shape) < 0.4)


def words(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).integers(0, 50, shape)
