"""No bounds check is dropped by a proof that does not hold when integers wrap."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import _quern
import numpy as np
import pytest
import quern
import torch
from emulator.device import FarTensor, emulated
from guard_pages import between_pages
from targets import runnable
from tree import build_dir

HEAD = "({}x: f32[N], far: i8[E], y: mut f32[M]):\n    launch grid(1) block(64)\n"
#: A kernel's own parameters, and its statements: `y[i]` becomes what is read, or stays.
KERNELS = {
    "sum8": (
        "a: i8[M], ",
        """
    if thread.x < M:
        let at = (a[thread.x] & 127) + (a[thread.x] & 127)
        if i64(at) < N:
            y[thread.x] = x[at]
""",
    ),
    "product16": (
        "a: i16[M], ",
        """
    if thread.x < M:
        let at = (a[thread.x] & 255) * 255
        if i64(at) < N:
            y[thread.x] = x[at]
""",
    ),
    "sum32": (
        "a: i32[M], ",
        """
    if thread.x < M:
        let at = max(a[thread.x], 0) + 1
        if i64(at) < N:
            y[thread.x] = x[at]
""",
    ),
    "offset": (
        "a: i64[M], ",
        """
    if thread.x < M:
        let i = a[thread.x]
        if i >= 0 and i + 10 < N:
            y[thread.x] = x[i]
""",
    ),
    "offset_of_narrow": (
        "a: i32[M], ",
        """
    if thread.x < M:
        let i = a[thread.x]
        if i >= 0 and i + 10 < i32(N):
            y[thread.x] = x[i]
""",
    ),
    "before": (
        "a: i64[M], ",
        """
    if thread.x < M:
        let i = a[thread.x]
        if i - 10 >= 0 and i < N:
            y[thread.x] = x[i]
""",
    ),
    "negated": (
        "a: i8[M], ",
        """
    if thread.x < M:
        let at = 0 - min(a[thread.x], 0)
        if i64(at) < N:
            y[thread.x] = x[at]
""",
    ),
    "extents": (
        "",
        """
    if thread.x < M:
        let at = E * 4 + thread.x
        if at < N:
            y[thread.x] = x[at]
""",
    ),
    "sum_of_extents": (
        "",
        """
    if thread.x < M:
        let at = E + E + thread.x
        if at < N:
            y[thread.x] = x[at]
""",
    ),
    "lanes": (
        "a: i64[M], ",
        """
    let i = a[0] + thread.x
    if i >= 5:
        y[min(i, M - 1)] = x[min(i, N - 1)]
""",
    ),
    "steps": (
        "a: i64[M], ",
        """
    if thread.x < 1:
        for k in range(0, a[0], 1 << 61):
            if k < N:
                y[k % M] = x[k]
""",
    ),
    "written": (
        "a: i8[M], ",
        """
    if thread.x < M:
        let at = (a[thread.x] & 127) + (a[thread.x] & 127)
        if i64(at) < M:
            y[at] = 1
""",
    ),
}
TEXT = "\n".join(
    f"kernel {name}" + HEAD.format(own) + body.lstrip("\n") for name, (own, body) in KERNELS.items()
)
LARGE = 2**63 - 1
#: Which number of `a` goes wrong.
NUMBERS: dict[str, tuple[Any, int]] = {
    "sum8": (np.int8, 127),
    "product16": (np.int16, 255),
    "sum32": (np.int32, 2**31 - 1),
    "offset": (np.int64, LARGE - 5),
    "offset_of_narrow": (np.int32, 2**31 - 5),
    "before": (np.int64, -LARGE),
    "negated": (np.int8, -128),
    "lanes": (np.int64, LARGE - 3),
    "steps": (np.int64, LARGE),
    "written": (np.int8, 127),
}
#: Where no index is out of range after all.
FITTING = {"lanes": [0, 0, 0, 0, 0, 0, 0, 299], "steps": [0] * 8}


def operands(name: str, at_end: bool) -> list[Any]:
    x = between_pages(np.arange(300, dtype=np.float32), at_end)
    y = between_pages(np.zeros(8, np.float32), at_end)
    far = torch.zeros(1, dtype=torch.int8).expand(2**62 if name == "sum_of_extents" else 2**61)
    if name not in NUMBERS:
        return [x, far, y]
    kind, number = NUMBERS[name]
    a = between_pages(np.full(8, number, kind), at_end)
    return [a, x, torch.zeros(3, dtype=torch.int8), y]


@pytest.mark.parametrize("name", KERNELS)
def test_an_index_that_wraps_is_reported(name: str) -> None:
    module = _quern.Session(threads=1, cache="-").compile(TEXT, "bounds.qn")
    for at_end in (False, True):
        arrays = operands(name, at_end)
        if name in FITTING:
            getattr(module, name)(*arrays)
            assert arrays[-1].tolist() == FITTING[name]
            continue
        with pytest.raises(_quern.Error, match=r"QN2050.*index .* is out of range for axis `[NM]`"):
            getattr(module, name)(*arrays)


@pytest.mark.parametrize("name", KERNELS)
def test_on_a_gpu(name: str) -> None:
    device = emulated(build_dir() / "test" / "stand-in")
    device.become("sm_90")
    module: Any = _quern.Session(threads=1, cache="-").compile(TEXT, "bounds.qn")
    arrays = [
        FarTensor(device, torch.as_tensor(one) if isinstance(one, np.ndarray) else one)
        for one in operands(name, at_end=True)
    ]
    if name in FITTING:
        getattr(module, name)(*arrays)
        assert arrays[-1].near.tolist() == FITTING[name]
        return
    with pytest.raises(_quern.Error, match=r"QN2050.*index .* is out of range for axis `[NM]`"):
        getattr(module, name)(*arrays)


WINDOWS = """
rowwise summed(x: f32[R, C], step: int, n: int) -> f32[R, C]:
    return sum(x.at(R = index(R) + i * step, outside = 0) over (i: 0 .. n))
