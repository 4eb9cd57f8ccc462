"""What this package runs on, and a clear error where that is not there."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from functools import cache

MACHINE = "Linux on x86-64"
GLIBC = (2, 36)
PYTHON = ((3, 11), (3, 13))
TORCH = ((2, 13), (2, 15))


def spell(version: tuple[int, ...]) -> str:
    """The usual way to write a version.

    >>> spell((3, 11))
    '3.11'
    """
    return ".".join(map(str, version))


def numbers(text: str) -> tuple[int, int]:
    """Major and minor of a version's text.

    >>> numbers("2.13.0+cpu")
    (2, 13)
    """
    major, minor = text.split("+")[0].split(".")[:2]
    return int(major), int(minor)


def unmet(machine: str, libc: str, python: tuple[int, int]) -> str:
    """Why the package does not run there; empty where it does.

    >>> unmet("Linux on x86-64", "glibc 2.31", (3, 11))
    'quern needs glibc 2.36 or newer, this is glibc 2.31'
    """
    if machine != MACHINE:
        return f"quern runs on {MACHINE}, this is {machine}"
    name, _, version = libc.partition(" ")
    if name != "glibc" or numbers(version) < GLIBC:
        return f"quern needs glibc {spell(GLIBC)} or newer, this is {libc or 'another C library'}"
    first, last = PYTHON
    if not first <= python <= last:
        return f"quern needs Python {spell(first)} to {spell(last)}, this is {spell(python)}"
    return ""


@cache
def require() -> None:
    """Raises an ImportError that says what is missing; done before the compiler is loaded.

    >>> require()
    """
    machine = f"{platform.system()} on {platform.machine().replace('_', '-')}"
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else ""
    if reason := unmet(machine, libc or "", sys.version_info[:2]):
        raise ImportError(reason)


def unmet_torch(version: str, built: Sequence[tuple[int, int]]) -> str:
    """Why graphs are not compiled with that PyTorch; empty where they are. An extension module for
    a release decides, so that one that is newer than this text works where it was built.

    >>> unmet_torch("2.16.0", [(2, 13), (2, 14)])
    "quern's PyTorch backend is built for torch 2.13 and 2.14 here, this is torch 2.16.0"
    """
    if not built:
        return "this installation of quern was built without its PyTorch backend"
    own = numbers(version)
    if own < TORCH[0]:
        return f"quern's PyTorch backend needs torch {spell(TORCH[0])} or newer, this is {version}"
    if own in built:
        return ""
    known = " and ".join(map(spell, built))
    return f"quern's PyTorch backend is built for torch {known} here, this is torch {version}"
