"""Arguments for overloads that few programs call: reducing scatters, quantisation, windows."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from aten_makers import Arguments, Maker, counted, number_first, numbers, randn


def reduced(*, is_number: bool) -> Maker:
    """Scatters that reduce, places twice among them."""

    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        places = torch.tensor([[0, 3, 3], [1, 1, 0]])
        for dim, size in ((0, (4, 3)), (1, (2, 4))):
            for how in ("add", "multiply"):
                source = 2 if is_number else randn(dtype, 2, 3)
                yield (randn(dtype, *size), dim, places, source), {"reduce": how}

    return make


def rare_rows(dtype: torch.dtype) -> Iterator[Arguments]:
    """Gradients of a table in proportion to how seldom its rows were read."""
    for padding in (-1, 1):
        yield (randn(dtype, 5, 3), torch.tensor([1, 0, 1, 3, 1]), 4, padding, True), {}


def quantised(*, given: str) -> Maker:
    """Values with their scale and zero as numbers, as tensors, or for each channel."""

    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        x = randn(dtype, 3, 7) * 4
        zero = torch.tensor([3], dtype=torch.int32)
        if given == "numbers":
            yield (x, 0.07, 3, -8, 7), {}
            return
        if given == "tensors":
            for switch in (1, 0):
                yield (x, torch.tensor([0.07]), zero, torch.tensor([switch]), -8, 7), {}
            return
        for axis, size in enumerate(x.shape):
            yield (x, torch.rand(size) + 0.02, zero.expand(size), axis, 0, 15), {}
            yield (x, torch.rand(size) + 0.02, torch.rand(size), axis, 0, 15), {}

    return make


def products_of_three(dtype: torch.dtype) -> Iterator[Arguments]:
    """A bilinear form and its derivatives, as autograd calls them."""
    x, w, z, out = (randn(dtype, *s) for s in ((4, 3), (2, 3, 5), (4, 5), (4, 2)))
    yield (x, w, z, [1, 3], [0], [1, 2], [2, 3]), {}
    yield (out, w, z, [2, 3], [0], [1, 2], [1, 3]), {}
    yield (x, out, z, [1, 3], [2, 3], [1, 2], [0]), {}
    yield (x, w, out, [1, 3], [0], [2, 3], [1, 2]), {}


def places(dtype: torch.dtype) -> Iterator[Arguments]:
    """Where a number stands in a sequence, sorted or by way of a sorter."""
    free = randn(dtype, 9)
    for value in (2, -1, 0.5) if dtype.is_floating_point else (2, 4):
        for side in ({}, {"right": True}, {"side": "left"}, {"side": "right"}):
            yield (free.sort().values, value), side
            yield (free, value), {**side, "sorter": free.argsort(), "out_int32": True}


def smoothed(*, is_backward: bool) -> Maker:
    """Images made smaller, larger and both, with extents or factors of their own."""

    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        for size, out in (((17, 11), (3, 29)), ((8, 8), (4, 4)), ((9, 6), (1, 13))):
            for aligned, factors in ((False, ()), (False, (0.4, 1.7)), (True, ())):
                if is_backward:
                    yield (randn(dtype, 2, 3, *out), out, (2, 3, *size), aligned, *factors), {}
                else:
                    yield (randn(dtype, 2, 3, *size), out, aligned, *factors), {}

    return make


def small_integers(dtype: torch.dtype) -> Iterator[Arguments]:
    """Factors of a product of bytes."""
    if dtype == torch.int64:
        for m, k, n in ((3, 5, 4), (17, 32, 8), (2, 0, 3)):
            a, b = (torch.randint(-128, 128, s, dtype=torch.int8) for s in ((m, k), (k, n)))
            yield (a, b), {}


def grouped(*, is_backward: bool) -> Maker:
    """A group norm of images, with scale and shift and without."""

    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        if not dtype.is_floating_point:
            return
        for channels, groups in ((6, 3), (20, 4), (3, 1)):
            x, w, b = (
                randn(dtype, 2, channels, 3, 5),
                randn(dtype, channels),
                randn(dtype, channels),
            )
            x = x.to(memory_format=torch.channels_last)
            sizes = (2, channels, 15, groups)
            for scale, shift in ((w, b), (None, None)):
                if not is_backward:
                    yield (x, scale, shift, *sizes, 1e-5), {}
                    continue
                y, mean, rstd = torch.native_group_norm(x, scale, shift, *sizes, 1e-5)
                yield (torch.randn_like(y), x, mean, rstd, scale, *sizes, [True, True, True]), {}

    return make


def recurrent(dtype: torch.dtype) -> Iterator[Arguments]:
    """Layers of long short-term memory, forward and from the end, with biases and without."""
    if not dtype.is_floating_point:
        return
    for steps, batch, width, hidden in ((5, 3, 4, 6), (1, 1, 7, 3), (3, 2, 1, 17)):
        x, w = randn(dtype, steps, batch, width), randn(dtype, 4 * hidden, width)
        u, b, d = (randn(dtype, 4 * hidden, *rest) for rest in ((hidden,), (), ()))
        h, c = randn(dtype, 1, batch, hidden), randn(dtype, 1, batch, hidden)
        for reverse in (False, True):
            flags = (reverse, [], 2, hidden, 1)
            yield (x, w, u, b, d, h, c, *flags, True, False, False, False), {}
            zeros = (torch.zeros_like(w), torch.zeros_like(u))
            yield (x, w, u, *zeros, h, c, *flags, False, False, False, False), {}


QUANTISED = "aten::fake_quantize_per_"
BY_TENSORS = "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"
RARE: dict[str, tuple[Maker, ...]] = {
    "aten::scatter.reduce": (reduced(is_number=False),),
    "aten::scatter.value_reduce": (reduced(is_number=True),),
    "aten::embedding_dense_backward": (rare_rows,),
    "aten::_int_mm": (small_integers,),
    "aten::mkldnn_rnn_layer": (recurrent,),
    "aten::native_group_norm": (grouped(is_backward=False),),
    "aten::native_group_norm_backward": (grouped(is_backward=True),),
    "aten::_trilinear": (products_of_three,),
    QUANTISED + "tensor_affine_cachemask": (quantised(given="numbers"),),
    QUANTISED + "channel_affine_cachemask": (quantised(given="channels"),),
    BY_TENSORS: (quantised(given="tensors"),),
    "aten::searchsorted.Scalar": (places,),
    "aten::special_zeta.self_scalar": (number_first(2, 3.5, 1),),
    "aten::special_zeta.other_scalar": (numbers(2, 0.5, -1),),
}
for kind in ("bilinear", "bicubic"):
    RARE[f"aten::_upsample_{kind}2d_aa"] = (smoothed(is_backward=False),)
    RARE[f"aten::_upsample_{kind}2d_aa_backward"] = (smoothed(is_backward=True),)
for window in ("hamming", "blackman", "bartlett", "kaiser"):
    RARE[f"aten::{window}_window"] = (counted((9,), (1,)),)
    RARE[f"aten::{window}_window.periodic"] = (counted((9, False), (4, True)),)
RARE["aten::hamming_window.periodic_alpha"] = (counted((9, False, 0.5)),)
RARE["aten::hamming_window.periodic_alpha_beta"] = (counted((9, True, 0.5, 0.3)),)
RARE["aten::kaiser_window.beta"] = (counted((9, False, 5.5)),)
