"""`./dev operators [LIST…] [--missing]`: which ATen overloads the library declares.

A list is a text file with a name in the first column of each line: an overload
(`aten::add.Tensor`), or a base name (`add`), which any overload covers."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from tree import ROOT

KERNELS = ROOT / "stdlib-kernels"
TABLES = ("Views.def", "Primitives.def", "Preferred.def")
ATEN = re.compile(r'^@aten\("([^"]+)"', re.M)


def declared() -> set[str]:
    """Overloads with an `@aten` row, without the namespace."""
    return {name for path in KERNELS.glob("*.qn") for name in ATEN.findall(path.read_text())}


def tabled() -> set[str]:
    """Overloads that the graph compiler's own tables name."""
    folder = ROOT / "backend-torch" / "ops"
    text = "".join((folder / name).read_text() for name in TABLES)
    return {
        name.removeprefix("aten::") for name in re.findall(r'\("((?:aten|prims)::[^"]+)"', text)
    }


def names_of(path: Path) -> list[tuple[str, str]]:
    """Name and remaining columns of each line."""
    lines = [line.split(maxsplit=1) for line in path.read_text().splitlines()]
    return [(row[0], (row[1:] or [""])[0]) for row in lines if row and not row[0].startswith("#")]


def covered(name: str, known: set[str], bases: set[str]) -> bool:
    """An in-place variant counts with its functional form."""
    if not name.startswith(("aten::", "prims::")):
        return name in bases or name.removesuffix("_") in bases
    return name.removeprefix("aten::") in known


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev operators")
    parser.add_argument("lists", nargs="*", type=Path, help="files with a name a line")
    parser.add_argument("--missing", action="store_true", help="print the names without a row")
    chosen = parser.parse_args(arguments)
    rows = declared()
    print(f"{len(rows)} overloads, {len({name.partition('.')[0] for name in rows})} names")
    known = rows | tabled()
    bases = {name.partition(".")[0] for name in known}
    for path in chosen.lists:
        names = names_of(path)
        missing = [(name, rest) for name, rest in names if not covered(name, known, bases)]
        print(f"{path.stem}: {len(names) - len(missing)} of {len(names)}")
        for name, rest in missing if chosen.missing else []:
            print(f"  {name:56} {rest}".rstrip())
    return 0
