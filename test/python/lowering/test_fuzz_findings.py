"""What random programs found, as small kernels against PyTorch and NumPy."""

from __future__ import annotations

import _quern
import numpy as np
import pytest
import quern
import torch

SOURCE = """
rowwise sorted_values(keys: f32[B, A], x: f32[C, B, A]) -> f32[B, A]:
    let (_, values) = sort_by(keys, max(x over (B, C)) over A, stable)
    return values

rowwise key_of_two_axes(x: f32[B, A]) -> i64[B, A]:
    let (_, places) = sort_by(max(x over A) - x, index(B) over B, stable)
    return places

rowwise scan_under_another_axis(x: f32[B, A]) -> f32[A]:
    return max(scan(sum, x over A) over B)

rowwise scan_with_local_axis(x: i64[A]) -> i64[A]:
    return sum(scan(sum, x * j over A, reverse) over j: 0 .. 3)

rowwise nested_scans(x: i64[B, A]) -> i64[B, A]:
    let y = scan(sum, x over B)
    return scan(max, y.at(B = size(B) - 1 - index(B)) over A)

rowwise constant_over_a_local_axis(x: i16[A]) -> i16[A]:
    let v = mulhi(x, 0)
    return max(v.at(A = index(A) + j, outside = 0) over j: 0 .. 3)

rowwise scatter_or_not(x: i64[A], i: i64[K], y: i64[K]) -> i64[A]:
    let all = scatter(x, at = (A = i), y, with = max)
    return max(all over A) if x > 0 else all

rowwise reduced_in_an_arm(x: i64[C, A]) -> i64[C, A]:
    let v = x + sum(x over C)
    return sum(v.at(C = max(min(v, size(C) - 1), 0)) over A) if v != 0 else v

rowwise read_in_an_arm(x: i64[C, A]) -> i64[C, A]:
    let v = x + sum(x over C)
    return v.at(A = index(A) + 1, outside = 0) if x != 1 else v

rowwise read_where_a_scatter_says(x: i64[A], i: i64[K], y: i64[K]) -> i64[A]:
    let places = scatter(x, at = (A = i), y, with = last)
    return y.at(K = places, outside = -1)

rowwise shares[T: Float](x: T[A], y: i64[A]) -> T[A]:
    return T(y) + x - x
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "findings.qn")


def test_a_reduction_does_not_capture_the_place_it_is_read_at(k: quern.Module) -> None:
    keys, x = torch.randn(4, 16), torch.randn(7, 4, 16)
    order = keys.argsort(dim=-1, stable=True)
    torch.testing.assert_close(k.sorted_values(keys, x), x.amax((0, 1))[order])


def test_keys_reduced_along_another_axis(k: quern.Module) -> None:
    x = torch.randn(9, 5)
    wanted = (x.amax(1, keepdim=True) - x).argsort(dim=0, stable=True)
    torch.testing.assert_close(k.key_of_two_axes(x), wanted)


def test_a_scan_feeds_a_reduction_over_another_axis(k: quern.Module) -> None:
    x = torch.randint(-9, 9, (5, 33)).float()
    torch.testing.assert_close(k.scan_under_another_axis(x), x.cumsum(1).amax(0))


def test_a_scan_of_values_along_a_local_axis(k: quern.Module) -> None:
    x = torch.randint(-9, 9, (20,))
    torch.testing.assert_close(k.scan_with_local_axis(x), 3 * x.flip(0).cumsum(0).flip(0))


def test_a_scan_read_at_other_places_of_its_axis(k: quern.Module) -> None:
    x = torch.randint(-9, 9, (6, 7))
    wanted = x.cumsum(0).flip(0).cummax(1).values
    torch.testing.assert_close(k.nested_scans(x), wanted)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", ""])
def test_integers_reach_small_floats_through_f32(target: str, dtype: torch.dtype) -> None:
    module = _quern.Session(threads=1, cache="-", target=target).compile(SOURCE, "findings.qn")
    y = torch.tensor([2049, 4099, 16777217, (1 << 24) + 65537, 257, 385])
    x = torch.zeros(6, dtype=dtype)
    torch.testing.assert_close(module.shares(x, y), y.to(torch.float32).to(dtype))


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", ""])
def test_one_small_float_for_all_elements(target: str) -> None:
    text = "elementwise k[T: Float](x: T) -> T:\n    return exp2(x)\n"
    module = _quern.Session(threads=1, cache="-", target=target).compile(text, "one.qn")
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.tensor([1.5], dtype=dtype).expand(40)
        torch.testing.assert_close(module.k(x), torch.exp2(x))


def test_a_remainder_of_zero_has_the_sign_of_the_divisor_when_folded() -> None:
    text = "elementwise k(x: f32) -> f32:\n    return x + f32(6) % f32(-3)\n"
    got = quern.compile(text, "folded.qn").k(torch.tensor([-0.0]))
    assert np.signbit(got.numpy())[0] == np.signbit(6.0 % -3.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_float_of_16_bits_stored_as_one_of_8(dtype: torch.dtype) -> None:
    text = "elementwise k[T: Float](x: T) -> f8e5m2:\n    return f8e5m2(x)\n"
    x = torch.tensor([1.0, -1.25, 3.3, 1e-3, 0.0], dtype=dtype)
    got = quern.compile(text, "narrow.qn").k(x)
    assert torch.equal(got.view(torch.uint8), x.to(torch.float8_e5m2).view(torch.uint8))


def test_a_local_axis_that_nothing_depends_on(k: quern.Module) -> None:
    x = torch.arange(5, dtype=torch.int16)
    assert torch.equal(k.constant_over_a_local_axis(x), torch.zeros_like(x))


def test_a_scatter_in_an_arm(k: quern.Module) -> None:
    x, i, y = torch.tensor([3, -1, 0, 7]), torch.tensor([1, 2, 1]), torch.tensor([9, -5, 4])
    after = x.scatter_reduce(0, i, y, "amax")
    assert torch.equal(k.scatter_or_not(x, i, y), torch.where(x > 0, after.max(), after))


@pytest.mark.parametrize("seed", range(8))
def test_the_condition_of_an_arm_does_not_mask_a_reduction(k: quern.Module, seed: int) -> None:
    x = torch.randint(-2, 3, (3, 5), generator=torch.Generator().manual_seed(seed))
    v = x + x.sum(0)
    taken = v[v.clamp(0, 2), torch.arange(5)].sum(1, keepdim=True)
    assert torch.equal(k.reduced_in_an_arm(x), torch.where(v != 0, taken, v))


@pytest.mark.parametrize("seed", range(8))
def test_a_read_of_an_arm_is_not_shared_with_a_reduction(k: quern.Module, seed: int) -> None:
    x = torch.randint(-2, 3, (3, 5), generator=torch.Generator().manual_seed(seed))
    v = x + x.sum(0)
    moved = torch.nn.functional.pad(v[:, 1:], (0, 1))
    assert torch.equal(k.read_in_an_arm(x), torch.where(x != 1, moved, v))


def test_a_position_from_a_scatter(k: quern.Module) -> None:
    x, i, y = torch.tensor([3, 1, 0, 7]), torch.tensor([1, 2, 1]), torch.tensor([9, 2, 0])
    places = torch.tensor([3, 0, 2, 7])
    wanted = [int(y[p]) if p < 3 else -1 for p in places]
    assert k.read_where_a_scatter_says(x, i, y).tolist() == wanted


def test_complex_operands_inside_an_arm() -> None:
    text = """
