"""Compiled graphs raise where eager does for numbers and elements without meaning, only there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from slices import matrix
from torch.nn import functional

Case = tuple[Callable[..., Any], tuple[Any, ...]]

aten = torch.ops.aten
X = torch.linspace(0.05, 0.95, 12).reshape(4, 3)
ONE = torch.tensor(1.0)
NAN = float("nan")
NONE, MEAN, SUM = 0, 1, 2


def at(*values: int) -> torch.Tensor:
    return torch.tensor(values)


def bag(mode: str, last: bool = False) -> Callable[..., Any]:
    def function(x: torch.Tensor, i: torch.Tensor, offsets: torch.Tensor) -> Any:
        return functional.embedding_bag(i, x, offsets, mode=mode, include_last_offset=last)

    return function


def nll_backward(x: torch.Tensor, target: torch.Tensor, reduction: int) -> Any:
    return aten.nll_loss_backward(ONE, x, target, None, reduction, -100, ONE)


def nll2d_backward(x: torch.Tensor, target: torch.Tensor, reduction: int) -> Any:
    x, target = x[..., None, None], target[..., None, None]
    return aten.nll_loss2d_backward(ONE, x, target, None, reduction, -100, ONE)


REFUSED: dict[str, Case] = {
    "bag, first": (bag("sum"), (X, at(0, 1, 2), at(1, 2))),
    "bag of maxima, first": (bag("max"), (X, at(0, 1, 2), at(1, 2))),
    "bag, descending": (bag("sum"), (X, at(0, 1, 2), at(0, 2, 1))),
    "bag of means, descending": (bag("mean"), (X, at(0, 1, 2), at(0, 2, 1))),
    "bag, beyond": (bag("sum"), (X, at(0, 1, 2), at(0, 9))),
    "bag of means, beyond": (bag("mean"), (X, at(0, 1, 2), at(0, 9))),
    "bag, last beyond": (bag("sum", last=True), (X, at(0, 1, 2), at(0, 9))),
    "bce, input": (functional.binary_cross_entropy, (X + 0.1, X)),
    "bce, negative": (functional.binary_cross_entropy, (X - 0.1, X)),
    "bce, nan": (functional.binary_cross_entropy, (X / 0 * 0, X)),
    "bce, target": (functional.binary_cross_entropy, (X, X + 0.1)),
    "bce, none": (lambda x, t: aten.binary_cross_entropy(x, t, None, NONE), (X + 1, X)),
    "bce, sum": (lambda x, t: aten.binary_cross_entropy(x, t, None, SUM), (X + 1, X)),
    "histc, infinite": (lambda x: x.histc(4), (X / 0,)),
    "histc, nan": (lambda x: x.histc(4), (X / 0 * 0,)),
    "histc, order": (lambda x: x.histc(4, 2, 1), (X,)),
    "histc, infinite bound": (lambda x: x.histc(4, 0, float("inf")), (X,)),
    "histc, bins": (lambda x: x.histc(0, 0, 1), (X,)),
    "smooth_l1": (lambda x, y: aten.smooth_l1_loss(x, y, MEAN, -1.0), (X, X)),
    "smooth_l1, none": (lambda x, y: aten.smooth_l1_loss(x, y, NONE, -1.0), (X, X)),
    "smooth_l1, sum": (lambda x, y: aten.smooth_l1_loss(x, y, SUM, float("nan")), (X, X)),
    "huber": (lambda x, y: aten.huber_loss(x, y, MEAN, 0.0), (X, X)),
    "huber, none": (lambda x, y: aten.huber_loss(x, y, NONE, -1.0), (X, X)),
    "huber, sum": (lambda x, y: aten.huber_loss(x, y, SUM, float("nan")), (X, X)),
    "multinomial, none": (lambda x: x.multinomial(0), (X,)),
    "multinomial, too many": (lambda x: x.multinomial(4), (X,)),
    "multinomial, negative": (lambda x: x.multinomial(1), (X - 1,)),
    "multinomial, zeros": (lambda x: x.multinomial(2, True), (X * 0,)),
    "multinomial, nan": (lambda x: x.multinomial(1), (X / 0 * 0,)),
    "elu, backward": (lambda g, y: aten.elu_backward(g, -1.0, 1.0, 1.0, True, y), (X, X)),
    "leaky_relu, backward": (lambda g, y: aten.leaky_relu_backward(g, y, -1.0, True), (X, X)),
    "rrelu, backward": (
        lambda g, y: aten.rrelu_with_noise_backward(g, y, y, -0.5, -0.2, False, True),
        (X, X),
    ),
    "nll, backward": (lambda x, t: nll_backward(x, t, MEAN), (X, at(0, 1, 3, 2))),
    "nll, backward, negative": (lambda x, t: nll_backward(x, t, SUM), (X, at(0, 1, -1, 2))),
    "nll, backward, none known": (lambda x, t: nll_backward(x, t, MEAN), (X, at(7, 8, 9, 3))),
    "nll2d, backward, negative": (lambda x, t: nll2d_backward(x, t, SUM), (X, at(0, 1, -9, 2))),
    "nll2d": (
        lambda x, t: functional.nll_loss(x[..., None, None], t[..., None, None]),
        (X, at(0, 1, 3, 2)),
    ),
    "nll2d, backward": (lambda x, t: nll2d_backward(x, t, MEAN), (X, at(0, 1, 3, 2))),
    "cross_entropy": (functional.cross_entropy, (X, at(0, 1, 3, 2))),
    "cross_entropy, smoothed": (
        lambda x, t: functional.cross_entropy(x, t, label_smoothing=0.1),
        (X, at(0, 1, -1, 2)),
    ),
    "dropout": (lambda x: aten.native_dropout(x, 1.5, True), (X,)),
    "dropout, nan": (lambda x: aten.native_dropout(x, NAN, True), (X,)),
    "dropout, negative": (lambda x: aten.native_dropout(x, -0.5, True), (X,)),
    "bernoulli": (lambda x: x.bernoulli(), (X + 1,)),
    "bernoulli, nan": (lambda x: x.bernoulli(), (X / 0 * 0,)),
    "bernoulli, chance": (lambda x: x.bernoulli(1.5), (X,)),
    "bernoulli, chance nan": (lambda x: x.bernoulli(NAN), (X,)),
    "bernoulli, in place": (lambda x: x.clone().bernoulli_(-0.1), (X,)),
    "bernoulli, chances in place": (lambda x: x.clone().bernoulli_(x - 1), (X,)),
    "bernoulli, chances": (lambda x: aten.bernoulli.Tensor(x, x + 1), (X,)),
    "normal, spread": (lambda x: torch.normal(x, -1.0), (X,)),
    "normal, spreads": (lambda x: torch.normal(0.0, -x), (X,)),
    "normal, both": (lambda x: torch.normal(x, -x), (X,)),
    "normal, spread nan": (lambda x: torch.normal(x, NAN), (X,)),
    "normal, spreads nan": (lambda x: torch.normal(0.0, x * NAN), (X,)),
    "normal, of a size": (lambda x: torch.normal(0.0, -1.0, x.shape), (X,)),
    "normal, in place": (lambda x: x.clone().normal_(0, -1), (X,)),
    "uniform": (lambda x: x.clone().uniform_(1, 0), (X,)),
    "uniform, nan": (lambda x: x.clone().uniform_(NAN, 1), (X,)),
    "uniform, infinite": (lambda x: x.clone().uniform_(0, float("inf")), (X,)),
    "exponential": (lambda x: x.clone().exponential_(0), (X,)),
    "exponential, nan": (lambda x: x.clone().exponential_(NAN), (X,)),
    "cauchy": (lambda x: x.clone().cauchy_(0, 0), (X,)),
    "cauchy, negative": (lambda x: x.clone().cauchy_(0, -1), (X,)),
    "log_normal": (lambda x: x.clone().log_normal_(0, 0), (X,)),
    "log_normal, nan": (lambda x: x.clone().log_normal_(0, NAN), (X,)),
    "geometric": (lambda x: x.clone().geometric_(1), (X,)),
    "geometric, 0": (lambda x: x.clone().geometric_(0), (X,)),
    "geometric, nan": (lambda x: x.clone().geometric_(NAN), (X,)),
    "nothing exponential": (lambda x: x[:0].clone().exponential_(-1), (X,)),
    "nothing normal": (lambda x: x[:0].clone().normal_(0, -1), (X,)),
    "randint": (lambda x: torch.randint(3, 3, x.shape), (X,)),
    "randint, from 0": (lambda x: torch.randint(0, x.shape), (X,)),
    "randint of bytes": (lambda x: torch.randint(300, x.shape, dtype=torch.uint8), (X,)),
    "randint of bytes, negative": (
        lambda x: torch.randint(-5, 3, x.shape, dtype=torch.uint8),
        (X,),
    ),
    "randperm, negative": (lambda _: torch.randperm(-1), (X,)),
    "randint_like of bytes": (lambda x: torch.randint_like(x, 300, dtype=torch.uint8), (X,)),
    "randint_like": (lambda x: torch.randint_like(x, 3, 2), (X,)),
    "poisson, nan": (lambda x: torch.poisson(x * NAN), (X,)),
    "poisson": (lambda x: torch.poisson(x), (-X,)),
    "kthvalue": (lambda x: x.kthvalue(0), (X,)),
    "kthvalue, beyond": (lambda x: x.kthvalue(4), (X,)),
    "topk": (lambda x: x.topk(4), (X,)),
    "topk, negative": (lambda x: x.topk(-1), (X,)),
    "softshrink": (lambda x: aten.softshrink(x, -1.0), (X,)),
    "softshrink, nan": (lambda x: aten.softshrink(x, float("nan")), (X,)),
    "celu": (lambda x: functional.celu(x, 0.0), (X,)),
    "integers by zero": (lambda x, y: x // y, (at(1, 2), at(1, 0))),
    "rest by zero": (lambda x, y: x % y, (at(1, 2), at(1, 0))),
    "fmod by zero": (torch.fmod, (at(1, 2), at(1, 0))),
    "quotient by zero": (
        lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        (at(1, 2), at(1, 0)),
    ),
    "power": (lambda x: x**-1, (at(1, 2),)),
    "cdist": (lambda x: torch.cdist(x, x, p=-1.0), (X,)),
    "pdist": (lambda x: functional.pdist(x, p=-1.0), (X,)),
    "renorm": (lambda x: torch.renorm(x, -1.0, 0, 1.0), (X,)),
    "renorm, most": (lambda x: torch.renorm(x, 1.0, 0, -1.0), (X,)),
    "avg_pool, divisor": (
        lambda x: functional.avg_pool2d(x[None], 2, divisor_override=0),
        (X,),
    ),
    "one_hot": (lambda i: functional.one_hot(i, 3), (at(0, 5),)),
    "one_hot, negative": (lambda i: functional.one_hot(i, 3), (at(0, -1),)),
    "segments": (
        lambda x, n: torch.segment_reduce(x, "sum", lengths=n, unsafe=False),
        (X, at(1, 1)),
    ),
    "segments, negative": (
        lambda x, n: torch.segment_reduce(x, "sum", lengths=n, unsafe=False),
        (X, at(5, -1)),
    ),
    "searchsorted": (
        lambda x, i: torch.searchsorted(x[:, 0].contiguous(), x, sorter=i),
        (X, at(0, 1, 9, 2)),
    ),
    "label margin": (
        functional.multilabel_margin_loss,
        (X, at(0, 1, 3).expand(4, 3).contiguous()),
    ),
    "quantile": (lambda x, q: x.quantile(q), (X, torch.tensor(1.5))),
    "interpolation": (lambda x: functional.interpolate(x[None], size=0), (X,)),
    "interpolation, scale": (lambda x: functional.interpolate(x[None], scale_factor=-1.0), (X,)),
    "padding": (lambda x: functional.pad(x, (-5, 0)), (X,)),
    "padding, reflected": (lambda x: functional.pad(x[None], (5, 0), mode="reflect"), (X,)),
    "unfold": (lambda x: x.unfold(1, 9, 1), (X,)),
    "im2col": (lambda x: functional.unfold(x[None, None], 9), (X,)),
    "ctc": (
        lambda x, t: functional.ctc_loss(x[:, None].log_softmax(2), t, at(9), at(2)),
        (X, at(1, 2)[None]),
    ),
    "fake quantisation": (
        lambda x: torch.fake_quantize_per_tensor_affine(x, 1.0, 300, 0, 255),
        (X,),
    ),
}

# Eager takes these, so they are taken.
TAKEN: dict[str, Case] = {
    "bag, no maxima": (bag("max"), (X, at(0, 1, 2), at(0, 1, 1))),
    "bag, last before the end": (bag("sum", last=True), (X, at(0, 1, 2), at(0, 2))),
    "bce, edges": (functional.binary_cross_entropy, (X.round(), X.round())),
    "bce, backward": (lambda g, x, t: aten.binary_cross_entropy_backward(g, x, t), (X, X + 1, X)),
    "histc, bounds": (lambda x: x.histc(4, 0, 2), (X / 0,)),
    "smooth_l1, backward": (
        lambda g, x, y: aten.smooth_l1_loss_backward(g, x, y, NONE, -1.0),
        (X, X, X),
    ),
    "smooth_l1, 0": (lambda x, y: aten.smooth_l1_loss(x, y, MEAN, 0.0), (X, X)),
    "huber, backward": (lambda g, x, y: aten.huber_loss_backward(g, x, y, NONE, -1.0), (X, X, X)),
    "elu, backward": (lambda g, x: aten.elu_backward(g, -1.0, 1.0, 1.0, False, x), (X, X)),
    "elu, slope 0": (lambda g, x: aten.elu_backward(g, 0.0, 1.0, 1.0, True, x), (X, X)),
    "leaky_relu, slope 0": (lambda g, x: aten.leaky_relu_backward(g, x, 0.0, True), (X, X)),
    "leaky_relu, backward": (lambda g, x: aten.leaky_relu_backward(g, x, -1.0, False), (X, X)),
    "nll, ignored": (
        lambda x, t: functional.nll_loss(x, t, ignore_index=9),
        (X, at(0, 1, 9, 2)),
    ),
    "cross_entropy, ignored": (
        lambda x, t: functional.cross_entropy(x, t, ignore_index=9),
        (X, at(0, 1, 9, 2)),
    ),
    "hardshrink": (lambda x: functional.hardshrink(x, -1.0), (X,)),
    "integers": (lambda x, y: (x // y, x % y), (at(7, -7), at(2, 2))),
    "floats by zero": (lambda x, y: (x // y, x % y), (X, X * 0)),
}


def compiled(case: Case) -> Any:
    function, arguments = case
    torch._dynamo.reset()
    return torch.compile(function, backend="quern")(*arguments)


@pytest.mark.parametrize("name", matrix("refused values", REFUSED, group=lambda _: 0, quick=0.3))
def test_raises_as_eager(name: str) -> None:
    function, arguments = REFUSED[name]
    with pytest.raises((IndexError, RuntimeError), match=r"\S") as eager:
        function(*arguments)
    with pytest.raises(eager.type, match=r"\S"):
        compiled(REFUSED[name])


@pytest.mark.parametrize("name", matrix("taken values", TAKEN, group=lambda _: 0, quick=0.3))
def test_takes_what_eager_takes(name: str) -> None:
    function, arguments = TAKEN[name]
    torch.testing.assert_close(compiled(TAKEN[name]), function(*arguments), equal_nan=True)
