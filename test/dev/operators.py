"""`./dev operators [LIST…] [--missing]`: which ATen overloads the library declares.

A list is a text file with a name in the first column of each line: an overload
(`aten::add.Tensor`), or a base name (`add`), which any overload covers."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tree import ROOT

KERNELS = ROOT / "stdlib-kernels"
PAGE = ROOT / "docs" / "operators.md"
HEAD = """\
# ATen operators with a kernel

Written by `./dev operators --write` from the `@aten` attributes in `stdlib-kernels`. An overload
has several rows where its declarations are for different constants, ranks or shapes. Types are
those that the declaration's type parameters admit, as `semantics.md` says. Error and speed are
what `./dev bench ops --write` measured last, of f32, or of the first of i32, bool and c64 that the
declaration takes: the largest difference to eager on doubles over the largest value; our speed
over eager's with 256 KiB and with 64 MiB a tensor. Empty where nothing was measured.

| overload | file | declaration | types | error | in L2 | out of cache |
|---|---|---|---|---|---|---|
"""
MEASURED = ROOT / "test" / "bench" / "ops.tsv"
TABLES = ("Views.def", "Primitives.def", "Preferred.def", "Allocations.def")
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
    known = measured()
    lines = []
    for overload, file, name, types in sorted(rows()):
        full = overload if "::" in overload else f"aten::{overload}"
        cells = [
            known.get((f"{full} {name}", size), known.get((full, size), ""))
            for size in ("error", "l2", "large")
        ]
        names = [f"`{text}`" for text in (overload, file, name)]
        lines.append("| " + " | ".join([*names, types, *cells]) + " |\n")
    PAGE.write_text(HEAD + "".join(lines))


def measured() -> dict[tuple[str, str], str]:
    """What the benchmark kept: overload and size to a ratio, overload and `error`. Where an
    overload has several declarations, theirs stands behind its name."""
    if not MEASURED.exists():
        return {}
    found = [line.split("\t") for line in MEASURED.read_text().splitlines()]
    return {(overload, size): value for overload, size, value in found}


def tabled() -> set[str]:
    """Overloads that the graph compiler's own tables name."""
    folder = ROOT / "backend-torch" / "ops"
    text = "".join((folder / name).read_text() for name in TABLES)
    return {
        name.removeprefix("aten::") for name in re.findall(r'\("((?:aten|prims)::[^"]+)"', text)
    }


def apart(overloads: set[str]) -> set[str]:
    """Overloads that are taken apart before a graph reaches the library."""
    sys.path[:0] = [str(ROOT / "python"), str(ROOT / "build" / "dev" / "lib")]
    from quern.torch_backend.decompositions import decomposition_table

    full = {name if "::" in name else f"aten::{name}" for name in overloads}
    names = {
        f"{op._schema.name.removeprefix('aten::')}.{op._schema.overload_name}"
        for op in decomposition_table(full)
    }
    return {name.removesuffix(".") for name in names}


def names_of(path: Path) -> list[tuple[str, str]]:
    """Name and remaining columns of each line."""
    lines = [line.split(maxsplit=1) for line in path.read_text().splitlines()]
    return [(row[0], (row[1:] or [""])[0]) for row in lines if row and not row[0].startswith("#")]


def covered(name: str, known: set[str], bases: set[str]) -> bool:
    """A variant that writes to an argument counts with its functional form."""
    if not name.startswith(("aten::", "prims::")):
        return name in bases or name.removesuffix("_") in bases
    return name.removeprefix("aten::").removesuffix(".out") in known


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
    if not chosen.lists:
        return 0
    known = overloads | tabled()
    parts = apart(overloads)
    bases = {name.partition(".")[0] for name in known}
    part_bases = {name.partition(".")[0] for name in parts}
    for path in chosen.lists:
        names = names_of(path)
        missing = [(name, rest) for name, rest in names if not covered(name, known, bases)]
        left = [row for row in missing if not covered(row[0], parts, part_bases)]
        done = f"{len(missing) - len(left)} of the others are taken apart"
        print(f"{path.stem}: {len(names) - len(missing)} of {len(names)}, {done}")
        for name, rest in left if chosen.missing else []:
            print(f"  {name:56} {rest}".rstrip())
    return 0