rowwise k(x: f32[A], z: c64[B]) -> c64[B, A]:
    return (z / z) if (x < max(x over A)) else z
"""
    x, z = torch.arange(5.0), torch.tensor([1 + 2j, -3j, 0.5 + 0j])
    wanted = torch.where(x < 4, (z / z)[:, None], z[:, None])
    torch.testing.assert_close(quern.compile(text).k(x, z), wanted)


def test_a_complex_number_by_a_negative_zero() -> None:
    text = """
elementwise k(x: f32, y: f32) -> c64:
    return complex(x, y) / complex(-x, -x)
"""
    x, y = torch.tensor([0.0, 0.0, 2.0]), torch.tensor([1.0, -3.0, 1.0])
    wanted = torch.complex(x, y) / torch.complex(-x, -x)
    assert str(quern.compile(text).k(x, y)) == str(wanted)


def test_a_scatter_that_an_arm_takes() -> None:
    text = """
elementwise larger[T: Real](x: T, y: T) -> T:
    var top = y
    if x > y:
        top = x
    return top

rowwise k(x: f32[A], i: i64[M], y: f32[M]) -> f32[A]:
    let s = scatter(x, at = (A = i), y, with = sum)
    var v = s
    if x > 1:
        v = scatter(x * 2, at = (A = i), y, with = max)
    return larger(s, v)
