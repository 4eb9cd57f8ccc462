"""Operands that have their neighbours across the lanes, in every width, with all rests."""

from __future__ import annotations

import _quern
import pytest
import torch
from targets import runnable

SOURCE = """
elementwise copied[T: Any](x: T) -> T:
    return x

elementwise both[T: Real](x: T, y: T) -> T:
    return x + y

elementwise chosen[T: Real](m: bool, x: T) -> T:
    return x if m else 0
"""
DTYPES = [
    *(torch.bool, torch.uint8, torch.bfloat16, torch.float16, torch.int16),
    *(torch.float32, torch.float64),
]
SHAPES = [(64, 64), (70, 64), (17, 300), (1021, 153), (2, 197, 80), (3, 40, 513), (2, 600, 70)]


@pytest.fixture(scope="module", params=[runnable(f"x86-64-v{n}") for n in (2, 3, 4)])
def module(request: pytest.FixtureRequest) -> _quern.Module:
    session = _quern.Session(cache="-", target=request.param, threads=2)
    return session.compile(SOURCE, "turned.qn")


def numbers(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.randint(0, 2 if dtype == torch.bool else 100, shape).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_copies(module: _quern.Module, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    turned = numbers(shape, dtype).transpose(-1, -2)
    assert torch.equal(module.copied(turned), turned)
    shifted = torch.empty(turned.numel() + 1, dtype=dtype)[1:].view(turned.shape)
    module.copied(turned, out=shifted)
    assert torch.equal(shifted, turned)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.bfloat16, torch.float32])
def test_nothing_beside_a_slice_changes(module: _quern.Module, dtype: torch.dtype) -> None:
    turned = numbers((93, 111), dtype).T[3:-1]
    around = torch.ones(turned.shape[0] + 4, turned.shape[1] + 7, dtype=dtype)
    inner = around[2:-2, 2:-5]
    module.copied(turned, out=inner)
    assert torch.equal(inner, turned)
    inner.fill_(1)
    assert bool((around == 1).all())


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_beside_others(module: _quern.Module, dtype: torch.dtype) -> None:
    x, y = numbers((203, 150), dtype), numbers((150, 203), dtype)
    mask = numbers((150, 203), torch.bool)
    assert torch.equal(module.both(x, y.T), x + y.T)
    assert torch.equal(module.chosen(mask.T, x), torch.where(mask.T, x, 0))


def test_past_the_caches(module: _quern.Module) -> None:
    for dtype, rows in ((torch.uint8, 2176), (torch.bfloat16, 1600)):
        x = numbers((rows, 2113), dtype).T
        assert torch.equal(module.copied(x), x)
        y = numbers((2112, rows), dtype).T
        assert torch.equal(module.copied(y), y)


@pytest.mark.parametrize("channels", [2, 3, 4, 5])
def test_truth_values_of_pixels(module: _quern.Module, channels: int) -> None:
    image = numbers((2, channels, 31, 37), torch.bool)
    last = image.permute(0, 2, 3, 1)
    assert torch.equal(module.copied(last), last)
    first = last.contiguous().permute(0, 3, 1, 2)
    assert torch.equal(module.copied(first), first)
