"""Functions made of a GPU's own instructions, at the edges and over their range."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.amd import kernel_for
from kernel_cases import Array
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FILE = ROOT / "test" / "emulator" / "estimates.qn"
TARGETS = ("sm_80", "sm_90", "gfx942", "gfx1201")
EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-40, -1e-40, 3e38, -3e38, 1e-7, -1e-7]
EDGES += [-87.5, -95.0, -104.5, 88.5, 89.0, -126.5, -140.0, 127.9, 128.0, 0.25, 0.3, 0.85, -17.0]


def numbers_of(kind: str) -> Array:
    """Edges, a range, and powers of two, as f32 numbers that the type has."""
    spread = np.random.default_rng(3).standard_normal(300) * 2.0 ** np.arange(-20, 10)[:, None]
    all_of = np.float32(np.concatenate([EDGES, spread.ravel()]))
    if kind == "f16":
        return np.float32(np.float16(all_of))
    return (all_of.view(np.uint32) & 0xFFFF0000).view(np.float32) if kind == "bf16" else all_of


def stored(x: Array, kind: str) -> Array:
    if kind == "bf16":
        return (x.view(np.uint32) >> 16).astype(np.uint16)
    return x.astype(np.float16) if kind == "f16" else x.copy()


def read(x: Array) -> Array:
    if x.dtype == np.uint16:
        x = (x.astype(np.uint32) << 16).view(np.float32)
    return x.astype(np.float64)


def softplus(x: Array) -> Array:
    return np.where(x < 0, 0, x) + np.log1p(np.exp(-np.abs(x)))


WANTED = {
    "all_of_them": lambda x: (
        np.exp(x),
        np.exp2(x),
        np.expm1(x),
        np.where(x < 0, np.exp(x), 1) / (1 + np.exp(-np.abs(x))),
        np.tanh(x),
        softplus(x),
    ),
    "of_positives": lambda x: (
        np.log(x),
        np.log2(x),
        np.log10(x),
        np.log1p(x),
        1 / np.sqrt(x),
        3 / x,
    ),
    "behind_each_other": lambda x: (
        x * np.tanh(softplus(x)),
        np.log(2 + np.exp2(np.tanh(x) * 4) / np.sqrt(1 + x * x)),
    ),
}


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("name", WANTED)
@pytest.mark.parametrize("target", TARGETS)
def test_estimates(target: str, name: str, kind: str) -> None:
    x = numbers_of(kind)
    kernel = kernel_for(PROGRAM, FILE, name, target, (f"--types=T={kind}",))
    with np.errstate(all="ignore"):
        expected = WANTED[name](x.astype(np.float64))
    given = stored(x, kind)
    outs = [np.zeros_like(given) for _ in expected]
    kernel.run([given, *outs])
    # Half a unit of the last place and what short forms are off; in f32 two.
    bound = {"f32": 2.0**-22, "f16": 2.0**-10.95, "bf16": 2.0**-7.95}[kind]
    least = {"f32": 2.0**-148, "f16": 2.0**-24, "bf16": 2.0**-132}[kind]
    if name == "behind_each_other" and kind == "f32":
        bound *= 2
    if name == "behind_each_other":
        least *= 2.0**10  # of factors below the normal range
    for now, then in zip(outs, expected, strict=True):
        with np.errstate(all="ignore"):
            limit = read(stored(np.float32(then), kind))
        finite = np.isfinite(limit)
        got = read(now)
        np.testing.assert_array_equal(got[~finite], np.where(np.isnan(then), then, limit)[~finite])
        np.testing.assert_allclose(got[finite], then[finite], bound, least)
        zeros = (then == 0) & (got == 0)
        np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(then[zeros]))


@pytest.mark.parametrize("target", TARGETS)
def test_close_exponentials(target: str) -> None:
    """Two units of the last place up to 88; nothing below the normal range."""
    rest = [-np.inf, np.nan, 0.0, -0.0, 88.0, -87.3, -87.5, -103.0, -151.0, -3e38, 1e-40]
    x = np.float32([*rest, *np.linspace(-87.3, 88, 20001)])
    out = np.zeros_like(x)
    kernel_for(PROGRAM, FILE, "close_exponential", target, ()).run([x, out])
    wanted = np.exp(x.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(out), np.isnan(wanted))
    normal = wanted >= 2.0**-126
    ulp = np.spacing(wanted[normal].astype(np.float32)).astype(np.float64)
    assert (np.abs(out[normal] - wanted[normal]) / ulp).max() <= 2
    assert (np.abs(out[wanted < 2.0**-126]) <= 2.0**-126).all()
    assert out[0] == 0
