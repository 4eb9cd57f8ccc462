"""Sentences of the language's definition as kernels a user would write, against PyTorch."""

from __future__ import annotations

import pytest
import quern
import torch
from torch.nn import functional

torch.manual_seed(0)

SOURCE = """
reduction first_max:
    state: (best: f32 = -inf, at: i64 = 0)
    step(s, x: f32, i: index):
        if x > s.best:
            return (x, i)
        return s
    merge(a, b):
        if b.best > a.best:
            return b
        return a
    finish(s): s.at

rowwise softmax_rows[T: Float](x: T[*R, C]) -> T[*R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)

rowwise affine[T: Float](x: T[*R, C], w: T[C]?, b: T[C]?) -> T[*R, C]:
    return x * w + b

rowwise affine_wide[T: Float, U: Float](x: T[*R, C], w: U[C]?, b: U[C]?) -> T[*R, C]:
    return T(f64(x) * f64(w) + f64(b))

rowwise counted(into: mut f32[N], i: i64[M]):
    into = scatter(into, at = (N = i), f32(1), with = sum, when = i < size(N))

rowwise filled[U: Number](size: int[*S], value: U) -> U[*P = size]:
    return value

fn half_of[T: Number](n: int) -> int:
    if const is_int(T):
        return int(trunc(f64(n) / 2))
    else:
        return n

rowwise halved[T: Number](x: T[N]) -> T[M = half_of[T](N)]:
    return x.at(N = index(M))

rowwise transposed[T: Any](x: T[M, N]) -> T[N, M]:
    return x

rowwise product[T: Float](a: T[M, K], b: T[K, N]) -> T[M, N]:
    return sum(a * b over K)

rowwise pooled[T: Float](x: T[*B, H, W], kh: int, kw: int, sh: int, sw: int, ph: int, pw: int)
        -> T[*B, P = (H + 2 * ph - kh) // sh + 1, Q = (W + 2 * pw - kw) // sw + 1]:
    let y = sum(x.at(H = index(P) * sh - ph + i, W = index(Q) * sw - pw + j, outside = 0)
                over (i: 0 .. kh, j: 0 .. kw))
    return y / T(kh * kw)

rowwise running[T: Number](x: T[*R, C]) -> T[*R, C]:
    return T(scan(sum, x over C))

rowwise place(x: f32[R, C]) -> i64[R]:
    return first_max(x over C)

rowwise rows_of[T: Any](table: T[V, D], i: i64[N]) -> T[N, D]:
    return table[i, index(D)]

rowwise added(into: f32[N, D], i: i64[M], x: f32[M, D]) -> f32[N, D]:
    return scatter(into, at = (N = i), x, with = sum)

rowwise joined(a: f32[R, A], b: f32[R, B]) -> f32[R, C = A + B]:
    return concat(a, b over (A, B))

rowwise causal(x: f32[N, M]) -> f32[N]:
    return sum(x over M where index(M) <= index(N))

rowwise ragged(x: f32[N], begin: i64[B], end: i64[B]) -> f32[B]:
    return sum(x[i] over i: begin .. end)

rowwise grouped(x: f32[N, (G C)], w: f32[G]) -> f32[N, G, C]:
    return x * w

rowwise shifted(x: f32[R, C]) -> f32[R, C]:
    let y = x * x
    return y.at(C = index(C) - 1, outside = 7)

elementwise accumulate(y: mut f32, x: f32):
    y = y + 2 * x

fn steps(start: i64) -> i64:
    var n = start
    var count = i64(0)
    while n > 1 bound 1000:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count = count + 1
    return count

elementwise collatz(x: i64) -> i64:
    return steps(x)

const TABLE: f32[4] = [1, 10, 100, 1000]

elementwise looked_up(x: i64) -> f32:
    return TABLE[x]

elementwise chosen[MODE: {"half", "double"}](x: f32) -> f32:
    if const MODE == "half":
        return x / 2
    else:
        return x * 2
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "language.qn")


def close(got: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_softmax(k: quern.Module, dtype: torch.dtype) -> None:
    x = torch.randn(3, 5, 70).to(dtype)
    close(k.softmax_rows(x), torch.softmax(x, -1))


def test_absent_operands_are_skipped(k: quern.Module) -> None:
    x, w, b = torch.randn(4, 9), torch.randn(9), torch.randn(9)
    close(k.affine(x, w, b), x * w + b)
    close(k.affine(x, None, b), x + b)
    close(k.affine(x, w, None), x * w)
    close(k.affine(x, None, None), x)


def test_a_permutation_is_a_signature(k: quern.Module) -> None:
    x = torch.randn(33, 17)
    close(k.transposed(x), x.t())


def test_contraction(k: quern.Module) -> None:
    a, b = torch.randn(37, 65), torch.randn(65, 43)
    close(k.product(a, b), a @ b)


def test_window(k: quern.Module) -> None:
    x = torch.randn(2, 3, 13, 17)
    close(k.pooled(x, 3, 2, 2, 1, 1, 1), functional.avg_pool2d(x, (3, 2), (2, 1), (1, 1)))


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64])
def test_scan(k: quern.Module, dtype: torch.dtype) -> None:
    x = torch.randint(-9, 9, (4, 37)).to(dtype)
    close(k.running(x), torch.cumsum(x, -1))


def test_position_in_a_reduction(k: quern.Module) -> None:
    x = torch.randn(6, 101)
    close(k.place(x), x.argmax(-1))


def test_gather_and_its_check(k: quern.Module) -> None:
    table, i = torch.randn(10, 7), torch.tensor([3, 0, 9, 3])
    close(k.rows_of(table, i), table[i])
    with pytest.raises(quern.Error, match="10"):
        k.rows_of(table, torch.tensor([1, 10]))


def test_scatter(k: quern.Module) -> None:
    into, i, x = torch.randn(5, 4), torch.tensor([1, 4, 1]), torch.randn(3, 4)
    close(k.added(into, i, x), into.index_add(0, i, x))


def test_concat(k: quern.Module) -> None:
    a, b = torch.randn(3, 5), torch.randn(3, 8)
    close(k.joined(a, b), torch.cat([a, b], 1))


def test_condition_of_a_reduction(k: quern.Module) -> None:
    x = torch.randn(9, 9)
    close(k.causal(x), x.tril().sum(-1))


def test_local_axis_with_bounds_from_operands(k: quern.Module) -> None:
    x, begin, end = torch.randn(20), torch.tensor([0, 5, 5]), torch.tensor([5, 5, 20])
    wanted = torch.stack([x[a:b].sum() for a, b in zip(begin, end, strict=True)])
    close(k.ragged(x, begin, end), wanted)


def test_split_axis(k: quern.Module) -> None:
    x, w = torch.randn(4, 12), torch.randn(3)
    close(k.grouped(x, w), x.view(4, 3, 4) * w[:, None])


def test_position_of_a_computed_value(k: quern.Module) -> None:
    x = torch.randn(3, 8)
    close(k.shifted(x), functional.pad((x * x)[:, :-1], (1, 0), value=7.0))


def test_mutation(k: quern.Module) -> None:
    y, x = torch.randn(50), torch.randn(50)
    wanted = y + 2 * x
    k.accumulate(y, x)
    close(y, wanted)


def test_loop_masked_per_lane(k: quern.Module) -> None:
    def collatz(n: int) -> int:
        count = 0
        while n > 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    x = torch.arange(1, 40)
    close(k.collatz(x), torch.tensor([collatz(int(n)) for n in x]))


def test_table(k: quern.Module) -> None:
    x = torch.tensor([3, 0, 1, 2, 2])
    close(k.looked_up(x), 10.0**x)


def test_compile_time_choice(k: quern.Module) -> None:
    x = torch.randn(7)
    close(k.chosen(x, MODE="half"), x / 2)
    close(k.chosen(x, MODE="double"), x * 2)


def test_casts_of_what_is_absent(k: quern.Module) -> None:
    x, w = torch.randn(3, 5), torch.randn(5, dtype=torch.bfloat16)
    torch.testing.assert_close(k.affine_wide(x, w, None), (x.double() * w.double()).float())
    torch.testing.assert_close(k.affine_wide(x, None, w), (x.double() + w.double()).float())
    torch.testing.assert_close(k.affine_wide(x, None, None, U="f16"), x)


@pytest.mark.parametrize("shape", [(), (4,), (2, 0), (2, 3, 4)])
def test_as_many_axes_as_numbers(k: quern.Module, shape: tuple[int, ...]) -> None:
    out = torch.empty(shape, dtype=torch.float32)
    torch.testing.assert_close(k.filled(list(shape), 1.5, U="f32", out=out), torch.full(shape, 1.5))


def test_extents_that_depend_on_types(k: quern.Module) -> None:
    assert k.halved(torch.arange(5)).tolist() == [0, 1]
    assert len(k.halved(torch.arange(5.0))) == 5


def test_scatter_into_what_it_writes(k: quern.Module) -> None:
    into = torch.arange(4.0)
    k.counted(into, torch.tensor([1, 1, 3, 7]))
    assert into.tolist() == [0, 3, 2, 4]
