"""Reductions that depend on products and on each other: attention, and norms behind a product."""

from __future__ import annotations

import pytest
import quern
import torch

SOURCE = """
from math use exp
from math_log use log

rowwise attention[T: Float](q: T[*B, M, D], k: T[*B, N, D], v: T[*B, N, E], scale: acc(T))
        -> T[*B, M, E]:
    let s = sum(q * k over D) * scale
    let p = exp(s - max(s over N))
    return sum(p * v over N) / sum(p over N)

rowwise causal[T: Float](q: T[*B, M, D], k: T[*B, N, D], v: T[*B, N, E], scale: acc(T))
        -> (T[*B, M, E], acc(T)[*B, M]):
    let s = sum(q * k over D) * scale
    let seen = index(N) <= index(M)
    let m = max(s over N where seen)
    let p = exp(s - m)
    let l = sum(p over N where seen)
    return sum(p * v over N where seen) / l, m + log(l)

rowwise grouped[T: Float](q: T[B, G, M, D], k: T[B, N, D], v: T[B, N, E]) -> T[B, G, M, E]:
    let s = sum(q * k over D)
    let seen = index(N) <= index(M)
    let p = exp(s - max(s over N where seen))
    return sum(p * v over N where seen) / sum(p over N where seen)

rowwise weights[T: Float](q: T[*B, M, D], k: T[*B, N, D], v: T[*B, N, E], bias: T[M, N])
        -> (T[*B, M, E], T[*B, M, N]):
    let s = sum(q * k over D) + bias
    let e = exp(s - max(s over N))
    let p = e / sum(e over N)
    return sum(p * v over N), p

rowwise padded[T: Float](q: T[*B, M, D], k: T[*B, N, D], v: T[*B, N, E], n: i64[*B]) -> T[*B, M, E]:
    let s = sum(q * k over D)
    let seen = index(N) < n
    let p = exp(s - max(s over N where seen))
    return sum(p * v over N where seen) / sum(p over N where seen)

rowwise keys_gradient[T: Float](q: T[*B, M, D], k: T[*B, N, D], v: T[*B, N, E], g: T[*B, M, E],
        lse: acc(T)[*B, M], delta: acc(T)[*B, M]) -> (T[*B, N, D], T[*B, N, E]):
    let p = exp(sum(q * k over D) - lse)
    let d = p * (sum(g * v over E) - delta)
    return sum(d * q over M), sum(p * g over M)

rowwise causal_keys_gradient[T: Float](q: T[*B, M, D], k: T[*B, N, D], v: T[*B, N, E],
        g: T[*B, M, E], lse: acc(T)[*B, M], delta: acc(T)[*B, M]) -> (T[*B, N, D], T[*B, N, E]):
    let seen = index(M) >= index(N)
    let p = exp(sum(q * k over D) - lse)
    let d = p * (sum(g * v over E) - delta)
    return sum(d * q over M where seen), sum(p * g over M where seen)

rowwise spread[T: Float](q: T[M, D], k: T[N, D], v: T[N, E], w: T[N, F]) -> (T[M, E, F], T[M]):
    let s = sum(q * k over D)
    let m = max(s over N)
    let p = exp(s - m)
    return sum(p * v over N) * sum(p * w over N), m + log(sum(p over N))

rowwise window_keys_gradient[T: Float](q: T[*B, M, D], k: T[*B, N, D], v: T[*B, N, E],
        g: T[*B, M, E], lse: acc(T)[*B, M], delta: acc(T)[*B, M]) -> (T[*B, N, D], T[*B, N, E]):
    let seen = index(M) >= index(N) and index(M) < index(N) + 20
    let p = exp(sum(q * k over D) - lse)
    let d = p * (sum(g * v over E) - delta)
    return sum(d * q over M where seen), sum(p * g over M where seen)

rowwise window[T: Float](q: T[*B, M, D], k: T[*B, N, D], v: T[*B, N, E]) -> T[*B, M, E]:
    let seen = index(N) > index(M) - 20 and index(N) <= index(M)
    let s = sum(q * k over D)
    let p = exp(s - max(s over N where seen))
    return sum(p * v over N where seen) / sum(p over N where seen)

rowwise weak[T: Float](q: T[M, D], k: T[N, D], v: T[N, E]) -> (T[M, E], T[M]):
    let s = sum(q * k over D)
    let p = exp(s - max(s over N))
    let seen = p < 0.5
    return sum(p * v over N where seen), sum(p + 1 over N where seen)

rowwise projected[T: Float](x: T[M, D], w: T[D, F], k: T[N, D], u: T[D, F], v: T[N, E]) -> T[M, E]:
    let q = sum(x * w over D)
    let s = sum(q * sum(k * u over D) over F)
    let p = exp(s - max(s over N))
    return sum(p * v over N) / sum(p over N)

rowwise softmax_of_product[T: Float](x: T[*R, K], w: T[N, K]) -> T[*R, N]:
    let s = sum(x * w over K)
    let e = exp(s - max(s over N))
    return e / sum(e over N)

rowwise normed_product[T: Float](x: T[M, K], w: T[K, N], r: T[M, N]) -> T[M, N]:
    let y = sum(x * w over K) + r
    let n = T(size(N))
    let d = y - sum(y over N) / n
    return d / sqrt(sum(d * d over N) / n + 1e-5)
"""


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE)


