"""Functions that a call chooses by name: they fit their parameter, or are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import quern

SOURCE = """
fn isneg[T: Real](x: T) -> bool:
    return x < 0

fn whole[T: Real](x: T) -> i64:
    return i64(x)

fn pair[T: Number](x: T) -> (T, T):
    return x, x

fn narrow(x: f32) -> f32:
    return x + 1

fn plus[T: Number, K: int = 2](x: T) -> T:
    return x + T(K)

fn open[T: Number, K: int](x: T) -> T:
    return x + T(K)

fn other[T: Number, F: fn(T) -> T](x: T) -> T:
    return F(x)

fn first[T: Number](x: T, y: T) -> T:
    return x

fn width[T: Float](x: T) -> T:
    if const T == f16:
        return x * 0 + 16
    return x * 0 + 32

elementwise apply[T: Number, F: fn(T) -> T](x: T) -> T:
    return F(x)

elementwise keep[T: Real, F: fn(T) -> bool = isneg](x: T) -> T:
    return x if F(x) else x + 1

elementwise mixed[T: Float, F: fn(T, acc(T)) -> T](x: T) -> T:
    return F(x, acc(T)(x))

elementwise direct[T: Float](x: T) -> T:
    return width(x)

op applied[T: Number, F: fn(T) -> T](x: T[*S]) -> T[*S]:
    return apply[F = F](x)

kernel counted[T: Real, F: fn(T) -> bool](x: T[N], out: mut i32[1]):
    launch grid((N + 63) // 64) block(64)
    let i = block.x * 64 + thread.x
    let n = sum(i32(1) if i < N and F(x[i]) else 0 over block)
    if thread.x == 0:
        atomic_add(out[0], i32(n))
"""

X = np.array([1.5, -2.5, 0.0], np.float32)


@pytest.fixture(scope="module")
def k() -> Any:
    return quern.compile(SOURCE, "named.qn")


def test_what_fits(k: Any) -> None:
    np.testing.assert_allclose(k.apply(X, F="tanh"), np.tanh(X), rtol=1e-6)
    np.testing.assert_allclose(k.apply(X, F="sin"), np.sin(X), rtol=1e-6)
    np.testing.assert_array_equal(k.apply(X, F="plus"), X + 2)
    np.testing.assert_array_equal(k.apply(np.arange(3), F="plus"), np.arange(3) + 2)
    np.testing.assert_array_equal(k.applied(X, F="narrow"), X + 1)
    np.testing.assert_array_equal(k.keep(X), np.where(X < 0, X, X + 1))
    np.testing.assert_array_equal(k.mixed(X, F="first"), X)
    out = np.zeros(1, np.int32)
    k.counted(X, out, F="isneg")
    assert out[0] == 1


@pytest.mark.parametrize(
    ("name", "function", "x", "why"),
    [
        ("apply", "isneg", X, "it yields `bool`, not `f32`"),
        ("apply", "whole", X, "it yields `i64`, not `f32`"),
        ("apply", "pair", X, "it yields 2 values, not 1"),
        ("apply", "narrow", X.astype("f8"), "its `x` is `f32`, not `f64`"),
        ("apply", "tanh", np.arange(3), "its `T` must be `Float`, not `i64`"),
        ("apply", "open", X, "its `K` has no default"),
        ("apply", "other", X, "its `F` has no default"),
        ("apply", "first", X, "takes the name of a `fn` of 1 operand"),
        ("applied", "whole", X, "it yields `i64`, not `f32`"),
        ("keep", "tanh", X, "it yields `f32`, not `bool`"),
    ],
)
def test_what_does_not_fit(k: Any, name: str, function: str, x: np.ndarray, why: str) -> None:
    with pytest.raises(quern.Error, match="QN2042") as caught:
        getattr(k, name)(x, F=function)
    assert why in str(caught.value)
    assert len(caught.value.diagnostics) == 1


def test_in_a_kernel(k: Any) -> None:
    with pytest.raises(quern.Error, match="it yields `f32`, not `bool`"):
        k.counted(X, np.zeros(1, np.int32), F="exp")


def test_types_are_those_of_a_direct_call(k: Any) -> None:
    """A function that asks for its type sees the same one, called either way."""
    for kind in ("f2", "f4"):
        x = X.astype(kind)
        np.testing.assert_array_equal(k.apply(x, F="width"), k.direct(x))
