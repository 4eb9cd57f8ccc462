"""Calls on tensors of a GPU, executed by the emulator: the host's part of them is the real one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import _quern
import op_cases
import pytest
import quern
import torch
from emulated_calls import agree, far, near
from emulator.device import EmulatedDevice, FarTensor, emulated
from networks import NETWORKS, distances, edges
from op_cases import Call
from op_texts import HOST, LISTS, RETURNED, SOURCE, VIEWS
from slices import matrix
from tree import build_dir

CALLS = op_cases.calls()
TARGETS = ("sm_80", "sm_90", "sm_100")


@pytest.fixture(scope="module")
def device() -> EmulatedDevice:
    return emulated(build_dir() / "test" / "stand-in")


@pytest.fixture(params=TARGETS)
def session(device: EmulatedDevice, request: pytest.FixtureRequest) -> Iterator[Any]:
    """One whose GPU is of that architecture."""
    device.become(request.param)
    yield _quern.Session(threads=1, cache="-")
    assert device.problem == ""
    assert device.violations == ""


def sources() -> list[tuple[str, str, list[Any]]]:
    """Texts of other tests: the name of an `op` in each, and its arguments."""
    a, b, x = torch.randn(5, 7), torch.randn(7, 3), torch.randn(6, 6)
    ps, gs = [torch.randn(4, 3), torch.randn(70)], [torch.randn(4, 3), torch.randn(70)]
    images = torch.randn(2, 4, 6, 3).permute(0, 3, 1, 2)
    return [
        (SOURCE, "chain", [a, b, torch.randn(3)]),
        (SOURCE, "powers", [x, 5]),
        (SOURCE, "powers", [x, 1]),
        (SOURCE, "halves", [torch.arange(12).reshape(3, 4)]),
        (SOURCE, "kept", [torch.randn(2, 3, 4, 5).permute(1, 0, 3, 2)]),
        (LISTS, "sgd", [ps, gs, 0.5]),
        (LISTS, "norm", [gs]),
        (LISTS, "gathered", [[torch.randn(9) for _ in range(3)], torch.randn(9)]),
        (HOST, "nonzero", [torch.rand(300) < 0.3]),
        (HOST, "nonzero", [torch.zeros(5, dtype=torch.bool)]),
        (HOST, "tamed", [torch.rand(50) * 100]),
        (VIEWS, "parts", [torch.complex(torch.randn(9), torch.randn(9))]),
        (VIEWS, "complexes", [torch.randn(9, 2, dtype=torch.float64)]),
        (VIEWS, "diagonal", [x, 6]),
        (VIEWS, "shifted", [torch.randn(9)]),
        (NETWORKS.read_text(), "all_distances", [distances(20)]),
        (NETWORKS.read_text(), "components", [*edges(60, 40), 60]),
        (RETURNED, "outer", [images, 2]),
        (RETURNED, "both", [images, 1]),
    ]


@pytest.mark.parametrize("place", range(len(sources())), ids=lambda n: sources()[n][1])
def test_ops_of_texts(device: EmulatedDevice, session: Any, place: int) -> None:
    text, name, arguments = sources()[place]
    agree(device, getattr(session.compile(text, "ops.qn"), name), arguments)


PLACES = matrix(
    "ops of the library on a device",
    range(len(CALLS)),
    group=lambda place: CALLS[place].file,
    quick=0.2,
)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: str(CALLS[place]))
def test_ops_of_the_library(device: EmulatedDevice, session: Any, place: int) -> None:
    call: Call = CALLS[place]
    function = getattr(session.library(call.file), call.name)
    agree(device, function, call.arguments, **call.named)


FILLED = """
op filled[T: Any](n: int, _like: T[]) -> (T[N = n], T[A = 2, N], bool[N]):
    return full(T, n, 3), full(T, (2, n), -2), full(bool, n, true)

op halves(n: int, _like: f64[]) -> (f16[N = n], bf16[N], c128[N], f32[N], u8[N]):
    let (a, b, c) = (full(f16, n, 0.1), full(bf16, n, -0.0), full(c128, n, 0.1))
    return a, b, c, full(f32, n, nan), full(u8, n, 200)
"""


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "float32", "complex128"])
def test_fills_have_every_bit(device: EmulatedDevice, session: Any, dtype: str) -> None:
    module = session.compile(FILLED, "filled.qn")
    for count in (0, 5, 300):
        agree(device, module.filled, [count, torch.zeros((), dtype=getattr(torch, dtype))])
    like = torch.zeros((), dtype=torch.float64)
    expected = module.halves(5, like)
    outs = [FarTensor(device, torch.ones_like(one)) for one in expected]
    module.halves(5, FarTensor(device, like), out=outs)
    for one, other in zip(outs, expected, strict=True):
        assert bytes(one.near.view(torch.uint8).numpy()) == bytes(other.view(torch.uint8).numpy())


FAILING = """
rowwise pick(x: f32[N], i: i64[M]) -> f32[M]:
    return x[i]

