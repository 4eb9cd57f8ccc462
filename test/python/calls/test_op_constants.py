"""Compile-time parameters of an `op`."""

from __future__ import annotations

import quern
import torch


def test_a_value_that_is_none_of_those_listed_is_handed_on() -> None:
    text = """
elementwise raised[T: Float, P: match p {1, 2, else}](x: T, p: f64) -> T:
    if const P == 1:
        return x
    elif const P == 2:
        return x * x
    else:
        return pow(x, T(p))

op twice[T: Float, P: match p {1, 2, else}](x: T[N], p: f64) -> T[N]:
    return raised[P = P](raised[P = P](x, p), p)
"""
    k = quern.compile(text, "handed.qn")
    x = torch.rand(9, dtype=torch.float64)
    for p in (1.0, 2.0, 3.5):
        torch.testing.assert_close(k.twice(x, p), x**p**2)
