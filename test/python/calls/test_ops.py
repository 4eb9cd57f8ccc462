"""An `op` allocates, takes views and calls kernels in order."""

from __future__ import annotations

import numpy as np
import pytest
import quern
import torch
from op_texts import HOST, LISTS, RETURNED, SOURCE, VIEWS


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "ops.qn")


def test_kernels_in_order(k: quern.Module) -> None:
    a, b, c = torch.randn(5, 7), torch.randn(7, 3), torch.randn(3)
    torch.testing.assert_close(k.chain(a, b, c), 2 * (a @ b + c))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_loop_on_host_values(k: quern.Module, n: int) -> None:
    a = torch.randn(6, 6, dtype=torch.float64)
    torch.testing.assert_close(k.powers(a, n), torch.linalg.matrix_power(a, n))


def test_views_and_allocation(k: quern.Module) -> None:
    x = torch.arange(12).reshape(3, 4)
    torch.testing.assert_close(k.halves(x), x.t().contiguous())


BITS = """
op numbers(a: int, b: int) -> (i64[N = (a & b) + 64], i64[M = (a | b) + 64], i64[K = (a ^ b) + 64]):
    return zeros(i64, (a & b) + 64), zeros(i64, (a | b) + 64), zeros(i64, (a ^ b) + 64)

op shifts(a: int, left: int, right: int)
        -> (i64[N = (a << left) & 255], i64[M = (a >> right) & 255]):
    return zeros(i64, (a << left) & 255), zeros(i64, (a >> right) & 255)
"""


@pytest.mark.parametrize(("a", "b"), [(12, 10), (0, 7), (-3, 5)])
def test_bits_of_host_values(a: int, b: int) -> None:
    made = quern.compile(BITS, "bits.qn").numbers(a, b)
    assert [len(one) for one in made] == [(a & b) + 64, (a | b) + 64, (a ^ b) + 64]


@pytest.mark.parametrize(("a", "by"), [(5, 3), (-5, 1), (5, 64), (-5, 64), (5, -1), (5, 70)])
def test_shifts_of_host_values(a: int, by: int) -> None:
    """Beyond the width everything has gone."""
    left, right = quern.compile(BITS, "bits.qn").shifts(a, by, by)
    beyond = not 0 <= by < 64
    assert len(left) == (0 if beyond else (a << by) & 255)
    assert len(right) == ((-1 if a < 0 else 0) if beyond else a >> by) & 255


NUMBERS = """
rowwise total(x: f32[N]) -> f32[]:
    return sum(x over N)

op counted(x: f32[N], n: int) -> (f32[N], int, bool, f32):
    return x, size(N) + n, size(N) > 2, host(total(x)) / 2

op inner(n: int) -> int:
    return n * 2

op outer(n: int) -> int:
    return inner(n) + 1
"""


def test_numbers_are_results() -> None:
    k = quern.compile(NUMBERS, "numbers.qn")
    x = torch.arange(4.0)
    for n in (1, 3):
        same, count, is_many, half = k.counted(x, n)
        assert torch.equal(same, x)
        assert torch.equal(count, torch.tensor(4 + n))
        assert torch.equal(is_many, torch.tensor(True))
        assert torch.equal(half, torch.tensor(3.0))
    out = torch.zeros((), dtype=torch.int64)
    assert k.inner(4, out=out) is out
    assert out == 8
    assert k.outer(4) == 9


ODD = """
elementwise above(x: f32) -> bool:
    return x > 0

rowwise ranks(x: bool[N]) -> i64[N]:
    return scan(sum, i64(x) over N)

elementwise kept(x: i64, y: bool) -> i64:
    return x if y else 0

op marked(x: f32[N]) -> i64[N]:
    let flags = above(x)
    let n = ranks(flags)
    return kept(kept(n, flags), flags)
"""


@pytest.mark.parametrize("shapes", [[], [(3,)], [(4, 3), (), (0, 2), (70_000,), (5,)]])
def test_each_is_applied_to_all(shapes: list[tuple[int, ...]]) -> None:
    k = quern.compile(LISTS)
    parameters = [torch.randn(shape) for shape in shapes]
    gradients = [torch.randn(shape) for shape in shapes]
    wanted = [p - 0.5 * g for p, g in zip(parameters, gradients, strict=True)]
    k.sgd(parameters, gradients, 0.5)
    torch.testing.assert_close(parameters, wanted)


def test_each_into_one_tensor_goes_in_order() -> None:
    k = quern.compile(LISTS)
    xs = [torch.full((1000,), 2.0**i) for i in range(8)]
    assert torch.equal(k.gathered(xs, torch.zeros(1000)), torch.full((1000,), 255.0))


