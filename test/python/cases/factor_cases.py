"""Calls of test/kernels/factors.qn, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, dtype

FILE = "factors"


def normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape) + len(shape)).standard_normal(shape)


def definite(count: int, n: int) -> Array:
    x = normal(count, n, n)
    return x @ x.transpose(0, 2, 1) + n * np.eye(n)


def lower() -> Iterator[Case]:
    for element, count, n in (("f32", 3, 8), ("f64", 2, 5), ("f64", 1, 1), ("f32", 0, 4)):
        a = definite(count, n).astype(dtype(element))
        wanted = np.linalg.cholesky(a.astype("f8"))
        yield Case(
            FILE,
            "cholesky",
            [a, np.ones_like(a), np.zeros(count, "?")],
            [wanted, np.ones(count, "?")],
            {"N": n},
            types={"T": element},
            tolerance=1e-5 if element == "f32" else 1e-12,
        )
    indefinite = np.array([[[1.0, 2], [2, 1]], [[4, 2], [2, 5]]])
    factors = np.array([[[1.0, 0], [2, 1]], [[2, 0], [1, 2]]])
    given = [indefinite, np.zeros((2, 2, 2)), np.zeros(2, "?")]
    wanted = [factors, np.array([False, True])]
    yield Case(FILE, "cholesky", given, wanted, {"N": 2}, types={"T": "f64"})
    for n in (7, 3, 12):
        a = normal(2, n, n)
        factors, orders = a.copy(), np.zeros((2, n), "i4")
        signs = np.ones(2, "i1")
        for b in range(2):
            m, order = factors[b], np.arange(n)
            for k in range(n - 1):
                p = k + abs(m[k:, k]).argmax()
                signs[b] *= 1 if p == k else -1
                m[[k, p]], order[[k, p]] = m[[p, k]], order[[p, k]]
                m[k + 1 :, k] /= m[k, k]
                m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])
            orders[b] = order
        given = [a, np.zeros_like(a), np.zeros((2, n), "i4"), np.zeros(2, "i1")]
        yield Case(FILE, "lu", given, [factors, orders, signs], {"N": n}, tolerance=1e-9)


def solved() -> Iterator[Case]:
    for element, n, columns, is_lower in (
        ("f64", 12, 21, 1),
        ("f32", 5, 40, 0),
        ("f64", 1, 3, 1),
        ("f32", 12, 0, 1),
    ):
        a = np.tril(normal(n, n)) + 3 * np.eye(n)
        a = (a if is_lower else a.T).astype(dtype(element))
        b = normal(n, columns).astype(dtype(element))
        yield Case(
            FILE,
            "triangular",
            [a, b, np.zeros_like(b)],
            [np.linalg.solve(a.astype("f8"), b.astype("f8"))],
            {"N": n, "LOWER": is_lower},
            types={"T": element},
            tolerance=1e-4 if element == "f32" else 1e-11,
        )
    for element, m, n in (("f32", 20, 5), ("f64", 40, 4), ("f64", 3, 3)):
        a = normal(2, m, n).astype(dtype(element))
        q, r = np.linalg.qr(a.astype("f8"))
        sign = np.sign(np.einsum("bii->bi", r))
        yield Case(
            FILE,
            "orthogonal",
            [a, np.zeros_like(a), np.zeros((2, n, n), a.dtype)],
            [q * sign[:, None], r * sign[:, :, None]],
            {"M": m, "N": n},
            types={"T": element},
            tolerance=1e-4 if element == "f32" else 1e-10,
        )


def turned(a: Array, eps: float) -> tuple[Array, int]:
    """Eigenvalues in the order in which turns of pairs leave them, and how many rounds it took."""
    m, n, count, off = a.copy(), len(a), 0, eps + 1
    while off > eps and count < 40:
        for p in range(n - 1):
            for q in range(p + 1, n):
                x, tangent = m[p, q], 0.0
                if x != 0:
                    theta = (m[q, q] - m[p, p]) / (2 * x)
                    tangent = 1 / (abs(theta) + np.hypot(theta, 1))
                    tangent = tangent if theta >= 0 else -tangent
                c = 1 / np.sqrt(tangent * tangent + 1)
                turn = np.eye(n)
                turn[[p, q], [p, q]] = c
                turn[p, q], turn[q, p] = tangent * c, -tangent * c
                m = turn.T @ m @ turn
        off = abs(m - np.diag(m.diagonal())).max()
        count += 1
    return m.diagonal(), count


def iterated() -> Iterator[Case]:
    for n in (6, 3):
        a = normal(3, n, n)
        a = a + a.transpose(0, 2, 1)
        found = [turned(each, 1e-6) for each in a]
        values = np.stack([each for each, _ in found])
        np.testing.assert_allclose(np.sort(values, 1), np.linalg.eigvalsh(a), 1e-9, 1e-9)
        yield Case(
            FILE,
            "jacobi",
            [a, np.zeros((3, n)), np.zeros(3, "i4")],
            [values, np.array([count for _, count in found])],
            {"N": n},
            (np.float64(1e-6),),
            tolerance=1e-9,
        )
    for element in ("i64", "u8", "i16", "u32"):
        a = np.random.default_rng(4).integers(0, 9, (3, 3)).astype(dtype(element))
        exponents = np.array([0, 1, 2, 13, 31], "u4")
        powers = []
        for e in exponents:
            power = np.eye(3, dtype=a.dtype)
            for _ in range(e):
                power = power @ a
            powers.append(power)
        yield Case(
            FILE,
            "squarings",
            [a, exponents, np.zeros((5, 3, 3), a.dtype)],
            [np.stack(powers)],
            types={"T": element},
        )


def cases() -> list[Case]:
    return [*lower(), *solved(), *iterated()]
