"""Calls of an `each` on a GPU share launches: how many there are, and what the calls leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import _quern
import pytest
import quern
import torch
from emulated_calls import agree
from emulator.device import EmulatedDevice, FarTensor, emulated
from tree import build_dir

SOURCE = """
from reductions use sum

elementwise step[T: Float](p: mut T, g: T, rate: T):
    p = p - rate * g

op sgd[T: Float](ps: list[mut T[*S]], gs: list[T[*S]], rate: T):
    each (p, g) in zip(ps, gs): step(p, g, rate)

rowwise share[T: Float](x: T[R, C]) -> T[R, C]:
    return x / sum(x * x over C)

op shares[T: Float](xs: list[T[R, C]]) -> list[T[R, C]]:
    return [share(x) for x in xs]

rowwise total[T: Float](x: T[N]) -> T[]:
    return sum(x over N)

op totals[T: Float](xs: list[T[N]]) -> list[T[]]:
    return [total(x) for x in xs]

rowwise picked(x: f32[N], i: i64[M]) -> f32[M]:
    return x[i]

op all_picked(xs: list[f32[N]], i: i64[M]) -> list[f32[M]]:
    return [picked(x, i) for x in xs]

elementwise add_to[T: Float](y: mut T, x: T):
    y = y + x

op gathered[T: Float](xs: list[T[N]], y: mut T[N]):
    each x in xs: add_to(y, x)

kernel marked(x: mut f32[N]):
    launch grid(2) block(32)
    if thread.x + 32 * block.x < N:
        x[thread.x + 32 * block.x] = 1

op all_marked(xs: list[mut f32[N]]):
    each x in xs: marked(x)
"""


@pytest.fixture(scope="module")
def device() -> EmulatedDevice:
    return emulated(build_dir() / "test" / "stand-in")


@pytest.fixture(params=["sm_80", "sm_90"])
def session(device: EmulatedDevice, request: pytest.FixtureRequest) -> Iterator[Any]:
    device.become(request.param)
    yield _quern.Session(threads=1, cache="-")
    assert device.problem == ""
    assert device.violations == ""


@pytest.fixture
def lists(session: Any) -> Any:
    return session.compile(SOURCE, "lists.qn")


def vectors(sizes: Sequence[int]) -> list[torch.Tensor]:
    return [torch.randn(size) for size in sizes]


def launches(device: EmulatedDevice, function: Any, *arguments: Any) -> list[str]:
    """Those of a call that leaves what it leaves on the CPU."""
    agree(device, function, list(arguments))
    return list(device.launched)


#: So many rows of 6 + 2 words, with a block each, lie in a parameter of 512 words.
NEAR = 61


@pytest.mark.parametrize("count", [1, 2, NEAR, NEAR + 1, 300])
def test_a_list_is_one_launch(device: EmulatedDevice, lists: Any, count: int) -> None:
    sizes = [7 + k % 50 for k in range(count)]
    assert len(launches(device, lists.sgd, vectors(sizes), vectors(sizes), 0.5)) == 1
    device.capture(True)
    captured = launches(device, lists.sgd, vectors(sizes), vectors(sizes), 0.5)
    assert len(captured) == -(-count // NEAR)


def test_tensors_of_any_size(device: EmulatedDevice, lists: Any) -> None:
    """Long ones have many blocks; none are left out, nor given to the one beside."""
    sizes = [3, 0, 9000, 2, 70_001, 300, 0, 2048, 5, 12_345]
    small, large = launches(device, lists.sgd, vectors(sizes), vectors(sizes), 0.25)
    assert (small, large) == ("step_thread", "step_block")
    device.capture(True)
    assert len(launches(device, lists.sgd, vectors(sizes), vectors(sizes), 0.25)) < len(sizes)


def test_more_blocks_than_a_device_holds(device: EmulatedDevice, lists: Any) -> None:
    """Calls go on to their next unit, each at a step of its own."""
    sizes = [400_000, 130_000, 90, 1_000_000]
    assert launches(device, lists.sgd, vectors(sizes), vectors(sizes), 0.5) == ["step_block"]


def test_code_that_differs(device: EmulatedDevice, lists: Any) -> None:
    spread = [torch.randn(k + 2, 6)[:, ::2] for k in range(3)]
    dense = [torch.randn(5, k + 2) for k in range(3)]
    ps = [p for pair in zip(spread, dense, strict=True) for p in pair]
    gs = [torch.randn(p.shape) for p in ps]
    assert len(launches(device, lists.sgd, ps, gs, 0.5)) == 2
    assert len(launches(device, lists.sgd, ps[1:3], gs[1:3], 0.5)) == 2


def test_rows_and_whole_reductions(device: EmulatedDevice, lists: Any, session: Any) -> None:
    """Every launch of a kernel is one for all; workspaces lie one behind the other."""
    rows = [torch.randn(3 + k, 40) for k in range(7)]
    assert len(launches(device, lists.shares, rows)) == 1
    whole = launches(device, lists.totals, vectors([30_000, 7, 100_000, 2_000]))
    assert len(whole) == len(set(whole)) > 1
    # A cluster works on a row of its own.
    wide = [torch.randn(2, 9_100), torch.randn(3, 9_000)]
    clusters = launches(device, lists.shares, wide)
    assert len(clusters) == (2 if "cluster" in clusters[0] else 1)


def test_calls_that_meet_stay_in_order(device: EmulatedDevice, lists: Any) -> None:
    assert len(launches(device, lists.gathered, vectors([9] * 5), torch.randn(9))) == 5


def test_explicit_kernels_are_launched_one_by_one(device: EmulatedDevice, lists: Any) -> None:
    assert len(launches(device, lists.all_marked, vectors([9, 50, 64]))) == 3


def test_one_of_the_calls_fails(device: EmulatedDevice, lists: Any) -> None:
    at = torch.tensor([3, 8])
    assert len(launches(device, lists.all_picked, vectors([9, 12, 10]), at)) == 1
    xs = [FarTensor(device, x) for x in vectors([9, 5, 10])]
    outs = [FarTensor(device, torch.zeros(2)) for _ in xs]
    with pytest.raises(quern.Error, match=r"QN2050.*index 8 .*extent 5"):
        lists.all_picked(xs, FarTensor(device, at), out=outs)


def test_a_step_of_adam(device: EmulatedDevice, session: Any) -> None:
    sizes = [[16], [3, 4], [64, 30], [9, 8, 7], []] * 20
    lists = [[torch.rand(size) + 0.5 for size in sizes] for _ in range(4)]
    steps = [torch.tensor(float(3 + k % 2)) for k in range(len(sizes))]
    numbers = (0.01, 0.9, 0.99, 0.1, 1e-8, False)
    adam = session.library("optimizers").adam
    assert len(launches(device, adam, *lists, steps, *numbers)) <= 4