elementwise twice(x: f32) -> f32:
    return x + x

op picked(x: f32[N], i: i64[M]) -> f32[M]:
    return twice(pick(twice(x), i))

op product(a: f32[M, K], b: f32[K, N]) -> f32[M, N]:
    return extern "aten::mm"(a, b)

op both(x: f32[N], y: f32[N]) -> f32[N]:
    return twice(x)
"""


def test_what_fails(device: EmulatedDevice, session: Any) -> None:
    module = session.compile(FAILING, "failing.qn")
    x, i = torch.randn(9), torch.tensor([3, 9])
    out = FarTensor(device, torch.zeros(2))
    with pytest.raises(quern.Error, match=r"QN2050.*index 9 .*extent 9"):
        module.picked(FarTensor(device, x), FarTensor(device, i), out=out)
    square = FarTensor(device, torch.randn(3, 3))
    with pytest.raises(quern.Error, match=r"QN2038.*`aten::mm` runs on the CPU"):
        module.product(square, square, out=FarTensor(device, torch.zeros(3, 3)))
    with pytest.raises(quern.Error, match="QN2037"):
        module.both(FarTensor(device, x), x, out=FarTensor(device, x))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("element", [torch.bfloat16, torch.float16, torch.float32])
def test_attention_takes_tiles(
    device: EmulatedDevice, session: Any, element: torch.dtype, causal: bool
) -> None:
    """Of 16-bit floats by matrix instructions, in one launch; heads share keys and values."""
    q, k, v = (torch.randn(1, heads, rows, 32) for heads, rows in ((2, 20), (1, 30), (1, 30)))
    q, k, v = (x.to(element) for x in (q, k, v))
    module = session.library("attention")
    name = "attention_causal_on_gpu" if causal else "attention_on_gpu"
    outs = [torch.zeros(1, 2, 20, 32, dtype=element), torch.zeros(1, 2, 20)]
    held = [FarTensor(device, one) for one in outs]
    given = far(device, [q, k, v] if causal else [q, k, v, None])
    device.launched.clear()
    getattr(module, name)(*given, out=held)
    assert any("attention_tiles" in one for one in device.launched) == (element != torch.float32)
    wanted = torch.nn.functional.scaled_dot_product_attention(
        q.float(), k.float(), v.float(), is_causal=causal, enable_gqa=True
    )
    slack = {torch.bfloat16: 2e-2, torch.float16: 3e-3, torch.float32: 1e-4}[element]
    torch.testing.assert_close(near(held)[0].float(), wanted, rtol=slack, atol=slack)


@pytest.mark.parametrize("name", ["attention", "attention_on_gpu", "attention_value"])
@pytest.mark.parametrize(
    "element", [torch.float32, torch.bfloat16, torch.float16, torch.float64], ids=str
)
def test_attention_of_hidden_rows(
    device: EmulatedDevice, session: Any, element: torch.dtype, name: str
) -> None:
    """Queries without a key give 0; the derivative of theirs is 0."""
    q, k, v, grad = torch.randn(4, 1, 2, 9, 16).to(element)
    mask = torch.zeros(1, 2, 9, 9, dtype=element)
    mask[:, :, 4] = -math.inf
    mask[:, 1, 2, 1:] = -math.inf
    module = session.library("attention")
    wide = [x.double().clone().requires_grad_() for x in (q, k, v)]
    wanted = torch.nn.functional.scaled_dot_product_attention(*wide, attn_mask=mask.double())
    wanted.backward(grad.double())
    sums = torch.zeros(1, 2, 9, dtype=torch.promote_types(element, torch.float32))
    outs = [FarTensor(device, one) for one in (torch.zeros_like(q), sums)]
    given = far(device, [q, k, v, mask])
    plain = name == "attention_value"
    getattr(module, name)(*given, out=outs[0] if plain else outs)
    slack = {torch.bfloat16: 3e-2, torch.float16: 4e-3}.get(element, 1e-4)
    torch.testing.assert_close(outs[0].near.double(), wanted, rtol=slack, atol=slack)
    assert not outs[0].near[:, :, 4].any()
    if plain:
        return
    assert not outs[1].near[:, :, 4].any()
    found = [FarTensor(device, torch.zeros_like(x)) for x in (q, k, v)]
    module.attention_backward(far(device, grad), *given[:3], *outs, given[3], out=found)
    expected = [x.grad for x in wide]
    torch.testing.assert_close(
        [x.near.double() for x in found], expected, rtol=slack, atol=2 * slack
    )
