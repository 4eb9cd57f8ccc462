"""Makes docs/api from the sources: C++ header, docstrings, dialect and passes."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tree import ROOT

HEADER = ROOT / "jit" / "Jit.h"
PACKAGE = ROOT / "python" / "quern"
LLVM_HEADERS = "/usr/lib/llvm-22/include"
FOLDER = ROOT / "docs" / "api"
NOTE = "Made from {source} by `./dev fmt`; edit the source.\n"


def cpp_page() -> str:
    """Every type of the public header with its comment and its declaration."""
    text = HEADER.read_text()
    body = text[text.index("namespace quern {") : text.rindex("} // namespace quern")]
    # A line that says who may use what follows is in the midst of a class.
    starts = r"\n(?=\n(?:///|(?!\w+:\n)\w))"
    blocks = [block.strip("\n") for block in re.split(starts, body)[1:]]
    out = ["# The C++ interface", "", NOTE.format(source="`jit/Jit.h`")]
    for block in blocks:
        lines = block.strip().splitlines()
        comment = [line[3:].strip() for line in lines if line.startswith("///")]
        code = [line for line in lines if not line.startswith("///")]
        match = re.search(r"(?:class|struct|enum class|using) (?:\w+_API )?(\w+)", "\n".join(code))
        if match is None:
            continue
        out += [f"## {match.group(1)}", ""]
        out += [*comment, ""] if comment else []
        out += ["```cpp", *code, "```", ""]
    return "\n".join(out)


def public_names() -> dict[str, str]:
    """The package's table of public names and the modules they live in."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_PUBLIC":
            table: dict[str, str] = ast.literal_eval(node.value)
            return table
    raise LookupError("python/quern/__init__.py has no table _PUBLIC")


def source_of(module: str) -> Path:
    if module == "_quern":
        return ROOT / "python" / "_quern.pyi"
    return ROOT / "python" / (module.replace(".", "/") + ".py")


def definitions(module: str) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    for node in ast.parse(source_of(module).read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node


def signature(node: ast.FunctionDef | ast.ClassDef) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({ast.unparse(node.args)}){returns}"


def described(docstring: str) -> list[str]:
    """Prose as it is, and what follows the first prompt as an example."""
    prose, prompt, example = docstring.partition(">>> ")
    lines = [prose.strip(), ""]
    if prompt:
        lines += ["```python", prompt + example.strip(), "```", ""]
    return lines


def python_page() -> str:
    """Every public name with its signature and docstring."""
    out = ["# The Python interface", "", NOTE.format(source="the docstrings of `python/quern`")]
    for name, module in sorted(public_names().items()):
        for node in definitions(module):
            if node.name != name:
                continue
            out += [f"## {name}", "", "```python", signature(node), "```", ""]
            out += described(ast.get_docstring(node) or "")
    return "\n".join(out)


def tablegen(generator: str, source: str, *flags: str) -> str:
    """What MLIR's own generator says about a table, without its table of contents."""
    made = subprocess.run(
        ["mlir-tblgen-22", generator, *flags, "-I", ".", "-I", LLVM_HEADERS, source],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lines = [line.rstrip() for line in made.splitlines()[1:] if line != "[TOC]"]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def dialect_page() -> str:
    """The operations and types of the `qn` dialect."""
    source = "dsl/dialect/Ops.td"
    text = tablegen("-gen-dialect-doc", source, "-dialect=qn")
    _, _, rest = text.partition("\n")
    schedules = tablegen("-gen-op-doc", "dsl/dialect/ScheduleOps.td")
    note = NOTE.format(source="`dsl/dialect`")
    return f"# The qn dialect\n\n{note}\n{rest.strip()}\n\n## Schedules\n\n{schedules}"


def passes_page() -> str:
    """The passes `quern-opt` knows beside MLIR's own."""
    text = tablegen("-gen-pass-doc", "dsl/passes/Passes.td")
    return f"# The passes\n\n{NOTE.format(source='`dsl/passes/Passes.td`')}\n{text}"


PAGES = {
    "cpp.md": cpp_page,
    "dialect.md": dialect_page,
    "passes.md": passes_page,
    "python.md": python_page,
}


def write() -> int:
    """Writes both pages."""
    FOLDER.mkdir(exist_ok=True)
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make().rstrip("\n") + "\n")
    return 0
