"""Explicit kernels on GPUs: results against NumPy, ptxas, code objects."""

from __future__ import annotations

import functools
import re
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from slices import AMD, NVIDIA, gpus, one_of
from thread_texts import KERNELS, MORE, SUMS, TOGETHER, pick
from tree import build_dir

PROGRAM = build_dir() / "bin" / "quern"
CUDA = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin"
TEXTS = {"together": TOGETHER, "more": MORE, "sums": SUMS}

every_gpu = pytest.mark.parametrize("target", [*NVIDIA, *AMD])
#: What no target has of its own: some of them in the quick tier.
a_gpu = pytest.mark.parametrize("target", gpus("explicit kernels"))


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The texts of other tests as files."""
    folder = tmp_path_factory.mktemp("kernels")
    for name, text in TEXTS.items():
        (folder / f"{name}.qn").write_text(text)
    return folder


@functools.cache
def built(file: Path, name: str, target: str, *options: str) -> GpuKernel:
    return kernel_for(PROGRAM, file, name, target, options)


def kernel(family: str, name: str = "", target: str = "sm_90", *options: str) -> GpuKernel:
    return built(KERNELS / f"{family}.qn", name or family, target, *options)


def warp(target: str) -> int:
    return 64 if target in ("gfx90a", "gfx942") else 32


def warps(target: str, count: int) -> list[slice]:
    size = warp(target)
    return [slice(first, min(first + size, count)) for first in range(0, count, size)]


def ballot(votes: np.ndarray) -> np.int64:
    return np.uint64(sum(1 << k for k, vote in enumerate(votes) if vote)).view(np.int64)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@every_gpu
@pytest.mark.parametrize(("tile", "shape"), [(8, (5, 3)), (16, (33, 17)), (32, (64, 70))])
def test_transpose(target: str, tile: int, shape: tuple[int, int]) -> None:
    src, out = normal(*shape), np.zeros(shape[::-1], np.float32)
    kernel("transpose", "", target, f"--constants=TILE={tile}").run([src, out])
    np.testing.assert_array_equal(out, src.T)


@every_gpu
@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 3, 7), (33, 50, 40)])
def test_matmul(target: str, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    a, b, out = normal(m, k), normal(k, n), np.zeros((m, n), np.float32)
    kernel("matmul", "", target).run([a, b, out])
    np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-5)


@every_gpu
@pytest.mark.parametrize("threads", [100, 256])
def test_histogram(target: str, threads: int) -> None:
    x = np.random.default_rng(1).integers(0, 256, 9000).astype("i4")
    counts = np.zeros(256, "i4")
    kernel("histogram", "", target, f"--constants=THREADS={threads}").run([x, counts])
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=256))


@every_gpu
@pytest.mark.parametrize("threads", [100, 256])
def test_block_scan(target: str, threads: int) -> None:
    x = np.random.default_rng(2).integers(-9, 9, 700).astype("f4")
    blocks = -(-700 // threads)
    out, totals = np.zeros(700, "f4"), np.zeros(blocks, "f4")
    kernel("scan", "block_scan", target, f"--constants=THREADS={threads}").run([x, out, totals])
    padded = np.zeros(blocks * threads, "f4")
    padded[:700] = x
    sums = padded.reshape(blocks, threads).cumsum(axis=1)
    np.testing.assert_array_equal(out, sums.reshape(-1)[:700])
    np.testing.assert_array_equal(totals, sums[:, -1])


@every_gpu
def test_radix_sort(target: str) -> None:
    keys = np.random.default_rng(3).integers(0, 2**32, 600, dtype="u4")
    wanted, blocks = np.sort(keys), 3
    for shift in range(0, 32, 4):
        counts = np.zeros((16, blocks), "i4")
        kernel("radix", "radix_count", target).run([keys, counts], [np.int64(shift)])
        ends = counts.reshape(-1).cumsum(dtype="i4")
        starts = (ends - counts.reshape(-1)).reshape(16, blocks)
        out = np.zeros_like(keys)
        kernel("radix", "radix_scatter", target).run([keys, starts, out], [np.int64(shift)])
        keys = out
    np.testing.assert_array_equal(keys, wanted)


@every_gpu
@pytest.mark.parametrize("block", [(32, 8), (5, 3)])
def test_stencil(target: str, block: tuple[int, int]) -> None:
    src = normal(33, 17)
    out = np.zeros_like(src)
    options = f"--constants=X={block[0]},Y={block[1]}"
    kernel("stencil", "", target, options).run([src, out], [np.float32(0.25)])
    wide = np.pad(src, 1)
    around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    np.testing.assert_allclose(out, src + 0.25 * around, rtol=1e-5, atol=1e-5)


@a_gpu
@pytest.mark.parametrize("count", [1, 23, 64, 100])
def test_warps(texts: Path, count: int, target: str) -> None:
    x = np.random.default_rng(4).integers(0, 100, count).astype("i4")
    y, bits = np.zeros((6, count), "i4"), np.zeros(count, "i8")
    built(texts / "together.qn", "lanes", target).run([x, y, bits])
    for threads in warps(target, count):
        v, part = x[threads], y[:, threads]
        lane = np.arange(len(v))
        np.testing.assert_array_equal(part[0], pick(v, lane ^ 1))
        np.testing.assert_array_equal(part[1], pick(v, lane - 2))
        np.testing.assert_array_equal(part[2], pick(v, lane + 3))
        np.testing.assert_array_equal(part[3], pick(v, (lane * 5 + 1) % warp(target)))
        np.testing.assert_array_equal(part[4], int((v > 90).any()) + 2 * int((v > 5).all()))
        np.testing.assert_array_equal(bits[threads], ballot(v % 2 == 0))


@every_gpu
def test_atomics(texts: Path, target: str) -> None:
    x = np.random.default_rng(5).integers(-1000, 1000, 500).astype("i4")
    y, won = np.zeros(8, "i4"), np.zeros(500, "i4")
    y[3] = -1
    built(texts / "together.qn", "atomics", target).run([x, y, won])
    wanted = [x.sum(), min(x.min(), 0), max(x.max(), 0), np.bitwise_and.reduce(x),
              np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x), 1, 8]  # fmt: skip
    np.testing.assert_array_equal(y, wanted)
    assert won.sum() == 1


@a_gpu
def test_threads_that_part_before_a_barrier(texts: Path, target: str) -> None:
    divided = built(texts / "together.qn", "divided", target)
    x, y = np.ones(64, "i4"), np.zeros(64, "i4")
    divided.run([x, y])
    assert y.all()
    assert not divided.errors.any()
    x[37] = 0
    divided.run([x, y])
    assert divided.abi["sites"][divided.errors[0] - 1]["axis"] == "barrier"


@a_gpu
def test_threads_that_provably_part(texts: Path, target: str) -> None:
    with pytest.raises(RuntimeError, match="part before a barrier"):
        built(texts / "more.qn", "parted", target)


@a_gpu
@pytest.mark.parametrize("bad", [-1, 10, 1 << 40])
def test_an_index_out_of_range(texts: Path, bad: int, target: str) -> None:
    gather = built(texts / "together.qn", "gather", target)
    x, i, y = np.arange(10, dtype="f4"), np.arange(45) % 10, np.zeros(45, "f4")
    gather.run([x, i, y])
    np.testing.assert_array_equal(y, x[i])
    i[33] = bad
    gather.run([x, i, y])
    assert tuple(gather.errors[1:]) == (bad, 10)


@a_gpu
def test_lanes_leave_a_loop_one_by_one(texts: Path, target: str) -> None:
    def steps(n: int) -> int:
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    x, out = np.arange(1, 71), np.zeros(70, "i4")
    built(texts / "more.qn", "collatz", target).run([x, out])
    np.testing.assert_array_equal(out, [steps(int(n)) for n in x])


@a_gpu
def test_bounds_differ_between_lanes(texts: Path, target: str) -> None:
    rng = np.random.default_rng(6)
    first, last, x = rng.integers(0, 50, 70), rng.integers(0, 50, 70), rng.standard_normal(50)
    y = np.zeros(70)
    built(texts / "more.qn", "ragged", target).run([first, last, x, y])
    np.testing.assert_allclose(y, [x[a:b:2].sum() for a, b in zip(first, last, strict=True)])


@a_gpu
def test_own_arrays(texts: Path, target: str) -> None:
    x = normal(45, 8)
    y = np.zeros_like(x)
    built(texts / "more.qn", "own_arrays", target).run([x, y])
    np.testing.assert_array_equal(y, 2 * x[:, ::-1])


@a_gpu
@pytest.mark.parametrize("count", [1, 7, 50, 300])
def test_barriers_in_loops_and_branches(texts: Path, count: int, target: str) -> None:
    x, y = np.random.default_rng(8).integers(0, 9, count).astype("i4"), np.zeros(count, "i4")
    built(texts / "more.qn", "rounds", target).run([x, y])
    a, b = x.copy(), np.arange(count, dtype="i4")
    for k in range(3):
        s = a.copy()
        if k < 2:
            a, b = b, np.roll(s, -1)
        else:
            a = a + s[0]
    np.testing.assert_array_equal(y, a * 1000 + b)


@a_gpu
@pytest.mark.parametrize("count", [1, 37, 200])
def test_totals(texts: Path, count: int, target: str) -> None:
    x = np.random.default_rng(5).standard_normal(count)
    x[0] = -1
    y, size = np.zeros((4, count)), np.zeros(count, "i8")
    built(texts / "sums.qn", "totals", target).run([x, y, size])
    np.testing.assert_allclose(y[0], x.sum())
    np.testing.assert_array_equal(y[1], x[x < 0.5].max())
    for part in warps(target, count):
        np.testing.assert_allclose(y[2, part], x[part].sum())
    np.testing.assert_allclose(y[3], x - x.mean())


@a_gpu
@pytest.mark.parametrize("block", [(24, 4), (7, 5), (32, 3)])
def test_scans(texts: Path, block: tuple[int, int], target: str) -> None:
    x = np.random.default_rng(9).integers(-50, 50, block[::-1])
    y = np.zeros((5, *x.shape), np.int64)
    options = f"--constants=X={block[0]},Y={block[1]}"
    built(texts / "sums.qn", "scans", target, options).run([x, y])
    flat = x.reshape(-1)
    back = flat[::-1]
    np.testing.assert_array_equal(y[0].reshape(-1), flat.cumsum())
    np.testing.assert_array_equal(y[1].reshape(-1), flat.cumsum() - flat)
    np.testing.assert_array_equal(y[2].reshape(-1), np.maximum.accumulate(back)[::-1])
    np.testing.assert_array_equal(y[3].reshape(-1), back.cumsum()[::-1] - flat)
    for part in warps(target, len(flat)):
        np.testing.assert_array_equal(y[4].reshape(-1)[part], flat[part].cumsum())


DIVIDED = """
from reductions use sum, argmax

