"""Random kernels give the bits that the semantics say, for every layout of operands.

>>> # QUERN_TEST_ALL=1 runs 20,000 programs instead of a slice.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import quern
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_kernels import Kernel, kernels, same_bits, values
from scalar_reference import load, store

EXAMPLES = 20000 if os.environ.get("QUERN_TEST_ALL") else 60
SHAPES = [(), (0,), (1,), (7,), (67,), (3, 5), (4, 1, 9), (2, 3, 17)]


def laid_out(tensor: torch.Tensor, how: int) -> torch.Tensor:
    """The same elements with other strides."""
    if how == 1 and tensor.dim() >= 2:
        return tensor.transpose(0, -1).contiguous().transpose(0, -1)
    if how == 2 and tensor.dim() >= 1:
        wide = torch.stack([tensor, tensor], dim=-1)
        return wide.flatten(-2)[..., ::2]
    if how == 3:
        padded = torch.cat([tensor.new_zeros(1), tensor.reshape(-1)])
        return padded[1:].view(tensor.shape)
    return tensor


def compiled(kernel: Kernel) -> quern.Module:
    """Constants are folded by the checker, which rejects a division by a zero it sees."""
    try:
        return quern.compile(kernel.source)
    except quern.Error as error:
        assume("division by zero" not in str(error))
        raise


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not os.environ.get("QUERN_TEST_ALL"),
    suppress_health_check=list(HealthCheck),
)
@given(kernel=kernels(), data=st.data())
def test_elementwise(kernel: Kernel, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    seed = data.draw(st.integers(0, 1000))
    operands, environment = [], {}
    for number, (name, t) in enumerate(kernel.parameters):
        # All but the first may be broadcast.
        own = shape
        if number and shape and data.draw(st.integers(0, 3)) == 0:
            own = (1, *shape[1:])
        tensor = laid_out(values(t, own, seed + number), data.draw(st.integers(0, 3)))
        operands.append(tensor)
        environment[name] = load(tensor, t)
    with np.errstate(all="ignore"):
        result = np.broadcast_to(kernel.evaluate(environment), shape)
        wanted = store(result, kernel.result)
    got = compiled(kernel).k(*operands)
    assert same_bits(got, wanted), f"{kernel.source}\n{operands}\n{got}\nshould be\n{wanted}"
