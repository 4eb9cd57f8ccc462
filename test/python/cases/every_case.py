"""Every call of the kernels of test/kernels, here and in an archive for a machine with a GPU."""

from __future__ import annotations

import importlib

from kernel_cases import Case

#: `NAME_cases.py` beside this file holds the calls of one or several files of kernels.
FAMILIES = (
    "kernel", "tile", "everyday", "pattern", "chain", "solver", "warp", "room", "stage", "classic",
    "routine", "corner", "factor", "step", "sequence", "image", "sparse", "square", "mixture",
    "port"
)  # fmt: skip


def cases() -> list[Case]:
    families = [importlib.import_module(f"{name}_cases") for name in FAMILIES]
    return [case for family in families for case in family.cases()]
