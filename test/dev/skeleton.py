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

STAGES = {
    "lexical": ("frontend/diagnostics/Lexical.def", "lexer"),
    "syntax": ("frontend/diagnostics/Syntax.def", "parser"),
    "semantic": ("frontend/check/Semantic.def", "checker"),
    "driver": ("frontend/diagnostics/Driver.def", "program"),
}


class RefusedError(Exception):
    """Why a skeleton was not written."""


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in re.split(r"[-_]", name))


def write(path: str, text: str) -> None:
    """Writes a new file; what exists is never touched."""
    target = ROOT / path
    if target.exists():
        raise RefusedError(f"{path} exists")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    print(f"new      {path}")


def insert(path: str, before: str, text: str) -> None:
    """Adds text before the last line that starts with `before`."""
    lines = (ROOT / path).read_text().splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if line.startswith(before)]
    if not places:
        raise RefusedError(f"{path} has no line `{before}`")
    lines.insert(places[-1], text)
    (ROOT / path).write_text("".join(lines))
    print(f"changed  {path}")


def insert_sorted(path: str, folder: str, row: str) -> None:
    """Adds a row to the run of lines naming files of one folder."""
    lines = (ROOT / path).read_text().splitlines(keepends=True)
    listed = re.compile(rf"\s*{re.escape(folder)}\w+\.cpp\)?$")
    rows = [i for i, line in enumerate(lines) if listed.match(line)]
    if not rows:
        raise RefusedError(f"{path} lists nothing of {folder}")
    after = [i for i in rows if lines[i].strip().rstrip(")") < row]
    place = after[-1] + 1 if after else rows[0]
    indent = lines[rows[0]][: len(lines[rows[0]]) - len(lines[rows[0]].lstrip())]
    lines.insert(place, f"{indent}{row}\n")
    (ROOT / path).write_text("".join(lines))
    print(f"changed  {path}")


def new_lit(name: str, chosen: argparse.Namespace) -> None:
    stage, _, rest = name.partition("/")
    if not rest:
        raise RefusedError("name the stage too: tokens/line-comments")
    suffix = Path(rest).suffix or (".mlir" if stage in ("qn", "loops") else ".qn")
    template = LIT_MLIR if suffix == ".mlir" else LIT_QN
    write(f"lit-tests/{stage}/{Path(rest).stem}{suffix}", template.format(stage=stage))


def new_kernel(name: str, chosen: argparse.Namespace) -> None:
    if "::" in name:
        text = declaration(name)
        if text is None:
            raise RefusedError(f"torch has no overload {name}")
        base = name.partition("::")[2].partition(".")[0].strip("_")
        return write(f"stdlib-kernels/{base}.qn", KERNEL_HEAD + text)
    path = f"stdlib-kernels/{name}.qn"
    return write(path, KERNEL.format(name=Path(name).name.replace("-", "_")))


def new_pass(name: str, chosen: argparse.Namespace) -> None:
    words = {"name": name, "camel": camel(name), "upper": camel(name).upper()}
    write(f"dsl/passes/{words['camel']}.cpp", PASS.format(**words))
    insert("dsl/passes/Passes.td", "#endif", PASS_ROW.format(**words))
    insert_sorted("dsl/CMakeLists.txt", "passes/", f"passes/{words['camel']}.cpp")
    write(f"lit-tests/loops/{name}.mlir", PASS_TEST.format(**words))


def new_op(name: str, chosen: argparse.Namespace) -> None:
    words = {"name": name.replace("-", "_"), "camel": camel(name)}
    table = f"dsl/dialect/{chosen.group.capitalize()}Ops.td"
    insert(table, "#endif", OPERATION.format(**words))
    write(f"lit-tests/qn/{name}.mlir", OPERATION_TEST.format(**words))


def new_diagnostic(name: str, chosen: argparse.Namespace) -> None:
    table, reader = STAGES[chosen.stage]
    text = (ROOT / table).read_text()
    codes = [int(code) for code in re.findall(r"^QN_DIAGNOSTIC\((\d+)", text, re.M)]
    first, last = (int(n) for n in re.findall(r"QN(\d{4})", text.splitlines()[0])[:2])
    code = max([first - 1, *codes]) + 1
    if code > last:
        raise RefusedError(f"{table} is full: its codes end at QN{last:04}")
    kebab = re.sub(r"(?<!^)(?=[A-Z])", "-", camel(name)).lower()
    words = {"code": f"QN{code:04}", "title": kebab.replace("-", " "), "by": reader}
    row = f'QN_DIAGNOSTIC({code}, {camel(name)}, Error, "{words["title"]}")\n'
    (ROOT / table).write_text(text.rstrip("\n") + "\n" + row)
    print(f"changed  {table}")
    write(f"lit-tests/check/{kebab}.qn", DIAGNOSTIC_TEST.format(**words))
    write(f"docs/diagnostics/{words['code']}.md", DIAGNOSTIC_PAGE.format(**words))


KINDS: dict[str, Callable[[str, argparse.Namespace], None]] = {
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
    parser.add_argument("--stage", choices=sorted(STAGES), default="semantic")
    parser.add_argument("--group", choices=["access", "kernel", "reduction"], default="access")
    chosen = parser.parse_args(arguments)
    if not re.fullmatch(r"[A-Za-z][\w.:/-]*", chosen.name):
        parser.error(f"'{chosen.name}' is no name")
    try:
        KINDS[chosen.kind](chosen.name, chosen)
    except RefusedError as reason:
        print(f"dev: {reason}", file=sys.stderr)
        return 1
    print("docs/adding.md lists the places that are left")
    return 0
