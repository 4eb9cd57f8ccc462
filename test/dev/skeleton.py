"""`./dev new KIND NAME`: the skeleton of an addition, in the right room."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from declarations import declaration
from templates import (
    DIAGNOSTIC_PAGE,
    DIAGNOSTIC_TEST,
    KERNEL,
    KERNEL_HEAD,
    LIT_MLIR,
    LIT_QN,
    OPERATION,
    OPERATION_TEST,
    PASS,
    PASS_ROW,
    PASS_TEST,
)
from tree import ROOT

# Of a diagnostic: the table whose first line names its codes, and who emits it.
STAGES = {
    "attributes": ("frontend/check/Attributes.def", "checker"),
    "axes": ("frontend/check/AxesAndTensors.def", "checker"),
    "bodies": ("frontend/check/Bodies.def", "checker"),
    "driver": ("frontend/diagnostics/Driver.def", "program"),
    "lexical": ("frontend/diagnostics/Lexical.def", "lexer"),
    "names": ("frontend/check/Names.def", "checker"),
    "syntax": ("frontend/diagnostics/Syntax.def", "parser"),
    "types": ("frontend/check/Types.def", "checker"),
}
KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class RefusedError(Exception):
    """Why a skeleton was not written."""


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


def words_of(name: str) -> dict[str, str]:
    """A name of words in the spellings that the rooms use."""
    if not KEBAB.fullmatch(name):
        raise RefusedError(f"`{name}` is no name in kebab-case, such as fold-constants")
    spelt = camel(name)
    return {"name": name, "snake": name.replace("-", "_"), "camel": spelt, "upper": spelt.upper()}


class Skeleton:
    """Files to write: all of them, or none when one cannot be written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._texts: dict[str, str] = {}

    def text(self, path: str) -> str:
        known = self._texts.get(path)
        return (self.root / path).read_text() if known is None else known

    def new(self, path: str, text: str) -> None:
        """What exists is never touched."""
        if (self.root / path).exists():
            raise RefusedError(f"{path} exists")
        self._texts[path] = text

    def insert(self, path: str, before: str, text: str) -> None:
        """Adds text before the last line that starts with `before`."""
        lines = self.text(path).splitlines(keepends=True)
        places = [i for i, line in enumerate(lines) if line.startswith(before)]
        if not places:
            raise RefusedError(f"{path} has no line `{before}`")
        lines.insert(places[-1], text)
        self._texts[path] = "".join(lines)

    def insert_sorted(self, path: str, folder: str, row: str) -> None:
        """Adds a row to the run of lines naming files of one folder."""
        lines = self.text(path).splitlines(keepends=True)
        listed = re.compile(rf"\s*{re.escape(folder)}\w+\.cpp\)?$")
        rows = [i for i, line in enumerate(lines) if listed.match(line)]
        if not rows:
            raise RefusedError(f"{path} lists nothing of {folder}")
        after = [i for i in rows if lines[i].strip().rstrip(")") < row]
        place = after[-1] + 1 if after else rows[0]
        indent = lines[rows[0]][: len(lines[rows[0]]) - len(lines[rows[0]].lstrip())]
        lines.insert(place, f"{indent}{row}\n")
        self._texts[path] = "".join(lines)

    def append(self, path: str, text: str) -> None:
        self._texts[path] = self.text(path).rstrip("\n") + "\n" + text

    def write(self) -> None:
        for path, text in self._texts.items():
            target = self.root / path
            print(f"{'changed' if target.exists() else 'new    '}  {path}")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)


def new_lit(made: Skeleton, name: str, chosen: argparse.Namespace) -> None:
    stage, _, rest = name.partition("/")
    stages = sorted(path.name for path in (made.root / "lit-tests").iterdir() if path.is_dir())
    if stage not in stages or not rest:
        raise RefusedError(f"begin with a stage, as tokens/line-comments: {', '.join(stages)}")
    words = words_of(Path(rest).stem)
    is_mlir = Path(rest).suffix == ".mlir" or stage in ("gpu", "llvm-dialect", "loops", "schedule")
    template, suffix = (LIT_MLIR, ".mlir") if is_mlir else (LIT_QN[stage], ".qn")
    made.new(f"lit-tests/{stage}/{words['name']}{suffix}", template)


