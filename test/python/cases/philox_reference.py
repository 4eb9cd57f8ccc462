"""Philox in whole numbers, as its authors define it."""

from __future__ import annotations

WORD = 0xFFFFFFFF


def reference(seed: int, offset: int) -> list[int]:
    """Ten rounds of Salmon et al. 2011, figure 2, in Python's integers."""
    key = [seed & WORD, seed >> 32 & WORD]
    x = [offset & WORD, offset >> 32 & WORD, 0, 0]
    for _ in range(10):
        p, q = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [q >> 32 ^ x[1] ^ key[0], q & WORD, p >> 32 ^ x[3] ^ key[1], p & WORD]
        key = [(key[0] + 0x9E3779B9) & WORD, (key[1] + 0xBB67AE85) & WORD]
    return x
