"""Attention whose weights are rounded to the type of the values, which bf16 meets in pairs."""

from __future__ import annotations

import pytest
import quern
import torch

SOURCE = """
from math use exp

rowwise attention[T: Float](q: T[B, M, D], k: T[B, N, D], v: T[B, N, E]) -> T[B, M, E]:
    let s = sum(q * k over D)
    let p = exp(s - max(s over N))
    return sum(T(p) * v over N) / sum(p over N)

rowwise causal[T: Float](q: T[B, M, D], k: T[B, N, D], v: T[B, N, E]) -> T[B, M, E]:
    let seen = index(N) <= index(M)
    let s = sum(q * k over D)
    let p = exp(s - max(s over N where seen))
    return sum(T(p) * v over N where seen) / sum(p over N where seen)

rowwise keys_and_values[T: Float](q: T[B, M, D], k: T[B, N, D], v: T[B, N, E], g: T[B, M, E],
        lse: acc(T)[B, M], delta: acc(T)[B, M]) -> (T[B, N, D], T[B, N, E]):
    let p = exp(sum(q * k over D) - lse)
    let d = p * (sum(g * v over E) - delta)
    return sum(T(d) * q over M), sum(T(p) * g over M)
"""


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE)


def some(*sizes: int, type: torch.dtype) -> torch.Tensor:
    return (torch.randn(*sizes) / sizes[-1] ** 0.25).to(type)


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    wide = [t.double().detach() for t in (q, k, v)]
    return torch.nn.functional.scaled_dot_product_attention(*wide, is_causal=causal, scale=1.0)


@pytest.mark.parametrize("type", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("tokens", [31, 33, 257, 520])
@pytest.mark.parametrize("name", ["attention", "causal"])
def test_values(kernels: quern.Module, name: str, tokens: int, type: torch.dtype) -> None:
    q, k, v = (some(2, tokens, 40, type=type) for _ in range(3))
    expected = reference(q, k, v, name == "causal")
    step = torch.finfo(type).eps
    given = getattr(kernels, name)(q, k, v).double()
    torch.testing.assert_close(given, expected, rtol=4 * step, atol=4 * step)


def test_nothing_is_taken_from_behind_the_last_key(kernels: quern.Module) -> None:
    # There a score is nought, and its exponential is infinite.
    q, v = torch.ones(1, 40, 16), some(1, 33, 16, type=torch.bfloat16)
    k = torch.full((1, 33, 16), -10.0)
    given = kernels.attention(q.bfloat16(), k.bfloat16(), v)
    torch.testing.assert_close(
        given[0], v.float().mean(1, keepdim=True)[0].expand(40, 16).bfloat16()
    )


@pytest.mark.parametrize("sizes", [(31, 33), (257, 70)])
def test_derivatives(kernels: quern.Module, sizes: tuple[int, int]) -> None:
    m, n = sizes
    q, g = (some(2, m, 24, type=torch.bfloat16) for _ in range(2))
    k, v = (some(2, n, 24, type=torch.bfloat16) for _ in range(2))
    scores = q.double() @ k.double().mT
    lse = scores.logsumexp(-1)
    p = (scores - lse[..., None]).exp()
    back = g.double() @ v.double().mT
    delta = (p * back).sum(-1)
    expected = ((p * (back - delta[..., None])).mT @ q.double(), p.mT @ g.double())
    given = kernels.keys_and_values(q, k, v, g, lse.float(), delta.float())
    for ours, exact in zip(given, expected, strict=True):
        error = (ours.double() - exact).norm() / exact.norm()
        assert error < torch.finfo(torch.bfloat16).eps
