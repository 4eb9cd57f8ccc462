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
from random_kernels import Kernel, kernels
from scalar_reference import TORCH, is_float, load, store

EXAMPLES = 20000 if os.environ.get("QUERN_TEST_ALL") else 60
SHAPES = [(), (0,), (1,), (7,), (67,), (3, 5), (4, 1, 9), (2, 3, 17)]


def values(t: str, shape: tuple[int, ...], seed: int) -> torch.Tensor:
    """Elements with many edges among them."""
    rng = np.random.default_rng(seed)
    if t == "bool":
        return torch.from_numpy(np.asarray(rng.integers(0, 2, shape)).astype(bool))
    if is_float(t):
        plain = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)
        edges = np.array([0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 3e4, -128.5])
        picked = np.where(rng.random(shape) < 0.3, rng.choice(edges, shape), plain)
        return torch.from_numpy(np.asarray(picked)).to(TORCH[t])
    info = torch.iinfo(TORCH[t])
    small = rng.integers(0 if info.min == 0 else -9, 10, shape)
    edges = np.array([info.min, info.max, 0, 1], dtype=object)
    picked = np.where(rng.random(shape) < 0.3, rng.choice(edges, shape), small)
    held = np.asarray(picked, dtype=object).astype(f"{'u' if info.min == 0 else ''}int{info.bits}")
    return torch.from_numpy(np.array(held))


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


def same_bits(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Equal bits; one NaN is as good as another."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    if not got.dtype.is_floating_point:
        return bool(torch.equal(got, wanted))
    a, b = got.double().numpy(), wanted.double().numpy()
    same = (a == b) & (np.signbit(a) == np.signbit(b))
    return bool(np.all(same | (np.isnan(a) & np.isnan(b))))


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
