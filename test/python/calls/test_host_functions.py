"""A `fn` that an `op` calls on numbers of the host is what it is elsewhere."""

from __future__ import annotations

import pytest
import quern
import torch

SOURCE = """
fn factor(n: i64) -> i64:
    var rest = n
    var best = i64(1)
    var next = i64(2)
    while next * next <= rest bound 1000:
        while rest % next == 0 bound 64:
            rest //= next
            best = next
        next += 1
    return max(best, rest)

fn power(base: i64, n: i64) -> i64:
    var result = i64(1)
    for _ in range(n):
        result *= base
    return result

fn parts(n: i64) -> (i64, i64):
    let low = n // 2
    return low, n - low

fn swapped(n: i64) -> (i64, i64):
    let a, b = parts(n)
    return b, a

fn hash(n: u32) -> u32:
    var h = n * 2654435761
    h ^= h >> 15
    return h

fn third[T: Float](x: T) -> T:
    return x / 3

fn twice[F: fn(i64) -> i64](n: i64) -> i64:
    return F(F(n))

fn bits(x: f32) -> u32:
    return bitcast[u32](x)

fn endless(n: i64) -> i64:
    var i = n
    for _ in range(1 << 60):
        i ^= 1
    return i

elementwise plus[T: Number](x: T, y: T) -> T:
    return x + y

op largest_factor(x: i64[N]) -> i64[N]:
    return plus(x, factor(size(N)))

op cube(x: i64[N], n: i64) -> i64[N]:
    return plus(x, power(size(N), n))

op halves(x: i64[N]) -> (i64[A], i64[B]):
    let a, b = swapped(size(N))
    return x.slice(0, 0, a), x.slice(0, a, a + b)

op hashed(x: u32[N], n: u32) -> u32[N]:
    return plus(x, hash(n))

op product(x: u32[N], n: u32) -> u32[N]:
    return plus(x, n * 2654435761)

op divided[T: Float](x: T[N], y: T) -> T[N]:
    return plus(x, third(y))

op factors_of_factors(x: i64[N]) -> i64[N]:
    return plus(x, twice[factor](size(N)))

op word(x: u32[N], y: f32) -> u32[N]:
    return plus(x, bits(y))

op never(x: i64[N]) -> i64[N]:
    return plus(x, endless(size(N)))

op counted(x: i32[N], n: i32) -> i32[N]:
    return plus(x, n + 1)

op guarded(x: i64[N], n: i64) -> i64[N]:
    if n != 0 and 12 // n > 3:
        return plus(x, 1)
    return plus(x, 0)

rowwise shorter(x: f32[N]) -> f32[P = factor(size(N))]:
    return x.at(N = index(P))

op asked(x: f32[N], w: f32[N]?) -> f32[N]:
    let (low, high) = parts(7 if target.is_gpu else 5)
    let more = 100 * target.warp_size + (1000 if present(w) else 0)
    return full(f32, (N,), f32(low + 10 * high + more))
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "host.qn")


def zeros(n: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.zeros(n, dtype=dtype)


@pytest.mark.parametrize(("n", "factor"), [(1, 1), (12, 3), (97, 97), (90, 5)])
def test_loops(k: quern.Module, n: int, factor: int) -> None:
    assert k.largest_factor(zeros(n))[0] == factor
    assert k.factors_of_factors(zeros(n))[0] == factor
    assert k.shorter(torch.rand(n)).shape == (factor,)


def test_integers_of_the_host_do_not_wrap(k: quern.Module) -> None:
    assert k.cube(zeros(7), 3)[0] == 343
    with pytest.raises(quern.Error, match=r"QN2071.*overflows"):
        k.cube(zeros(7), 30)


def test_several_results(k: quern.Module) -> None:
    x = torch.arange(5)
    first, second = k.halves(x)
    assert first.tolist() == [0, 1, 2]
    assert second.tolist() == [3, 4]


def test_words_wrap(k: quern.Module) -> None:
    h = 12345 * 2654435761 % 2**32
    assert k.product(zeros(1, torch.uint32), 12345).tolist() == [h]
    assert k.hashed(zeros(1, torch.uint32), 12345).tolist() == [h ^ (h >> 15)]
    assert k.word(zeros(1, torch.uint32), 1.0).tolist() == [0x3F800000]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_floats_have_their_type(k: quern.Module, dtype: torch.dtype) -> None:
    y = torch.tensor(0.7, dtype=dtype)
    assert torch.equal(k.divided(zeros(2, dtype), 0.7), (y / 3).expand(2))


def test_one_that_does_not_end_is_an_error(k: quern.Module) -> None:
    with pytest.raises(quern.Error, match=r"QN2071.*too many steps"):
        k.never(zeros(3))


@pytest.mark.parametrize("number", [1 << 40, -(1 << 31) - 1, 0.5])
def test_a_number_that_is_none_of_its_type(k: quern.Module, number: float) -> None:
    assert k.counted(zeros(1, torch.int32), 7).tolist() == [8]
    with pytest.raises(quern.Error, match=r"QN2006.*`n` takes"):
        k.counted(zeros(1, torch.int32), number)


def test_a_side_that_decides(k: quern.Module) -> None:
    assert [k.guarded(zeros(1), n)[0] for n in (0, 2, 6)] == [0, 1, 0]


def test_what_is_asked_of_the_target_is_a_number(k: quern.Module) -> None:
    assert k.asked(zeros(1, torch.float32), None).tolist() == [132]
    assert k.asked(*zeros(2, torch.float32).split(1)).tolist() == [1132]
