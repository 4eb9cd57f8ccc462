"""Resampling in compiled graphs: whole operators, any layout, derivatives by large factors."""

from __future__ import annotations

from typing import Any

import pytest
import quern
import torch
from aten_types import module
from torch.nn.functional import interpolate

MODES = ("nearest", "nearest-exact", "bilinear", "bicubic")
FORMATS = (torch.contiguous_format, torch.channels_last)


def resampling(mode: str, aligned: bool | None = None, **sizes: Any) -> Any:
    corners = {} if mode.startswith("nearest") else {"align_corners": bool(aligned)}
    return lambda x: interpolate(x, mode=mode, **sizes, **corners)


def compare(function: Any, compiled: Any, x: torch.Tensor, tolerance: float = 2e-5) -> None:
    """Values and derivatives with those of eager in double precision, strides with eager's."""
    x = x.detach().requires_grad_()
    exact = x.detach().double().requires_grad_()
    y, same, reference = compiled(x), function(x), function(exact)
    torch.testing.assert_close(y.double(), reference, atol=tolerance, rtol=tolerance)
    assert y.stride() == same.stride()
    gradient = torch.randn_like(y)
    (mine,) = torch.autograd.grad(y, x, gradient)
    (theirs,) = torch.autograd.grad(reference, exact, gradient.double())
    torch.testing.assert_close(mine.double(), theirs, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "sizes", [{"scale_factor": 2}, {"scale_factor": (1.5, 0.75)}, {"size": (13, 1)}]
)
@pytest.mark.parametrize("mode", MODES)
def test_odd_images(mode: str, sizes: dict[str, Any], form: torch.memory_format) -> None:
    torch.manual_seed(0)
    function = resampling(mode, **sizes)
    compiled = torch.compile(function, backend=quern.backend, dynamic=False)
    for shape in ((2, 19, 8, 12), (1, 1, 4, 8)):
        compare(function, compiled, torch.randn(shape).contiguous(memory_format=form))


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("factor", [(16, 33), (0.1, 0.5), (9.5, 1)])
def test_far_factors(mode: str, aligned: bool, factor: tuple[float, float]) -> None:
    """An element of an image 16 times as large is read by more outputs than twice the factor."""
    torch.manual_seed(0)
    function = resampling(mode, aligned, scale_factor=factor)
    compiled = torch.compile(function, backend=quern.backend, dynamic=False)
    compare(function, compiled, torch.randn(1, 2, 21, 7), tolerance=2e-4)


@pytest.mark.parametrize("mode", MODES)
def test_sizes_that_change(mode: str) -> None:
    torch.manual_seed(0)
    function = resampling(mode, scale_factor=2)
    compiled = torch.compile(function, backend=quern.backend, dynamic=True)
    for size in ((9, 11), (6, 7), (16, 5)):
        compare(function, compiled, torch.randn(2, 3, *size))


