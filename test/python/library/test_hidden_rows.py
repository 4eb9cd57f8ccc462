"""Attention of queries whose keys are all hidden: 0 and no gradient, on every path to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn.attention.flex_attention import AuxRequest, create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo"),
    pytest.mark.filterwarnings("ignore:flex_attention called without"),
]

FLASH = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
TYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
#: Of a type, how far apart sums in another order may be.
SLACK = {torch.float32: 1e-5, torch.float64: 1e-10, torch.bfloat16: 3e-2, torch.float16: 4e-3}
#: Heads, heads of keys, queries, keys; the last in blocks of rows.
SIZES = {"few": (4, 4, 5, 7), "shared": (4, 2, 5, 7), "many": (2, 2, 70, 90)}
#: The query that sees no key, and one that sees a single key.
HIDDEN, SINGLE = 2, 3


def operands(size: str, dtype: torch.dtype) -> list[torch.Tensor]:
    heads, groups, queries, keys = SIZES[size]
    shapes = (2, heads, queries, 16), (2, groups, keys, 16), (2, groups, keys, 16)
    return [torch.randn(shape).to(dtype) for shape in shapes]


def seen(size: str) -> torch.Tensor:
    """What a query may look at: all heads alike."""
    _, _, queries, keys = SIZES[size]
    mask = torch.rand(2, 1, queries, keys) > 0.4
    mask[..., 0] = True
    mask[:, :, HIDDEN] = False
    mask[:, :, SINGLE] = torch.arange(keys) == 1
    return mask


def added(mask: torch.Tensor, number: float, dtype: torch.dtype) -> torch.Tensor:
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, number)


#: A mask of each kind from the places that are seen.
MASKS: dict[str, Callable[[torch.Tensor, torch.dtype], torch.Tensor]] = {
    "bool": lambda mask, _: mask,
    "infinite": lambda mask, dtype: added(mask, -torch.inf, dtype),
    "lowest": lambda mask, dtype: added(mask, torch.finfo(dtype).min, dtype),
    "mixed": lambda mask, dtype: torch.where(
        torch.rand(mask.shape) < 0.5,
        added(mask, -torch.inf, dtype),
        added(mask, torch.finfo(dtype).min, dtype),
    ),
}


def outcome(function: Any, given: list[torch.Tensor]) -> list[torch.Tensor]:
    """Results, and the gradients of what wants one."""
    own = [x.detach().clone().requires_grad_(x.requires_grad) for x in given]
    results = function(*own)
    results = list(results) if isinstance(results, tuple) else [results]
    if any(x.requires_grad for x in own):
        results[0].float().cos().sum().backward()
    return [*results, *(x.grad for x in own if x.grad is not None)]


def compare(function: Any, given: list[torch.Tensor], **options: str) -> list[torch.Tensor]:
    """The same numbers, infinities and NaN as eager's."""
    expected = outcome(function, given)
    compiled = torch.compile(function, backend="quern", fullgraph=True, options=options)
    slack = SLACK[given[0].dtype]
    found = outcome(compiled, given)
    torch.testing.assert_close(found, expected, rtol=slack, atol=slack, equal_nan=True)
    return found


