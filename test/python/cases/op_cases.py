"""Calls of the library's `op`s, as they come from a graph: file, name, arguments, names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass
class Call:
    """A call; what it writes is compared as well."""

    file: str
    name: str
    arguments: list[Any]
    named: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.file}-{self.name}-{'-'.join(map(str, self.named.values()))}"


def real(*shape: int, seed: int = 0) -> torch.Tensor:
    maker = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(shape, generator=maker)


def whole(limit: int, *shape: int) -> torch.Tensor:
    maker = torch.Generator().manual_seed(limit)
    return torch.randint(0, limit, shape, generator=maker)


def lists(*shapes: tuple[int, ...], seed: int = 0) -> list[torch.Tensor]:
    return [real(*shape, seed=seed) for shape in shapes]


def spectra() -> Iterator[Call]:
    z = torch.complex(real(3, 12), real(3, 12, seed=1))
    wide = torch.complex(real(2, 17).double(), real(2, 17, seed=1).double())
    prime = torch.complex(real(3, 67), real(3, 67, seed=1))
    for x, axis in ((z, 1), (z, 0), (wide, 1), (prime, 1)):
        yield Call("fft", "fft_c2c", [x, axis, 1, True])
    yield Call("fft", "fft_c2c_2", [z, 0, 1, 2, False])
    long = torch.complex(real(2, 420, 16), real(2, 420, 16, seed=1))
    yield Call("fft", "fft_c2c", [long, 1, 2, True])
    yield Call("fft", "fft_c2c", [long[..., 0], -1, 1, False])
    for x in (real(3, 10), real(3, 9), real(2, 34, 16)):
        yield Call("fft", "fft_r2c", [x, 1, 0, True], {"U": "c64"})
        yield Call("fft", "fft_r2c", [x, 1, 2, False], {"U": "c64"})
    for extent in (10, 11, 22):
        yield Call("fft", "fft_c2r", [z, 1, 1, extent], {"U": "f32"})
    yield Call("fft", "fft_c2r", [long[:, :8], 1, 1, 14], {"U": "f32"})


def chosen() -> Iterator[Call]:
    x = real(6, 7).clamp(min=0)
    yield Call("selection", "nonzero", [x])
    yield Call("selection", "nonzero_static", [x, 9, -1])
    yield Call("selection", "masked_select", [x, x > 0.3])
    for many in (5, 300):
        numbers = whole(4, many)
        yield Call("selection", "unique", [numbers, True, True])
        yield Call("selection", "unique_consecutive", [numbers.sort().values, True, True])
        yield Call("selection", "bincount", [numbers, 9])
    yield Call("selection", "repeat_places", [whole(4, 30)])
    yield Call("ranks", "topk", [real(4, 70), 5])
    yield Call("ranks", "topk_smallest", [real(3, 9), 9])
    yield Call("ranks", "median_all", [real(5, 31)])
    yield Call("extremes", "argmax_all", [real(5, 31)])
    yield Call("search", "isin", [whole(20, 6, 5), whole(30, 7)], {"invert": False})
    yield Call("masked", "masked_scatter", [real(4, 5), real(4, 5) > 0, real(20, seed=2)])
    yield Call("histograms", "histc", [real(300), 10, -1.0, 1.0])
    yield Call("draws", "randperm", [200, torch.tensor(3)], {"U": "i64"})


def steps() -> Iterator[Call]:
    shapes = ((5, 3), (70,), ())
    ps, gs = lists(*shapes), lists(*shapes, seed=1)
    ms, vs = lists(*shapes, seed=2), [x.abs() for x in lists(*shapes, seed=3)]
    times = [torch.tensor(3.0) for _ in shapes]
    numbers = [0.1, 0.9, 0.99, 0.01, 1e-8, False]
    yield Call("optimizers", "adamw", [ps, gs, ms, vs, times, *numbers])
    yield Call("optimizers", "sgd", [ps, gs, ms, 0.1, 0.9, 0.01, 0.0, True, False, False])
    yield Call(
        "optimizers", "sgd", [ps, gs, [], 0.1, 0.0, 0.01, 0.0, False, True, True], {"T": "f32"}
    )
    yield Call("optimizers", "add_lists", [ps, gs, 2.0])
    yield Call("optimizers", "multiply_tensor", [ps, torch.tensor(3.0)])
    yield Call("optimizers", "add_quotients", [ps, gs, vs, 0.5])


def windows() -> Iterator[Call]:
    x, w, b = real(2, 3, 9, 11), real(4, 3, 3, 3), real(4)
    yield Call("convolution_tiles", "conv3x3", [x, w, b, 1, 1])
    yield Call("convolution_tiles", "conv3x3", [x, w, None, 0, 1])
    yield Call("convolution_tiles", "conv3x3_for_input", [real(2, 4, 9, 11), x, w, 1, 1])
    yield Call("pooling_adaptive", "adaptive_avg_pool2d", [x, 3, 4])
    yield Call("upsample_cubic", "upsample_bicubic2d", [x, 13, 7, False])
    yield Call("upsample_antialias", "upsample_bilinear2d_aa", [x, 4, 6, False])
    grad = real(2, 3, 18, 22)
    yield Call("upsample_backward", "upsample_nearest2d_backward", [grad, 18, 22, 2, 3, 9, 11])
    places = whole(9, 2, 3, 4, 5)
    yield Call("pooling_max", "max_pool2d_backward", [real(2, 3, 4, 5), x, places])
    y = real(3, 8, 4, 5)
    yield Call("group_norm_channels", "group_norm_channels", [y, real(8), real(8, seed=1), 4, 1e-5])


def parts() -> Iterator[Call]:
    yield Call("parts", "select_backward", [real(4, 5), [4, 3, 5], 1, 2])
    yield Call("parts", "slice_backward", [real(4, 2), [4, 9], 1, 1, 9, 4])
    yield Call("parts", "as_strided_scatter", [real(4, 5), real(3, 2), [3, 2], [6, 2], 1])
    yield Call("parts", "unfold_backward", [real(4, 3, 3), [4, 7], 1, 3, 2])
    yield Call("layout", "roll_all", [real(4, 5), 7])
    yield Call("layout", "roll_two", [real(4, 5), 1, -2, 0, 1])
    yield Call("bilinear", "bilinear", [real(5, 3), real(4, 3, 6), real(5, 6)])
    yield Call("bilinear", "bilinear_weight", [real(5, 3), real(5, 4), real(5, 6)])
    rows, at = real(7, 4), whole(9, 7)
    yield Call("embedding", "embedding_backward", [rows, at, 9, -1])
    offsets = torch.tensor([0, 2, 2, 6])
    yield Call("embedding_bag", "embedding_bag_sum", [real(9, 4), at, offsets, None])
    yield Call("embedding_bag", "embedding_bag_mean", [real(9, 4), at, offsets])
    named = {"reduce": "mean"}
    lengths = torch.tensor([2, 0, 5])
    yield Call("segments", "segments_of_lengths", [rows, lengths], named)
    mean = [real(5, 3), 0, whole(5, 4, 3), real(4, 3, seed=4), True]
    yield Call("scatter_mean", "scatter_mean", mean)
    heads = [real(2, 2, n, 16, seed=n) for n in (9, 9, 12, 12)]
    y = torch.nn.functional.scaled_dot_product_attention(*heads[1:])
    logs = (heads[1] @ heads[2].mT / 4).logsumexp(-1)
    yield Call("attention", "attention_backward", [*heads, y, logs])


def calls() -> list[Call]:
    return [call for group in (spectra, chosen, steps, windows, parts) for call in group()]