"""
    x, i, y = torch.tensor([0.5, 2.0, 3.0]), torch.tensor([0, 2, 2]), torch.tensor([1.0, 9.0, 4.0])
    total = x.index_add(0, i, y)
    most = (2 * x).index_reduce(0, i, y, "amax")
    wanted = torch.maximum(total, torch.where(x > 1, most, total))
    assert torch.equal(quern.compile(text).k(x, i, y), wanted)


def test_a_scatter_into_fewer_axes_than_the_result() -> None:
    text = """
rowwise k(x: f32[B, C], i: i64[M], y: f32[M]) -> f32[B, C]:
    return expand(scatter(f32(index(C)), at = (C = i), y, with = sum) over B)
"""
    x, i, y = torch.zeros(3, 5), torch.tensor([1, 4, 1]), torch.tensor([2.0, 3.0, 4.0])
    wanted = torch.arange(5.0).index_add(0, i, y).expand(3, 5)
    assert torch.equal(quern.compile(text).k(x, i, y), wanted)


def test_a_scatter_under_a_sort_is_checked() -> None:
    text = """
rowwise k(keys: f32[A], i: i64[M], y: f32[M]) -> f32[A]:
    let s = scatter(keys, at = (A = i), y, with = last)
    let (_, v) = sort_by(keys, s + 1 over A, stable)
    return v
"""
    keys, y = torch.tensor([3.0, 1.0, 2.0]), torch.tensor([7.0])
    k = quern.compile(text).k
    assert k(keys, torch.tensor([0]), y).tolist() == [2.0, 3.0, 8.0]
    with pytest.raises(quern.Error, match="QN2050"):
        k(keys, torch.tensor([3]), y)


@pytest.mark.parametrize("length", [17, 40000])
def test_a_reduction_of_a_scan_is_not_cut(length: int) -> None:
    text = """
rowwise over_both(p: i64[M], x: i64[A]) -> i64[]:
    return max(scan(sum, p + x over A, exclusive) over (A, M))

rowwise along(x: i64[A]) -> i64[]:
    return max(scan(sum, x over A) over A)
"""
    k = quern.compile(text)
    p, x = torch.tensor([0, 5, 2]), torch.ones(length, dtype=torch.int64)
    assert k.over_both(p, x).item() == 6 * (length - 1)
    assert k.along(x).item() == length


def test_a_scatter_along_an_axis_that_repeats() -> None:
    text = """
rowwise k(i: i64[M], x: i64[M], o: i64[A]) -> (i64[A], i64[A]):
    return scatter(o, at = (A = i), x, with = prod), scatter(o, at = (A = i), x, with = sum)
"""
    i, x = torch.tensor([3]).expand(4), torch.tensor([2]).expand(4)
    product, total = quern.compile(text).k(i, x, torch.ones(5, dtype=torch.int64))
    assert product.tolist() == [1, 1, 1, 16, 1]
    assert total.tolist() == [1, 1, 1, 9, 1]


def test_a_scatter_of_small_floats_that_is_used_is_not_rounded() -> None:
    text = """
rowwise k(x: f16[A], i: i64[M], y: f16[M]) -> f16[A]:
    return scatter(x * x, at = (A = i), y, with = last) / x
"""
    x, i = torch.full((3,), 300.0, dtype=torch.float16), torch.tensor([1])
    got = quern.compile(text).k(x, i, torch.tensor([600.0], dtype=torch.float16))
    assert got.tolist() == [300.0, 2.0, 300.0]


def test_a_constant_whose_steps_run_out() -> None:
    text = """
fn slow(x: f32) -> f32:
    var t = x
    for i in range(2000000):
        t = t // f32(3)
    return t

const C: f32 = slow(1.0)
"""
    with pytest.raises(quern.Error, match="QN1113"):
        quern.compile(text)


def test_a_reduction_within_a_scan_under_a_local_axis() -> None:
    text = """
rowwise k(p: i64[A]) -> i64[A]:
    return max(scan(max, min(j * p + index(A) over A) + index(A) * (2 - j) * p over A, reverse) + j
        over j: 0 .. 3)
"""
    p = torch.randint(-9, 9, (23,))
    at = torch.arange(23)
    rounds = [
        ((j * p + at).min() + at * (2 - j) * p).flip(0).cummax(0).values.flip(0) + j
        for j in range(3)
    ]
    assert torch.equal(quern.compile(text).k(p), torch.stack(rounds).amax(0))


@pytest.mark.parametrize("descending", [False, True])
def test_a_sort_by_keys_along_a_local_axis(descending: bool) -> None:
    text = f"""
rowwise k(x: f32[A], w: f32[K]) -> f32[A]:
    return sum(sort_by(x * w[j] over A, {"descending" if descending else "stable"}) * f32(j + 1)
        over j: 0 .. 3)
