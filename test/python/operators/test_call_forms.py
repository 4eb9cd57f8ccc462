"""Calls in forms that the operator database does not sample, against eager: truth values and whole
numbers, numbers that are none, forms of old calls, steps that round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from torch.nn import functional

Call = Callable[..., Any]
NAN, INF = float("nan"), float("inf")


def outcome(function: Call, tensors: list[torch.Tensor]) -> list[Any]:
    """Results, and gradients of what has some."""
    own = [t.clone().requires_grad_(t.is_floating_point()) for t in tensors]
    results = function(*own)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    wanted = [r for r in results if r.requires_grad]
    if wanted:
        seeds = [torch.linspace(1, 2, r.numel()).reshape(r.shape).to(r.dtype) for r in wanted]
        inputs = [t for t in own if t.requires_grad]
        results += torch.autograd.grad(wanted, inputs, seeds, allow_unused=True)
    return results


def same(function: Call, *tensors: torch.Tensor) -> None:
    """Equal to eager, in type too, without a call of ATen."""
    torch._dynamo.reset()
    quern.reset_counters()
    ours = outcome(torch.compile(function, backend="quern", fullgraph=True), list(tensors))
    eager = outcome(function, list(tensors))
    torch.testing.assert_close(ours, eager, rtol=1e-5, atol=1e-6, equal_nan=True)
    assert not quern.counters()["fallbacks"]


TRUTH: dict[str, Call] = {
    "order": lambda a, b: (a < b, a <= b, a > b, a >= b, a > False),
    "bounds": lambda a, b: (a.clamp(min=b), a.clamp(max=b), torch.fmax(a, b), torch.fmin(a, b)),
    "kinds": lambda a, _: (torch.isinf(a), torch.isneginf(a), torch.isposinf(a), torch.signbit(a)),
    "itself": lambda a, _: (torch.sgn(a), torch.sign(a), torch.nan_to_num(a)),
    "quotient": lambda a, b: torch.div(a, b, rounding_mode=None),
    "sum": lambda a, _: torch.logsumexp(a, 0),
}


@pytest.mark.parametrize("name", TRUTH)
def test_truth_values(name: str) -> None:
    same(TRUTH[name], torch.tensor([True, True, False]), torch.tensor([True, False, False]))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8])
def test_powers_of_whole_numbers(dtype: torch.dtype) -> None:
    base = torch.tensor([2, 3, -1, 1, 0, -1, 7, 5, 0, -7], dtype=dtype)
    exponent = torch.tensor([7, 2, -3, -2, -1, -4, -1, 3, 0, 30], dtype=dtype)
    same(torch.pow, base, exponent)
    same(lambda x: (torch.pow(x, 3), torch.pow(2, x), torch.square(x), torch.pow(x, 0)), base)


def test_powers_of_bytes() -> None:
    x = torch.tensor([2, 3, 200, 255, 0], dtype=torch.uint8)
    same(lambda x: (torch.pow(x, 3), torch.pow(x, x)), x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_roots_at_their_edges(dtype: torch.dtype) -> None:
    x = torch.tensor([-INF, -0.0, 0.0, 4.0, INF, NAN, -1.0], dtype=dtype)
    same(lambda x: (torch.pow(x.detach(), 0.5), torch.pow(x.detach(), -0.5)), x)


def test_shifts_of_one_number() -> None:
    same(lambda x: (1 << x, torch.bitwise_right_shift(100, x)), torch.tensor([0, 3, 5]))


def test_moments_of_nothing() -> None:
    same(lambda x: torch.std_mean(x.detach()), torch.empty(0, 3))
    same(lambda x: torch.var_mean(x.detach(), 0, correction=0), torch.empty(0, 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_closeness_rounds_its_steps(dtype: torch.dtype) -> None:
    x = torch.linspace(-3, 3, 301).to(dtype)
    same(lambda x: torch.isclose(x.detach(), x.detach() * 1.3, rtol=0.3, atol=1e-3), x)
    edges = torch.tensor([INF, -INF, NAN, 3e38, 1.0]).to(dtype)
    same(lambda x: torch.isclose(x.detach(), -x.detach(), rtol=0.5, atol=2.0), edges)


def test_patches_of_one_image() -> None:
    same(lambda x: functional.unfold(x, (2, 1), padding=(0, 1)), torch.randn(3, 8, 9))
    columns = torch.randn(3 * 4, 6)
    same(lambda x: functional.fold(x, (3, 4), (2, 2)), columns)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_the_last_place_that_is_no_number(axes: int) -> None:
    """Of several the last one has the place, and so the gradient."""
    pool = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[axes - 1]
    x = torch.randn([2] + [8] * axes)
    x[torch.rand(x.shape) < 0.4] = NAN
    same(lambda x: pool(x, 3, 2, padding=1, return_indices=True), x)


def test_masked_reads_have_gradients() -> None:
    """How many there are is known to nobody when the graph is made."""
    x, mask = torch.randn(7, 1, 3), torch.tensor([1, 0, 1, 1, 0, 0, 1]).bool()
    ours = outcome(torch.compile(lambda x: x[mask], backend="quern", fullgraph=True), [x])
    torch.testing.assert_close(ours, outcome(lambda x: x[mask], [x]))


@pytest.mark.parametrize("padding", [None, 1])
def test_rows_share_by_how_often_they_are_read(padding: int | None) -> None:
    places = torch.tensor([[1, 2, 1], [0, 1, 4]])

    def rows(w: torch.Tensor) -> torch.Tensor:
        return functional.embedding(places, w, padding, scale_grad_by_freq=True)

    same(rows, torch.randn(6, 4))


@pytest.mark.parametrize("offset", [-2, -1, 1, 3])
def test_diagonals_beside(offset: int) -> None:
    same(lambda x: torch.diag_embed(x, offset), torch.randn(2, 3))


@pytest.mark.parametrize("reduce", ["add", "multiply"])
def test_old_form_of_scattering(reduce: str) -> None:
    x, source = torch.randn(4, 5), torch.randn(3, 5)
    places = torch.tensor([[0, 1, 2, 3, 0], [1, 1, 0, 2, 3]])

    def written(x: torch.Tensor, source: torch.Tensor) -> Any:
        x, source = x.detach(), source.detach()
        return (
            torch.scatter(x, 0, places, source, reduce=reduce),
            torch.scatter(x, 0, places, 2.5, reduce=reduce),
            torch.scatter(x, 1, places[:1], 2.5, reduce=reduce),
            torch.scatter(x > 0, 0, places, source > 0, reduce=reduce),
            torch.scatter(x > 0, 0, places, False, reduce=reduce),
        )

    same(written, x, source)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_bilinear_forms(dtype: torch.dtype) -> None:
    x, z = (torch.arange(6 * n).reshape(2, 3, n).to(dtype) / 4 for n in (4, 5))
    weight, bias = torch.arange(140).reshape(7, 4, 5).to(dtype) % 9, torch.arange(7).to(dtype)
    same(functional.bilinear, x.to(dtype), z.to(dtype), weight, bias)
    same(lambda x, z: functional.bilinear(x, z, weight), x[0].to(dtype), z[0].to(dtype))


WINDOWS: dict[str, Call] = {
    "hamming": lambda: (
        torch.hamming_window(9),
        torch.hamming_window(8, periodic=False, alpha=0.5, beta=0.3),
    ),
    "blackman": lambda: (torch.blackman_window(9), torch.blackman_window(8, periodic=False)),
    "bartlett": lambda: (torch.bartlett_window(9), torch.bartlett_window(8, periodic=False)),
    "kaiser": lambda: (
        torch.kaiser_window(9, dtype=torch.float64),
        torch.kaiser_window(8, periodic=False, beta=5.5),
    ),
    "of one": lambda: (torch.hamming_window(1), torch.kaiser_window(1), torch.bartlett_window(0)),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str) -> None:
    same(WINDOWS[name])


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_samples_of_images(mode: str, padding: str) -> None:
    # In f32 eager's derivatives are farther from these than its tolerance.
    x = torch.linspace(-2, 3, 180, dtype=torch.float64).sin().reshape(2, 3, 5, 6)
    grid = torch.linspace(-1.3, 1.4, 64, dtype=torch.float64).reshape(2, 4, 4, 2)
    forms = {"mode": mode, "padding_mode": padding}
    same(lambda x, g: functional.grid_sample(x, g, **forms, align_corners=True), x, grid)
    # The gradient of the image alone.
    fixed = grid.flip(1)
    same(lambda x: functional.grid_sample(x, fixed, **forms, align_corners=False), x)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_images_made_smaller(mode: str, layout: torch.memory_format) -> None:
    """What is beside an output's window does not count, infinite or not."""
    x = torch.linspace(-2, 3, 2 * 3 * 19 * 14).sin().reshape(2, 3, 19, 14).to(memory_format=layout)
    if mode == "bilinear":  # where no weight is so near 0 that its sign is chance
        x[1, 2, 9, 7] = INF

    def resized(x: torch.Tensor) -> list[torch.Tensor]:
        sizes = ((5, 4), (7, 30), (1, 1))
        return [functional.interpolate(x, s, mode=mode, antialias=True) for s in sizes]

    same(resized, x)


def test_places_of_a_number() -> None:
    x = torch.linspace(-1, 1, 9)
    same(lambda x: (torch.searchsorted(x, 0.25), torch.searchsorted(x, 2, side="right")), x)
    same(lambda x: torch.searchsorted(x, 0.1, sorter=x.argsort()), x.flip(0))


def test_zeta_of_numbers() -> None:
    def zetas(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        q = x.detach()
        zeta = torch.special.zeta
        return zeta(2, q), zeta(q + 2, 3), zeta(2.5, q.long())

    same(zetas, torch.linspace(0.5, 4, 8))
