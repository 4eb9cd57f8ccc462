"""Tables of constants with several axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import quern

TEXT = """
const SOBEL: f32[3, 3] = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]
const CUBE: i64[2, 1, 3] = [[[1, 2, 3]], [[4, 5, 6]]]
const CORNER: i64 = CUBE[1, 0, 2]

rowwise edges(x: f32[H, W]) -> f32[P = H - 2, Q = W - 2]:
    return sum(SOBEL[i, j] * x.at(H = index(P) + i, W = index(Q) + j) over (i: 0 .. 3, j: 0 .. 3))

elementwise entry(a: i64, b: i64) -> i64:
    return CUBE[a, 0, b] + 10 * CORNER

kernel threads(y: mut i64[N, M]):
    launch grid(N) block(M)
    y[block.x, thread.x] = CUBE[block.x, 0, thread.x]
"""


@pytest.fixture(scope="module")
def k() -> Any:
    return quern.compile(TEXT, "tables.qn")


def test_weights_of_a_window(k: Any) -> None:
    x = np.random.default_rng(0).integers(-9, 9, (7, 8)).astype(np.float32)
    sobel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3))
    np.testing.assert_array_equal(k.edges(x), (windows * sobel).sum((2, 3)))


def test_beyond_an_end_is_the_element_there(k: Any) -> None:
    a, b = np.meshgrid(np.arange(-2, 4), np.arange(-2, 6), indexing="ij")
    cube = np.arange(1, 7).reshape(2, 3)
    wanted = cube[a.clip(0, 1), b.clip(0, 2)] + 60
    np.testing.assert_array_equal(k.entry(a, b), wanted)


def test_threads(k: Any) -> None:
    y = np.zeros((2, 3), np.int64)
    k.threads(y)
    np.testing.assert_array_equal(y, np.arange(1, 7).reshape(2, 3))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("const K: f32[2, 2] = [[1, 2], [3]]", "QN1117"),
        ("const K: f32[2, 2] = [[1, 2], 3]", "QN1118"),
        ("const K: f32[2, 2] = [1, 2, 3, 4]", "QN1117"),
        ("const K: f32[2] = [[1], [2]]", "QN1131"),
        ("const K: f32[1, 2] = [[1, 2]]\n\nfn f(x: f32) -> f32:\n    return x + K[0]\n", "QN1209"),
        ("const K: i64[1, 2] = [[1, 2]]\nconst L: i64 = K[0, 2]\n", "QN1236"),
    ],
)
def test_mistakes(text: str, code: str) -> None:
    with pytest.raises(quern.Error, match=code):
        quern.compile(text, "table.qn")