def operands(m: int, n: int, d: int, e: int, *batch: int) -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(*batch, *s) for s in ((m, d), (n, d), (n, e)))


def close(got: torch.Tensor, wanted: torch.Tensor, tolerance: float = 2e-5) -> None:
    torch.testing.assert_close(got.double(), wanted, rtol=tolerance, atol=tolerance)


SIZES = [(1, 1, 1, 1), (7, 65, 8, 3), (33, 63, 40, 64), (65, 1000, 64, 33), (100, 31, 500, 16)]
#: Rows that read keys and values where they lie, up to the first that do not.
FEW = [(1, 130, 64, 64), (2, 17, 40, 77), (4, 9, 5, 600), (5, 8, 128, 128), (8, 1000, 16, 33)]
FEW += [(9, 70, 64, 64)]


@pytest.mark.parametrize("size", SIZES + FEW)
def test_attention(kernels: quern.Module, size: tuple[int, int, int, int]) -> None:
    for batch in ((), (3,), (2, 3)):
        q, k, v = operands(*size, *batch)
        wanted = torch.softmax(q.double() @ k.double().mT * 0.3, -1) @ v.double()
        close(kernels.attention(q, k, v, 0.3), wanted)


@pytest.mark.parametrize("queries", [1, 3, 33])
def test_strided_heads(kernels: quern.Module, queries: int) -> None:
    q, k, v = (torch.randn(2, 33, 3, 16).transpose(1, 2) for _ in range(3))
    q = q[..., :queries, :]
    wanted = torch.softmax(q.double() @ k.double().mT, -1) @ v.double()
    close(kernels.attention(q, k, v, 1.0), wanted)
    # Keys side by side, and values whose neighbours lie along the sum.
    k, v = (t.mT.contiguous().mT for t in (k, v))
    close(kernels.attention(q, k, v, 1.0), wanted)


@pytest.mark.parametrize("tokens", [1, 2, 7, 8, 9, 32, 65, 130])
def test_causal(kernels: quern.Module, tokens: int) -> None:
    q, k, v = operands(tokens, tokens, 16, 20, 2)
    s = (q.double() @ k.double().mT * 0.25).masked_fill(
        torch.ones(tokens, tokens).triu(1).bool(), float("-inf")
    )
    out, lse = kernels.causal(q, k, v, 0.25)
    close(out, torch.softmax(s, -1) @ v.double())
    close(lse, s.logsumexp(-1))


def test_groups_of_queries_share_keys(kernels: quern.Module) -> None:
    q, k, v = torch.randn(2, 3, 45, 16), torch.randn(2, 45, 16), torch.randn(2, 45, 20)
    mask = torch.ones(45, 45).triu(1).bool()
    s = (q.double() @ k.double()[:, None].mT).masked_fill(mask, float("-inf"))
    wanted = torch.softmax(s, -1) @ v.double()[:, None]
    close(kernels.grouped(q, k, v), wanted)


def test_what_is_masked_is_not_read_as_a_number(kernels: quern.Module) -> None:
    q, k, v = operands(70, 70, 16, 20, 2)
    k[:, 40:] = float("nan")
    out, _ = kernels.causal(q, k, v, 0.25)
    wanted, _ = kernels.causal(q[:, :40], k[:, :40], v[:, :40], 0.25)
    close(out[:, :40], wanted.double())


def test_probabilities_as_a_second_output(kernels: quern.Module) -> None:
    q, k, v = operands(33, 65, 16, 20, 2)
    bias = torch.randn(33, 65)
    p = torch.softmax(q.double() @ k.double().mT + bias, -1)
    out, weights = kernels.weights(q, k, v, bias)
    close(weights, p)
    close(out, p @ v.double())


def test_lengths(kernels: quern.Module) -> None:
    q, k, v = operands(33, 65, 16, 20, 3)
    n = torch.tensor([1, 40, 65])
    s = q.double() @ k.double().mT
    s = s.masked_fill(torch.arange(65) >= n[:, None, None], float("-inf"))
    close(kernels.padded(q, k, v, n), torch.softmax(s, -1) @ v.double())