"""


@pytest.mark.parametrize("target", [runnable(t) for t in ("x86-64-v2", "x86-64-v3", "")])
@pytest.mark.parametrize(
    ("step", "n"), [(1, 4), (-2, 3), (2**64 // 3 + 1, 4), (2**64 // 15 + 1, 16)]
)
def test_windows_whose_steps_wrap(target: str, step: int, n: int) -> None:
    """The first and the last place are inside, the others are far outside."""
    session: Any = _quern.Session(threads=1, cache="-", target=target)
    module = session.compile(WINDOWS, "windows.qn")
    for rows in (20, 40):
        x = between_pages(np.ones((rows, 64), np.float32), True)
        y = between_pages(np.zeros((rows, 64), np.float32), True)
        module.summed(x, step, n, out=y)
        places = [[(r + i * step + 2**63) % 2**64 - 2**63 for i in range(n)] for r in range(rows)]
        wanted = [sum(0 <= place < rows for place in each) for each in places]
        assert y[:, 0].tolist() == wanted


INSIDE = """
kernel doubled(x: f32[N], y: mut f32[N]):
    launch grid((N + 63) // 64) block(64)
    let i = block.x * 64 + thread.x
    if i < N:
        y[i] = 2 * x[i]
"""


def checked_places(tmp_path: Path, target: str, bounds: str) -> int:
    """Indices that are checked."""
    (tmp_path / "k.qn").write_text(INSIDE)
    words = ["build", str(tmp_path / "k.qn"), "doubled", "--emit=abi", f"--target={target}"]
    done = subprocess.run(
        [build_dir() / "bin" / "quern", *words],
        env=dict(os.environ, QUERN_BOUNDS=bounds),
        capture_output=True,
        text=True,
        check=True,
    )
    return sum(site["axis"] == "N" for site in json.loads(done.stdout)["sites"])


@pytest.mark.parametrize("target", ["x86-64-v3", "sm_90", "gfx942"])
def test_every_check_is_kept_when_asked(tmp_path: Path, target: str) -> None:
    assert checked_places(tmp_path, target, "") == 0
    assert checked_places(tmp_path, target, "all") == 2


def test_with_and_without_proofs_are_two_kernels(tmp_path: Path) -> None:
    x = np.arange(100, dtype=np.float32)
    for first in (2, 0):
        session = _quern.Session(threads=1, cache=str(tmp_path))
        for bounds in ("proved", "all", "proved"):
            y = np.zeros_like(x)
            session.compile(INSIDE, "k.qn", bounds).doubled(x, y)
            np.testing.assert_array_equal(y, 2 * x)
        assert session.counters()["compiles"] == first


def test_another_word_is_refused() -> None:
    with pytest.raises(ValueError, match="`bounds` is `none`, must be one of `proved`, `all`"):
        quern.compile(INSIDE, "k.qn", bounds="none")


def test_graphs_keep_every_check_too() -> None:
    x = torch.randn(5, 7)
    compiled = torch.compile(
        lambda x: (x * 2).softmax(1), backend="quern", options={"bounds": "all"}
    )
    torch.testing.assert_close(compiled(x), (x * 2).softmax(1))