def test_what_must_not_be_written(k: quern.Module) -> None:
    x, g = np.ones((2, 3), np.float32), np.ones((2, 3), np.float32)
    frozen, one = np.zeros((3, 2), np.float32), np.zeros((1, 1), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(quern.Error, match="QN2032"):
        k.halves(x, out=frozen)
    with pytest.raises(quern.Error, match="QN2033"):
        k.halves(torch.ones(2, 3), out=torch.from_numpy(one).expand(3, 2))
    assert not frozen.any()
    assert not one.any()
    lists = quern.compile(LISTS)
    x.flags.writeable = False
    with pytest.raises(quern.Error, match="QN2032"):
        lists.sgd([x.copy(), x], [g, g], 0.5)
    assert (x == 1).all()


def test_each_given_one_tensor_twice() -> None:
    x = torch.ones(4)
    with pytest.raises(quern.Error, match="shares memory"):
        quern.compile(LISTS).sgd([x, x], [x, x], 0.5)


def test_loop_over_a_list() -> None:
    k = quern.compile(LISTS)
    xs = [torch.randn(7), torch.randn(2, 3), torch.randn(())]
    torch.testing.assert_close(k.norm(xs), sum(x.sum() for x in xs))
    assert k.many(xs).shape == (3,)


def test_lists_that_do_not_fit() -> None:
    k = quern.compile(LISTS)
    x = torch.ones(2)
    with pytest.raises(quern.Error, match="list of 2 and a list of 1"):
        k.sgd([x, x], [x], 0.5)
    with pytest.raises(quern.Error, match="`f64`"):
        k.sgd([x], [x.double()], 0.5)
    with pytest.raises(TypeError, match="list of tensors"):
        k.norm(x)


def test_temporaries_of_odd_sizes() -> None:
    """Bools of one byte beside integers of eight lie apart, each at its alignment."""
    k = quern.compile(ODD)
    for size in (1, 6, 25, 70):
        x = torch.rand(size) - 0.5
        assert torch.equal(k.marked(x), (x > 0).cumsum(0) * (x > 0))


@pytest.mark.parametrize("size", [0, 1, 1000])
def test_extent_read_on_the_host(size: int) -> None:
    k = quern.compile(HOST)
    for _ in range(3):
        x = torch.rand(size) > 0.5
        assert torch.equal(k.nonzero(x), x.nonzero()[:, 0])


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1), (3, 1, 0, 2)])
@pytest.mark.parametrize("step", [1, 2])
def test_what_is_returned_lies_as_the_caller_wants(order: tuple[int, ...], step: int) -> None:
    k = quern.compile(RETURNED)

    def lying(*sizes: int) -> torch.Tensor:
        """Filled with NaN, its axes in that order, with neighbours or without."""
        back = [order.index(axis) for axis in range(4)]
        memory = torch.full([*(sizes[axis] for axis in order), step], float("nan"))
        return memory[..., 0].permute(back)

    for x in (torch.randn(2, 3, 4, 6), torch.randn(2, 4, 6, 3).permute(0, 3, 1, 2)):
        for size in (1, 2):
            area = size * size
            sums = torch.nn.functional.avg_pool2d(x, size) * area if size > 1 else x * 2
            out = lying(2, 3, 4 // size, 6 // size)
            k.outer(x, size, out=out)
            torch.testing.assert_close(out, sums)
            out, whole = lying(2, 3, 4 // size, 6 // size), lying(2, 3, 4, 6)
            k.both(x, size, out=(out, whole))
            torch.testing.assert_close(out, sums + 2 * (area if size > 1 else 2))
            torch.testing.assert_close(whole, (x + 2) * 4)


def test_loop_on_values() -> None:
    k = quern.compile(HOST)
    x = torch.tensor([100.0, 3.0])
    k.tamed(x)
    assert x.tolist() == [0.78125, 0.0234375]


def test_result_that_is_not_as_declared() -> None:
    k = quern.compile(HOST)
    with pytest.raises(quern.Error, match="axis `N` of extent 5, the extent is 3"):
        k.wrong(torch.zeros(5))


def test_more_views() -> None:
    k = quern.compile(VIEWS)
    z = torch.randn(5, dtype=torch.complex64)
    assert torch.equal(k.parts(z), -torch.view_as_real(z))
    pairs = torch.randn(4, 2, dtype=torch.float64)
    assert torch.equal(k.complexes(pairs), torch.view_as_complex(pairs))
    x = torch.randn(6, 6)
    assert torch.equal(k.diagonal(x, 6), -x.diagonal())
    assert torch.equal(k.shifted(x[0]), -x[0].as_strided((4, 2), (1, 1), 1))
    with pytest.raises(quern.Error, match="QN2072"):
        k.diagonal(x, 7)


@pytest.mark.parametrize("at", range(4))
def test_wider_elements_begin_where_pytorch_lets_them(at: int) -> None:
    """Between two of them memory of a GPU cannot be read."""
    k, x = quern.compile(VIEWS), torch.randn(8)
    try:
        wanted = -x[at : at + 4].view(torch.float64)
    except RuntimeError:
        with pytest.raises(quern.Error, match="QN2072"):
            k.doubles(x, at)
    else:
        assert torch.equal(k.doubles(x, at), wanted)


def test_a_returned_call_is_made_once() -> None:
    k = quern.compile("""
elementwise bump(x: mut f32) -> (f32, f32):
    x = x + 1
    return x, -x

op once(x: mut f32[*S]) -> (f32[*S], f32[*S]):
    return bump(x)
""")
    x = torch.zeros(5)
    plus, minus = k.once(x)
    assert torch.equal(plus, torch.ones(5))
    assert torch.equal(minus, -torch.ones(5))
    assert torch.equal(x, torch.ones(5))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.float32, torch.float64])
@pytest.mark.parametrize("order", [(0, 2, 3, 1), (3, 2, 1, 0), (1, 0, 2, 3), (2, 3, 0, 1)])
def test_results_are_copied_to_any_layout(
    k: quern.Module, dtype: torch.dtype, order: tuple[int, ...]
) -> None:
    for shape in ((3, 17, 5, 33), (1, 40, 1, 70), (2, 1, 9000, 2), (4, 4, 0, 3)):
        x = (torch.arange(torch.Size(shape).numel()) % 100).to(dtype).view(shape)
        back = [order.index(axis) for axis in range(4)]
        out = torch.empty(x.permute(order).shape, dtype=dtype).permute(back)
        k.kept(x, out=out)
        assert torch.equal(out, x)
