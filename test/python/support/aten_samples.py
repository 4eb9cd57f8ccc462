"""Arguments for overloads that no entry of the operator database calls by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from aten_makers import Arguments, Maker, counted, number_first, numbers, randn, tensors
from aten_rare_samples import RARE


def norm(dtype: torch.dtype, shape: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
    """Input, weight, bias, running mean and variance of a batch norm."""
    channels = shape[1]
    parts = [randn(dtype, channels) for _ in range(3)]
    return (randn(dtype, *shape), *parts, randn(dtype, channels).abs() + 0.5)


def batch_norms(*flags: bool, stats: bool = True) -> Maker:
    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        for shape in ((4, 3), (2, 5, 7), (2, 3, 4, 6)):
            x, w, b, mean, var = norm(dtype, shape)
            running = (mean, var) if stats else ()
            yield (x, w, b, *running, *flags, 0.1, 1e-5), {}
            yield (x, None, None, *running, *flags, 0.3, 1e-3), {}

    return make


def attention(causal: bool) -> Maker:
    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        for b, h, shared, m, n, d in (
            (2, 3, 3, 19, 23, 8),
            (1, 2, 2, 5, 5, 16),
            (2, 6, 2, 19, 23, 8),
        ):
            q = randn(dtype, b, h, m, d)
            k, v = randn(dtype, b, shared, n, d), randn(dtype, b, shared, n, d)
            if causal:
                q = randn(dtype, b, h, n, d)
                yield (q, k, v, 0.0, True), {}
                continue
            yield (q, k, v), {}
            yield (q, k, v, 0.0, False), {"attn_mask": randn(dtype, b, h, m, n), "scale": 0.3}

    return make


def attention_backward(causal: bool) -> Maker:
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default

    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        for args, kwargs in attention(causal)(dtype):
            out, lse = forward(*args, **kwargs)
            grad = torch.randn_like(out)
            yield (grad, *args[:3], out, lse, 0.0, causal), kwargs

    return make


ATTENTION = "aten::_scaled_dot_product_flash_attention_for_cpu"


def indices(*, with_values: bool) -> Maker:
    """One to three index tensors: broadcast, negative, masks, with axes left out."""

    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        x = randn(dtype, 5, 4, 3, 6)
        i, j = torch.tensor([0, 2, -1]), torch.tensor([[1], [3]])
        k, mask = torch.tensor([2, 0, 0]), torch.tensor([True, False, True, True])
        lists = ([i], [None, j], [i, j], [i, None, k], [None, mask, k], [None, None, i], [i, j, k])
        for given in (*lists, [i, j, k, torch.tensor([5, 0, 1])]):
            if not with_values:
                yield (x, given), {}
                continue
            for accumulate in (False, True):
                yield (x, given, randn(dtype, *x[tuple(given_slices(given))].shape), accumulate), {}

    return make


def given_slices(given: list[torch.Tensor | None]) -> list[Any]:
    return [slice(None) if each is None else each for each in given]


def losses(maker: Callable[..., Arguments]) -> Maker:
    """A class loss in all reductions, with and without weights and samples that do not count."""

    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        for shape in ((7, 5), (2, 5, 3, 4)):
            x = randn(dtype, *shape)
            target = torch.randint(0, 5, (shape[0], *shape[2:]))
            target.view(-1)[2] = -100
            for weight in (None, randn(dtype, 5).abs() + 0.1):
                for reduction in (0, 1, 2):
                    yield maker(x, target, weight, reduction)

    return make


def nll(x: torch.Tensor, target: torch.Tensor, weight: Any, reduction: int) -> Arguments:
    return (x, target, weight, reduction, -100), {}


def nll_backward(x: torch.Tensor, target: torch.Tensor, weight: Any, reduction: int) -> Arguments:
    name = "nll_loss2d_forward" if x.dim() > 2 else "nll_loss_forward"
    out, total = getattr(torch.ops.aten, name)(x, target, weight, reduction, -100)
    return (torch.randn_like(out), x, target, weight, reduction, -100, total), {}


SAMPLES: dict[str, tuple[Maker, ...]] = {
    "aten::_native_batch_norm_legit": (batch_norms(True),),
    "aten::_native_batch_norm_legit.no_stats": (batch_norms(True, stats=False),),
    "aten::_native_batch_norm_legit_functional": (batch_norms(True),),
    "aten::_native_batch_norm_legit_no_training": (batch_norms(),),
    "aten::_prelu_kernel": (tensors((3, 4), (3, 4)),),
    "prims::fma": (tensors((3, 4), (3, 4), (3, 4)),),
    "aten::index.Tensor": (indices(with_values=False),),
    "aten::_unsafe_index.Tensor": (indices(with_values=False),),
    "aten::index_put": (indices(with_values=True),),
    "aten::_unsafe_index_put": (indices(with_values=True),),
    "aten::nll_loss_forward": (losses(nll),),
    "aten::nll_loss2d_forward": (losses(nll),),
    "aten::nll_loss_backward": (losses(nll_backward),),
    "aten::nll_loss2d_backward": (losses(nll_backward),),
    ATTENTION: (attention(False), attention(True)),
    ATTENTION + "_backward": (attention_backward(False), attention_backward(True)),
}
BINARY = ("add", "sub", "rsub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge", "floor_divide")
BINARY += ("remainder", "fmod", "copysign")
SAMPLES |= {f"aten::{name}.Scalar": (numbers(2, -3, 0.75),) for name in BINARY}
SAMPLES["aten::pow.Tensor_Scalar"] = (numbers(2, 3, 1, 0.5, -0.5, -2, 2.5, 0),)
SAMPLES["aten::pow.Scalar"] = (number_first(2, 0.7, 1),)
SAMPLES["aten::xlogy.Scalar_Other"] = (numbers(2, 0.3),)
SAMPLES["aten::xlogy.Scalar_Self"] = (number_first(2, 0, 0.3),)
SAMPLES["aten::special_xlog1py.other_scalar"] = (numbers(2, 0.3),)
SAMPLES["aten::special_xlog1py.self_scalar"] = (number_first(2, 0, 0.3),)


def modes(*values: Any) -> Maker:
    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        for args, _ in numbers(*values)(dtype):
            for mode in ("floor", "trunc", None):
                yield args, {"rounding_mode": mode}

    return make


def unrounded(dtype: torch.dtype) -> Iterator[Arguments]:
    for (x, y), _ in tensors((4, 5), (4, 5))(dtype):
        yield (x, y), {"rounding_mode": None}


def bounds(dtype: torch.dtype) -> Iterator[Arguments]:
    for low, high in ((1, 3), (None, 2), (-1, None), (3, 1)):
        yield (randn(dtype, 4, 7), low, high), {}


def given_dims(dtype: torch.dtype) -> Iterator[Arguments]:
    for dims in ([0], [1, 2], [0, 2], []):
        yield (randn(dtype, 3, 4, 5), dims), {}


def into(dtype: torch.dtype) -> Iterator[Arguments]:
    for other in (torch.float32, torch.int64, torch.bool):
        yield (randn(dtype, 3, 4), randn(other, 3, 4)), {}


def rms(dtype: torch.dtype) -> Iterator[Arguments]:
    for shape, width in (((3, 4, 5), 1), ((3, 7), 1), ((2, 3, 4), 2)):
        yield (randn(dtype, *shape), list(shape[-width:]), randn(dtype, *shape[-width:]), 1e-5), {}
        yield (randn(dtype, *shape), list(shape[-width:]), None, 1e-3), {}


def iotas(dtype: torch.dtype) -> Iterator[Arguments]:
    for length, start, step in ((5, 0, 1), (7, 3, 2), (4, 9, -3)):
        named = {"start": start, "step": step, "dtype": dtype, "device": torch.device("cpu")}
        yield (length,), {**named, "requires_grad": False}


def smallest(dtype: torch.dtype) -> Iterator[Arguments]:
    for k, dim in ((3, -1), (1, 0)):
        if dtype != torch.bool:
            yield (torch.randperm(36).view(4, 9).to(dtype), k, dim, False), {}


def columns(dtype: torch.dtype) -> Iterator[Arguments]:
    yield (randn(dtype, 2, 12, 20), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1]), {}
    yield (randn(dtype, 1, 18, 9), [5, 5], [3, 3], [1, 1], [1, 1], [2, 2]), {}
    yield (randn(dtype, 2, 4, 6), [4, 5], [2, 2], [2, 2], [0, 0], [1, 1]), {}


SAMPLES["aten::col2im"] = (columns,)
SAMPLES["aten::topk"] = (smallest,)
SAMPLES["prims::iota"] = (iotas,)
SAMPLES["aten::eye"] = (counted((4,), (1,)),)
SAMPLES["aten::eye.m"] = (counted((4, 3), (2, 5)),)
SAMPLES["aten::linspace"] = (counted((0.5, 3.0, 7), (2, -1, 2), (1, 5, 1)),)


def weight_norms(dtype: torch.dtype) -> Iterator[Arguments]:
    for shape, dim in (((4, 3, 5), 0), ((6, 7), 1), ((5,), 0)):
        gains = [n if d == dim else 1 for d, n in enumerate(shape)]
        yield (randn(dtype, *shape), randn(dtype, *gains), dim), {}


def weight_norms_backward(dtype: torch.dtype) -> Iterator[Arguments]:
    for (v, g, dim), _ in weight_norms(dtype):
        w, norms = torch.ops.aten._weight_norm_interface(v, g, dim)
        yield (torch.randn_like(w), v, g, norms, dim), {}


def dropped(dtype: torch.dtype) -> Iterator[Arguments]:
    yield (randn(dtype, 4, 5), torch.rand(4, 5) < 0.5, 2.0), {}
    yield (randn(dtype), torch.tensor(True), 1.25), {}


def leaky(dtype: torch.dtype) -> Iterator[Arguments]:
    for training in (False, True):
        x, noise = randn(dtype, 4, 5), randn(dtype, 4, 5)
        yield (torch.randn_like(x), x, noise, 0.125, 0.25, training, False), {}


def leaky_slopes(dtype: torch.dtype) -> Iterator[Arguments]:
    for from_result in (False, True):
        yield (randn(dtype, 4, 5), randn(dtype, 4, 5), 0.125, from_result), {}


def from_masks(dtype: torch.dtype) -> Iterator[Arguments]:
    for shape, size in (((4, 5), (30,)), ((7,), (2, 4)), ((2, 0), (3,))):
        yield (randn(dtype, *shape), torch.rand(shape) < 0.5, list(size)), {}


def bags(*, is_backward: bool) -> Maker:
    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        w, i = randn(dtype, 10, 3), torch.tensor([1, 2, 4, 5, 4, 3, 2, 9])
        offsets = torch.tensor([0, 4, 4, 8])
        for mode, includes, padding in ((0, False, -1), (0, True, 4), (1, False, 2), (2, True, -1)):
            for weights in (None, randn(dtype, 8)) if mode == 0 else (None,):
                args = (w, i, offsets, False, mode, False, weights, includes, padding)
                if not is_backward:
                    yield args, {}
                    continue
                out, bag, size, most = torch.ops.aten._embedding_bag(*args)
                if bag.numel() == 0:
                    bag = torch.ops.aten._embedding_bag(*args[:4], 1, False)[1]
                grad = torch.randn_like(out)
                yield (
                    (grad, i, offsets, bag, size, most, 10, False, mode, False, weights, padding),
                    {},
                )

    return make


def bag_weights(dtype: torch.dtype) -> Iterator[Arguments]:
    w, i = randn(dtype, 10, 3), torch.tensor([1, 2, 4, 5, 4])
    offsets, bag = torch.tensor([0, 2, 2]), torch.tensor([0, 0, 2, 2, 2])
    for padding in (-1, 4):
        yield (randn(dtype, 3, 3), w, i, offsets, bag, 0, padding), {}


def masked_reads(dtype: torch.dtype) -> Iterator[Arguments]:
    x = randn(dtype, 5, 4, 3)
    i, j, k = torch.tensor([0, 2, 4]), torch.tensor([[1], [3]]), torch.tensor([2, 0, 0])
    for given in ([None, None, k], [None, j, k], [i, j, k]):
        found = [each for each in given if each is not None]
        mask = torch.rand(torch.broadcast_tensors(*found)[0].shape) < 0.6
        yield (x, mask, given, 3), {}


def masked_writes(dtype: torch.dtype) -> Iterator[Arguments]:
    for (x, mask, given, _), _ in masked_reads(dtype):
        yield (x, mask, given, randn(dtype, *x[tuple(given_slices(given))].shape)), {}


def pools(*, is_back: bool) -> Maker:
    windows = [([3, 3], [2, 2], [1, 1], [1, 1]), ([2, 3], [2, 1], [0, 1], [1, 1])]

    def make(dtype: torch.dtype) -> Iterator[Arguments]:
        for kernel, stride, padding, dilation in windows:
            args = (randn(dtype, 2, 3, 8, 9), kernel, stride, padding, dilation)
            if not is_back:
                yield (*args, True), {}
                continue
            offsets = torch.ops.prims._low_memory_max_pool_with_offsets(*args, False)[1]
            yield (offsets, kernel, [8, 9], stride, padding, dilation), {}

    return make


def norm_backward(dtype: torch.dtype) -> Iterator[Arguments]:
    for update in (True, False):
        x, w, _, mean, var = norm(dtype, (3, 4, 5))
        forward = torch.ops.aten.native_batch_norm(x, w, None, mean, var, update, 0.1, 1e-5)
        saved = forward[1:] if update else (mean, var)
        reserve = torch.empty(0, dtype=torch.uint8)
        tail = (*saved, update, 1e-5, [True, True, True], reserve)
        yield (torch.randn_like(x), x, w, mean, var, *tail), {}


def maps(dtype: torch.dtype) -> Iterator[Arguments]:
    for aligned in (False, True):
        yield (randn(dtype, 2, 2, 3), [2, 3, 4, 5], aligned), {}
        yield (randn(dtype, 2, 3, 4), [2, 3, 4, 1, 5], aligned), {}


def masked_out(dtype: torch.dtype) -> Iterator[Arguments]:
    x = randn(dtype, 3, 5)
    if dtype.is_floating_point:
        x[1] = float("-inf")
    yield (x, 1), {}
    yield (x, -2), {}


def weighted(dtype: torch.dtype) -> Iterator[Arguments]:
    q, k, v = randn(dtype, 2, 3, 5, 8), randn(dtype, 2, 3, 7, 8), randn(dtype, 2, 3, 7, 4)
    yield (q, k, v), {}
    yield (q, k, v, randn(dtype, 2, 3, 5, 7)), {"scale": 0.25}


SAMPLES["aten::_safe_softmax"] = (masked_out,)
SAMPLES["aten::_scaled_dot_product_attention_math"] = (weighted,)
SAMPLES["aten::_weight_norm_interface"] = (weight_norms,)
SAMPLES["aten::_weight_norm_interface_backward"] = (weight_norms_backward,)
SAMPLES["aten::native_dropout_backward"] = (dropped,)
SAMPLES["aten::rrelu_with_noise_backward"] = (leaky,)
SAMPLES["aten::leaky_relu_backward"] = (leaky_slopes,)
SAMPLES["aten::masked_scatter_backward"] = (from_masks,)
SAMPLES["aten::_embedding_bag"] = (bags(is_backward=False),)
SAMPLES["aten::_embedding_bag_backward"] = (bags(is_backward=True),)
SAMPLES["aten::_embedding_bag_per_sample_weights_backward"] = (bag_weights,)
SAMPLES["aten::_unsafe_masked_index"] = (masked_reads,)
SAMPLES["aten::_unsafe_masked_index_put_accumulate"] = (masked_writes,)
SAMPLES["prims::_low_memory_max_pool_with_offsets"] = (pools(is_back=False),)
SAMPLES["prims::_low_memory_max_pool_offsets_to_indices"] = (pools(is_back=True),)
SAMPLES["aten::batch_norm_backward"] = (norm_backward,)
SAMPLES["aten::affine_grid_generator"] = (maps,)
SAMPLES["aten::zero"] = SAMPLES["aten::lift_fresh_copy"] = (tensors((3, 4)),)
SAMPLES["aten::arange"] = (counted((5,), (0,), (2.5,)),)
SAMPLES["aten::arange.start"] = (counted((1, 5), (-2.5, 2)),)
SAMPLES["aten::arange.start_step"] = (counted((1, 8, 3), (5, -3, -2), (0.5, 2, 0.25)),)
SAMPLES["aten::zeros"] = SAMPLES["aten::ones"] = (counted(([2, 3],), ([],), ([0, 4],)),)
SAMPLES["aten::clamp"] = (bounds,)
SAMPLES["aten::clamp_min"] = SAMPLES["aten::clamp_max"] = (numbers(2, -1, 0.5),)
SAMPLES["aten::copy"] = (into,)
SAMPLES["aten::fill.Tensor"] = (tensors((3, 4), ()),)
SAMPLES["aten::_fused_rms_norm"] = (rms,)
SAMPLES["aten::flip"] = SAMPLES["prims::rev"] = (given_dims,)
SAMPLES["aten::__lshift__.Tensor"] = SAMPLES["aten::__rshift__.Tensor"] = (tensors((4, 5), (4, 5)),)
SAMPLES["aten::div.Scalar_mode"] = (modes(2, -3, 0.75),)
SAMPLES["aten::div.Tensor_mode"] = (unrounded,)
SAMPLES["prims::shift_left"] = (tensors((4, 5), (4, 5)),)
SAMPLES["prims::shift_right_arithmetic"] = (tensors((4, 5), (4, 5)),)
SAMPLES |= RARE


def samples(overload: str, dtype: torch.dtype) -> Iterator[Arguments]:
    for maker in SAMPLES.get(overload, ()):
        try:
            yield from maker(dtype)
        except RuntimeError:
            continue  # torch has not what the arguments are made with for this type
