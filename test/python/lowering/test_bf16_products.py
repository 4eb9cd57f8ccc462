"""Products of bf16 at sizes that fill no register, in pairs and in tile registers."""

from __future__ import annotations

import pytest
import quern
import torch

SOURCE = """
rowwise plain(x: bf16[M, K], y: bf16[K, N]) -> f32[M, N]:
    return sum(x * y over K)

rowwise linear(x: bf16[M, K], w: bf16[N, K]) -> f32[M, N]:
    return sum(x * w over K)

rowwise turned(x: bf16[K, M], y: bf16[K, N]) -> f32[M, N]:
    return sum(x * y over K)

rowwise crossed(x: bf16[A, B, K], w: bf16[N, K]) -> f32[B, A, N]:
    return sum(x * w over K)

rowwise inverse(x: bf16[M, K], w: bf16[N, K]) -> f32[M, N]:
    return sum(bf16(1.0 / f32(x)) * bf16(1.0 + f32(w)) over K)
"""


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE)


@pytest.mark.parametrize("depth", [0, 1, 2, 31, 33, 64, 513, 1100])
@pytest.mark.parametrize(("rows", "columns"), [(16, 32), (33, 40), (100, 17), (257, 130)])
def test_any_size(kernels: quern.Module, rows: int, columns: int, depth: int) -> None:
    x, y = torch.randn(rows, depth).bfloat16(), torch.randn(depth, columns).bfloat16()
    wanted = x.double() @ y.double()
    near = {"rtol": 1e-5, "atol": 1e-4, "check_dtype": False}
    torch.testing.assert_close(kernels.plain(x, y), wanted, **near)
    torch.testing.assert_close(kernels.linear(x, y.mT.contiguous()), wanted, **near)
    torch.testing.assert_close(kernels.turned(x.mT.contiguous(), y), wanted, **near)
    torch.testing.assert_close(kernels.turned(x.mT, y), wanted, **near)


def test_rows_along_two_axes(kernels: quern.Module) -> None:
    x, w = torch.randn(5, 7, 65).bfloat16(), torch.randn(40, 65).bfloat16()
    wanted = torch.einsum("abk,nk->ban", x.double(), w.double())
    torch.testing.assert_close(
        kernels.crossed(x, w), wanted, rtol=1e-5, atol=1e-5, check_dtype=False
    )


@pytest.mark.parametrize("depth", [1, 17, 33, 65])
def test_nothing_is_made_of_what_is_behind_the_end(kernels: quern.Module, depth: int) -> None:
    """One divided by what is read behind the last element would be infinite."""
    x = torch.rand(40, depth).add(0.5).bfloat16()
    w = torch.randn(40, depth).bfloat16()
    factors = (1 / x.float()).bfloat16().double(), (1 + w.float()).bfloat16().double()
    wanted = factors[0] @ factors[1].mT
    torch.testing.assert_close(
        kernels.inverse(x, w), wanted, rtol=1e-5, atol=1e-5, check_dtype=False
    )


def test_what_is_not_finite_stays_in_its_row_and_column(kernels: quern.Module) -> None:
    x, y = torch.randn(40, 70).bfloat16(), torch.randn(70, 40).bfloat16()
    x[3, 5], y[7, 9] = torch.inf, torch.nan
    torch.testing.assert_close(
        kernels.plain(x, y), x.double() @ y.double(), rtol=1e-5, atol=1e-5,
        check_dtype=False, equal_nan=True,
    )  # fmt: skip
