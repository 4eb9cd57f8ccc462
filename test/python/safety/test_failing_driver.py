"""One call of a GPU's driver fails: an exception, and the same session does the work again."""

from __future__ import annotations

import itertools
import os
from typing import Any

import _quern
import pytest
import quern
import torch
from emulator.device import EmulatedDevice, FarTensor, emulated
from tree import build_dir

TEXT = """
rowwise rows(x: f32[R, C]) -> f32[R]:
    return sum(x over C) * NUMBER

elementwise twice(x: f32) -> f32:
    return x + x

rowwise largest(x: f32[N]) -> f32[]:
    return max(x over N)

op both(x: f32[R, C]) -> f32[R]:
    let y = twice(rows(x))
    if host(largest(y)) > 1e9:
        return y
    return twice(y)
"""
#: No memory, no device, a context that is gone, a kernel that went wrong.
CODES = (2, 100, 709, 719)


class Work:
    """A call of an `op`: on a new session, with a new text, or as before."""

    def __init__(self, device: EmulatedDevice, stage: str) -> None:
        self.device, self.stage = device, stage
        self.x = torch.arange(12.0).reshape(3, 4)
        self.out = FarTensor(device, torch.zeros(3))
        self.far = FarTensor(device, self.x)
        self.number = 1
        self.begin()

    def begin(self) -> None:
        """What happens before the driver fails."""
        if self.stage == "session" or self.number == 1:
            self.session: Any = _quern.Session(threads=1, cache="-")
        if self.stage == "text" or self.number == 1 or self.stage == "session":
            self.number += 1
            text = TEXT.replace("NUMBER", str(self.number))
            self.module: Any = self.session.compile(text, "failing.qn")

    def call(self) -> bool:
        self.out.near.fill_(-1)
        self.module.both(self.far, out=self.out)
        wanted = self.x.sum(1) * self.number * 4
        return torch.equal(self.out.near, wanted)


@pytest.mark.parametrize("stage", ["session", "text", "warm"])
def test_every_call_of_the_driver(stage: str) -> None:
    """A slice of them; QUERN_SWEEP=all fails each, with several errors."""
    device = emulated(build_dir() / "test" / "stand-in")
    device.become("sm_90")
    driver = device.driver
    work = Work(device, stage)
    assert work.call()
    everything = os.environ.get("QUERN_SWEEP") == "all"
    codes, step = (CODES, 1) if everything else (CODES[:1], 11)
    failures = 0
    for code in codes:
        for at in itertools.count(0, step):
            work.begin()
            first = driver.standin_calls()
            driver.standin_fail(first + at, code)
            try:
                assert work.call(), (code, at)
            except (quern.Error, MemoryError):
                failures += 1
            is_past = driver.standin_calls() <= first + at
            driver.standin_fail(-1, 0)
            assert work.call(), (code, at)
            if is_past:
                break
        print(f"{stage}: code {code}, {at} calls")
    assert failures > 0
    assert device.violations == ""