@pytest.mark.parametrize("trains", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_masks(dtype: torch.dtype, size: str, kind: str, trains: bool) -> None:
    qkv = [x.requires_grad_(trains) for x in operands(size, dtype)]
    mask = MASKS[kind](seen(size), dtype)

    def function(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, m: torch.Tensor) -> Any:
        return scaled_dot_product_attention(q, k, v, m, enable_gqa=size == "shared")

    found = compare(function, [*qkv, mask], preferred="own")
    if kind in ("bool", "infinite"):
        assert not any(x.isnan().any() for x in found)
        assert not found[0][:, :, HIDDEN].any()
        assert not trains or not found[1][:, :, HIDDEN].any()


@pytest.mark.parametrize("options", [{}, {"fusion": "off"}], ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_a_mask_with_a_gradient(dtype: torch.dtype, options: dict[str, str]) -> None:
    """Then torch takes attention apart."""
    mask = MASKS["infinite"](seen("few"), dtype).requires_grad_()
    qkv = [x.requires_grad_() for x in operands("few", dtype)]
    found = compare(scaled_dot_product_attention, [*qkv, mask], preferred="own", **options)
    assert not any(x.isnan().any() for x in found)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_dropout(dtype: torch.dtype) -> None:
    """What is dropped is drawn: the hidden row is 0 all the same."""
    qkv = [x.requires_grad_() for x in operands("few", dtype)]

    def function(*args: torch.Tensor) -> torch.Tensor:
        return scaled_dot_product_attention(*args, dropout_p=0.3)

    compiled = torch.compile(function, backend="quern", fullgraph=True)
    found = outcome(compiled, [*qkv, seen("few")])
    assert not any(x.isnan().any() for x in found)
    assert not found[0][:, :, HIDDEN].any()
    assert not found[1][:, :, HIDDEN].any()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("keys", [1, 3])
def test_causal_with_fewer_keys(keys: int, dtype: torch.dtype) -> None:
    q, k, v = (x.requires_grad_() for x in operands("few", dtype))

    def function(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return scaled_dot_product_attention(q, k[:, :, :keys], v[:, :, :keys], is_causal=True)

    compare(function, [q, k, v], preferred="own")


@pytest.mark.parametrize("causal", [False, True])
def test_no_keys(causal: bool) -> None:
    """Eager divides by zero in the causal form, which ends the process."""
    q, k, v = (x.requires_grad_() for x in operands("few", torch.float32))

    def function(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return scaled_dot_product_attention(q, k[:, :, :0], v[:, :, :0], is_causal=causal)

    compiled = torch.compile(function, backend="quern", options={"preferred": "own"})
    found = outcome(compiled, [q, k, v])
    assert not any(x.any() for x in found)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("trains", [False, True], ids=["inference", "training"])
def test_what_is_no_number_stays(dtype: torch.dtype, trains: bool) -> None:
    """NaN in a query, and scores that are infinite, spoil their own rows."""
    q, k, v = operands("few", dtype)
    q[0, 0, 0, 3] = torch.nan
    q[1, 1, HIDDEN, 0] = torch.nan
    q[0, 1, 1, 5] = torch.inf
    mask = MASKS["infinite"](seen("few"), dtype)
    given = [*(x.requires_grad_(trains) for x in (q, k, v)), mask]
    found = compare(scaled_dot_product_attention, given, preferred="own")
    assert found[0][0, 0, 0].isnan().all()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_the_operator_itself(dtype: torch.dtype) -> None:
    """Its second result, the logarithm of a row's sum, and its derivative."""
    q, k, v = operands("few", dtype)
    mask = MASKS["infinite"](seen("few"), dtype)

    def function(q: Any, k: Any, v: Any, m: Any) -> Any:
        return FLASH(q, k, v, 0.0, False, attn_mask=m)

    _, sums = compare(function, [q, k, v, mask], preferred="own")
    assert not sums[:, :, HIDDEN].any()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_weights(dtype: torch.dtype) -> None:
    q, k, v = operands("few", dtype)
    mask = MASKS["infinite"](seen("few"), dtype)
    compare(torch.ops.aten._scaled_dot_product_attention_math, [q, k, v, mask], preferred="own")


@pytest.mark.parametrize("name", ["softmax", "_safe_softmax"])
@pytest.mark.parametrize("kind", ["infinite", "lowest"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_attention_of_plain_operators(dtype: torch.dtype, kind: str, name: str) -> None:
    """Its softmax gives NaN for such a row, as eager does, unless it is the safe one."""
    softmax = {"softmax": torch.softmax, "_safe_softmax": torch.ops.aten._safe_softmax}[name]
    qkv = [x.requires_grad_() for x in operands("few", dtype)]
    mask = MASKS[kind](seen("few"), dtype)

    def function(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, m: torch.Tensor) -> Any:
        return softmax(q @ k.mT / 4 + m, -1) @ v

    for fusion in ("on", "off"):
        found = compare(function, [*qkv, mask], fusion=fusion)
        hidden = found[0][:, :, HIDDEN]
        assert hidden.isnan().all() == (name == "softmax" and kind == "infinite")


def nothing_for_some(batch: Any, head: Any, row: Any, column: Any) -> Any:
    return (row % 3 > 0) & (column < row)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_flexible(dtype: torch.dtype) -> None:
    block = create_block_mask(nothing_for_some, None, None, 70, 90, device="cpu")

    def function(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        wants = AuxRequest(lse=True)
        out, sums = flex_attention(q, k, v, block_mask=block, return_aux=wants)
        return out, sums.lse

    found = compare(function, operands("many", dtype))
    assert not found[0][:, :, ::3].any()


def test_encoder_layers_of_padded_sequences() -> None:
    """Of a sequence of padding alone eager's operator for inference makes NaN."""
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    padding = torch.arange(6) >= torch.tensor([[6], [3], [0]])

    def function(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = layer(x, src_key_padding_mask=mask)
        return result

    with torch.no_grad():
        compare(function, [torch.randn(3, 6, 16), padding])


def test_modernbert_with_padding() -> None:
    """Its windows leave queries among the padding without any key."""
    from transformers import ModernBertConfig, ModernBertModel

    config = ModernBertConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        local_attention=4,
        global_attn_every_n_layers=3,
        pad_token_id=0,
        attn_implementation="sdpa",
    )
    model = ModernBertModel(config).eval()
    tokens = torch.randint(1, 64, (3, 24))
    mask = (torch.arange(24) < torch.tensor([[24], [9], [15]])).long()

    def function(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = model(tokens, mask).last_hidden_state
        return result

    expected = function(tokens, mask)
    found = torch.compile(function, backend="quern")(tokens, mask)
    assert not found.isnan().any()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    expected.square().sum().backward()
    theirs = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    found.square().sum().backward()
    torch.testing.assert_close([p.grad for p in model.parameters()], theirs, rtol=1e-3, atol=1e-3)


def test_no_scale_is_not_a_scale_of_zero() -> None:
    qkv = [x.requires_grad_() for x in operands("few", torch.float32)]

    def function(*args: torch.Tensor) -> torch.Tensor:
        return scaled_dot_product_attention(*args, scale=0.0)

    compare(function, qkv, preferred="own")
