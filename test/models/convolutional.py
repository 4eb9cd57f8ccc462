"""Convolutional networks, written by hand in torch.nn."""

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from models import Task
from models.mobilenet import MobileNetV3
from models.unet import UNet, segmentation_loss


def conv_norm(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Sequential:
    padding = (size - 1) // 2
    convolution = nn.Conv2d(inputs, outputs, size, stride, padding, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs))


class BasicBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = conv_norm(inputs, outputs, 3, stride)
        self.second = conv_norm(outputs, outputs, 3)
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else conv_norm(inputs, outputs, 1, stride)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.second(self.relu(self.first(x)))
        return self.relu(y + self.shortcut(x))


class ResNet18(nn.Module):
    """Two basic blocks at each of four resolutions."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        )
        blocks: list[nn.Module] = []
        inputs = width
        for level in range(4):
            outputs = width << level
            blocks.append(BasicBlock(inputs, outputs, 1 if level == 0 else 2))
            blocks.append(BasicBlock(outputs, outputs, 1))
            inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.blocks(self.stem(x))
        return self.head(nn.functional.adaptive_avg_pool2d(y, 1).flatten(1))


class LayerNormChannels(nn.LayerNorm):
    """Layer norm over the channels of an image."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXtBlock(nn.Module):
    """Depthwise 7x7, norm, a wide pointwise pair, layer scale, shortcut."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 1e-1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.narrow(nn.functional.gelu(self.wide(y))) * self.scale
        return x + y.permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    """Four stages of blocks with a strided convolution before each."""

    def __init__(self, widths: list[int], depths: list[int], classes: int) -> None:
        super().__init__()
        stages: list[nn.Module] = [nn.Conv2d(3, widths[0], 4, 4), LayerNormChannels(widths[0])]
        for level, (width, depth) in enumerate(zip(widths, depths, strict=True)):
            if level:
                stages.append(LayerNormChannels(widths[level - 1]))
                stages.append(nn.Conv2d(widths[level - 1], width, 2, 2))
            stages.extend(ConvNeXtBlock(width) for _ in range(depth))
        self.stages = nn.Sequential(*stages)
        self.norm = nn.LayerNorm(widths[-1], eps=1e-6)
        self.head = nn.Linear(widths[-1], classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.stages(x).mean((2, 3))))


def _classify(name: str, module: nn.Module, batch: int, side: int, classes: int) -> Task:
    labels = torch.randint(0, classes, (batch,))
    inputs = {"x": torch.randn(batch, 3, side, side)}
    return Task(
        name, module, inputs, lambda logits: cross_entropy(logits.float(), labels), images=True
    )


def resnet18(tiny: bool) -> Task:
    width, batch, side, classes = (8, 3, 40, 13) if tiny else (64, 4, 224, 1000)
    return _classify("resnet18", ResNet18(width, classes), batch, side, classes)


def mobilenetv3(tiny: bool) -> Task:
    batch, side, classes = (3, 40, 13) if tiny else (8, 224, 1000)
    module = MobileNetV3(classes, divisor=4 if tiny else 1)
    return _classify("mobilenetv3", module, batch, side, classes)


def convnext(tiny: bool) -> Task:
    if tiny:
        module = ConvNeXt([8, 16, 24, 32], [1, 1, 2, 1], 13)
        return _classify("convnext", module, 3, 40, 13)
    module = ConvNeXt([96, 192, 384, 768], [2, 2, 6, 2], 1000)
    return _classify("convnext", module, 2, 224, 1000)


def unet(tiny: bool) -> Task:
    batch, side, classes = (3, 40, 4) if tiny else (2, 160, 4)
    labels = torch.randint(0, classes, (batch, side, side))
    return Task(
        "unet",
        UNet(8 if tiny else 32, classes),
        {"x": torch.randn(batch, 3, side, side)},
        lambda logits: segmentation_loss(logits.float(), labels),
        images=True,
    )
