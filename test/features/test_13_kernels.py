"""Write kernels with several outputs and with axes of any size."""

from __future__ import annotations

import pytest
import quern
import torch

SOURCE = """
rowwise stats[T: Float](x: T[*R, C]) -> (low: T[*R], high: T[*R], mean: T[*R]):
    return min(x over C), max(x over C), mean(x over C)

elementwise both[T: Float](x: T, y: T) -> (T, T):
    return x + y, x - y
"""


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 1), (1, 4097), (5, 2, 33), (2, 3, 1, 130)])
def test_several_results(shape: tuple[int, ...]) -> None:
    k = quern.compile(SOURCE)
    x = torch.randn(shape)
    low, high, mean = k.stats(x)
    torch.testing.assert_close(low, x.amin(-1))
    torch.testing.assert_close(high, x.amax(-1))
    torch.testing.assert_close(mean, x.mean(-1))
    total, rest = k.both(x, x[..., :1])
    torch.testing.assert_close(total, x + x[..., :1])
    torch.testing.assert_close(rest, x - x[..., :1])
