"""Cuts a large matrix of cases down to what the quick tier of the tests runs.

>>> from slices import matrix
>>> matrix("powers", range(3), group=lambda n: n % 2, quick=1.0)
[0, 1, 2]
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TypeVar

Case = TypeVar("Case")
ROOT = Path(__file__).resolve().parents[3]
NVIDIA = ("sm_80", "sm_90", "sm_100")
AMD = ("gfx90a", "gfx942", "gfx1100", "gfx1201")


@functools.cache
def commit() -> str:
    """The commit under test: what the quick tier runs moves with it."""
    answer = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return answer.stdout.strip()


def everything() -> bool:
    """Whether this run is the long tier, `--all`."""
    return os.environ.get("QUERN_TEST_ALL") == "1"


def _rank(name: str, case: object) -> int:
    digest = hashlib.sha256(f"{commit()} {name} {case!r}".encode()).digest()
    return int.from_bytes(digest[:8])


def _log(name: str, total: int, done: int) -> None:
    """Tells `./dev test` what it is to say at its end."""
    if path := os.environ.get("QUERN_TEST_LEFT"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{name} {total} {done}\n")


def matrix(
    name: str,
    cases: Iterable[Case],
    *,
    group: Callable[[Case], Hashable],
    quick: float = 0.05,
) -> list[Case]:
    """All cases under --all; else the share `quick` of them, chosen by the
    commit's hash, and at least one of every group. The order is kept. A case
    must have a repr that is the same in every process."""
    listed = list(cases)
    if everything():
        _log(name, len(listed), len(listed))
        return listed
    seen: set[Hashable] = set()
    chosen: set[int] = set()
    ranked = sorted(range(len(listed)), key=lambda i: _rank(name, listed[i]))
    budget = round(len(listed) * quick)
    for position, index in enumerate(ranked):
        key = group(listed[index])
        if position < budget or key not in seen:
            chosen.add(index)
        seen.add(key)
    _log(name, len(listed), len(chosen))
    return [case for index, case in enumerate(listed) if index in chosen]


def one_of(name: str, cases: Iterable[Case]) -> list[Case]:
    """All cases under --all; else the one that the commit's hash chooses."""
    return matrix(name, cases, group=lambda _: None, quick=0)


def gpus(name: str) -> tuple[str, ...]:
    """All targets of GPUs under --all; else one for every vendor and size of a warp."""

    def kind(target: str) -> str:
        return target[:4] if target in AMD else "NVIDIA"

    return tuple(matrix(name, (*NVIDIA, *AMD), group=kind, quick=0))
