"""The twelve models the project measures itself on, in full and in tiny size."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@dataclass(frozen=True)
class Task:
    """A model with an input batch and a loss over its outputs."""

    name: str
    module: torch.nn.Module
    inputs: dict[str, Any]
    loss: Callable[[Any], torch.Tensor]
    images: bool = False


def build(name: str, *, tiny: bool = False, seed: int = 0) -> Task:
    """Builds one model with random weights; equal seeds give equal weights."""
    from models import convolutional, language, recommendation, vision

    makers: dict[str, Callable[[bool], Task]] = {
        "gpt2": language.gpt2,
        "bert": language.bert,
        "llama": language.llama,
        "t5": language.t5,
        "mamba": language.mamba,
        "vit": vision.vit,
        "whisper": vision.whisper,
        "resnet18": convolutional.resnet18,
        "mobilenetv3": convolutional.mobilenetv3,
        "convnext": convolutional.convnext,
        "unet": convolutional.unet,
        "dlrm": recommendation.dlrm,
    }
    if name not in makers:
        raise KeyError(f"no model `{name}`; known: {', '.join(makers)}")
    torch.manual_seed(seed)
    return makers[name](tiny)


NAMES = (
    "gpt2",
    "bert",
    "llama",
    "t5",
    "vit",
    "whisper",
    "mamba",
    "resnet18",
    "mobilenetv3",
    "convnext",
    "unet",
    "dlrm",
)
