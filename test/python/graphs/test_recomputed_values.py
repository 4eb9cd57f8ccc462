"""What a backward computes again has the bits of the forward: it finds the places chosen there.

Every operator whose derivative compares with a saved value, behind operators that are computed
again, against eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.utils.checkpoint
from slices import matrix

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo"),
    pytest.mark.filterwarnings("ignore:index_reduce"),
]

Tensor = torch.Tensor
ROWS, COLUMNS = 6, 16
PLACES = torch.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) * 7 % COLUMNS

#: No order of sums decides; most results are no numbers of a narrow type.
PRODUCERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "product": lambda x, y: x * y,
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - 0.375 * y,
    "number": lambda x, y: x * 0.375,
    "exponential": lambda x, y: torch.exp(x),
    "quotient": lambda x, y: x / (y.abs() + 1),
    "chain": lambda x, y: torch.sigmoid(x * y) * x + y,
    "matrix": lambda x, y: (x[:, :ROWS] @ y) * 0.6875,
}


def reduced(name: str, **options: Any) -> Callable[[Tensor], Tensor]:
    """A reduction of the places of each row to some of its places."""

    def function(h: Tensor) -> Tensor:
        return getattr(torch.zeros_like(h), name)(1, PLACES, h, **options)

    return function


def pooled(function: Callable[..., Tensor], *sizes: int) -> Callable[[Tensor], Tensor]:
    return lambda h: function(h.unflatten(1, (4, 4))[:, None], *sizes)


SELECTORS: dict[str, Callable[[Tensor], Any]] = {
    "amax": lambda h: h.amax(1),
    "amin": lambda h: h.amin(1),
    "amax of all": lambda h: h.amax((0, 1)),
    "aminmax": lambda h: torch.stack(torch.aminmax(h, dim=1)),
    "max of all": lambda h: h.max(),
    "min of all": lambda h: h.min(),
    "max": lambda h: h.max(1).values,
    "min": lambda h: h.min(1).values,
    "median": lambda h: h.median(1).values,
    "median of all": lambda h: h.median(),
    "nanmedian of all": lambda h: h.nanmedian(),
    "largest magnitude": lambda h: torch.linalg.vector_norm(h, torch.inf, 1),
    "smallest magnitude": lambda h: torch.linalg.vector_norm(h, -torch.inf, 1),
    "norm": lambda h: torch.linalg.vector_norm(h, 3, 1),
    "scatter amax": reduced("scatter_reduce", reduce="amax"),
    "scatter amin": reduced("scatter_reduce", reduce="amin", include_self=False),
    "index amax": lambda h: torch.zeros_like(h).index_reduce(1, PLACES[0], h, "amax"),
    "index amin": lambda h: torch.zeros_like(h).index_reduce(1, PLACES[0], h, "amin"),
    "cummax": lambda h: h.cummax(1).values,
    "kthvalue": lambda h: h.kthvalue(3, 1).values,
    "mode": lambda h: h.round().mode(1).values,
    "topk": lambda h: h.topk(3, 1).values,
    "sort": lambda h: h.sort(dim=1, stable=True).values[:, :4],
    "maximum": lambda h: torch.maximum(h, h.flip(1)),
    "fmin": lambda h: torch.fmin(h, h.flip(0)),
    "clamp": lambda h: h.clamp(-0.3, 0.3),
    "clamp by itself": lambda h: h.clamp(h.mean(1, keepdim=True), h.flip(1)),
    "relu": lambda h: torch.relu(h),
    "hardtanh": lambda h: torch.nn.functional.hardtanh(h, -0.3, 0.3),
    "threshold": lambda h: torch.nn.functional.threshold(h, 0.3, 0.1),
    "max pool": pooled(torch.nn.functional.max_pool2d, 2),
    "adaptive max pool": pooled(torch.nn.functional.adaptive_max_pool2d, 3),
    "equal to the largest": lambda h: torch.where(h == h.amax(1, keepdim=True), h, 0),
    "root of the distance": lambda h: (h.amax(1, keepdim=True) - h + 1e-3).sqrt(),
    "softmax": lambda h: h.softmax(1),
    "logsumexp": lambda h: (h * 0.125).logsumexp(1),
    "prod": lambda h: h.prod(1),
    "segments": lambda h: torch.segment_reduce(h, "max", lengths=torch.tensor([2, 1, 3])),
    "renorm": lambda h: h.renorm(torch.inf, 0, 1.0),
    "copysign": lambda h: h.copysign(h.flip(1)),
    "logcumsumexp": lambda h: (h * 0.125).logcumsumexp(1),
    "std": lambda h: h.std(1),
}

#: How far apart two gradients are of which one rounds a number otherwise.
SLACK = {torch.float32: 1e-4, torch.bfloat16: 3e-2, torch.float16: 4e-3}
EVERY = [(s, p, t) for s in SELECTORS for p in PRODUCERS for t in SLACK]


#: Which of equal numbers these take, nobody says.
TAKE_ONE = ("cummax", "kthvalue", "max", "median", "min", "mode", "pool", "sort", "topk")


def operands(make: Callable[..., Tensor], dtype: torch.dtype, distinct: bool) -> list[Tensor]:
    """Sixteenths below 4: products of matrices are summed without rounding."""
    while True:
        x, y = (torch.randint(-63, 64, (2, ROWS, COLUMNS)) / 16).to(dtype)
        h = make(x, y).sort(1).values
        if not distinct or not (h[:, 1:] == h[:, :-1]).any():
            return [x, y]


def gradients(function: Any, given: list[Tensor]) -> list[Tensor]:
    own = [x.clone().requires_grad_() for x in given]
    result = function(*own)
    weights = torch.linspace(-1, 2, result.numel()).reshape(result.shape)
    (result.float() * weights).sum().backward()
    return [result.detach(), *(torch.zeros(()) if x.grad is None else x.grad for x in own)]


def identity(case: tuple[str, str, torch.dtype]) -> str:
    return f"{case[0]} of {case[1]} {case[2]}".replace("torch.", "")


#: Its gradient leaves the range of f16 within one operator of ours, of eager between two.
OVERFLOWS = ("prod", "difference", torch.float16)


@pytest.mark.parametrize(
    "case",
    matrix(
        "recomputed",
        [case for case in EVERY if case != OVERFLOWS],
        group=lambda case: case[0],
        quick=0.1,
    ),
    ids=identity,
)
def test_gradients(case: tuple[str, str, torch.dtype]) -> None:
    selector, producer, dtype = case
    make, choose = PRODUCERS[producer], SELECTORS[selector]

    def function(x: Tensor, y: Tensor) -> Tensor:
        result: Tensor = choose(make(x, y))
        return result

    given = operands(make, dtype, any(word in selector.split() for word in TAKE_ONE))
    expected = gradients(function, given)
    found = gradients(torch.compile(function, backend="quern"), given)
    for mine, theirs in zip(found, expected, strict=True):
        assert torch.equal(mine.isnan(), theirs.isnan())
        scale = float(theirs.abs().nan_to_num(0, 0, 0).max()) if theirs.numel() else 0
        slack = SLACK[dtype]
        torch.testing.assert_close(
            mine, theirs, rtol=slack, atol=slack * max(scale, 1), equal_nan=True
        )


def test_every_value_of_f16_has_its_bits() -> None:
    """Fused or not: what overflows in eager is infinite here."""

    def function(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        a = x * y
        b = a + x
        return a / 1024, b - a, (b * y - x).abs().maximum(a), torch.where(a > b, b, a) / y

    x = torch.cat([torch.randn(60), torch.tensor([65504, 2e4, -3e4, 1e-7])]).half()
    y = torch.cat([torch.randn(60), torch.tensor([2.0, 7.0, 3.0, 0.3])]).half()
    expected = function(x, y)
    for fusion in ("on", "off"):
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="quern", options={"fusion": fusion})
        for mine, theirs in zip(compiled(x, y), expected, strict=True):
            assert torch.equal(mine.isnan(), theirs.isnan())
            assert torch.equal(mine.nan_to_num(), theirs.nan_to_num())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_what_is_stored_all_readers_see_alike(dtype: torch.dtype) -> None:
    """A reader in the kernel that stores a value, and one in a later kernel."""

    def function(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        a = x * y
        b = torch.exp(a)
        return a, b, b.cumsum(0)[-1:] * 0 + torch.exp(a) - b

    x, y = torch.randn(2, 32, 24).to(dtype)
    torch._dynamo.reset()
    with torch._functorch.config.patch(cse=False):
        a, b, zeros = torch.compile(function, backend="quern")(x, y)
    assert torch.equal(a, x * y)
    assert torch.equal(b, torch.exp(a))
    assert not zeros.any()


def test_recomputed_under_checkpoints() -> None:
    """What a checkpoint makes the backward compute again, too."""

    def part(x: Tensor, y: Tensor) -> Tensor:
        return (torch.sigmoid(x * y) * x + y).amax(1)

    def function(x: Tensor, y: Tensor) -> Tensor:
        result: Tensor = torch.utils.checkpoint.checkpoint(part, x, y, use_reentrant=False)
        return result

    given = list(torch.randn(2, ROWS, COLUMNS).bfloat16())
    expected = gradients(part, given)
    found = gradients(torch.compile(function, backend="quern"), given)
    for mine, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=3e-2, atol=3e-2)
