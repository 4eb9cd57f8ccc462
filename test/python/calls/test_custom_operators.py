"""Operators made by `quern.op`: forms of arguments and results, derivatives of derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def check(
    operator: Any,
    reference: Callable[..., Any],
    *inputs: Any,
    launches: int | None = None,
    dynamic: bool = False,
) -> None:
    """Eager and compiled values against torch's, torch's own checks of operators, no break."""
    wanted = reference(*inputs)
    torch.testing.assert_close(operator(*inputs), wanted)
    assert set(torch.library.opcheck(operator, inputs).values()) == {"SUCCESS"}
    compiled = torch.compile(
        lambda *values: operator(*values), backend="quern", fullgraph=True, dynamic=dynamic
    )
    compiled(*inputs)
    quern.reset_counters()
    torch.testing.assert_close(compiled(*inputs), wanted)
    counts = quern.counters()
    if launches is not None:
        assert (counts["launches"], counts["fallbacks"]) == (launches, {})


def wide(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


CUBE = """
elementwise cube_third[T: Float](up: T, grad2: T, grad: T, x: T) -> (T, T, T):
    return up * grad * 6 * x, up * grad2 * 6 * x, up * grad2 * grad * 6

@backward(cube_third, saves = (grad2, grad, x))
elementwise cube_second_grad[T: Float](grad2: T, grad: T, x: T) -> T:
    return grad2 * grad * 6 * x

elementwise cube_second[T: Float](grad2: T, grad: T, x: T) -> (T, T):
    return grad2 * 3 * x * x, grad2 * grad * 6 * x

@backward(cube_second, saves = (grad, x))
elementwise cube_first[T: Float](grad: T, x: T) -> T:
    return grad * 3 * x * x

@backward(cube_first, saves = x)
elementwise cube[T: Float](x: T) -> T:
    return x * x * x
"""


def test_a_derivative_has_its_own() -> None:
    cube = quern.op("optest::cube", CUBE)
    check(cube, lambda x: x**3, torch.randn(4, 5), launches=1)
    x = wide(3, 4)
    assert torch.autograd.gradcheck(cube, x)
    assert torch.autograd.gradgradcheck(cube, x)
    (first,) = torch.autograd.grad(cube(x).sin().sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.cos().sum(), x)
    (known,) = torch.autograd.grad((x**3).sin().sum(), x, create_graph=True)
    torch.testing.assert_close(second, torch.autograd.grad(known.cos().sum(), x)[0])
    step = torch.compile(lambda t: cube(t).sin(), backend="quern", fullgraph=True)
    (ours,) = torch.autograd.grad(step(x).sum(), x)
    torch.testing.assert_close(ours, torch.autograd.grad((x**3).sin().sum(), x)[0])


def test_a_chain_ends_in_a_rowwise_pair() -> None:
    text = """
rowwise square_sum_second[T: Float](gg: T[*R, C], grad: T[*R], x: T[*R, C]) -> (T[*R], T[*R, C]):
    return sum(2 * gg * x over C), 2 * gg * grad

@backward(square_sum_second, saves = (grad, x))
rowwise square_sum_backward[T: Float](grad: T[*R], x: T[*R, C]) -> T[*R, C]:
    return 2 * grad * x

@backward(square_sum_backward, saves = x)
rowwise square_sum[T: Float](x: T[*R, C]) -> T[*R]:
    return sum(x * x over C)
"""
    square_sum = quern.op("optest::square_sum", text)
    for shape in ((7,), (3, 7), (2, 3, 7)):
        check(square_sum, lambda x: x.square().sum(-1), torch.randn(shape), launches=1)
        assert torch.autograd.gradcheck(square_sum, wide(*shape))
        assert torch.autograd.gradgradcheck(square_sum, wide(*shape))


GROUPED = """
rowwise grouped_sum[T: Float](x: T[N, (G C), *S], w: T[(G C)]?, G: int)
        -> (T[N, (G C), *S], acc(T)[N, G]):
    let y = x * w
    return y, sum(y over (C, *S))
