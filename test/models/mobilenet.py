"""MobileNetV3, large: inverted residuals with squeeze-excite."""

import torch
from torch import nn

# (kernel, expanded, outputs, squeeze-excite, hard-swish, stride)
ROWS = (
    (3, 16, 16, False, False, 1),
    (3, 64, 24, False, False, 2),
    (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2),
    (5, 120, 40, True, False, 1),
    (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2),
    (3, 200, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1),
    (3, 480, 112, True, True, 1),
    (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2),
    (5, 960, 160, True, True, 1),
    (5, 960, 160, True, True, 1),
)


def unit(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    padding = (size - 1) // 2
    convolution = nn.Conv2d(inputs, outputs, size, stride, padding, groups=groups, bias=False)
    return [convolution, nn.BatchNorm2d(outputs, eps=1e-3, momentum=0.01)]


def round_to_eight(value: float) -> int:
    return max(8, int(value + 4) // 8 * 8)


class SqueezeExcite(nn.Module):
    """Scales channels by a gate computed from their means."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = round_to_eight(width / 4)
        self.squeeze = nn.Conv2d(width, inner, 1)
        self.excite = nn.Conv2d(inner, width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = nn.functional.adaptive_avg_pool2d(x, 1)
        gate = self.excite(nn.functional.relu(self.squeeze(gate)))
        return x * nn.functional.hardsigmoid(gate)


class InvertedResidual(nn.Module):
    """Expand, depthwise, gate, project."""

    def __init__(self, inputs: int, row: tuple[int, int, int, bool, bool, int]) -> None:
        super().__init__()
        size, expanded, outputs, gated, swish, stride = row
        activation = nn.Hardswish if swish else nn.ReLU
        layers: list[nn.Module] = []
        if expanded != inputs:
            layers += [*unit(inputs, expanded, 1), activation(inplace=True)]
        layers += [*unit(expanded, expanded, size, stride, expanded), activation(inplace=True)]
        if gated:
            layers.append(SqueezeExcite(expanded))
        layers += unit(expanded, outputs, 1)
        self.layers = nn.Sequential(*layers)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layers(x)
        return x + y if self.residual else y


class MobileNetV3(nn.Module):
    """`divisor` narrows every layer."""

    def __init__(self, classes: int, divisor: int = 1) -> None:
        super().__init__()

        def width(channels: int) -> int:
            return channels if divisor == 1 else round_to_eight(channels / divisor)

        inputs = width(16)
        layers: list[nn.Module] = [*unit(3, inputs, 3, 2), nn.Hardswish(inplace=True)]
        for size, expanded, outputs, gated, swish, stride in ROWS:
            row = (size, width(expanded), width(outputs), gated, swish, stride)
            layers.append(InvertedResidual(inputs, row))
            inputs = width(outputs)
        last = width(960)
        layers += [*unit(inputs, last, 1), nn.Hardswish(inplace=True)]
        self.features = nn.Sequential(*layers)
        self.head = nn.Sequential(
            nn.Linear(last, width(1280)),
            nn.Hardswish(inplace=True),
            nn.Linear(width(1280), classes),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = nn.functional.adaptive_avg_pool2d(self.features(x), 1)
        return self.head(y.flatten(1))