@pytest.mark.parametrize("mode", [*MODES, "area"])
@pytest.mark.parametrize("given", ["factor", "size", "both axes"])
def test_sizes_that_change_in_inference(mode: str, given: str) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        if given == "factor":
            return interpolate(x, scale_factor=2, mode=mode)
        size = x.shape[2] * 2 if given == "size" else (x.shape[2] * 2, x.shape[3] + 1)
        return interpolate(input=x, size=size, mode=mode)

    compiled = torch.compile(function, backend=quern.backend, dynamic=True)
    for shape in ((2, 3, 9, 11), (3, 3, 6, 7), (1, 3, 16, 5)):
        x = torch.randn(shape)
        torch.testing.assert_close(compiled(x), function(x), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("mode", ["linear", "nearest", "trilinear", "bilinear", "area"])
def test_other_calls(mode: str) -> None:
    """Other numbers of axes, arguments by position, parts of other transforms."""
    axes = {"linear": 1, "trilinear": 3}.get(mode, 2)
    x = torch.randn(2, 3, *(5, 6, 4)[:axes])

    def function(x: torch.Tensor) -> Any:
        corners = True if "linear" in mode else None
        each = torch.vmap(lambda row: interpolate(row[None], scale_factor=2, mode=mode)[0])(x)
        slope = torch.func.grad(lambda y: interpolate(y, None, 2, mode, corners).square().sum())
        return interpolate(x, None, 1.7, mode, corners, True), each, slope(x)

    compiled = torch.compile(function, backend=quern.backend, dynamic=False)
    torch.testing.assert_close(compiled(x), function(x), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_graph_keeps_the_operator(mode: str) -> None:
    x = torch.randn(1, 2, 4, 4)
    text = str(quern.explain(resampling(mode, scale_factor=2), x))
    assert "upsample" in text
    assert "index" not in text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", FORMATS)
def test_bytes(mode: str, form: torch.memory_format) -> None:
    x = torch.randint(0, 255, (2, 3, 5, 7), dtype=torch.uint8).contiguous(memory_format=form)
    function = resampling(mode, size=(9, 4))
    y = torch.compile(function, backend=quern.backend)(x)
    assert torch.equal(y, function(x))


PLACES = """
rowwise picked[T: Any](x: T[*B, H, W], p: i64[P], q: i64[Q]) -> T[*B, P, Q]:
    return x.at(H = p, W = q)

rowwise blocks[T: Float](x: T[*B, P, Q], k: int) -> T[*B, H = P // k, W = Q // k]:
    return sum(x.at(P = index(H) * k + i, Q = index(W) * k + j) over (i: 0 .. k, j: 0 .. k))
"""


@pytest.mark.parametrize("channels", [1, 3, 16, 37])
@pytest.mark.parametrize("forms", [(a, b) for a in FORMATS for b in FORMATS])
def test_places_across_the_result(channels: int, forms: tuple[Any, Any]) -> None:
    torch.manual_seed(0)
    k = quern.compile(PLACES)
    x = torch.randn(2, channels, 22, 34).contiguous(memory_format=forms[0])
    p, q = torch.randint(0, 22, (19,)), torch.randint(0, 34, (41,))
    out = torch.empty(2, channels, 19, 41).contiguous(memory_format=forms[1])
    k.picked(x, p, q, out=out)
    assert torch.equal(out, x[:, :, p][:, :, :, q])
    out = torch.empty(2, channels, 11, 17).contiguous(memory_format=forms[1])
    k.blocks(x, 2, out=out)
    torch.testing.assert_close(out, torch.nn.functional.avg_pool2d(x, 2) * 4)


STEPS = """
elementwise doubled[T: Float](x: T) -> T:
    return x + x

rowwise rows[T: Float](x: T[*B, H, W]) -> T[*B, H]:
    return sum(x over W)

op flat[T: Float](x: T[N, C, H, W]) -> T[A = N * C, B = H * W]:
    return doubled(doubled(x).reshape(N * C, H * W))

op turned[T: Float](x: T[N, C, H, W]) -> (T[N, C, H], T[N, C, H, W]):
    let y = doubled(x)
    return rows(doubled(y)), y
"""


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 1, 3, 4), (2, 5, 1, 1), (0, 3, 2, 2)])
@pytest.mark.parametrize("form", FORMATS)
def test_steps_on_images(shape: tuple[int, ...], form: torch.memory_format) -> None:
    """However the temporaries of an op lie, what it gives is the same."""
    k = quern.compile(STEPS)
    x = torch.randn(shape).contiguous(memory_format=form)
    n, c, h, w = shape
    torch.testing.assert_close(torch.as_tensor(k.flat(x)), (4 * x).reshape(n * c, h * w))
    rows, whole = k.turned(x)
    torch.testing.assert_close(torch.as_tensor(rows), 4 * x.sum(3))
    torch.testing.assert_close(torch.as_tensor(whole), 2 * x)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_an_infinite_gradient_stays_where_it_is(mode: str, form: torch.memory_format) -> None:
    """Outputs that only may read an element, and do not, are no part of its sum."""
    torch.manual_seed(0)
    function = resampling(mode, scale_factor=3)
    compiled = torch.compile(function, backend=quern.backend, dynamic=False)
    x = torch.randn(2, 3, 6, 7).contiguous(memory_format=form).requires_grad_()
    gradient = torch.randn(2, 3, 18, 21).contiguous(memory_format=form)
    gradient[1, 2, 9, 9] = torch.inf
    (mine,) = torch.autograd.grad(compiled(x), x, gradient)
    (theirs,) = torch.autograd.grad(function(x), x, gradient)
    torch.testing.assert_close(mine, theirs, equal_nan=True)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("size", [(5, 3), (40, 26), (19, 12), (2, 50)])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_averages(mode: str, size: tuple[int, int], form: torch.memory_format) -> None:
    """What is made smaller is averaged along each axis by itself."""
    torch.manual_seed(0)
    function = resampling(mode, size=size, antialias=True)
    compiled = torch.compile(function, backend=quern.backend, dynamic=False)
    compare(function, compiled, torch.randn(2, 3, 19, 12).contiguous(memory_format=form))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_averages_of_what_an_output_reads(mode: str) -> None:
    """An infinite element and gradient reach what reads them, and nothing else."""
    function = resampling(mode, size=(7, 9), antialias=True)
    compiled = torch.compile(function, backend=quern.backend, dynamic=False)
    x, gradient = torch.rand(1, 1, 17, 20) + 1, torch.rand(1, 1, 7, 9) + 1
    x[0, 0, 8, 11] = gradient[0, 0, 3, 5] = torch.inf
    results = []
    for call in (function, compiled):
        own = x.clone().requires_grad_()
        y = call(own)
        results += [y.detach(), *torch.autograd.grad(y, own, gradient)]
    assert torch.equal(results[0].isfinite(), results[2].isfinite())
    assert torch.equal(results[1].isfinite(), results[3].isfinite())
    assert 0 < (~results[1].isfinite()).sum() < 100


