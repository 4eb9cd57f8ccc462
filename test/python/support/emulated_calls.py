"""Calls on a device that the emulator stands in for, compared with the same calls on the host."""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from emulator.device import EmulatedDevice, FarTensor

#: How far apart sums in another order may be.
TOLERANCE = 2e-5


def far(device: EmulatedDevice, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(far(device, one) for one in value)
    return FarTensor(device, value) if isinstance(value, torch.Tensor) else value


def near(value: Any) -> list[torch.Tensor]:
    """All tensors of a value, one behind the other."""
    if isinstance(value, list | tuple):
        return [tensor for one in value for tensor in near(one)]
    if isinstance(value, FarTensor):
        return [value.near]
    return [value] if isinstance(value, torch.Tensor) else []


def agree(device: EmulatedDevice, function: Any, arguments: list[Any], **named: Any) -> None:
    """The same on the device as on the host: what it gives and what it writes."""
    given = far(device, copy.deepcopy(arguments))
    expected = function(*arguments, **named)
    outs = [FarTensor(device, torch.zeros_like(one)) for one in near(expected)]
    device.launched.clear()
    function(*given, **named, **({"out": outs if len(outs) > 1 else outs[0]} if outs else {}))
    assert device.launched or all(one.numel() == 0 for one in near(expected))
    pairs = zip(near([given, outs]), near([arguments, expected]), strict=True)
    for now, then in pairs:
        most = then.abs().max().item() if then.numel() and then.is_floating_point() else 1
        slack = TOLERANCE * most if math.isfinite(most) else 0
        torch.testing.assert_close(now, then, rtol=TOLERANCE, atol=slack, equal_nan=True)
