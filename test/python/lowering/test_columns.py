"""Column reductions against PyTorch: rows taken together where they follow each other in memory."""

from __future__ import annotations

import pytest
import quern
import torch

SOURCE = """
rowwise total[T: Float](x: T[R, C]) -> T[C]:
    return T(sum(x over R))

rowwise moments[T: Float](x: T[R, C], y: T[R, C]) -> (T[C], T[C]):
    return (T(sum(x * y over R)), max(x over R))

rowwise batched[T: Float](x: T[B, R, C]) -> T[B, C]:
    return T(sum(x over R))

rowwise weighted[T: Float](x: T[R, C], w: T[R]) -> T[C]:
    return T(sum(x * w over R))

rowwise numbered(x: f32[R, C]) -> f32[C]:
    return sum(x * f32(index(R) % 7) over R)
"""

ROWS = [1, 63, 64, 130, 1000, 8195, 70001]
COLUMNS = [1, 2, 3, 7, 8, 15, 17, 40, 300]


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE)


def check(got: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(got.double(), wanted, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("columns", COLUMNS)
def test_few_columns(kernels: quern.Module, columns: int) -> None:
    for rows in ROWS:
        x, y = torch.randn(rows, columns), torch.randn(rows, columns)
        check(kernels.total(x), x.double().sum(0))
        product, largest = kernels.moments(x, y)
        check(product, (x.double() * y.double()).sum(0))
        assert torch.equal(largest, x.max(0).values)


@pytest.mark.parametrize("columns", COLUMNS)
def test_rows_that_do_not_follow_each_other(kernels: quern.Module, columns: int) -> None:
    for rows in (64, 1000, 8195):
        wide, x = torch.randn(rows, columns + 3), torch.randn(rows, columns)
        apart = wide[:, 1 : columns + 1]
        check(kernels.total(apart), apart.double().sum(0))
        check(kernels.moments(apart, x)[0], (apart.double() * x.double()).sum(0))
        check(kernels.total(x.flip(0)), x.double().sum(0))


def test_what_knows_its_row(kernels: quern.Module) -> None:
    x, w = torch.randn(5000, 3), torch.randn(5000)
    check(kernels.weighted(x, w), (x.double() * w.double()[:, None]).sum(0))
    number = (torch.arange(5000) % 7).double()[:, None]
    check(kernels.numbered(x), (x.double() * number).sum(0))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_batches_and_other_types(kernels: quern.Module, dtype: torch.dtype) -> None:
    for columns in (1, 5, 9):
        x = torch.randn(3, 2050, columns).to(dtype)
        got = kernels.batched(x).double()
        bound = 0.5 if dtype == torch.bfloat16 else 1e-9
        torch.testing.assert_close(got, x.double().sum(1), rtol=0, atol=bound)