def rows_of(made: Skeleton, overload: str) -> list[str]:
    """Where the library says that it implements the overload."""
    attribute = f'@aten("{overload}"'
    return [
        f"{path.relative_to(made.root)}:{number}"
        for path in sorted((made.root / "stdlib-kernels").rglob("*.qn"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.startswith(attribute)
    ]


def new_kernel(made: Skeleton, name: str, chosen: argparse.Namespace) -> None:
    if "::" not in name:
        words = words_of(name)
        made.new(f"stdlib-kernels/{words['snake']}.qn", KERNEL.format(name=words["snake"]))
        return
    if rows := rows_of(made, name.removeprefix("aten::")):
        raise RefusedError(f"{name} has a kernel: {', '.join(rows)}")
    text = declaration(name)
    if text is None:
        raise RefusedError(f"torch has no overload {name}")
    base = name.partition("::")[2].partition(".")[0].strip("_")
    made.new(f"stdlib-kernels/{base}.qn", KERNEL_HEAD + text)


def new_pass(made: Skeleton, name: str, chosen: argparse.Namespace) -> None:
    words = words_of(name)
    made.new(f"dsl/passes/{words['camel']}.cpp", PASS.format(**words))
    made.insert("dsl/passes/Passes.td", "#endif", PASS_ROW.format(**words))
    made.insert_sorted("dsl/CMakeLists.txt", "passes/", f"passes/{words['camel']}.cpp")
    made.new(f"lit-tests/loops/{name}.mlir", PASS_TEST.format(**words))


def new_op(made: Skeleton, name: str, chosen: argparse.Namespace) -> None:
    words = words_of(name)
    table = f"dsl/dialect/{chosen.group.capitalize()}Ops.td"
    made.insert(table, "#endif", OPERATION.format(**words))
    made.new(f"lit-tests/qn/{name}.mlir", OPERATION_TEST.format(**words))


def free_code(made: Skeleton, table: str) -> int:
    """Behind the table's last one; codes are never reused."""
    text = made.text(table)
    codes = [int(code) for code in re.findall(r"^QN_DIAGNOSTIC\((\d+)", text, re.M)]
    first, last = (int(n) for n in re.findall(r"QN(\d{4})", text.splitlines()[0])[:2])
    code = max([first - 1, *codes]) + 1
    if code > last:
        raise RefusedError(f"{table} is full: its codes end at QN{last:04}")
    return code


def new_diagnostic(made: Skeleton, name: str, chosen: argparse.Namespace) -> None:
    if chosen.stage is None:
        raise RefusedError(f"say whose it is: --stage {'|'.join(sorted(STAGES))}")
    table, reader = STAGES[chosen.stage]
    words = words_of(name)
    code = free_code(made, table)
    words |= {"code": f"QN{code:04}", "title": name.replace("-", " "), "by": reader}
    made.append(table, f'QN_DIAGNOSTIC({code}, {words["camel"]}, Error, "{words["title"]}")\n')
    made.new(f"lit-tests/check/{words['code'].lower()}-{name}.qn", DIAGNOSTIC_TEST.format(**words))
    made.new(f"docs/diagnostics/{words['code']}.md", DIAGNOSTIC_PAGE.format(**words))


KINDS: dict[str, Callable[[Skeleton, str, argparse.Namespace], None]] = {
    "diagnostic": new_diagnostic,
    "kernel": new_kernel,
    "lit": new_lit,
    "op": new_op,
    "pass": new_pass,
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev new")
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument(
        "name", help="kebab-case; lit: STAGE/NAME; kernel: or an overload, aten::silu"
    )
    parser.add_argument("--stage", choices=sorted(STAGES), help="of a diagnostic")
    parser.add_argument("--group", choices=["access", "kernel", "reduction"], default="access")
    chosen = parser.parse_args(arguments)
    made = Skeleton(ROOT)
    try:
        KINDS[chosen.kind](made, chosen.name, chosen)
        made.write()
    except RefusedError as reason:
        print(f"dev: {reason}", file=sys.stderr)
        return 1
    print("docs/adding.md lists the places that are left")
    return 0
