"""Backward rows against finite differences of our own forward rows, in f64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from aten_binding import Call
from aten_types import UnfitError, overload


def ours(name: str, *args: Any) -> list[Any]:
    """The results of the first row of the overload that takes the call."""
    op = overload(name)
    expected = op(*args)
    results = list(expected) if isinstance(expected, (tuple, list)) else [expected]
    for row in quern.operators():
        if row["overload"] == name:
            try:
                return Call(row, op, args, {}).run(results)
            except UnfitError:
                continue
    raise AssertionError(f"no row of {name} takes the call")


def random(*shape: int) -> torch.Tensor:
    return torch.rand(shape, dtype=torch.float64) + 0.25


def grid(mode: int, padding: int, dims: int) -> tuple[Any, ...]:
    sizes = [4, 5, 3][:dims]
    places = torch.rand(2, *[3] * dims, dims, dtype=torch.float64) * 1.8 - 0.9
    name = f"aten::grid_sampler_{dims}d"
    tail = (mode, padding, False)

    def forward(x: torch.Tensor, g: torch.Tensor) -> Any:
        return ours(name, x, g, *tail)[0]

    def backward(grad: torch.Tensor, x: torch.Tensor, g: torch.Tensor) -> Any:
        return ours(name + "_backward", grad, x, g, *tail, [True, True])

    return forward, backward, (random(2, 2, *sizes), places)


def resampled(name: str, sizes: list[int], *rest: Any) -> tuple[Any, ...]:
    x = random(1, 2, *[3, 4, 2][: len(sizes)])

    def forward(x: torch.Tensor) -> Any:
        return ours(f"aten::{name}", x, sizes, *rest)[0]

    def backward(grad: torch.Tensor, x: torch.Tensor) -> Any:
        return ours(f"aten::{name}_backward", grad, sizes, list(x.shape), *rest)

    return forward, backward, (x,)


def softmax(name: str) -> tuple[Any, ...]:
    def forward(x: torch.Tensor) -> Any:
        return ours(f"aten::_{name}", x, 1, False)[0]

    def backward(grad: torch.Tensor, x: torch.Tensor) -> Any:
        y = forward(x)
        return ours(f"aten::_{name}_backward_data", grad, y, 1, torch.float64)

    return forward, backward, (random(3, 5),)


def layer_norm() -> tuple[Any, ...]:
    def forward(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
        return ours("aten::native_layer_norm", x, [5], w, b, 1e-5)[0]

    def backward(grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> Any:
        _, mean, rstd = ours("aten::native_layer_norm", x, [5], w, b, 1e-5)
        name, mask = "aten::native_layer_norm_backward", [True, True, True]
        return ours(name, grad, x, [5], mean, rstd, w, b, mask)

    return forward, backward, (random(3, 5), random(5), random(5))


def weight_norm() -> tuple[Any, ...]:
    def forward(v: torch.Tensor, g: torch.Tensor) -> Any:
        return ours("aten::_weight_norm_interface", v, g, 0)[0]

    def backward(grad: torch.Tensor, v: torch.Tensor, g: torch.Tensor) -> Any:
        norms = ours("aten::_weight_norm_interface", v, g, 0)[1]
        return ours("aten::_weight_norm_interface_backward", grad, v, g, norms, 0)

    return forward, backward, (random(3, 4), random(3, 1))


def pair_distances(p: float) -> tuple[Any, ...]:
    def forward(x: torch.Tensor) -> Any:
        return ours("aten::_pdist_forward", x, p)[0]

    def backward(grad: torch.Tensor, x: torch.Tensor) -> Any:
        return ours("aten::_pdist_backward", grad, x, p, forward(x))

    return forward, backward, (random(5, 3),)


def convolution() -> tuple[Any, ...]:
    tail = ([2, 1], [1, 0], [1, 2], False, [0, 0], 2)

    def forward(x: torch.Tensor, w: torch.Tensor) -> Any:
        return ours("aten::convolution", x, w, None, *tail)[0]

    def backward(grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Any:
        mask = [True, True, False]
        return ours("aten::convolution_backward", grad, x, w, None, *tail, mask)[:2]

    return forward, backward, (random(2, 4, 5, 6), random(4, 2, 3, 2))


CASES: dict[str, Callable[[], tuple[Any, ...]]] = {
    f"grid{dims}d-mode{mode}-padding{padding}": lambda m=mode, p=padding, d=dims: grid(m, p, d)
    for dims, mode in ((2, 0), (2, 2), (3, 0))
    for padding in (0, 1, 2)
}
CASES |= {
    "bilinear": lambda: resampled("upsample_bilinear2d", [5, 3], False),
    "bilinear-aligned": lambda: resampled("upsample_bilinear2d", [5, 3], True),
    "bicubic": lambda: resampled("upsample_bicubic2d", [5, 3], False),
    "bicubic-aligned": lambda: resampled("upsample_bicubic2d", [5, 3], True),
    "linear": lambda: resampled("upsample_linear1d", [7], False),
    "trilinear": lambda: resampled("upsample_trilinear3d", [4, 3, 5], False),
    "nearest": lambda: resampled("upsample_nearest2d", [5, 3]),
    "softmax": lambda: softmax("softmax"),
    "log_softmax": lambda: softmax("log_softmax"),
    "layer_norm": layer_norm,
    "weight_norm": weight_norm,
    "convolution": convolution,
    **{f"pdist-{p}": lambda p=p: pair_distances(p) for p in (1.0, 2.0, 3.0)},
}


@pytest.mark.parametrize("case", list(CASES))
def test_backward_is_the_derivative(case: str) -> None:
    torch.manual_seed(1)
    forward, backward, inputs = CASES[case]()

    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *given: torch.Tensor) -> Any:
            ctx.save_for_backward(*given)
            return forward(*(x.detach() for x in given))

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            found = backward(grads[0].contiguous(), *(x.detach() for x in ctx.saved_tensors))
            return tuple(found) if len(found) > 1 else found[0]

    leaves = [x.requires_grad_() for x in inputs]
    assert torch.autograd.gradcheck(Pair.apply, leaves, atol=1e-5, nondet_tol=0)
