"""Architectures of the package `transformers` in tiny sizes, with random weights: results and
two training steps equal eager's. None of them is among the models the project measures."""

from __future__ import annotations

import copy
import os
from typing import Any

import pytest
import torch
from comparison import assert_as_good_as_eager, tensors
from slices import matrix

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

os.environ.setdefault("HF_HUB_OFFLINE", "1")
TEXT = {
    "vocab_size": 64,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}
KEYS = {"num_key_value_heads": 2, "head_dim": 8}
STAGES = {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}
HEADS = {"num_attention_heads": [1, 2, 2, 4], "decoder_hidden_size": 16}
# Class, configuration class, what differs from TEXT, and the edge of images or 0 for tokens.
CASES: list[tuple[str, str, dict[str, Any], int]] = [
    (
        "Qwen2ForCausalLM",
        "Qwen2Config",
        {**KEYS, "use_sliding_window": True, "sliding_window": 4},
        0,
    ),
    ("Gemma2ForCausalLM", "Gemma2Config", {**KEYS, "sliding_window": 4}, 0),
    ("FalconForCausalLM", "FalconConfig", {"alibi": True}, 0),
    ("BloomForCausalLM", "BloomConfig", {"n_head": 4, "n_layer": 2}, 0),
    ("GPTNeoXForCausalLM", "GPTNeoXConfig", {}, 0),
    ("OPTForCausalLM", "OPTConfig", {"ffn_dim": 48, "word_embed_proj_dim": 32}, 0),
    ("RwkvForCausalLM", "RwkvConfig", {"attention_hidden_size": 32, "context_length": 64}, 0),
    (
        "Mamba2ForCausalLM",
        "Mamba2Config",
        {"num_heads": 8, "head_dim": 8, "state_size": 8, "n_groups": 2, "chunk_size": 4},
        0,
    ),
    (
        "MixtralForCausalLM",
        "MixtralConfig",
        {**KEYS, "num_local_experts": 4, "experts_implementation": "eager"},
        0,
    ),
    ("ModernBertForMaskedLM", "ModernBertConfig", {"local_attention": 4, "pad_token_id": 0}, 0),
    (
        "DebertaV2ForMaskedLM",
        "DebertaV2Config",
        {"relative_attention": True, "position_buckets": 8, "pos_att_type": ["p2c", "c2p"]},
        0,
    ),
    ("AlbertForMaskedLM", "AlbertConfig", {"embedding_size": 16}, 0),
    ("FNetForMaskedLM", "FNetConfig", {}, 0),
    ("RoFormerForMaskedLM", "RoFormerConfig", {"embedding_size": 32}, 0),
    ("BeitForImageClassification", "BeitConfig", {"image_size": 32, "patch_size": 8}, 32),
    ("PoolFormerForImageClassification", "PoolFormerConfig", STAGES, 64),
    ("SegformerForSemanticSegmentation", "SegformerConfig", {**STAGES, **HEADS}, 64),
    ("YolosForObjectDetection", "YolosConfig", {"image_size": [32, 32], "patch_size": 8}, 32),
]


class Results(torch.nn.Module):
    """A model of one input whose results are those that a loss may read."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        found = self.model(x)
        return {key: found[key] for key in found if "past" not in key and "cache" not in key}


def settled(config: Any) -> Any:
    """The configuration without what is drawn at random or kept between calls."""
    for name, value in vars(config).items():
        if "drop" in name and isinstance(value, float):
            setattr(config, name, 0.0)
        if name == "use_cache":
            config.use_cache = False
    return config


def build(case: tuple[str, str, dict[str, Any], int]) -> tuple[torch.nn.Module, torch.Tensor]:
    import transformers

    model, configuration, given, edge = case
    torch.manual_seed(0)
    config = settled(getattr(transformers, configuration)(**{**TEXT, **given}))
    module = Results(getattr(transformers, model)(config))
    tokens = torch.randint(3, 64, (2, 11))
    return module, torch.randn(4, 3, edge, edge) if edge else tokens


def train(module: torch.nn.Module, call: Any, x: torch.Tensor) -> list[Any]:
    """Two steps with an update between: results, gradients and buffers."""
    optimizer = torch.optim.SGD(module.parameters(), lr=1e-3)
    found = []
    for _ in range(2):
        optimizer.zero_grad()
        results = call(x)
        loss = sum(each.double().sin().mean() for _, each in tensors(results))
        assert isinstance(loss, torch.Tensor)
        loss.backward()
        gradients = [p.grad.clone() for p in module.parameters() if p.grad is not None]
        found.append([{key: results[key].detach() for key in results}, gradients])
        optimizer.step()
    return [found, [b.clone() for b in module.buffers() if b.is_floating_point()]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "case",
    matrix("architectures", CASES, group=lambda case: case[3] > 0, quick=0.2),
    ids=lambda case: case[0],
)
def test_training_steps(case: tuple[str, str, dict[str, Any], int]) -> None:
    module, x = build(case)
    twin, wide = copy.deepcopy(module), copy.deepcopy(module).double()
    eager = train(module, module, x)
    exact = train(wide, wide, x.double() if x.is_floating_point() else x)
    ours = train(twin, torch.compile(twin, backend="quern"), x)
    assert_as_good_as_eager(ours, eager, exact)
