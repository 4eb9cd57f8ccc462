"""A `fn` that asks what its type is gets the answer of the text that calls it."""

from __future__ import annotations

import pytest
import quern
import torch

TEXT = """
fn pattern[T: Float](x: T) -> bits(T):
    return bitcast[bits(T)](x)

fn value[T: Float](b: bits(T), like: T) -> T:
    return bitcast[T](b)

fn number[T: Float](x: T) -> int:
    if const T == f16:
        return 1
    elif const T == bf16:
        return 2
    return 3

fn one_call_away[T: Float](x: T) -> int:
    return number(x)

fn step[T: Float](x: T) -> T:
    return epsilon(T) * x

elementwise patterns[T: Float](x: T) -> bits(T):
    return pattern(x)

elementwise there_and_back[T: Float](x: T) -> T:
    return value(pattern(x) ^ bits(T)(1), x)

elementwise kinds[T: Float](x: T) -> int:
    return number(x) * 10 + one_call_away(x)

rowwise widest[T: Float](x: T[C]) -> bits(T):
    return max(pattern(x) over C)

elementwise steps[T: Float](x: T) -> T:
    return step(x)
"""

WORDS = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}
every_dtype = pytest.mark.parametrize("dtype", list(WORDS))


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(TEXT)


def numbers(dtype: torch.dtype) -> torch.Tensor:
    return torch.linspace(0, 3, 37).to(dtype)


@every_dtype
def test_patterns(k: quern.Module, dtype: torch.dtype) -> None:
    x, word = numbers(dtype), WORDS[dtype]
    assert torch.equal(k.patterns(x).view(word), x.view(word))
    assert torch.equal(k.there_and_back(x).view(word), x.view(word) ^ 1)
    assert k.widest(x).view(word).item() == x.view(word).max().item()


@every_dtype
def test_kinds(k: quern.Module, dtype: torch.dtype) -> None:
    number = {torch.float16: 11, torch.bfloat16: 22}.get(dtype, 33)
    assert set(k.kinds(numbers(dtype)).tolist()) == {number}


@every_dtype
def test_steps(k: quern.Module, dtype: torch.dtype) -> None:
    x = numbers(dtype)
    assert torch.equal(k.steps(x), x * torch.finfo(dtype).eps)
