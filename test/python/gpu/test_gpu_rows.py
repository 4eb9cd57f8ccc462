"""Rows that teams keep in registers and shared memory, executed and compared with NumPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from slices import gpus
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FILE = ROOT / "test" / "emulator" / "schedules.qn"
NORM = ROOT / "stdlib-kernels" / "layer_norm.qn"
SOFTMAX = ROOT / "stdlib-kernels" / "softmax.qn"
TARGETS = ("sm_80", "sm_90", "sm_100", "gfx942", "gfx1100")
SOME = gpus("schedules")


@functools.cache
def kernel(name: str, target: str, *options: str, file: str = str(FILE)) -> GpuKernel:
    return kernel_for(PROGRAM, file, name, target, options)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("target", ["sm_90", "sm_100"])
@pytest.mark.parametrize("columns", [131076, 200001, 262144, 311300])
def test_long_rows_have_few_blocks(columns: int, target: str) -> None:
    x = normal(1, columns)
    out = np.zeros_like(x)
    built = kernel("softmax", target)
    entries = built.abi["launches"][0]["entries"]
    assert [(e["most_lanes"], e.get("cluster", 1)) for e in entries][-5:] == [
        (38912, 1),
        (77824, 2),
        (155648, 4),
        (311296, 8),
        (-1, 8),
    ]
    built.run([x, out])
    np.testing.assert_allclose(out, softmax(x.astype(np.float64)), rtol=2e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [16388, 38916, 50257, 65536])
def test_rows_partly_in_shared_memory(columns: int, target: str) -> None:
    x = normal(2, columns)
    out = np.zeros_like(x)
    kernel("softmax", target).run([x, out], blocks=1)
    np.testing.assert_allclose(out, softmax(x.astype(np.float64)), rtol=2e-5)


#: Where operand and result begin, and how many columns their rows have beyond those used.
PHASES = [(0, 0, 1, 1), (1, 1, 0, 0), (3, 3, 2, 6), (1, 2, 0, 0), (2, 2, 1, 2)]


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("columns", [1501, 1502, 33101])
@pytest.mark.parametrize("phase", PHASES)
def test_rows_begin_within_vectors(
    phase: tuple[int, int, int, int], columns: int, target: str
) -> None:
    """With the same phase in all operands, and with others."""
    first, second, more, further = phase
    x = normal(3, first + columns + more)
    out = np.zeros((3, second + columns + further), np.float32)
    kernel("softmax", target).run([x[:, first:][:, :columns], out[:, second:][:, :columns]])
    inner = slice(second, second + columns)
    np.testing.assert_allclose(out[:, inner], softmax(x[:, first:][:, :columns]), rtol=1e-5)
    out[:, inner] = 0
    assert not out.any()


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("columns", [2001, 2004, 17002, 24580, 70000, 74003, 131072])
def test_weights_of_rows(columns: int, target: str) -> None:
    """Operands that all rows share, aligned otherwise than odd rows are."""
    x, w, b = normal(3, columns), normal(columns), normal(columns + 1)[1:]
    out, mean, rstd = np.zeros_like(x), np.zeros(3, np.float32), np.zeros(3, np.float32)
    built = kernel("layer_norm", target, "--ranks=layer_norm=2", file=str(NORM))
    built.run([x, w, b, out, mean, rstd], [np.float32(1e-5)])
    wide = x.astype(np.float64)
    center = wide.mean(1, keepdims=True)
    scale = 1 / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(out, (wide - center) * scale * w + b, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(mean, center[:, 0], atol=1e-6)
    np.testing.assert_allclose(rstd, scale[:, 0], rtol=1e-5)


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("columns", [3000, 17003, 40000])
def test_two_operands_of_rows(columns: int, target: str) -> None:
    grad, y = normal(2, columns), softmax(normal(2, columns))
    out = np.zeros_like(y)
    name = "softmax_backward"
    built = kernel(name, target, f"--ranks={name}=2", file=str(SOFTMAX))
    built.run([grad, y, out])
    total = (grad.astype(np.float64) * y).sum(1, keepdims=True)
    np.testing.assert_allclose(out, (grad - total) * y, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("target", SOME)
def test_quotients_by_what_a_row_has(target: str) -> None:
    """Rounded as a division is, wherever the divisor lies."""
    rows = [1e30, 3e-30, 1e-42, np.inf, 0, 7, -1e-3, np.nan]
    x, d = normal(len(rows), 1600), np.array(rows, np.float32)
    x[:, :4] = [np.inf, 3e38, 0, -3e38]
    out = np.zeros_like(x)
    kernel("by_row", target).run([x, d, out])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, x / d[:, None])


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_quotients_by_a_rows_sum_are_those_of_divisions(target: str) -> None:
    """Zeros keep their signs, what overflows is infinite, divisors at the ends divide."""
    x = normal(6, 512)
    x[:, :4] = [0.0, -0.0, 1e-30, -1e-30]
    x[1:4, 8:] *= np.float32([1e25, 1e-25, 3e-38])[:, None]
    x[4, 9] = np.inf
    x[5, 9] = np.nan
    out, sums = np.zeros_like(x), np.zeros(6, np.float32)
    kernel("divided", target).run([x, out, sums])
    with np.errstate(all="ignore"):
        expected = x / sums[:, None]
    np.testing.assert_array_max_ulp(out[:4], expected[:4], maxulp=1)
    np.testing.assert_array_equal(out[4:], expected[4:])
    np.testing.assert_array_equal(np.signbit(out[:, :2]), np.signbit(expected[:, :2]))
