"""U-Net: four resolutions with concatenated skips."""

import torch
from torch import nn
from torch.nn.functional import cross_entropy, one_hot


def double(inputs: int, outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for channels in (inputs, outputs):
        layers += [
            nn.Conv2d(channels, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        ]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """Down by max pooling, up by transposed convolutions."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        widths = [width << level for level in range(4)]
        self.down = nn.ModuleList(
            double(inputs, outputs) for inputs, outputs in zip([3, *widths], widths, strict=False)
        )
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(2 * outputs, outputs, 2, 2) for outputs in reversed(widths[:-1])
        )
        self.merge = nn.ModuleList(
            double(2 * outputs, outputs) for outputs in reversed(widths[:-1])
        )
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skips = []
        for level, block in enumerate(self.down):
            x = block(x if level == 0 else nn.functional.max_pool2d(x, 2))
            skips.append(x)
        skips.pop()
        for up, merge in zip(self.up, self.merge, strict=True):
            x = merge(torch.cat([up(x), skips.pop()], 1))
        return self.head(x)


def segmentation_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross entropy plus one minus the soft dice coefficient."""
    probabilities = logits.softmax(1)
    truth = one_hot(labels, logits.shape[1]).permute(0, 3, 1, 2).to(logits.dtype)
    overlap = (probabilities * truth).sum((0, 2, 3))
    total = (probabilities + truth).sum((0, 2, 3))
    dice = ((2 * overlap + 1) / (total + 1)).mean()
    return cross_entropy(logits, labels) + 1 - dice