kernel places(x: i64[24, 4], y: mut i64[2, 24, 4]):
    launch grid(1) block(4, 24)
    let v = x[thread.y, thread.x]
    y[0, thread.y, thread.x] = argmax(v over block)
    y[1, thread.y, thread.x] = argmax(v over warp)

kernel some(x: i64[N], y: mut i64[5, N]):
    launch grid(1) block(N)
    let i = thread.x
    let v = x[i]
    if v % 3 != 0:
        y[0, i] = sum(v over warp)
        y[1, i] = scan(sum, v over warp)
        y[2, i] = shuffle_xor(v, 1)
        y[3, i] = i64(ballot(v > 0))
    var rounds = v % 5
    while rounds > 0:
        y[4, i] = sum(rounds over warp)
        rounds -= 1

kernel large[N: int](x: f32[N], y: mut f32[N]):
    launch grid(1) block(64)
    shared kept: f32[N]
    for i in range(thread.x, N, 64):
        kept[i] = x[i]
    barrier()
    for i in range(thread.x, N, 64):
        y[i] = kept[N - 1 - i]
"""


@a_gpu
def test_places_of_threads(tmp_path: Path, target: str) -> None:
    (tmp_path / "divided.qn").write_text(DIVIDED)
    x = np.random.default_rng(11).integers(-4, 4, (24, 4))
    y = np.zeros((2, 24, 4), np.int64)
    built(tmp_path / "divided.qn", "places", target).run([x, y])
    flat, (block, warp) = x.reshape(-1), y.reshape(2, -1)
    assert (block == flat.argmax()).all()
    for part in warps(target, len(flat)):
        assert (warp[part] == flat[part].argmax()).all()


@a_gpu
@pytest.mark.parametrize("count", [20, 64])
def test_what_a_part_of_a_warp_does_together(tmp_path: Path, count: int, target: str) -> None:
    (tmp_path / "divided.qn").write_text(DIVIDED)
    x = np.random.default_rng(10).integers(-20, 20, count)
    y = np.zeros((5, count), np.int64)
    built(tmp_path / "divided.qn", "some", target).run([x, y])
    for threads in warps(target, count):
        v, part = x[threads], y[:, threads]
        lane = np.arange(len(v))
        on = v % 3 != 0
        np.testing.assert_array_equal(part[0, on], v[on].sum())
        np.testing.assert_array_equal(part[1, on], v[on].cumsum())
        other = lane ^ 1
        there = (other < len(v)) & on[np.minimum(other, len(v) - 1)]
        taken = np.where(there, v[np.where(there, other, 0)], v)
        np.testing.assert_array_equal(part[2, on], taken[on])
        np.testing.assert_array_equal(part[3, on], ballot(on & (v > 0)))
        rounds, wanted = v % 5, np.zeros(len(v), np.int64)
        while (rounds > 0).any():
            wanted[rounds > 0] = rounds[rounds > 0].sum()
            rounds = rounds - (rounds > 0)
        np.testing.assert_array_equal(part[4], wanted)


@pytest.mark.parametrize("target", one_of("shared memory of launches", NVIDIA))
def test_shared_memory_that_a_launch_asks_for(tmp_path: Path, target: str) -> None:
    (tmp_path / "divided.qn").write_text(DIVIDED)
    x, y = normal(20000), np.zeros(20000, np.float32)
    large = built(tmp_path / "divided.qn", "large", target, "--constants=N=20000")
    assert large.abi["launches"][0]["geometry"]["shared_bytes"] == 80000
    large.run([x, y])
    np.testing.assert_array_equal(y, x[::-1])


@pytest.mark.parametrize("target", AMD)
def test_a_block_takes_too_much(tmp_path: Path, target: str) -> None:
    (tmp_path / "divided.qn").write_text(DIVIDED)
    with pytest.raises(RuntimeError, match=f"take 80000 bytes, {target} has 65536"):
        built(tmp_path / "divided.qn", "large", target, "--constants=N=20000")


def declarations() -> list[tuple[str, str]]:
    found = re.compile(r"^kernel (\w+)", re.MULTILINE)
    return [
        (path.stem, name)
        for path in sorted(KERNELS.glob("*.qn"))
        for name in found.findall(path.read_text())
    ]


def emit(family: str, name: str, target: str, stage: str, output: Path) -> None:
    words = [KERNELS / f"{family}.qn", name, f"--emit={stage}"]
    words += [f"--target={target}", f"--output={output}"]
    subprocess.run([PROGRAM, "build", *words], check=True)


def has_local_arrays(family: str, name: str) -> bool:
    """Whether each thread may index into memory of its own."""
    text = (KERNELS / f"{family}.qn").read_text()
    body = text[re.search(rf"^kernel {name}\b", text, re.MULTILINE).start() :]  # type: ignore[union-attr]
    return re.search(r"^    local ", body.split("\nkernel ")[0], re.MULTILINE) is not None


def most_bytes(report: str, what: str) -> int:
    return max(int(count) for count in re.findall(rf"(\d+) bytes {what}", report))


@pytest.mark.parametrize("target", NVIDIA)
@pytest.mark.parametrize(("family", "name"), declarations())
def test_ptxas_accepts(family: str, name: str, target: str, tmp_path: Path) -> None:
    emit(family, name, target, "ptx", tmp_path / "k.ptx")
    words = [f"-arch={target}", "-v", tmp_path / "k.ptx", "-o", tmp_path / "k.cubin"]
    done = subprocess.run([CUDA / "ptxas", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    frame, spilled = most_bytes(done.stderr, "stack frame"), most_bytes(done.stderr, "spill stores")
    few_registers = ".reqntid 32, 32, 1" in (tmp_path / "k.ptx").read_text()
    assert spilled <= (64 if few_registers else 0)
    assert frame <= spilled + 8 or has_local_arrays(family, name)


@pytest.mark.parametrize("target", AMD)
@pytest.mark.parametrize(("family", "name"), declarations())
def test_code_objects_link(family: str, name: str, target: str, tmp_path: Path) -> None:
    emit(family, name, target, "hsaco", tmp_path / "k.hsaco")
    words = ["llvm-readelf-22", "--notes", tmp_path / "k.hsaco"]
    notes = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert ".private_segment_fixed_size: 0" in notes
    assert f".wavefront_size: {warp(target)}" in notes
