"""An `op` allocates, takes views and calls kernels in order."""

from __future__ import annotations

import pytest
import quern
import torch

SOURCE = """
elementwise plus[T: Number](x: T, y: T) -> T:
    return x + y

rowwise times[T: Float](a: T[M, K], b: T[K, N]) -> T[M, N]:
    return sum(a * b over K)

op chain[T: Float](a: T[M, K], b: T[K, N], c: T[N]) -> T[M, N]:
    let y = times(a, b)
    let z = plus(y, c)
    return plus(z, z)

op powers[T: Float](a: T[N, N], n: int) -> T[N, N]:
    var y = a
    for i in range(1, n):
        y = times(y, a)
    return y

op halves[T: Number](x: T[N, M]) -> T[M, N]:
    let t = x.permute(1, 0)
    return plus(t, zeros(T, (M, N)))
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "ops.qn")


def test_kernels_in_order(k: quern.Module) -> None:
    a, b, c = torch.randn(5, 7), torch.randn(7, 3), torch.randn(3)
    torch.testing.assert_close(k.chain(a, b, c), 2 * (a @ b + c))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_loop_on_host_values(k: quern.Module, n: int) -> None:
    a = torch.randn(6, 6, dtype=torch.float64)
    torch.testing.assert_close(k.powers(a, n), torch.linalg.matrix_power(a, n))


def test_views_and_allocation(k: quern.Module) -> None:
    x = torch.arange(12).reshape(3, 4)
    torch.testing.assert_close(k.halves(x), x.t().contiguous())
