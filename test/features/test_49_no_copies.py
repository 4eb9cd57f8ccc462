"""Pass NumPy arrays and any DLPack tensor to a kernel: no copy, the same memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import quern
import torch

SOURCE = """
elementwise bump[T: Number](x: T) -> T:
    return x + 1

rowwise clear(x: mut f32[*R]):
    x = 0
"""


class Foreign:
    """A tensor of another framework: only DLPack's two methods."""

    def __init__(self, owner: torch.Tensor) -> None:
        self.owner = owner

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.owner.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.owner.__dlpack_device__()


def test_output_is_the_callers_memory() -> None:
    k = quern.compile(SOURCE)
    array, out = np.arange(5, dtype="float32"), np.zeros(5, dtype="float32")
    assert k.bump(array, out=out) is out
    np.testing.assert_array_equal(out, array + 1)
    tensor = torch.zeros(5)
    pointer = tensor.data_ptr()
    assert k.bump(torch.arange(5.0), out=tensor).data_ptr() == pointer
    torch.testing.assert_close(tensor, torch.arange(5.0) + 1)


def test_input_is_the_callers_memory() -> None:
    k = quern.compile(SOURCE)
    base = np.arange(12, dtype="float32").reshape(3, 4)
    view = base[:, ::2]
    k.clear(view)
    np.testing.assert_array_equal(base[:, ::2], 0)
    np.testing.assert_array_equal(base[:, 1::2] > 0, True)


def test_any_dlpack_tensor() -> None:
    k = quern.compile(SOURCE)
    tensor = torch.arange(6.0)
    k.clear(Foreign(tensor))
    assert tensor.abs().sum() == 0