@pytest.mark.parametrize("name", ["nearest2d", "exact2d", "bilinear2d"])
@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("sides", [((2, 3), (4, 6)), ((8, 5), (11, 9)), ((16, 20), (32, 40))])
def test_derivatives_of_small_images(
    name: str, layout: torch.memory_format, sides: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    """Turned as a whole, or, where channels lie side by side, not at all."""
    (h, w), (p, q) = sides
    grad = torch.randn(5, 4, p, q).contiguous(memory_format=layout)
    mode = {"nearest2d": "nearest", "exact2d": "nearest-exact", "bilinear2d": "bilinear"}[name]
    x = torch.zeros(5, 4, h, w, dtype=torch.float64, requires_grad=True)
    (wanted,) = torch.autograd.grad(interpolate(x, (p, q), mode=mode), x, grad.double())
    kernels = module("upsample_backward.qn")
    aligned = (False,) if name == "bilinear2d" else ()
    for row in (f"upsample_{name}_backward", f"upsample_{name}_backward_channels"):
        out = torch.empty(5, 4, h, w).contiguous(memory_format=layout)
        getattr(kernels, row)(grad, p, q, 5, 4, h, w, *aligned, 0.0, 0.0, out=out)
        torch.testing.assert_close(out.double(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("overload", "rest"),
    [
        ("upsample_nearest2d_backward", ()),
        ("_upsample_nearest_exact2d_backward", ()),
        ("upsample_bilinear2d_backward", (False,)),
    ],
)
def test_graphs_turn_no_images_of_channels_side_by_side(overload: str, rest: tuple[bool]) -> None:
    def derivative(grad: torch.Tensor) -> torch.Tensor:
        op = getattr(torch.ops.aten, overload).default
        return op(grad, [8, 8], [4, 16, 4, 4], *rest)

    grad = torch.randn(4, 16, 8, 8)
    assert "_channels" not in str(quern.explain(derivative, grad))
    last = grad.contiguous(memory_format=torch.channels_last)
    assert "_channels" in str(quern.explain(derivative, last))
