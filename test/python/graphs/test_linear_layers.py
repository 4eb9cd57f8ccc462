"""`addmm` of bf16 as one call of oneDNN's linear layer: when, and that its bits are eager's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

CAPABILITIES = torch.cpu.get_capabilities()
MEASURED = bool(CAPABILITIES.get("avx512_bf16")) and not CAPABILITIES.get("amx_tile")
LAYER = "mkldnn::_linear_pointwise"


def tensor(*sizes: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.randn(*sizes).to(dtype)


def products(f: Callable[..., torch.Tensor], *arguments: torch.Tensor) -> tuple[set[str], bool]:
    """The products of a call, and whether its bits are eager's."""
    compiled = torch.compile(f, backend="quern", dynamic=False)
    compiled(*arguments)
    with torch.profiler.profile() as profile:
        result = compiled(*arguments)
    names = {event.name for event in profile.events()}
    wanted = f(*arguments)
    torch.testing.assert_close(result, wanted)
    return names & {LAYER, "aten::addmm"}, torch.equal(result, wanted)


@pytest.mark.parametrize("is_turned", [True, False])
@pytest.mark.parametrize(("rows", "columns", "depth"), [(1, 130, 64), (40, 33, 70), (257, 96, 31)])
def test_bits_are_those_of_eager(rows: int, columns: int, depth: int, is_turned: bool) -> None:
    torch.manual_seed(rows)
    x, bias = tensor(rows, depth), tensor(columns)
    weight = tensor(columns, depth).t() if is_turned else tensor(depth, columns)
    names, is_same = products(lambda x, w, b: torch.addmm(b, x, w), x, weight, bias)
    if MEASURED:
        assert names == {LAYER}
        assert is_same


@pytest.mark.parametrize(
    "f",
    [
        lambda x, w, b: torch.addmm(b, x, w, beta=0.5),
        lambda x, w, b: torch.addmm(b, x, w, alpha=2),
        lambda x, w, b: torch.addmm(b.expand(40, 48), x, w),
        lambda x, w, b: torch.addmm(b, x[:, ::2], w[:35]),
        lambda x, w, b: torch.addmm(b[:4], x[:4, :8].clone(), w[:8, :4].clone()),
        lambda x, w, b: torch.addmm(b.half(), x.half(), w.half()),
    ],
    ids=["beta", "alpha", "bias of rows", "spread rows", "small", "f16"],
)  # fmt: skip
def test_others_are_right_too(f: Callable[..., torch.Tensor]) -> None:
    torch.manual_seed(0)
    products(f, tensor(40, 70), tensor(70, 48), tensor(48))


@pytest.mark.parametrize("scale", ["beta", "alpha"])
def test_factors_are_left_to_addmm(scale: str) -> None:
    factor = {scale: 0.5}
    arguments = tensor(40, 70), tensor(70, 48), tensor(48)
    names, _ = products(lambda x, w, b: torch.addmm(b, x, w, **factor), *arguments)
    assert names == {"aten::addmm"}


def test_user_may_turn_onednn_off() -> None:
    arguments = tensor(40, 70), tensor(70, 48), tensor(48)
    with torch.backends.mkldnn.flags(enabled=False):
        names, _ = products(lambda x, w, b: torch.addmm(b, x, w), *arguments)
    assert names == {"aten::addmm"}


def test_weights_may_change_between_calls() -> None:
    """Nothing is kept of them, however they are written."""
    layer = torch.nn.Linear(70, 48).bfloat16().requires_grad_(False)
    compiled = torch.compile(layer, backend="quern")
    x = tensor(40, 70)
    torch.testing.assert_close(compiled(x), layer(x))
    layer.weight.data.mul_(-3)
    layer.bias.data.fill_(7)
    torch.testing.assert_close(compiled(x), layer(x))


def test_gradients() -> None:
    layer = torch.nn.Linear(70, 48).bfloat16()
    compiled = torch.compile(layer, backend="quern")
    x = tensor(40, 70).requires_grad_()
    for wanted, found in zip(
        torch.autograd.grad(layer(x).sum(), [x, layer.weight]),
        torch.autograd.grad(compiled(x).sum(), [x, layer.weight]),
        strict=True,
    ):
        torch.testing.assert_close(found, wanted)
