"""Transformers over images and sound."""

import torch
import transformers
from torch.nn.functional import cross_entropy, mse_loss

from models import Task


def vit(tiny: bool) -> Task:
    batch, side, classes = (3, 40, 13) if tiny else (4, 224, 1000)
    config = transformers.ViTConfig(
        hidden_size=48 if tiny else 384,
        num_hidden_layers=2 if tiny else 6,
        num_attention_heads=4 if tiny else 6,
        intermediate_size=96 if tiny else 1536,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        image_size=side,
        patch_size=8 if tiny else 16,
        num_labels=classes,
    )
    labels = torch.randint(0, classes, (batch,))
    return Task(
        "vit",
        transformers.ViTForImageClassification(config),
        {"pixel_values": torch.randn(batch, 3, side, side)},
        lambda output: cross_entropy(output.logits.float(), labels),
        images=True,
    )


def whisper(tiny: bool) -> Task:
    batch, frames, bins = (3, 38, 8) if tiny else (2, 1000, 80)
    width = 48 if tiny else 384
    config = transformers.WhisperConfig(
        d_model=width,
        encoder_layers=2 if tiny else 4,
        encoder_attention_heads=4 if tiny else 6,
        encoder_ffn_dim=96 if tiny else 1536,
        num_mel_bins=bins,
        max_source_positions=frames // 2,
        dropout=0,
        attention_dropout=0,
        activation_dropout=0,
        encoder_layerdrop=0,
    )
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    target = torch.randn(batch, frames // 2, width)
    return Task(
        "whisper",
        WhisperEncoder(config),
        {"input_features": torch.randn(batch, bins, frames)},
        lambda output: mse_loss(output.last_hidden_state.float(), target),
    )
