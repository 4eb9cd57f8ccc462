"""`./dev site`: the documents as a site for a browser, built without a network."""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import library_pages
import site_links
from tree import ROOT, say

DOCS = ROOT / "docs"
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#])")
TARGET = re.compile(r"\]\(([^()#:\s]+)(?:#[^()\s]*)?\)")


@dataclass(frozen=True)
class Part:
    """A part of the navigation: its title and its pages."""

    title: str
    pages: tuple[str, ...]


PARTS = (
    Part("Start", ("tutorials/ten-minutes", "which-kind")),
    Part(
        "Tutorials",
        (
            "tutorials/elementwise",
            "tutorials/rowwise",
            "tutorials/kernels",
            "tutorials/op",
            "tutorials/torch",
            "tutorials/training",
            "tutorials/from-triton",
            "tutorials/from-cuda",
            "tutorials/gallery",
            "tutorials/notebook",
        ),
    ),
    Part("Language", ("language", "semantics", "reference", "library/index")),
    Part("Diagnostics", ("diagnostics/index", "command-line")),
    Part("Safety", ("safety", "bounds")),
    Part("Performance", ("performance", "operators", "math")),
    Part(
        "Internals",
        (
            "architecture",
            "dialect-rationale",
            "gpu",
            "adding",
            "testing",
            "tutorials/testing",
            "api/index",
            "decisions/index",
            "features",
            "glossary",
            "release-notes",
        ),
    ),
)
STAGES = {
    "QN00": "Reading a text",
    "QN01": "Syntax",
    "QN09": "Files",
    "QN10": "Names and calls",
    "QN11": "Types",
    "QN12": "Axes",
    "QN13": "Statements and kernels",
    "QN14": "Attributes",
    "QN20": "Compiling and calling",
}
# The navigation of a page names every page in it: with these it would be long,
# and a build would take minutes. Their indices link to them.
ORPHAN = "---\norphan: true\n---\n\n"


def is_leaf(name: str) -> bool:
    return name.startswith(("diagnostics/", "library/")) and not name.endswith("index.md")


def toctree(pages: list[str] | tuple[str, ...], *options: str) -> str:
    return "\n".join(["```{toctree}", *options, "", *pages, "```", ""])


def title(page: Path) -> str:
    return page.read_text().split("\n", 1)[0].removeprefix("# ")


def diagnostics_index() -> str:
    """What a code is, and all codes by the stage that reports them."""
    out = [(DOCS / "diagnostics" / "README.md").read_text()]
    pages = sorted((DOCS / "diagnostics").glob("QN*.md"))
    for prefix, name in STAGES.items():
        rows = [page for page in pages if page.stem.startswith(prefix)]
        out += [f"## {name}", ""]
        out += [f"- [{title(page)}]({page.name})" for page in rows]
        out += [""]
    missing = [page.stem for page in pages if page.stem[:4] not in STAGES]
    assert not missing, missing
    return "\n".join(out)


def folder_index(heading: str, folder: str) -> str:
    pages = sorted((DOCS / folder).glob("*.md"))
    return "\n".join([f"# {heading}", "", toctree([page.stem for page in pages])])


def notebook(path: Path) -> str:
    """A notebook's cells as a page."""
    out = []
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"]).rstrip("\n")
        language = "qn" if text.startswith("%%quern") else "python"
        out.append(text if cell["cell_type"] == "markdown" else f"```{language}\n{text}\n```")
    return "\n\n".join(out) + "\n"


def front_page() -> str:
    parts = (toctree(part.pages, ":hidden:", f":caption: {part.title}") for part in PARTS)
    return "\n".join([with_indices((DOCS / "index.md").read_text(), DOCS), *parts])


def with_indices(text: str, folder: Path) -> str:
    """A link to a folder becomes one to the page about it."""

    def index(match: re.Match[str]) -> str:
        path = match.group()
        if path.endswith("stdlib-kernels"):
            return path.replace("../stdlib-kernels", "library/index.md")
        return f"{path}/index.md" if (folder / path).is_dir() else path

    return LINK.sub(index, text)


def pages() -> dict[str, str]:
    """Every page of the site, by its path."""
    out = {}
    for path in sorted(DOCS.rglob("*.md")):
        if path.is_relative_to(DOCS / "editors"):
            continue
        text = with_indices(path.read_text(), path.parent)
        out[str(path.relative_to(DOCS))] = (
            text if "\n## " in text else text.replace("\n###", "\n##")
        )
    notes = (ROOT / "CHANGELOG.md").read_text().replace("](docs/", "](")
    notes = with_indices(notes, DOCS)
    out = {name: text for name, text in out.items() if not name.endswith("README.md")}
    return {
        **{name: ORPHAN + text if is_leaf(name) else text for name, text in out.items()},
        **{n: ORPHAN + t if is_leaf(n) else t for n, t in library_pages.pages().items()},
        "index.md": front_page(),
        "release-notes.md": notes,
        "diagnostics/index.md": diagnostics_index(),
        "decisions/index.md": folder_index("Decisions", "decisions"),
        "api/index.md": folder_index("Interfaces", "api"),
        "tutorials/notebook.md": notebook(DOCS / "tutorials" / "kernels.ipynb"),
    }


def without(left_out: Collection[str]) -> dict[str, str]:
    """The site without some pages and without the links to them."""

    def unlinked(name: str, text: str) -> str:
        folder = posixpath.dirname(name)

        def link(match: re.Match[str]) -> str:
            path = posixpath.normpath(posixpath.join(folder, match[1]))
            return "]" if path in left_out else match[0]

        return TARGET.sub(link, text)

    return {name: unlinked(name, text) for name, text in pages().items() if name not in left_out}


def write_sources(folder: Path, left_out: Collection[str]) -> None:
    """Writes what changed, so that Sphinx reads only that again."""
    wanted = {folder / name: text for name, text in without(left_out).items()}
    for path in [path for path in folder.rglob("*.md") if path not in wanted]:
        path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for picture in DOCS.glob("*.svg"):
        shutil.copy2(picture, folder / picture.name)


def build_site(folder: Path, left_out: Collection[str] = ()) -> int:
    """Builds the site in `folder`; warnings and broken links are errors.

    A quick test leaves pages out: each costs some 40 ms, whatever it holds.
    """
    sources, html = folder / "source", folder / "html"
    write_sources(sources, left_out)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going"]
    command += ["-c", str(DOCS / "site"), "-d", str(folder / "doctrees")]
    if status := subprocess.run([*command, sources, html], check=False).returncode:
        return status
    broken = site_links.broken(html)
    print("".join(f"{line}\n" for line in broken), end="", file=sys.stderr)
    return 1 if broken else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev site")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site")
    folder = parser.parse_args(arguments).output.resolve()
    if status := build_site(folder):
        return status
    say(f"open {folder / 'html' / 'index.html'}")
    return 0
