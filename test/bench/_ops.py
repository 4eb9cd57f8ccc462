"""The ATen calls that `./dev bench ops` times: shapes for a number of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Arguments = tuple[Any, ...]
Maker = Callable[[int], Arguments]


def rows(n: int, width: int = 256) -> torch.Tensor:
    return torch.randn(max(n // width, 1), width)


def images(n: int, channels: int = 16, side: int = 32) -> torch.Tensor:
    return torch.randn(max(n // (channels * side * side), 1), channels, side, side)


def indices(below: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, below, shape)


def along(*rest: Any) -> Maker:
    return lambda n: (rows(n), *rest)


def _norm(n: int) -> Arguments:
    return rows(n), [256], torch.randn(256), torch.randn(256), 1e-5


def _norm_backward(n: int) -> Arguments:
    x, shape, w, b, eps = _norm(n)
    _, mean, rstd = torch.native_layer_norm(x, shape, w, b, eps)
    return torch.randn_like(x), x, shape, mean, rstd, w, b, [True, True, True]


def _batch(n: int) -> Arguments:
    x = images(n)
    parts = [torch.rand(16) + 0.5 for _ in range(4)]
    return (x, *parts, True, 0.1, 1e-5)


def _scatter(n: int) -> Arguments:
    x = rows(n)
    return x, 1, indices(256, *x.shape), torch.randn_like(x)


def _scatter_part(n: int) -> Arguments:
    """Places for all but the last row."""
    x, dim, places, source = _scatter(n)
    return x, dim, places[:-1], source


def _table(n: int) -> Arguments:
    return torch.randn(4096, 64), indices(4096, n // 64)


def _table_backward(n: int) -> Arguments:
    return torch.randn(n // 64, 64), indices(4096, n // 64), 4096, -1, False


def _pooled(n: int) -> Arguments:
    return images(n), [3, 3], [2, 2], [1, 1]


def _pooled_backward(n: int) -> Arguments:
    x, *window = _pooled(n)
    y, places = torch.ops.aten.max_pool2d_with_indices(x, *window)
    return torch.randn_like(y), x, *window, [1, 1], False, places


def _averaged_backward(n: int) -> Arguments:
    x, *window = _pooled(n)
    return torch.randn_like(torch.ops.aten.avg_pool2d(x, *window)), x, *window, False, True, None


def _grown(*rest: Any) -> Maker:
    def make(n: int) -> Arguments:
        return (images(n // 4), [64, 64], *rest)

    return make


def _grown_backward(*rest: Any) -> Maker:
    def make(n: int) -> Arguments:
        x = images(n // 4)
        return (torch.randn(*x.shape[:2], 64, 64), [64, 64], list(x.shape), *rest)

    return make


def _classes(n: int) -> Arguments:
    x = torch.log_softmax(rows(n), 1)
    return x, indices(256, x.shape[0]), None, 1, -100


def _pair(n: int) -> Arguments:
    return rows(n), rows(n)


def _softmax_backward(n: int) -> Arguments:
    return rows(n), torch.softmax(rows(n), 1), 1, torch.float32


def _edges(n: int) -> Arguments:
    return torch.randn(n), torch.linspace(-3, 3, 64)


def _grid(n: int) -> Arguments:
    x = images(n)
    return x, torch.rand(x.shape[0], 32, 32, 2) * 2 - 1, 0, 0, False


def indexed(count: int, *, is_masked: bool = False, is_written: bool = False) -> Maker:
    """Rows of the last axis by so many tensors of indices, one short axis for all but the first."""

    def make(n: int) -> Arguments:
        short = [2] * (count - 1)
        x = torch.randn(max(n // (256 << (count - 1)), 1), *short, 256)
        picked = x.numel() // 256
        given = [indices(size, picked) for size in x.shape[:-1]]
        mask = (torch.rand(picked) < 0.5,) if is_masked else ()
        written = (torch.randn(picked, 256),) if is_written else ()
        return x, *mask, given, *written

    return make


def every_count(**kinds: bool) -> tuple[Maker, ...]:
    return tuple(indexed(count, **kinds) for count in (1, 2, 3, 4, 5))


def _by_tensors(n: int) -> Arguments:
    scale, zero = torch.tensor([0.07]), torch.tensor([3], dtype=torch.int32)
    return torch.randn(n), scale, zero, torch.tensor([1]), -8, 7


def _masked(n: int) -> Arguments:
    return torch.randn(n), torch.rand(n) < 0.5, torch.tensor(0.5)


def _segments(by_lengths: bool) -> Maker:
    """Sixteen rows each."""

    def make(n: int) -> Arguments:
        x = rows(n)
        lengths, offsets = torch.full((len(x) // 16,), 16), torch.arange(0, len(x) + 1, 16)
        return (x, "sum", lengths) if by_lengths else (x, "sum", None, None, offsets)

    return make


def _segments_backward(by_lengths: bool) -> Maker:
    def make(n: int) -> Arguments:
        x, reduce, *bounds = _segments(by_lengths)(n)
        y = torch.randn(len(x) // 16, x.shape[1])
        return y, y, x, reduce, *(bounds if by_lengths else (None, bounds[-1]))

    return make


# Where there are several, a row takes the first that fits it.
ROWS: dict[str, Maker | tuple[Maker, ...]] = {
    "fill.Tensor": lambda n: (torch.randn(n), torch.tensor(0.5)),
    "masked_fill.Tensor": _masked,
    "segment_reduce": (_segments(by_lengths=False), _segments(by_lengths=True)),
    "_segment_reduce_backward": (
        _segments_backward(by_lengths=False),
        _segments_backward(by_lengths=True),
    ),
    "clamp": lambda n: (torch.randn(n), -1.0, 1.0),
    "clamp.Tensor": lambda n: (torch.randn(n), torch.rand(n) - 1, torch.rand(n)),
    "bernoulli": lambda n: (torch.rand(n),),
    "bernoulli.Tensor": lambda n: (torch.randn(n), torch.rand(n)),
    "native_dropout": lambda n: (torch.randn(n), 0.5, True),
    "fake_quantize_per_tensor_affine_cachemask": lambda n: (torch.randn(n), 0.07, 3, -8, 7),
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": _by_tensors,
    "sum": lambda n: (torch.randn(n),),
    "sum.dim_IntList": along([1]),
    "mean.dim": along([1]),
    "prod.dim_int": along(1),
    "amax": along([1]),
    "max.dim": along(1),
    "argmax": along(1),
    "any.dim": along(1),
    "var.correction": along([1]),
    "var_mean.correction": along([1]),
    "linalg_vector_norm": along(2, [1]),
    "logsumexp": along([1]),
    "cumsum": along(1),
    "cumprod": along(1),
    "cummax": along(1),
    "logcumsumexp": along(1),
    "sort": along(1),
    "topk": along(16, 1),
    "kthvalue": along(100, 1),
    "median.dim": along(1),
    "_softmax": along(1, False),
    "_log_softmax": along(1, False),
    "_softmax_backward_data": _softmax_backward,
    "_log_softmax_backward_data": _softmax_backward,
    "native_layer_norm": _norm,
    "native_layer_norm_backward": _norm_backward,
    "native_batch_norm": _batch,
    "embedding": _table,
    "embedding_dense_backward": _table_backward,
    "gather": lambda n: _scatter(n)[:3],
    "scatter.src": (_scatter, _scatter_part),
    "scatter.value": (lambda n: (*_scatter(n)[:3], 0.5), lambda n: (*_scatter_part(n)[:3], 0.5)),
    "scatter_add": (_scatter, _scatter_part),
    "index_select": lambda n: (rows(n), 0, indices(n // 256, n // 256)),
    "index_add": lambda n: (rows(n), 0, indices(n // 256, n // 256), rows(n)),
    "index.Tensor": every_count(),
    "_unsafe_index.Tensor": every_count(),
    "index_put": every_count(is_written=True),
    "_unsafe_index_put": every_count(is_written=True),
    "_unsafe_masked_index": tuple(
        lambda n, make=make: (*make(n), 0.5) for make in every_count(is_masked=True)
    ),
    "flip": along([1]),
    "roll": along([3], [1]),
    "tril": along(),
    "constant_pad_nd": along([1, 2], 0.5),
    "reflection_pad2d": lambda n: (images(n), [1, 2, 3, 1]),
    "replication_pad2d": lambda n: (images(n), [1, 2, 3, 1]),
    "pixel_shuffle": lambda n: (images(n), 2),
    "avg_pool2d": _pooled,
    "avg_pool2d_backward": _averaged_backward,
    "max_pool2d_with_indices": _pooled,
    "max_pool2d_with_indices_backward": _pooled_backward,
    "_adaptive_avg_pool2d": lambda n: (images(n), [7, 7]),
    "upsample_nearest2d": _grown(),
    "upsample_bilinear2d": _grown(False),
    "upsample_bicubic2d": _grown(False),
    "upsample_nearest2d_backward": _grown_backward(),
    "upsample_bilinear2d_backward": _grown_backward(False),
    "grid_sampler_2d": _grid,
    "im2col": lambda n: (images(n // 8), [3, 3], [1, 1], [1, 1], [1, 1]),
    "nll_loss_forward": _classes,
    "bucketize.Tensor": _edges,
    "searchsorted.Tensor": lambda n: (torch.linspace(-3, 3, 1024), torch.randn(n)),
    "_cdist_forward": lambda n: (torch.randn(n // 256, 32), torch.randn(256, 32), 2.0, None),
    "dot": lambda n: (torch.randn(n), torch.randn(n)),
    "mv": lambda n: (rows(n), torch.randn(256)),
    "glu": along(1),
    "glu_backward": lambda n: (rows(n // 2, 128), rows(n), 1),
}


def makers(name: str) -> tuple[Maker, ...]:
    """Those of an overload, without its namespace; none where the schema says enough."""
    found = ROWS.get(name, ())
    return found if isinstance(found, tuple) else (found,)