"""


def grouped(x: torch.Tensor, w: torch.Tensor | None, groups: int) -> tuple[torch.Tensor, ...]:
    y = x if w is None else x * w.reshape(-1, *[1] * (x.dim() - 2))
    return y, y.unflatten(1, (groups, -1)).flatten(2).sum(-1)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("rest", [(), (5,), (3, 4)])
def test_split_axes_packs_and_an_absent_tensor(rest: tuple[int, ...], dynamic: bool) -> None:
    operator = quern.op("optest::grouped_sum", GROUPED)
    x = torch.randn(2, 6, *rest)
    check(operator, grouped, x, torch.randn(6), 3, dynamic=dynamic, launches=1)
    check(operator, grouped, x, None, 2, dynamic=dynamic, launches=1)


def test_extents_of_results() -> None:
    text = """
rowwise pooled[T: Float](x: T[*B, H], k: int, s: int) -> T[*B, P = (H - k) // s + 1]:
    return max(x.at(H = index(P) * s + i) over i: 0 .. k)

rowwise unrolled[T: Float](x: T[*B, (H K)], K: int) -> T[*B, K, H]:
    return x

rowwise padded[T: Float](x: T[*S], n: int[*S]) -> T[*P = *S + 2 * *n]:
    return x.at(*S = *index(P) - *n, outside = 0)
"""
    pooled = quern.op("optest::pooled", text)
    for dynamic in (False, True):
        check(
            pooled,
            lambda x, k, s: torch.nn.functional.max_pool1d(x, k, s),
            torch.randn(2, 3, 11),
            3,
            2,
            dynamic=dynamic,
        )
    unrolled = quern.op("optest::unrolled", text)
    check(unrolled, lambda x, k: x.unflatten(-1, (-1, k)).mT, torch.randn(2, 12), 4, dynamic=True)
    padded = quern.op("optest::padded", text)

    def pad(x: torch.Tensor, n: list[int]) -> torch.Tensor:
        return torch.nn.functional.pad(x, (n[1], n[1], n[0], n[0]))

    check(padded, pad, torch.randn(2, 3), [3, 2], dynamic=True)


def test_sizes_that_change_make_one_graph() -> None:
    operator = quern.op("optest::grouped_sum", GROUPED)
    graphs = []

    def count(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return quern.backend(graph, inputs)

    compiled = torch.compile(operator, backend=count, dynamic=True, fullgraph=True)
    for rows, channels in ((2, 6), (5, 12), (7, 18)):
        x, w = torch.randn(rows, channels, 4), torch.randn(channels)
        torch.testing.assert_close(compiled(x, w, 3), grouped(x, w, 3))
    assert len(graphs) == 1


LISTS = """
elementwise scaled[T: Float](x: T, by: T) -> T:
    return x * by

op scale_each_backward[T: Float](grads: list[T[*S]], by: T[]) -> list[T[*S]]:
    return [scaled(g, by) for g in grads]

@backward(scale_each_backward, saves = by)
op scale_each[T: Float](xs: list[T[*S]], by: T[]) -> list[T[*S]]:
    return [scaled(x, by) for x in xs]

rowwise joined[T: Any](xs: list[T[*R, C]]) -> T[*R, C]:
    return concat(xs over C)
"""


def test_lists_of_tensors() -> None:
    xs = [torch.randn(3, 4), torch.randn(5), torch.randn(())]
    by = torch.tensor(2.5)
    scale_each = quern.op("optest::scale_each", LISTS)
    check(scale_each, lambda xs, by: [x * by for x in xs], xs, by, launches=1)
    leaves = [x.clone().requires_grad_() for x in xs]
    total = sum(y.sin().sum() for y in scale_each(leaves, by))
    ours = torch.autograd.grad(total, leaves)
    theirs = torch.autograd.grad(sum((x * by).sin().sum() for x in leaves), leaves)
    torch.testing.assert_close(ours, theirs)
    # The gradient of an element that nobody reads.
    (alone,) = torch.autograd.grad(scale_each(leaves, by)[1].sum(), leaves[1])
    torch.testing.assert_close(alone, torch.full((5,), 2.5))
    joined = quern.op("optest::joined", LISTS)
    parts = [torch.randn(2, 3, n) for n in (1, 4, 2)]
    check(joined, lambda xs: torch.cat(xs, -1), parts, launches=1)


def test_lists_within_a_graph() -> None:
    """Two operators of one source; lists of what kernels gave, of views, of one tensor twice."""
    scale_each = quern.op("optest::scale_each", LISTS)
    joined = quern.op("optest::joined", LISTS)

    def ours(x: torch.Tensor, y: torch.Tensor, by: torch.Tensor) -> list[torch.Tensor]:
        first, second, third = scale_each([x.sin(), y.t(), x.sin()], by.exp())
        return [first.cos(), joined([second.detach().t(), y[:, 1:], y[:, :0]]), third + x]

    def theirs(x: torch.Tensor, y: torch.Tensor, by: torch.Tensor) -> list[torch.Tensor]:
        k = by.exp()
        return [(x.sin() * k).cos(), torch.cat([y * k, y[:, 1:]], 1), x.sin() * k + x]

    x, y, by = torch.randn(3, 4), torch.randn(2, 5), torch.tensor(0.3)
    compiled = torch.compile(ours, backend="quern", fullgraph=True, options={"fallback": "error"})
    torch.testing.assert_close(compiled(x, y, by), theirs(x, y, by))
    outcomes = []
    for call in (compiled, theirs):
        leaf = x.clone().requires_grad_()
        results = call(leaf, y, by)
        gradient = torch.autograd.grad(results[0].sum() + results[2].sum(), leaf)
        outcomes.append([*results, *gradient])
    torch.testing.assert_close(outcomes[0], outcomes[1])
    # No kernel joins elements of two types: what eager says is said.
    with pytest.raises(Exception, match="QN"):
        torch.compile(joined, backend="quern")([x, x.double()])


AFFINE = """
rowwise affine_backward[T: Float](grad: T[*R, C], x: T[*R, C], w: T[C]?) -> (T[*R, C], T[C]?, T[C]):
    if const present(w):
        return grad * w, sum(grad * x over *R), sum(grad over *R)
    return grad, none, sum(grad over *R)

@backward(affine_backward, saves = (x, w))
rowwise affine[T: Float](x: T[*R, C], w: T[C]?, b: T[C]) -> T[*R, C]:
    return x * w + b
"""


def test_an_absent_tensor_has_no_gradient() -> None:
    affine = quern.op("optest::affine", AFFINE)

    def reference(x: torch.Tensor, w: torch.Tensor | None, b: torch.Tensor) -> torch.Tensor:
        return x * w + b if w is not None else x + b

    for w in (None, torch.randn(7, requires_grad=True)):
        inputs = (torch.randn(3, 7, requires_grad=True), w, torch.randn(7, requires_grad=True))
        check(affine, reference, *inputs)
        leaves = [each for each in inputs if each is not None]
        theirs = torch.autograd.grad(reference(*inputs).sin().sum(), leaves)
        ours = torch.autograd.grad(affine(*inputs).sin().sum(), leaves)
        torch.testing.assert_close(ours, theirs)
        compiled = torch.compile(affine, backend="quern", fullgraph=True)
        ours = torch.autograd.grad(compiled(*inputs).sin().sum(), leaves)
        torch.testing.assert_close(ours, theirs)


def test_several_results_and_an_index() -> None:
    text = """
rowwise best_backward[T: Float](grad: T[*R], _at_grad: i64[*R], at: i64[*R], x: T[*R, C])
        -> T[*R, C]:
    return grad if index(C) == at else T(0)

@backward(best_backward, saves = (at, x))
rowwise best[T: Float](x: T[*R, C]) -> (value: T[*R], at: i64[*R]):
    return max(x over C), argmax(x over C)
"""
    best = quern.op("optest::best", text)
    x = torch.randn(4, 9)
    check(best, lambda t: tuple(t.max(-1)), x, launches=1)


def test_rows_taken_by_index_have_a_gradient() -> None:
    text = """
rowwise picked_backward[T: Float](grad: T[N, D], at: i64[N], table: T[V, D]) -> T[V, D]:
    return sum(grad if at == index(V) else T(0) over N)

@backward(picked_backward, saves = (at, table))
rowwise picked[T: Float](at: i64[N], table: T[V, D]) -> T[N, D]:
    return table.at(V = at)
"""
    picked = quern.op("optest::picked", text)
    at = torch.tensor([2, 0, 2])
    table = torch.randn(4, 5, requires_grad=True)
    check(picked, lambda i, t: t[i], at, table)
    (ours,) = torch.autograd.grad(picked(at, table).sin().sum(), table)
    (theirs,) = torch.autograd.grad(table[at].sin().sum(), table)
    torch.testing.assert_close(ours, theirs)


def test_numbers_with_defaults() -> None:
    text = """
elementwise leaky[T: Float](x: T, slope: f64 = 0.25, twice: bool = false) -> T:
    let y = max(x, x * T(slope))
    return y + y if twice else y
"""
    leaky = quern.op("optest::leaky", text)
    x = torch.randn(8)
    reference = torch.nn.functional.leaky_relu
    check(leaky, lambda t: reference(t, 0.25), x, launches=1)
    check(leaky, lambda t, s: reference(t, s), x, 0.5, launches=1)
    torch.testing.assert_close(leaky(x, twice=True), 2 * reference(x, 0.25))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_element_types(dtype: torch.dtype) -> None:
    text = """
rowwise mean_and_sum[T: Float](x: T[*R, C]) -> (T[*R], acc(T)[*R]):
    return mean(x over C), sum(x over C)
"""
    operator = quern.op("optest::mean_and_sum", text)
    x = torch.randn(3, 8).to(dtype)
    acc = dtype if dtype == torch.float64 else torch.float32
    check(operator, lambda t: (t.mean(-1), t.to(acc).sum(-1)), x, launches=1)


def test_a_derivative_that_is_not_there() -> None:
    text = """
from activations use silu_backward

@backward(silu_backward, saves = x)
elementwise gate[T: Float](x: T) -> T:
    return x * sigmoid(x)
"""
    with pytest.raises(quern.Error, match="`silu_backward` must stand in the source"):
        quern.op("optest::gate", text)


def test_it_fuses_with_its_neighbours() -> None:
    cube = quern.op("optest::cube", CUBE)

    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return cube(cube(x + 1) * y).relu().sum(-1)

    compiled = torch.compile(f, backend="quern", fullgraph=True)
    x, y = torch.randn(2, 4, 30)
    quern.reset_counters()
    with torch.no_grad():
        torch.testing.assert_close(compiled(x, y), ((x + 1) ** 3 * y).pow(3).relu().sum(-1))
    assert (quern.counters()["launches"], quern.counters()["fallbacks"]) == (1, {})


UNARY = "elementwise f[T: Float](x: T) -> T:\n    return x\n"
BINARY = "elementwise f[T: Float](x: T, y: T) -> T:\n    return x + y\n"
PAIR = "elementwise f[T: Float](x: T) -> (T, T):\n    return x, x\n"


@pytest.mark.parametrize(
    ("overload", "source", "says"),
    [
        ("aten::tanhh", UNARY, "no operator `tanhh`.*`tanh`"),
        ("aten::add", BINARY, "no overload `add`.*`add.Tensor`"),
        ("aten::add.tensor", BINARY, "no overload `add.tensor`.*`add.Tensor`"),
        ("aten::tanh.default", UNARY, "no overload `tanh.default`.*`tanh`"),
        ("mylib::tanh", UNARY, "not ATen's"),
        ("aten::tanh_", UNARY, "writes to an argument"),
        ("aten::tanh", BINARY, "no argument is left for `y`"),
        ("aten::tanh", PAIR, "gives 2 results"),
        ("aten::copysign.Tensor", UNARY, "no parameter for the argument `other`"),
        ("aten::lerp.Scalar", BINARY, "no parameter for the argument `weight`"),
        (
            "aten::softplus",
            "elementwise f[T: Float](x: T, beta: f64, sharp: f64, more: f64) -> T:\n    return x\n",
            "no argument is left for `more`",
        ),
        ("aten::tanh", '@aten("tan_h")\n' + UNARY, "tan_h"),
        ("aten::lerp.Scalar", '@aten("lerp.Scalar")\n' + BINARY, "weight"),
    ],
)
def test_what_no_call_could_find_is_refused(overload: str, source: str, says: str) -> None:
    with pytest.raises(quern.Error, match=f"(?s){says}"):
        quern.register_aten(overload, source)


def test_what_is_said_of_a_graph_stays_when_operators_are_added() -> None:
    x = torch.randn(4, 5)
    graph = quern.explain(lambda x: (x.cumsum(1), x.gather(1, x.argsort(1))), x).graphs[0]
    before = graph.groups
    for number in range(3):
        source = f"elementwise plus{number}(x: f32) -> f32:\n    return x + {number}\n"
        quern.op(f"test_later::plus{number}", source)
    assert graph.groups == before
