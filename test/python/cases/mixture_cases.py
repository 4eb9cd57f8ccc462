"""Calls of the kernels of test/kernels/mixtures.qn, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, bits, dtype, floats

FILE = "mixtures"
ROUNDS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
          (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]  # fmt: skip
WORD = 2**32 - 1


def normal(element: str, *shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype(element))


def chacha(key: list[int], nonce: list[int], counter: int) -> list[int]:
    """A block of RFC 8439 as its text says it."""
    first = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key, counter & WORD, *nonce]
    s = list(first)
    for _ in range(10):
        for a, b, c, d in ROUNDS:
            for x, y, z, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                s[x] = (s[x] + s[y]) & WORD
                s[z] ^= s[x]
                s[z] = (s[z] << by | s[z] >> (32 - by)) & WORD
    return [(x + y) & WORD for x, y in zip(s, first, strict=True)]


def ciphers() -> Iterator[Case]:
    key = np.arange(32, dtype="u1").view("u4")
    nonce = np.array([0x09000000, 0x4A000000, 0], "u4")
    # Section 2.3.2 of RFC 8439.
    block = chacha(key.tolist(), nonce.tolist(), 1)
    assert block[:4] == [0xE4E7F110, 0x15593BD1, 0x1FDD0F50, 0xC47120A3]
    assert block[12:] == [0xD19C12B5, 0xB94E16DE, 0xE883D0CB, 0x4E3C50A2]
    for count, first in ((1, 1), (40, 1), (17, WORD - 3)):
        wanted = [chacha(key.tolist(), nonce.tolist(), first + k) for k in range(count)]
        y = np.zeros((count, 16), "u4")
        given, scalars = [key, nonce, y], (np.int64(first),)
        yield Case(FILE, "keystream", given, [np.array(wanted, "u4")], scalars=scalars)


def codes() -> Iterator[Case]:
    rng = np.random.default_rng(7)
    for count, threads in ((1, 96), (70, 96), (150, 50)):
        drawn = rng.integers(0, 2**63, count) >> rng.integers(0, 63, count)
        numbers: list[int] = drawn.tolist()
        text = bytearray()
        for number in numbers:
            left = number
            while left >= 128:
                text.append(left & 127 | 128)
                left >>= 7
            text.append(left)
        given = [np.frombuffer(bytes(text), "u1"), np.zeros(count, "u8"), np.zeros(1, "i8")]
        wanted = [np.array(numbers, "u8"), np.array([count])]
        yield Case(FILE, "decoded", given, wanted, constants={"THREADS": threads})


def transforms() -> Iterator[Case]:
    for element, size, columns in (("f32", 256, 256), ("f64", 1024, 1000), ("f16", 32, 32),
                                   ("f64", 2, 2), ("bf16", 128, 70)):  # fmt: skip
        x = normal("f32" if element == "bf16" else element, 3, columns)
        given = bits(x) if element == "bf16" else x
        padded = np.zeros((3, size))
        padded[:, :columns] = floats(given) if element == "bf16" else x
        matrix = np.ones((1, 1))
        while len(matrix) < size:
            matrix = np.block([[matrix, matrix], [matrix, -matrix]])
        wanted = (padded @ matrix)[:, :columns]
        y = np.zeros(wanted.shape, "f8" if element == "f64" else "f4")
        yield Case(FILE, "walsh", [given, y], [wanted], constants={"SIZE": size},
                   types={"T": element}, tolerance=1e-4)  # fmt: skip


def products() -> Iterator[Case]:
    shapes = [("f16", 16, 64, 16, 64), ("bf16", 33, 200, 17, 64),
              ("f32", 5, 70, 40, 16), ("f16", 20, 9, 3, 64)]  # fmt: skip
    for element, m, k, n, depth in shapes:
        a, b, constants = normal("f32", m, k), normal("f32", k, n), {"DEPTH": depth}
        start = normal("f32", m, n)
        if element == "bf16":
            given = [bits(a), bits(b)]
            wanted = floats(given[0]).astype("f8") @ floats(given[1])
        else:
            given = [a.astype(dtype(element)), b.astype(dtype(element))]
            wanted = given[0].astype("f8") @ given[1].astype("f8")
        yield Case(FILE, "split_product", [*given, start], [start + wanted], constants=constants,
                   types={"T": element}, tolerance=1e-4)  # fmt: skip


def systems() -> Iterator[Case]:
    for element, rows, count in (("f64", 3, 100), ("f32", 2, 256), ("f64", 1, 1), ("f32", 2, 33)):
        low, high, right = (normal(element, rows + k, count)[:rows] for k in range(3))
        middle = (4 + abs(normal(element, rows, count))).astype(dtype(element))
        wanted = np.zeros((rows, count))
        for r in range(rows):
            matrix = np.diag(middle[r].astype("f8"))
            matrix += np.diag(low[r, 1:].astype("f8"), -1) + np.diag(high[r, :-1].astype("f8"), 1)
            wanted[r] = np.linalg.solve(matrix, right[r])
        given = [low, middle, high, right, np.zeros_like(right)]
        yield Case(FILE, "three_diagonals", given, [wanted], types={"T": element},
                   tolerance=1e-10 if element == "f64" else 1e-4)  # fmt: skip


def cases() -> list[Case]:
    families = (ciphers, codes, transforms, products, systems)
    return [case for family in families for case in family()]
