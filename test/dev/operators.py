"""`./dev operators [LIST…] [--missing]`: which ATen overloads the library declares.

A list is a text file with a name in the first column of each line: an overload
(`aten::add.Tensor`), or a base name (`add`), which any overload covers."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from tree import ROOT

KERNELS = ROOT / "stdlib-kernels"
PAGE = ROOT / "docs" / "operators.md"
HEAD = """\
# ATen operators with a kernel

Written by `./dev operators --write` from the `@aten` attributes in `stdlib-kernels`. An overload
has several rows where its declarations are for different constants, ranks or shapes. The last
column names the element types, as `semantics.md` does.

| overload | file | declaration | types |
|---|---|---|---|
"""
TABLES = ("Views.def", "Primitives.def", "Preferred.def")
ATEN = re.compile(r'^@aten\("([^"]+)"', re.M)


def declared() -> set[str]:
    """Overloads with an `@aten` row, without the namespace."""
    return {name for path in KERNELS.glob("*.qn") for name in ATEN.findall(path.read_text())}


def rows() -> list[tuple[str, str, str, str]]:
    """Overload, file, declaration and the constraints of its type parameters."""
    block = re.compile(
        r"((?:^@\w[^\n]*\n(?:^ [^\n]*\n)*)+)"
        r"^(?:elementwise|rowwise|kernel|op) (\w+)(?:\[([^\]]*))?",
        re.M,
    )
    found = []
    for path in sorted(KERNELS.glob("*.qn")):
        for attributes, name, generics in block.findall(path.read_text()):
            types = re.findall(r"\w+: ([A-Z]\w+)", generics)
            found += [(o, path.name, name, ", ".join(types)) for o in ATEN.findall(attributes)]
    return found


def write() -> None:
    lines = "".join(f"| `{o}` | `{f}` | `{n}` | {t} |\n" for o, f, n, t in sorted(rows()))
    PAGE.write_text(HEAD + lines)


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
    parser.add_argument("--write", action="store_true", help="write docs/operators.md")
    chosen = parser.parse_args(arguments)
    overloads = declared()
    print(
        f"{len(overloads)} overloads, {len({name.partition('.')[0] for name in overloads})} names"
    )
    if chosen.write:
        write()
    known = overloads | tabled()
    bases = {name.partition(".")[0] for name in known}
    for path in chosen.lists:
        names = names_of(path)
        missing = [(name, rest) for name, rest in names if not covered(name, known, bases)]
        print(f"{path.stem}: {len(names) - len(missing)} of {len(names)}")
        for name, rest in missing if chosen.missing else []:
            print(f"  {name:56} {rest}".rstrip())
    return 0
