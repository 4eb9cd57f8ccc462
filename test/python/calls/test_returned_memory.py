"""What an `op` allocates and returns lies as its caller wants it, so that nothing is copied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import _quern
import pytest
import quern
import torch
from aten_types import module
from emulator.device import EmulatedDevice, FarTensor, emulated
from tree import build_dir

SOURCE = """
elementwise put[T: Any](x: mut T, value: T):
    x = value

op halves[T: Any](x: T[*S, N], y: T[*S, N]) -> T[*S, P = 2 * N]:
    let z = empty(T, (*S, 2 * N))
    put(z.slice(-1, 0, N), x)
    put(z.slice(-1, N, 2 * N), y)
    return z

op first[T: Number](x: T[*S]) -> (T[*S], T[*S]):
    let z = zeros(T, (*S))
    let y = full(T, (*S), 3)
    put(y.select(-1, 0), x.select(-1, 0))
    return z, y

op flattened[T: Any](x: T[*S], y: T[K]) -> T[*S]:
    let z = empty(T, (*S))
    put(z, x)
    put(z.reshape(-1).slice(0, 0, K), y)
    return z

op within[T: Any](x: T[*S], y: T[K]) -> T[*S]:
    let z = empty(T, (*S))
    put(z, x)
    begin(z, y)
    return z

op begin[T: Any](z: mut T[*S], y: T[K]):
    put(z.as_strided((K), (1)), y)
"""
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int8, torch.bool, torch.complex64)


def numbers(dtype: torch.dtype, *sizes: int) -> torch.Tensor:
    return (torch.randn(sizes) * 3).to(dtype)


def turned(x: torch.Tensor) -> torch.Tensor:
    """As `x`, its last axis outermost in memory."""
    return torch.empty_like(x.movedim(-1, 0), memory_format=torch.contiguous_format).movedim(0, -1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(5, 4), (3, 7, 6), (2, 0), (0, 3), (1, 1)])
def test_halves(dtype: torch.dtype, sizes: tuple[int, ...]) -> None:
    k = quern.compile(SOURCE)
    x, y = numbers(dtype, *sizes), numbers(dtype, *sizes)
    expected = torch.cat([x, y], -1)
    gaps = torch.empty(*expected.shape, 2, dtype=dtype)[..., 1]
    for out in (torch.empty_like(expected), turned(expected), gaps):
        k.halves(x, y, out=out)
        torch.testing.assert_close(out, expected, rtol=0, atol=0)


def test_what_was_filled_keeps_its_values() -> None:
    k = quern.compile(SOURCE)
    x = torch.randn(4, 5)
    outs = (turned(x), turned(x))
    k.first(x, out=outs)
    expected = torch.full_like(x, 3)
    expected[:, 0] = x[:, 0]
    torch.testing.assert_close(outs, (torch.zeros_like(x), expected))


@pytest.mark.parametrize("name", ["flattened", "within"])
def test_views_that_ask_for_strides_see_rows(name: str) -> None:
    k = quern.compile(SOURCE)
    x, y = torch.randn(3, 4), torch.randn(5)
    expected = x.clone()
    expected.view(-1)[:5] = y
    out = turned(x)
    getattr(k, name)(x, y, out=out)
    torch.testing.assert_close(out, expected)


@pytest.fixture
def device() -> EmulatedDevice:
    return emulated(build_dir() / "test" / "stand-in")


@pytest.fixture
def kernels(device: EmulatedDevice) -> Iterator[Any]:
    device.become("sm_80")
    yield _quern.Session(threads=1, cache="-").compile(SOURCE, "returned.qn")
    assert device.problem == ""


def test_nothing_is_copied(device: EmulatedDevice, kernels: Any) -> None:
    x, y = torch.randn(4, 5), torch.randn(4, 5)
    expected = torch.cat([x, y], -1)
    for memory in (torch.empty_like(expected), turned(expected)):
        out = FarTensor(device, memory)
        device.launched.clear()
        kernels.halves(FarTensor(device, x), FarTensor(device, y), out=out)
        assert len(device.launched) == 2
        torch.testing.assert_close(out.near, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("sizes", [(6, 8), (3, 2, 4), (0, 2), (5, 34)])
def test_both_halves_of_a_gate(dtype: torch.dtype, sizes: tuple[int, ...]) -> None:
    k = module("gated.qn")
    x = torch.randn(sizes).to(dtype)
    if x.numel():
        x.view(-1)[:6] = torch.tensor([float("nan"), float("inf"), -float("inf"), -90.0, 90.0, 0.0])
    grad = torch.randn(*sizes[:-1], sizes[-1] // 2).to(dtype)
    bound = 2e-2 if dtype.itemsize == 2 else 1e-6
    expected = torch.ops.aten.glu_backward(grad.double(), x.double(), -1).to(dtype)
    for out in (torch.empty_like(x), turned(x)):
        k.glu_backward(grad, x, out=out)
        torch.testing.assert_close(out, expected, rtol=bound, atol=bound, equal_nan=True)
