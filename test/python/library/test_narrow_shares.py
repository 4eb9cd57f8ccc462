"""`gelu` of floats of 16 bits and fewer: 1 + erf cancels, and must not have been rounded."""

from __future__ import annotations

import pytest
import torch


def gelu(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_values_near_the_mathematics(dtype: torch.dtype) -> None:
    x = torch.arange(-4, 4, 1 / 64).to(dtype)
    found = torch.compile(gelu, backend="quern")(x).double()
    # Results of f16 become subnormal; the rest are rounded once.
    tolerance = max(torch.finfo(dtype).eps, 2**-11)
    torch.testing.assert_close(found, gelu(x.double()), rtol=tolerance, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_derivatives(dtype: torch.dtype) -> None:
    x = torch.arange(-6, 6, 1 / 64).to(dtype).requires_grad_()
    wide = x.detach().double().requires_grad_()
    (found,) = torch.autograd.grad(torch.compile(gelu, backend="quern")(x).sum(), x)
    (wanted,) = torch.autograd.grad(gelu(wide).sum(), wide)
    tolerance = torch.finfo(dtype).eps
    torch.testing.assert_close(found.double(), wanted, rtol=tolerance, atol=4e-6)


def test_far_below() -> None:
    """Nothing is left of what is multiplied by a huge number."""
    x = torch.tensor([-1e30, -100.0, -7.0, 0.0, 7.0, 1e30]).bfloat16()
    wanted = torch.tensor([0.0, 0.0, 0.0, 0.0, 7.0, 1e30]).bfloat16()
    assert torch.equal(torch.compile(gelu, backend="quern")(x), wanted)
