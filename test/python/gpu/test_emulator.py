"""The PTX emulator by itself: what it computes, and which mistakes it finds."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.ptx import Module, Words
from emulator.ptx_types import PtxError

HEAD = ".version 7.8\n.target sm_80\n.address_size 64\n"


def program(body: str, registers: str = "", shared: str = "") -> Module:
    declared = ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .b16 %h<4>;"
    return Module(
        f"{HEAD}{shared}\n.visible .entry k(.param .u64 a, .param .u32 n)\n{{ {declared}\n"
        f"{registers}"
        f"ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
        f"add.s64 %rd3, %rd1, %rd2;\n{body}\nret;\n}}"
    )


def run(module: Module, array: np.ndarray, threads: int = 32) -> np.ndarray:
    (out,) = module.launch("k", 1, threads, [array, np.uint32(len(array))])
    return out


def test_threads_write_their_numbers() -> None:
    out = run(program("st.global.u32 [%rd3], %r1;"), np.zeros(64, np.uint32), 64)
    np.testing.assert_array_equal(out, np.arange(64))


def test_branches_part_and_meet_again() -> None:
    body = """and.b32 %r2, %r1, 1; setp.eq.s32 %p1, %r2, 0; mov.u32 %r3, 5; @%p1 bra even;
        mov.u32 %r3, 7;
    even: add.s32 %r3, %r3, %r1; st.global.u32 [%rd3], %r3;"""
    out = run(program(body), np.zeros(32, np.uint32))
    np.testing.assert_array_equal(out, np.where(np.arange(32) % 2 == 0, 5, 7) + np.arange(32))


def test_a_shuffle_reads_another_lane() -> None:
    body = "shfl.sync.down.b32 %r2, %r1, 3, 31, -1; st.global.u32 [%rd3], %r2;"
    out = run(program(body), np.zeros(32, np.uint32))
    np.testing.assert_array_equal(out[:29], np.arange(3, 32))


@pytest.mark.parametrize("number", [0.1, 1e-8, 3e38, -2.5, float("inf")])
def test_bf16_is_rounded_to_nearest_even(number: float) -> None:
    body = """ld.global.f32 %f1, [%rd3]; cvt.rn.bf16.f32 %h1, %f1; mov.b32 %r2, {%h0, %h1};
        st.global.u32 [%rd3], %r2;"""
    module = program(f"mov.u16 %h0, 0; {body}", ".reg .f32 %f<2>;")
    out = run(module, np.full(32, number, np.float32))
    bits = np.float32(number).view(np.uint32)
    rounded = np.uint32(bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)
    assert (out.view(np.uint32) == (rounded if np.isfinite(number) else bits)).all()


def test_words_hold_addresses() -> None:
    text = (
        HEAD
        + """.visible .entry k(.param .align 8 .b8 p[16])
    { .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [p+8];
      st.global.u64 [%rd1], %rd2; ret; }"""
    )
    (out,) = Module(text).launch("k", 1, 1, [Words([np.zeros(1, np.uint64), -2])])
    assert out[0] == 2**64 - 2


def test_an_access_out_of_bounds() -> None:
    with pytest.raises(PtxError, match="out of bounds"):
        run(program("st.global.u32 [%rd3], %r1;"), np.zeros(31, np.uint32))


SWAP = """setp.ne.u32 %p1, %r1, 0; @%p1 bra out; add.s64 %rd4, %rd1, 4; ld.global.b32 %r2, [%rd4];
    {change} %r3, %r2, {by}; atom.global.cas.b32 %r4, [%rd4], %r2, %r3; out:"""


def test_memory_may_end_within_a_word_that_is_swapped() -> None:
    small = np.arange(3, dtype=np.uint16)
    out = run(program(SWAP.format(change="add.u32", by=5)), small)
    np.testing.assert_array_equal(out, [0, 1, 7])


def test_what_a_swapped_word_has_behind_memory_is_not_changed() -> None:
    with pytest.raises(PtxError, match="behind an array was changed"):
        run(program(SWAP.format(change="xor.b32", by=1 << 16)), np.zeros(3, np.uint16))


@pytest.mark.parametrize("first", [4, -4])
def test_a_word_beside_memory_is_not_swapped(first: int) -> None:
    body = f"add.s64 %rd4, %rd1, {first}; atom.global.cas.b32 %r4, [%rd4], 0, 1;"
    with pytest.raises(PtxError, match="out of bounds"):
        run(program(body), np.zeros(2, np.uint16))


def test_a_word_that_nobody_swaps_ends_in_memory() -> None:
    with pytest.raises(PtxError, match="out of bounds"):
        run(program("ld.global.b32 %r2, [%rd1+4];"), np.zeros(3, np.uint16))


def test_a_misaligned_access() -> None:
    body = "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd3];"
    with pytest.raises(PtxError, match="not aligned to 16"):
        run(program(body), np.zeros(64, np.uint32))


EXCHANGE = """mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.s32 %r4, %r2, %r3; st.shared.u32 [%r4], %r1;
    {barrier} xor.b32 %r5, %r3, 128; add.s32 %r6, %r2, %r5; ld.shared.u32 %r7, [%r6];
    st.global.u32 [%rd3], %r7;"""


def test_a_barrier_makes_shared_memory_safe() -> None:
    module = program(EXCHANGE.format(barrier="bar.sync 0;"), shared=".shared .align 4 .b8 s[256];")
    out = run(module, np.zeros(64, np.uint32), 64)
    np.testing.assert_array_equal(out, np.arange(64) ^ 32)


def test_a_missing_barrier_is_a_race() -> None:
    module = program(EXCHANGE.format(barrier=""), shared=".shared .align 4 .b8 s[256];")
    with pytest.raises(PtxError, match="race on shared"):
        run(module, np.zeros(64, np.uint32), 64)


def test_a_shuffle_from_an_absent_lane() -> None:
    body = """setp.lt.u32 %p1, %r1, 16; @!%p1 bra out;
        shfl.sync.idx.b32 %r2, %r1, 20, 31, 65535; out:"""
    with pytest.raises(PtxError, match="not here"):
        run(program(body), np.zeros(32, np.uint32))


@pytest.mark.parametrize(
    ("kind", "one", "two"), [("f16x2", 0x3C00, 0x4000), ("bf16x2", 0x3F80, 0x4000)]
)
@pytest.mark.parametrize(("how", "held"), [("lt", 1), ("nan", 2), ("geu", 2), ("ne", 1)])
def test_halves_are_compared(kind: str, one: int, two: int, how: str, held: int) -> None:
    """1 with 2 in the low half, a NaN with 2 in the high one."""
    body = f"""mov.b32 %r4, {0x7FFF0000 | one}; mov.b32 %r5, {two << 16 | two};
        setp.{how}.{kind} %p1|%p2, %r4, %r5; selp.u32 %r6, 1, 0, %p1; selp.u32 %r7, 2, 0, %p2;
        or.b32 %r6, %r6, %r7; st.global.u32 [%rd3], %r6;"""
    np.testing.assert_array_equal(run(program(body), np.zeros(32, np.uint32)), held)


def test_an_unknown_instruction() -> None:
    with pytest.raises(PtxError, match="not emulated"):
        run(program("frobnicate.u32 %r2, %r1;"), np.zeros(32, np.uint32))


def test_a_matrix_product() -> None:
    body = """mov.b32 %r8, 0x3f803f80; mov.f32 %f1, 0f40000000;
        mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f2, %f3, %f4, %f5},
          {%r8, %r8, %r8, %r8}, {%r8, %r8}, {%f1, %f1, %f1, %f1};
        st.global.f32 [%rd3], %f2;"""
    out = run(program(body, ".reg .f32 %f<6>;"), np.zeros(32, np.float32))
    np.testing.assert_array_equal(out, np.full(32, 18.0))


#: Every block leaves its number; all read what the next block of four has left.
LEAVE = "mov.u32 %r2, %ctaid.x; st.shared.u32 [s], %r2;"
READ = """add.s32 %r3, %r2, 1; and.b32 %r3, %r3, 3; mov.u64 %rd4, s;
    mapa.shared::cluster.u64 %rd5, %rd4, %r3; ld.shared::cluster.u32 %r4, [%rd5];"""
STORE = """shl.b32 %r5, %r2, 5; add.s32 %r5, %r5, %r1; mul.wide.u32 %rd6, %r5, 4;
    add.s64 %rd6, %rd1, %rd6; st.global.u32 [%rd6], %r4;"""
ARRIVE, WAIT = "barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"


def cluster(*body: str, blocks: int = 4) -> np.ndarray:
    text = (
        f"{HEAD}.shared .align 4 .b8 s[4];\n.visible .entry k(.param .u64 a)\n"
        ".explicitcluster\n.reqnctapercluster 4\n.maxntid 32\n"
        "{ .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;\n"
        f"ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x;\n{chr(10).join(body)}\nret;\n}}"
    )
    (out,) = Module(text).launch("k", blocks, 32, [np.zeros(32 * blocks, np.uint32)])
    return out.reshape(blocks, 32)


def test_blocks_of_a_cluster_read_each_other() -> None:
    body = (LEAVE, ARRIVE, WAIT, READ, ARRIVE, WAIT, STORE)
    for blocks in (4, 8):
        number = np.arange(blocks)
        wanted = number // 4 * 4 + (number + 1) % 4
        out = cluster(*body, blocks=blocks)
        np.testing.assert_array_equal(out, np.repeat(wanted, 32).reshape(blocks, 32))


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ((LEAVE, READ, STORE), "race on shared"),
        ((LEAVE, ARRIVE, WAIT, READ, LEAVE, ARRIVE, WAIT, STORE), "race on shared"),
        ((LEAVE, WAIT, READ, STORE), "deadlock"),
        ((LEAVE, ARRIVE, ARRIVE, WAIT, READ, STORE), "arrives again"),
        ((LEAVE, ARRIVE, WAIT, "mov.u32 %r2, 4;", READ.replace(", 3;", ", 7;")), "4 blocks"),
    ],
)
def test_mistakes_of_a_cluster(body: tuple[str, ...], what: str) -> None:
    with pytest.raises(PtxError, match=what):
        cluster(*body)


def test_a_block_that_has_ended_is_not_read() -> None:
    ends = "setp.eq.u32 %p1, %r2, 1; @%p1 exit;"
    waits = " ".join(["bar.sync 0;"] * 3)
    with pytest.raises(PtxError, match="has ended"):
        cluster(LEAVE, ARRIVE, WAIT, ends, waits, READ, ARRIVE, WAIT, STORE)


def test_a_grid_is_whole_clusters() -> None:
    with pytest.raises(PtxError, match="clusters of 4"):
        cluster(LEAVE, blocks=6)


def test_a_product_of_doubles() -> None:
    """Lane l has row l / 4 of A and column l / 4 of B, at depth l % 4, and two neighbours of C."""
    body = """shl.b32 %r2, %r1, 5; cvt.u64.u32 %rd4, %r2; add.s64 %rd4, %rd1, %rd4;
        ld.global.v2.f64 {%fd1, %fd2}, [%rd4]; ld.global.v2.f64 {%fd3, %fd4}, [%rd4+16];
        mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd5, %fd6}, {%fd1}, {%fd2}, {%fd3, %fd4};
        st.global.v2.f64 [%rd4], {%fd5, %fd6};"""
    rng = np.random.default_rng(4)
    a, b, c = (rng.standard_normal(s) for s in ((8, 4), (4, 8), (8, 8)))
    lanes = np.zeros((32, 4))
    for lane in range(32):
        row, step = divmod(lane, 4)
        lanes[lane] = a[row, step], b[step, row], c[row, 2 * step], c[row, 2 * step + 1]
    out = run(program(body, ".reg .f64 %fd<8>;"), lanes.reshape(-1)).reshape(32, 4)
    np.testing.assert_allclose(out[:, :2].reshape(8, 8), a @ b + c, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("instruction", "numbers", "wanted"),
    [
        ("ex2.approx.ftz.f32 %f2, %f1", [0, -1.5, 10, -126, -127, -np.inf, np.inf, 200],
         [1, 2**-1.5, 1024, 2.0**-126, 0, 0, np.inf, np.inf]),
        ("lg2.approx.ftz.f32 %f2, %f1", [1, 8, 0.75, 0, 1e-40, np.inf, -1],
         [0, 3, np.log2(0.75), -np.inf, -np.inf, np.inf, np.nan]),
        ("rcp.approx.ftz.f32 %f2, %f1", [1, 3, -0.0, np.inf, 1e-40, 3e38, np.nan],
         [1, 1 / 3, -np.inf, 0, np.inf, 0, np.nan]),
        ("div.full.f32 %f2, %f1, 0f40400000", [1, 3, 1e-40, np.inf, np.nan],
         [1 / 3, 1, 1e-40 / 3, np.inf, np.nan]),
        ("sqrt.approx.f32 %f2, %f1", [4, 2, 0, -1], [2, 2**0.5, 0, np.nan]),
        ("rsqrt.approx.f32 %f2, %f1", [4, 2, 0, np.inf], [0.5, 2**-0.5, np.inf, 0]),
    ],
)  # fmt: skip
def test_estimates_are_within_what_the_manual_says(
    instruction: str, numbers: list[float], wanted: list[float]
) -> None:
    """Here they are rounded once; what is below the normal range is zero under `ftz`."""
    body = f"ld.global.f32 %f1, [%rd3]; {instruction}; st.global.f32 [%rd3], %f2;"
    given = np.zeros(32, np.float32)
    given[: len(numbers)] = numbers
    out = run(program(body, ".reg .f32 %f<4>;\n"), given)
    np.testing.assert_allclose(out[: len(wanted)], np.float32(wanted), rtol=2**-22)