"""
    x, w = torch.randn(19).round(), torch.tensor([1.0, -1.0, 0.5])
    rounds = [torch.sort(x * w[j], descending=descending).values * (j + 1) for j in range(3)]
    assert torch.equal(quern.compile(text).k(x, w), rounds[0] + rounds[1] + rounds[2])


BAD_PLACES = """
rowwise sorted_read(x: f32[B], i: i64[A]) -> f32[A]:
    return sort_by(x[i] over A, stable)

rowwise moved_with_an_order(k: f32[A], x: f32[B], i: i64[A]) -> f32[A]:
    let _, v = sort_by(k, x[i] over A, stable)
    return v

rowwise read_of_a_scan(x: f32[B], i: i64[A]) -> f32[A]:
    let v = scan(sum, x over B)
    return v.at(B = i)

rowwise read_of_a_variable(x: f32[B], i: i64[A]) -> f32[A]:
    var v = x - max(x over B)
    v = v * 2
    return v.at(B = i)
"""


@pytest.mark.parametrize(
    "name", ["sorted_read", "moved_with_an_order", "read_of_a_scan", "read_of_a_variable"]
)
def test_bad_places_of_stored_and_sorted_values_are_reported(name: str) -> None:
    k, x, keys = quern.compile(BAD_PLACES), torch.randn(5), torch.randn(4)
    operands = (keys, x) if name == "moved_with_an_order" else (x,)
    getattr(k, name)(*operands, torch.tensor([0, 4, 2, 1]))
    for bad in (-1, 5, 1 << 40):
        with pytest.raises(quern.Error, match="QN2050"):
            getattr(k, name)(*operands, torch.tensor([0, 4, bad, 1]))


def test_a_value_that_is_used_twice_again_and_again_compiles() -> None:
    text = """
rowwise k(x: f64[R, C]) -> f32[R, C]:
    let m = max(x over C)
    var v = x - m
    for i in range(64):
        v = v * 0.5 + v / 4
    return f32(v)
"""
    x = torch.randn(3, 9, dtype=torch.float64)
    v = x - x.amax(1, keepdim=True)
    for _ in range(64):
        v = v * 0.5 + v / 4
    assert torch.equal(quern.compile(text).k(x), v.float())


@pytest.mark.parametrize("taken", [False, True])
@pytest.mark.parametrize("name", ["for_all", "for_some", "in_a_statement"])
def test_a_bad_place_in_an_arm_is_an_error_where_somebody_takes_it(name: str, taken: bool) -> None:
    text = """
rowwise for_all(x: i64[A], z: i64[A], i: i64[K], y: i64[K], c: bool) -> i64[A]:
    return scatter(z, at = (A = i), y, with = sum) if c else x

rowwise for_some(x: i64[A], z: i64[A], i: i64[K], y: i64[K], _c: bool) -> i64[A]:
    return scatter(z, at = (A = i), y, with = sum) if x > 0 else x

rowwise in_a_statement(x: i64[A], z: i64[A], i: i64[K], y: i64[K], _c: bool) -> i64[A]:
    var v = x
    if max(x over A) > 0:
        v = scatter(z, at = (A = i), y, with = sum)
    return v
"""
    x = torch.tensor([-1, 3 if taken else -3, -1, -1])
    z, y, i = torch.zeros(4, dtype=torch.int64), torch.tensor([5, 2, 3]), torch.tensor([0, 1, 1])
    k = getattr(quern.compile(text), name)
    wanted = [5, 5, 0, 0] if name != "for_some" else [-1, 5, -1, -1]
    assert k(x, z, i, y, taken).tolist() == (wanted if taken else x.tolist())
    i[0] = 4
    if not taken:
        assert k(x, z, i, y, taken).tolist() == x.tolist()
        return
    with pytest.raises(quern.Error, match="QN2050"):
        k(x, z, i, y, taken)


def test_the_first_largest_of_a_scan_that_goes_backwards() -> None:
    text = """
rowwise first(x: f32[R, C]) -> i64[R]:
    return argmax(scan(max, x over C, reverse) over C)

rowwise beside(x: f32[R, C]) -> (f32[R], i64[R]):
    return sum(scan(max, x over C, reverse) over C), argmin(x over C)
"""
    x = torch.randint(0, 4, (5, 70)).float()
    back = x.flip(1).cummax(1).values.flip(1)
    k = quern.compile(text)
    assert torch.equal(k.first(x), back.argmax(1))
    total, place = k.beside(x)
    assert torch.equal(total, back.sum(1))
    assert torch.equal(place, x.argmin(1))
