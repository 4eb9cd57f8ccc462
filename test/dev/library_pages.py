"""Pages about the library's modules, made from their sources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tree import ROOT

LIBRARY = ROOT / "stdlib-kernels"
KINDS = ("elementwise", "rowwise", "reduction", "op", "kernel", "fn")
START = re.compile(rf"^(?:{'|'.join(KINDS)}) (\w+)", re.MULTILINE)
ATTRIBUTES = re.compile(r"(?:^@.*\n(?:^[ \t]+.*\n)*)*\Z", re.MULTILINE)
DOCSTRING = re.compile(r'\s*"""(.*?)"""', re.DOTALL)
OVERLOAD = re.compile(r'@aten\("([^"]+)"')
SPECIAL = re.compile(r"([\\*_\[\]<>|#~$])")


@dataclass(frozen=True)
class Declaration:
    """A declaration without its body."""

    kind: str
    name: str
    signature: str
    overloads: list[str]
    text: str


def header_end(text: str, start: int) -> int:
    """The place of the colon that ends a declaration's header."""
    depth = 0
    for match in re.compile(r'"[^"\n]*"|[()\[\]{}:]').finditer(text, start):
        token = match.group()
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token == ":" and depth == 0:
            return match.start()
    raise ValueError(f"a header without an end: {text[start : start + 60]!r}")


def declarations(text: str) -> list[Declaration]:
    """The declarations of a module, in the order of the file."""
    out = []
    for match in START.finditer(text):
        end = header_end(text, match.start())
        above = ATTRIBUTES.search(text[: match.start()])
        assert above
        docstring = DOCSTRING.match(text, end + 1)
        out.append(
            Declaration(
                kind=match.group().split()[0],
                name=match.group(1),
                signature=text[match.start() : end],
                overloads=OVERLOAD.findall(above.group()),
                text=docstring.group(1).strip() if docstring else "",
            )
        )
    return out


def escaped(text: str) -> str:
    """A docstring as Markdown: only what is in backticks has a meaning there."""
    parts = text.split("`")
    return "`".join(part if i % 2 else SPECIAL.sub(r"\\\1", part) for i, part in enumerate(parts))


def modules() -> list[str]:
    """The library's files, prelude first, then by name."""
    lines = (LIBRARY / "modules.txt").read_text().splitlines()
    names = [line for line in lines if line and not line.startswith("#")]
    return sorted(names, key=lambda name: (not name.startswith("prelude/"), name))


def summary(text: str) -> str:
    """The first sentence of a module's docstring."""
    match = DOCSTRING.match(text)
    return escaped(re.split(r"\.\s", match.group(1).strip() + " ", maxsplit=1)[0]) if match else ""


def shown(declaration: Declaration) -> list[str]:
    """One declaration on its module's page."""
    lines = [f"### {declaration.name}", "", "```qn", declaration.signature, "```", ""]
    if declaration.text:
        lines += [escaped(declaration.text), ""]
    if declaration.overloads:
        names = ", ".join(f"`{name}`" for name in declaration.overloads)
        lines += [f"Implements {names} of ATen.", ""]
    return lines


def module_page(name: str) -> str:
    """A module: what it is for, how it is imported, what it holds."""
    text = (LIBRARY / name).read_text()
    stem = Path(name).stem
    found = declarations(text)
    docstring = DOCSTRING.match(text)
    lines = [f"# {stem}", ""]
    if docstring:
        lines += [escaped(docstring.group(1).strip()), ""]
    if name.startswith("prelude/"):
        lines += ["Every name here is visible without an import.", ""]
    elif first := next((d for d in found if d.kind != "fn"), None):
        lines += ["```qn", f"from {stem} use {first.name}", "```", ""]
    for title, part in (
        ("Kernels", [d for d in found if d.kind != "fn"]),
        ("Functions", [d for d in found if d.kind == "fn"]),
    ):
        if part:
            lines += [f"## {title}", ""]
            lines += [line for declaration in part for line in shown(declaration)]
    return "\n".join(lines)


def index_page() -> str:
    """All modules with a sentence each."""
    lines = ["# The library", "", "Made from the sources in `stdlib-kernels`.", ""]
    lines += ["| module | what it holds | declarations |", "|---|---|---|"]
    for name in modules():
        text = (LIBRARY / name).read_text()
        stem = Path(name).stem
        row = f"[{stem}]({stem}.md)", summary(text), str(len(declarations(text)))
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """Every page about the library, by its path in the site."""
    out = {f"library/{Path(name).stem}.md": module_page(name) for name in modules()}
    return {"library/index.md": index_page(), **out}
