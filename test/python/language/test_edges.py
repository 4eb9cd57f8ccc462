"""`edge` of a read at other positions, against NumPy's `pad`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import quern

MODES = {"clamp": "edge", "wrap": "wrap", "reflect": "reflect", "symmetric": "symmetric"}
BEFORE, AFTER = 7, 9


def text(edge: str) -> str:
    return f"""
rowwise line(x: f32[N]) -> f32[P = N + {BEFORE + AFTER}]:
    return x.at(N = i32(index(P)) - {BEFORE}, edge = {edge})

rowwise plane(x: f32[H, W]) -> f32[P = H + 4, Q = W + 4]:
    let twice = x + x
    return twice.at(H = index(P) - 2, W = index(Q) - 2, edge = {edge}) - x.at(
        H = index(P) - 2, W = index(Q) - 2, edge = {edge}
    )

rowwise space(x: f32[*S]) -> f32[*P = *S + 2]:
    return x.at(*S = *index(P) - 1, edge = {edge})

kernel thread_line(x: f32[N], y: mut f32[P]):
    launch grid(1) block(64)
    let p = thread.x
    if p < P:
        y[p] = x.at(N = p - {BEFORE}, edge = {edge})
"""


@pytest.fixture(scope="module", params=list(MODES))
def edge(request: pytest.FixtureRequest) -> tuple[Any, str]:
    return quern.compile(text(request.param), f"{request.param}.qn"), MODES[request.param]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 16])
def test_a_line(edge: tuple[Any, str], n: int) -> None:
    k, mode = edge
    x = np.arange(n, dtype=np.float32) + 1
    wanted = np.pad(x, (BEFORE, AFTER), mode=mode)  # type: ignore[call-overload]
    np.testing.assert_array_equal(k.line(x), wanted)
    y = np.zeros(n + BEFORE + AFTER, np.float32)
    k.thread_line(x, y)
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (3, 2), (9, 17)])
def test_a_plane(edge: tuple[Any, str], shape: tuple[int, int]) -> None:
    k, mode = edge
    x = np.random.default_rng(0).random(shape, np.float32)
    wanted = np.pad(x, 2, mode=mode)  # type: ignore[call-overload]
    np.testing.assert_array_equal(k.plane(x), wanted)


@pytest.mark.parametrize("shape", [(4,), (3, 2), (2, 3, 4)])
def test_a_pack(edge: tuple[Any, str], shape: tuple[int, ...]) -> None:
    k, mode = edge
    x = np.random.default_rng(0).random(shape, np.float32)
    wanted = np.pad(x, 1, mode=mode)  # type: ignore[call-overload]
    np.testing.assert_array_equal(k.space(x), wanted)


def test_nothing_to_read(edge: tuple[Any, str]) -> None:
    with pytest.raises(quern.Error, match="QN2050"):
        edge[0].line(np.zeros(0, np.float32))
