"""Roots of channels that lie side by side: made once, not for every pixel."""

from __future__ import annotations

from pathlib import Path

import _quern
import pytest
import quern
import torch
from torch.nn import functional

SOURCE = """
elementwise norm[T: Float](x: T, mean: T, variance: T) -> T:
    return (x - mean) * (1 / sqrt(variance + 0.001))

elementwise norm_in_place(x: mut f32, mean: f32, variance: f32):
    x = (x - mean) * (1 / sqrt(variance + 0.001))
"""


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE)


@pytest.mark.parametrize("rows", [1, 3, 700])
@pytest.mark.parametrize("channels", [1, 5, 64, 100])
def test_rows_of_channels(kernels: quern.Module, rows: int, channels: int) -> None:
    x, mean, variance = torch.randn(rows, channels), torch.randn(channels), torch.rand(channels)
    exact = (x.double() - mean) / (variance.double() + 0.001).sqrt()
    torch.testing.assert_close(kernels.norm(x, mean, variance), exact.float())
    rounded = [each.bfloat16() for each in (x, mean, variance)]
    exact = (rounded[0].double() - rounded[1]) / (rounded[2].double() + 0.001).sqrt()
    torch.testing.assert_close(kernels.norm(*rounded), exact.bfloat16())
    exact = (x.double() - mean) / (variance.double() + 0.001).sqrt()
    kernels.norm_in_place(x, mean, variance)
    torch.testing.assert_close(x, exact.float())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_batch_norm_of_channels_last(dtype: torch.dtype) -> None:
    x = torch.randn(2, 40, 9, 7).to(dtype).to(memory_format=torch.channels_last)
    mean, variance, weight, bias = (torch.rand(40).add(0.1).to(dtype) for _ in range(4))

    def step(x: torch.Tensor) -> torch.Tensor:
        return functional.hardswish(functional.batch_norm(x, mean, variance, weight, bias))

    torch._dynamo.reset()
    given = torch.compile(step, backend="quern")(x)
    assert given.stride() == step(x).stride()
    torch.testing.assert_close(given, step(x))


def test_only_many_rows_of_few_values_have_a_code_of_their_own(tmp_path: Path) -> None:
    """Each call in a session of its own, whose code comes from the disk where it is the same."""
    few = [(2, 64), (3, 1000), (16, 20000)]
    many = [(700, 64), (9, 16000)]
    known: set[bool] = set()
    for rows, channels in (few[0], many[0], *few[1:], many[1]):
        session = _quern.Session(threads=1, cache=str(tmp_path), target="")
        norm = session.compile(SOURCE, "norm.qn").norm
        x, mean, variance = torch.randn(rows, channels), torch.randn(channels), torch.rand(channels)
        exact = (x.double() - mean) / (variance.double() + 0.001).sqrt()
        torch.testing.assert_close(norm(x, mean, variance), exact.float())
        is_known = (rows, channels) in many
        assert session.counters()["disk_hits"] == (is_known in known)
        known.add(is_known)
