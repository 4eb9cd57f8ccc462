"""Every schedule for a GPU, executed and compared with NumPy."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
import torch
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from kernel_cases import bits, floats
from slices import gpus
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FILE = ROOT / "test" / "emulator" / "schedules.qn"
TARGETS = ("sm_80", "sm_90", "sm_100", "gfx90a", "gfx942", "gfx1100", "gfx1201")


SOME = gpus("schedules")
#: What makes products of 16-bit floats.
INSTRUCTION = {
    "sm_80": r"mma\.sync",
    "sm_90": r"mma\.sync",
    "sm_100": r"mma\.sync",
    "gfx90a": r"mfma\.f32\.16x16x16",
    "gfx942": r"mfma\.f32\.16x16x16",
    "gfx1100": r"wmma\.f32\.16x16x16\.b?f16\.v8f32\.v16",
    "gfx1201": r"wmma\.f32\.16x16x16\.b?f16\.v8f32\.v8",
}


@functools.cache
def kernel(name: str, target: str, *options: str) -> GpuKernel:
    return kernel_for(PROGRAM, FILE, name, target, options)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("count", [0, 1, 3, 64, 65, 127, 1000, 5000])
def test_elementwise(target: str, count: int) -> None:
    x, g, out = normal(count), normal(count) + 1, np.zeros(count, np.float32)
    kernel("gate", target).run([x, g, out])
    np.testing.assert_allclose(out, x * g / (1 + np.exp(-g)), rtol=1e-5)


@pytest.mark.parametrize("target", SOME)
def test_elements_that_are_not_aligned(target: str) -> None:
    x, g = normal(3001)[1:], normal(3002)[2:]
    out = np.zeros(3000, np.float32)
    kernel("gate", target).run([x, g, out])
    np.testing.assert_allclose(out, x * g / (1 + np.exp(-g)), rtol=1e-5)


@pytest.mark.parametrize("target", SOME)
@pytest.mark.parametrize("kind", ["f16", "f64"])
def test_elements_of_other_sizes(kind: str, target: str) -> None:
    dtype = {"f16": np.float16, "f64": np.float64}[kind]
    x, a = normal(3000).astype(dtype), normal(3001)[1:].astype(dtype)
    out = np.zeros(3000, dtype)
    kernel("scale", target, f"--types=T={kind}").run([x, a, out])
    expected = (x.astype(np.float64) * a).astype(dtype)
    np.testing.assert_allclose(out, expected, rtol=2e-3 if kind == "f16" else 1e-15)


@pytest.mark.parametrize("target", SOME)
def test_strided_elements(target: str) -> None:
    x, a = normal(700, 9).T, normal(9, 700)
    out = np.zeros((9, 700), np.float32)
    built = kernel("scale", target, "--ranks=scale=2", "--layouts=x=1d,a=d1")
    built.run([x, a, out])
    np.testing.assert_allclose(out, x * a, rtol=1e-6)


#: Squares that are cut off along one axis, or both; axes too short for squares.
TURNED = [(40, 50), (32, 64), (16, 17), (70, 31), (100, 9), (9, 100)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", TURNED)
def test_turned_operands_go_through_shared_memory(shape: tuple[int, int], target: str) -> None:
    x, a = normal(shape[1], shape[0]).T, normal(*shape)
    out = np.zeros(shape, np.float32)
    built = kernel("scale", target, "--ranks=scale=2", "--layouts=x=1d,a=d1")
    assert "_square0" in built.code
    built.run([x, a, out])
    np.testing.assert_allclose(out, x * a, rtol=1e-6)


@pytest.mark.parametrize("kind", ["f16", "f64"])
@pytest.mark.parametrize("target", SOME)
def test_turned_operands_in_batches(kind: str, target: str) -> None:
    dtype = {"f16": np.float16, "f64": np.float64}[kind]
    x = normal(3, 40, 33).astype(dtype).transpose(0, 2, 1)
    a = normal(3, 40, 34).astype(dtype).transpose(0, 2, 1)[:, 1:]
    out = np.zeros((3, 33, 40), dtype)
    options = ("--ranks=scale=3", "--layouts=x=d1d,a=d1d", f"--types=T={kind}")
    built = kernel("scale", target, *options)
    built.run([x, a, out])
    expected = (x.astype(np.float64) * a).astype(dtype)
    np.testing.assert_allclose(out, expected, rtol=2e-3 if kind == "f16" else 1e-15)


ROWS = [(3, 1), (5, 8), (7, 9), (9, 100), (5, 256), (5, 260), (3, 516), (3, 1024), (2, 1025)]
ROWS += [(3, 1030), (2, 3000), (2, 5001), (2, 8192), (2, 8200)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", ROWS)
def test_rows_by_thread_warp_and_block(target: str, shape: tuple[int, int]) -> None:
    x = normal(*shape)
    out = np.zeros_like(x)
    kernel("softmax", target).run([x, out])
    np.testing.assert_allclose(out, softmax(x), rtol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(3, 16384), (2, 40000), (2, 40001), (1, 131072), (2, 140004)])
def test_rows_by_several_blocks(target: str, shape: tuple[int, int]) -> None:
    x = normal(*shape)
    out, mean = np.zeros_like(x), np.zeros(shape[0], np.float32)
    built = kernel("norm", target)
    assert ("mapa" in built.code) == (target in ("sm_90", "sm_100"))
    built.run([x, out, mean], [np.float32(0.5)], blocks=2)
    expected = x.mean(1, dtype=np.float64)
    np.testing.assert_allclose(mean, expected, atol=1e-6)
    spread = x.var(1, dtype=np.float64) + 0.5
    np.testing.assert_allclose(out, (x - expected[:, None]) / spread[:, None], atol=1e-5)


@pytest.mark.parametrize("target", SOME)
@pytest.mark.parametrize("kind", ["bf16", "f16", "f64"])
@pytest.mark.parametrize("columns", [264, 600, 1027, 1032, 3000, 9000, 9001, 33003, 34000])
def test_kept_rows_of_other_types(kind: str, columns: int, target: str) -> None:
    x = normal(3, columns).astype(np.float64)
    if kind == "bf16":
        x = floats(bits(x.astype(np.float32))).astype(np.float64)
    elif kind == "f16":
        x = x.astype(np.float16).astype(np.float64)
    given = {"bf16": lambda: bits(x.astype(np.float32)), "f16": lambda: x.astype(np.float16)}
    array = given.get(kind, lambda: x)()
    out = np.zeros_like(array)
    kernel("softmax", target, f"--types=T={kind}").run([array, out])
    actual = floats(out) if kind == "bf16" else out
    np.testing.assert_allclose(
        actual, softmax(x), rtol={"bf16": 1e-2, "f16": 2e-3}.get(kind, 1e-13), atol=1e-7
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [98, 1022, 1030, 8190, 16386])
def test_parts_of_aligned_rows(target: str, columns: int) -> None:
    """Every row begins at 16 bytes, and ends within a vector."""
    wide = normal(3, columns + 6 - columns % 4)
    x, out = wide[:, :columns], np.zeros_like(wide)
    kernel("softmax", target).run([x, out[:, :columns]])
    np.testing.assert_allclose(out[:, :columns], softmax(x), rtol=1e-5)
    assert not out[:, columns:].any()


@pytest.mark.parametrize("shape", [(5, 3), (4, 70), (2, 2001)])
@pytest.mark.parametrize("target", SOME)
def test_a_reduction_of_several_states(shape: tuple[int, int], target: str) -> None:
    x, eps = normal(*shape), np.float32(0.5)
    out, mean = np.zeros_like(x), np.zeros(shape[0], np.float32)
    kernel("norm", target).run([x, out, mean], [eps])
    expected = x.mean(1, dtype=np.float64)
    np.testing.assert_allclose(mean, expected, rtol=1e-4, atol=1e-6)
    spread = x.var(1, dtype=np.float64) + eps
    np.testing.assert_allclose(out, (x - expected[:, None]) / spread[:, None], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("count", [1, 100, 16384, 40000])
@pytest.mark.parametrize("kind", ["f32", "i32"])
@pytest.mark.parametrize("target", SOME)
def test_a_reduction_of_everything(count: int, kind: str, target: str) -> None:
    x = normal(count) if kind == "f32" else np.arange(count, dtype=np.int32) - 7
    out = np.zeros((), np.float32 if kind == "f32" else np.int64)
    kernel("total", target, f"--types=T={kind}").run([x, out])
    np.testing.assert_allclose(out, x.sum(dtype=np.float64), rtol=1e-4)


@pytest.mark.parametrize("shape", [(5, 7), (33, 64), (20, 129), (6, 2050)])
@pytest.mark.parametrize("target", SOME)
def test_columns(shape: tuple[int, int], target: str) -> None:
    x, out = normal(*shape), np.zeros(shape[1], np.float32)
    kernel("columns", target).run([x, out])
    np.testing.assert_allclose(out, x.sum(0), rtol=1e-4, atol=1e-5)


#: Rows of few columns, of several warps' columns, more columns than parts are for.
COLUMNS = [(300, 3), (257, 20), (1000, 133), (20001, 8), (260, 16500), (40, 132)]


@pytest.mark.parametrize("shape", COLUMNS)
@pytest.mark.parametrize("target", TARGETS)
def test_columns_in_parts(shape: tuple[int, int], target: str) -> None:
    x, out = normal(*shape), np.zeros(shape[1], np.float32)
    kernel("columns", target).run([x, out])
    np.testing.assert_allclose(out, x.sum(0, dtype=np.float64), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("shape", [(300, 3), (2000, 130), (300, 129)])
@pytest.mark.parametrize("target", SOME)
def test_columns_of_several_states_in_parts(shape: tuple[int, int], target: str) -> None:
    x, scale = normal(*shape), normal(shape[1])
    mean, most = np.zeros_like(scale), np.zeros_like(scale)
    kernel("column_spread", target).run([x, scale, mean, most])
    wanted = x.mean(0, dtype=np.float64) * scale
    np.testing.assert_allclose(mean, wanted, rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(most, np.where(x < 1, x, -np.inf).max(0))


@pytest.mark.parametrize("shape", [(2, 65536), (3, 70001), (2, 300)])
@pytest.mark.parametrize("target", TARGETS)
def test_long_rows_in_parts(shape: tuple[int, int], target: str) -> None:
    x = normal(*shape)
    mean, spread = (np.zeros(shape[0], np.float32) for _ in "ms")
    kernel("spread", target).run([x, mean, spread])
    np.testing.assert_allclose(mean, x.mean(1, dtype=np.float64), atol=1e-5)
    np.testing.assert_allclose(spread, x.var(1, dtype=np.float64), rtol=1e-4)


@pytest.mark.parametrize("shape", [(20, 3, 40), (300, 2, 9), (3, 4, 50)])
@pytest.mark.parametrize("target", SOME)
def test_channels_in_parts(shape: tuple[int, int, int], target: str) -> None:
    x, out = normal(*shape), np.zeros(shape[1], np.float32)
    kernel("channels", target).run([x, out])
    np.testing.assert_allclose(out, x.sum((0, 2), dtype=np.float64), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("sizes", [(3, 5, 7), (17, 70, 9), (33, 130, 20), (4, 9, 130)])
@pytest.mark.parametrize("target", SOME)
@pytest.mark.parametrize("name", ["mm", "mm_rows"])
def test_products(name: str, sizes: tuple[int, int, int], target: str) -> None:
    m, n, k = sizes
    a, b, out = normal(m, k), normal(k, n), np.zeros((m, n), np.float32)
    kernel(name, target).run([a, b if name == "mm" else np.ascontiguousarray(b.T), out])
    np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sizes", [(5, 9, 3), (32, 32, 32), (33, 40, 17), (70, 34, 50)])
@pytest.mark.parametrize("name", ["mm", "mm_rows"])
def test_products_of_matrix_instructions(
    name: str, sizes: tuple[int, int, int], target: str
) -> None:
    m, n, k = sizes
    a, b, out = bits(normal(m, k)), bits(normal(k, n)), np.zeros((m, n), np.uint16)
    built = kernel(name, target, "--types=T=bf16")
    assert re.search(INSTRUCTION[target], built.code)
    built.run([a, b if name == "mm" else np.ascontiguousarray(b.T), out])
    np.testing.assert_allclose(floats(out), floats(a) @ floats(b), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sizes", [(130, 136, 40), (5, 128, 32), (129, 72, 200), (33, 264, 8)])
@pytest.mark.parametrize("name", ["mm", "mm_rows"])
def test_products_through_shared_memory(
    name: str, sizes: tuple[int, int, int], target: str
) -> None:
    m, n, k = sizes
    a, b, out = bits(normal(m, k)), bits(normal(k, n)), np.zeros((m, n), np.uint16)
    built = kernel(name, target, "--types=T=bf16")
    assert ("cp.async" if target.startswith("sm_") else "_block_stages") in built.code
    built.run([a, b if name == "mm" else np.ascontiguousarray(b.T), out])
    np.testing.assert_allclose(floats(out), floats(a) @ floats(b), rtol=1e-2, atol=2e-2)


@pytest.mark.parametrize("target", TARGETS)
def test_what_stands_behind_a_product(target: str) -> None:
    a, b, c = normal(2, 33, 20), normal(2, 20, 34), normal(34)
    a, b, c = (x.astype(np.float16) for x in (a, b, c))
    out = np.zeros((2, 33, 34), np.float16)
    built = kernel("gated", target, "--types=T=f16")
    assert re.search(INSTRUCTION[target], built.code)
    built.run([a, b, c, out])
    expected = np.maximum(a.astype(np.float32) @ b.astype(np.float32), 0) + c
    np.testing.assert_allclose(out, expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("target", SOME)
def test_sorts(target: str) -> None:
    x = np.round(normal(5, 60), 1)
    out, places = np.zeros_like(x), np.zeros(x.shape, np.int64)
    kernel("ordered", target).run([x, out, places])
    np.testing.assert_array_equal(places, np.argsort(x, 1, kind="stable"))
    np.testing.assert_array_equal(out, np.sort(x, 1))


@pytest.mark.parametrize("target", SOME)
def test_gathers_and_their_errors(target: str) -> None:
    built = kernel("gather", target)
    x, i = normal(10, 70), np.array([3, 0, 9, 3, 5])
    out = np.zeros((5, 70), np.float32)
    built.run([x, i, out])
    np.testing.assert_array_equal(out, x[i])
    i[2] = 12
    built.run([x, i, out])
    site, index, extent = built.errors
    assert (index, extent) == (12, 10)
    assert built.abi["sites"][site - 1]["axis"] == "V"


SCANNED = [(3, 7), (5, 40), (9, 33), (2, 1000), (2, 1025), (1, 2050)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", SCANNED)
def test_scans_by_thread_warp_and_block(target: str, shape: tuple[int, int]) -> None:
    x, out = normal(*shape), np.zeros(shape, np.float32)
    kernel("running", target).run([x, out])
    np.testing.assert_allclose(out, x.cumsum(1, dtype=np.float64), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("target", SOME)
@pytest.mark.parametrize("shape", SCANNED)
def test_scans_from_the_end(target: str, shape: tuple[int, int]) -> None:
    x, sums, most = normal(*shape), np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    kernel("running_back", target).run([x, sums, most])
    back = x[:, ::-1]
    before = (back.cumsum(1, dtype=np.float64) - back)[:, ::-1]
    np.testing.assert_allclose(sums, before, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(most, np.maximum.accumulate(back, 1)[:, ::-1])


@pytest.mark.parametrize("target", SOME)
@pytest.mark.parametrize("shape", SCANNED)
def test_scans_behind_reductions(target: str, shape: tuple[int, int]) -> None:
    x, out, total = normal(*shape), np.zeros(shape, np.float32), np.zeros(shape[0], np.float32)
    kernel("shares", target).run([x, out, total])
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    kept = np.where(x > 0, e, 0)
    np.testing.assert_allclose(total, e.sum(1), rtol=1e-4)
    wanted = (kept.cumsum(1) - kept) / e.sum(1, keepdims=True)
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", SOME)
@pytest.mark.parametrize("count", [5, 300, 2100])
@pytest.mark.parametrize("kind", ["f16", "i64", "u8"])
def test_scans_of_several_states(target: str, count: int, kind: str) -> None:
    file = ROOT / "stdlib-kernels" / "scans.qn"
    built = kernel_for(PROGRAM, file, "cummax", target, (f"--types=T={kind}",))
    dtype = {"f16": np.float16, "i64": np.int64, "u8": np.uint8}[kind]
    x = np.random.default_rng(count).integers(0, 100, (2, count)).astype(dtype)
    out, places = np.zeros_like(x), np.zeros(x.shape, np.int64)
    built.run([x, out, places])
    wanted = torch.cummax(torch.tensor(x), 1)
    np.testing.assert_array_equal(out, wanted.values.numpy())
    np.testing.assert_array_equal(places, wanted.indices.numpy())


@pytest.mark.parametrize("target", SOME)
def test_windows(target: str) -> None:
    x, out = normal(3, 200), np.zeros((3, 200), np.float32)
    kernel("window", target).run([x, out], [np.int64(3)])
    padded = np.pad(x, ((0, 0), (0, 2)))
    np.testing.assert_allclose(
        out, padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:], rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("target", SOME)
def test_a_portable_sum_has_the_bits_of_the_cpu(target: str) -> None:
    import quern

    x, out = normal(4, 300), np.zeros(4, np.float32)
    kernel("fixed", target).run([x, out])
    np.testing.assert_array_equal(out, np.asarray(quern.load(str(FILE)).fixed(x)))