#: The keys that a query sees: from so many before its own on.
MASKS = {"keys_gradient": None, "causal_keys_gradient": 1000, "window_keys_gradient": 20}


def scores(q: torch.Tensor, k: torch.Tensor, seen: int | None) -> torch.Tensor:
    s = q @ k.mT
    if seen is None:
        return s
    before = torch.arange(s.shape[-2])[:, None] - torch.arange(s.shape[-1])
    return s.masked_fill((before < 0) | (before >= seen), float("-inf"))


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize(("m", "n"), [(33, 50), (300, 129), (64, 32), (1, 70), (70, 1), (40, 6)])
def test_gradient_of_keys_and_values(kernels: quern.Module, m: int, n: int, name: str) -> None:
    """A mask hides the first rows of the sums: all of them from keys that no row sees."""
    q, k, v = (t.double().requires_grad_() for t in operands(m, n, 16, 20, 2))
    s = scores(q, k, MASKS[name])
    # Behind the last key's window no key is left.
    rows = slice(min(m, n + 19) if MASKS[name] == 20 else m)
    out = torch.softmax(s[:, rows], -1) @ v
    g = torch.randn(2, m, 20)
    g[:, rows.stop :] = 0
    out.backward(g[:, rows].double())
    lse = s.logsumexp(-1).detach().float().nan_to_num(neginf=0)
    delta = torch.zeros(2, m)
    delta[:, rows] = (out * g[:, rows]).sum(-1).detach().float()
    call = getattr(kernels, name)
    dk, dv = call(*(t.detach().float() for t in (q, k, v)), g, lse, delta)
    close(dk, k.grad, 1e-4)
    close(dv, v.grad, 1e-4)


@pytest.mark.parametrize("tokens", [1, 31, 100, 300])
def test_windows(kernels: quern.Module, tokens: int) -> None:
    q, k, v = operands(tokens, tokens, 16, 20, 2)
    s = scores(q.double(), k.double(), 20)
    close(kernels.window(q, k, v), torch.softmax(s, -1) @ v.double())


@pytest.mark.parametrize("queries", [3, 37])
def test_a_mask_that_is_made_of_what_it_masks(kernels: quern.Module, queries: int) -> None:
    """What is kept is zero where it is masked, which would not be masked again."""
    q, k, v = operands(queries, 70, 16, 20)
    s = q.double() @ k.double().mT
    p = torch.exp(s - s.amax(-1, keepdim=True))
    seen = p < 0.5
    assert ((p - 0.5).abs() > 1e-5).all()
    values, sums = kernels.weak(q, k, v)
    close(values, (p * seen) @ v.double(), 1e-4)
    close(sums, ((p + 1) * seen).sum(-1), 1e-4)


@pytest.mark.parametrize("queries", [3, 37])
def test_a_result_with_the_columns_of_two_sums(kernels: quern.Module, queries: int) -> None:
    q, k, v = operands(queries, 70, 16, 20)
    w = torch.randn(70, 33)
    s = q.double() @ k.double().mT
    e = torch.exp(s - s.amax(-1, keepdim=True))
    both, sums = kernels.spread(q, k, v, w)
    close(both, (e @ v.double())[:, :, None] * (e @ w.double())[:, None], 1e-4)
    close(sums, s.logsumexp(-1))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (5, 50), (33, 50), (70, 131)])
def test_projections_within(kernels: quern.Module, m: int, n: int) -> None:
    """Both projections are stored, the scores are kept for a block of rows."""
    x, w, k = torch.randn(m, 24), torch.randn(24, 16) / 5, torch.randn(n, 24)
    u, v = torch.randn(24, 16) / 5, torch.randn(n, 20)
    s = (x.double() @ w.double()) @ (k.double() @ u.double()).mT
    close(kernels.projected(x, w, k, u, v), torch.softmax(s, -1) @ v.double())


@pytest.mark.parametrize("rows", [1, 6, 45])
def test_softmax_and_norm_behind_a_product(kernels: quern.Module, rows: int) -> None:
    x, w, r = torch.randn(rows, 70), torch.randn(99, 70), torch.randn(rows, 99)
    close(kernels.softmax_of_product(x, w), torch.softmax(x.double() @ w.double().T, -1))
    y = x.double() @ w.double().T + r
    wanted = torch.nn.functional.layer_norm(y, (99,))
    close(kernels.normed_product(x, w.T.contiguous(), r), wanted, 1e-4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("queries", [1, 5, 33])
def test_small_floats(kernels: quern.Module, queries: int, dtype: torch.dtype) -> None:
    q, k, v = (t.to(dtype) for t in operands(queries, 65, 32, 20, 2))
    wanted = torch.softmax(q.double() @ k.double().mT * 0.2, -1) @ v.double()
    close(kernels.attention(q, k, v, 0.2), wanted, 2e-2)
