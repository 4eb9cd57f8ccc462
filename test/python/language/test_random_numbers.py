"""`philox` against its definition in whole numbers and its authors' vectors."""

from __future__ import annotations

import numpy
import pytest
import quern
from philox_reference import reference

SOURCE = """
elementwise bits(seed: i64, offset: i64) -> (u32, u32, u32, u32):
    return philox(seed, offset)

elementwise counted(x: f32, seed: i64) -> f32:
    let a, _, _, _ = philox(seed, index())
    return x + uniform(a)

rowwise by_position(x: f32[R, C], seed: i64) -> f32[R, C]:
    let a, _, _, _ = philox(seed, index(R) * size(C) + index(C))
    return x + uniform(a)

kernel by_thread(out: mut f32[N], seed: i64):
    launch grid(ceildiv(N, 64)) block(64)
    let i = block.x * 64 + thread.x
    if i < N:
        let a, _, _, _ = philox(seed, i)
        out[i] = uniform(a)
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "random_numbers.qn")


def test_reference_meets_the_published_vector() -> None:
    assert reference(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def test_bits(k: quern.Module) -> None:
    random = numpy.random.default_rng(0)
    seeds, offsets = random.integers(-(2**63), 2**63 - 1, (2, 300), dtype=numpy.int64)
    seeds[0] = offsets[0] = 0
    got = numpy.stack(k.bits(seeds, offsets), axis=1)
    wanted = [reference(int(s), int(o)) for s, o in zip(seeds, offsets, strict=True)]
    assert (got == numpy.array(wanted, dtype=numpy.uint32)).all()


def test_every_kind_of_text_draws_the_same(k: quern.Module) -> None:
    seed, shape = 1 << 40 | 7, (13, 37)
    wanted = [reference(seed, i)[0] >> 8 for i in range(shape[0] * shape[1])]
    uniform = (numpy.array(wanted) * 2.0**-24).astype(numpy.float32).reshape(shape)
    zeros = numpy.zeros(shape, numpy.float32)
    assert (k.counted(zeros, seed) == uniform).all()
    assert (k.by_position(zeros, seed) == uniform).all()
    out = numpy.zeros(zeros.size, numpy.float32)
    k.by_thread(out, seed)
    assert (out == uniform.ravel()).all()
    assert 0 <= uniform.min() < 0.01
    assert 0.99 < uniform.max() < 1
