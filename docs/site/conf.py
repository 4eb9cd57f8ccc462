"""Settings of Sphinx for the site that `./dev site` builds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

ROOT = Path(__file__).resolve().parents[2]

project = "Quern"
author = "The Quern authors"
project_copyright = author
version = release = re.findall(
    r'__version__ = "([\d.]+)"', (ROOT / "python/quern/__init__.py").read_text()
)[0]

extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"Quern {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
# The code blocks of pages name their language; inline code has none.
highlight_language = "none"


def table(name: str, row: str) -> tuple[str, ...]:
    """The words of one of the front end's tables."""
    text = "\n".join(path.read_text() for path in sorted((ROOT / "frontend").rglob(name)))
    return tuple(sorted(set(re.findall(rf'^{row}\(\w+,\s*"(\w+)"', text, re.MULTILINE))))


class QuernLexer(RegexLexer):
    """Colours of Quern text; its words come from the compiler's own tables."""

    name = "Quern"
    aliases = ("qn",)
    filenames = ("*.qn",)
    tokens: ClassVar[dict[str, list[Any]]] = {
        "root": [
            (r"#.*$", Comment.Single),
            (r'(?s)""".*?"""', String.Doc),
            (r'"(\\.|[^"\\\n])*"', String),
            (r"@\w+", Name.Decorator),
            (
                r"\b(fn|elementwise|rowwise|kernel|op|reduction)(\s+)(\w+)",
                bygroups(Keyword.Declaration, Text, Name.Function),
            ),
            (words(table("*.def", "QN_KEYWORD"), prefix=r"\b", suffix=r"\b"), Keyword),
            (words(table("*.def", "QN_ELEMENT"), prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (r"\b\d[\w.]*([eEpP][+-]?\d+)?", Number),
            (r"[A-Za-z_]\w*", Name),
            (r"->|\.\.|[-+*/%&|^~<>=!]+", Operator),
            (r"[()\[\]{},.:;?…]", Punctuation),
            (r"\s+|.", Text),
        ]
    }


class PlainLexer(RegexLexer):
    """Text of the dialect, and grammars with an ellipsis: comments, strings and values."""

    name = "Plain"
    aliases = ("mlir",)
    tokens: ClassVar[dict[str, list[Any]]] = {
        "root": [
            (r"//.*$", Comment.Single),
            (r'"(\\.|[^"\\\n])*"', String),
            (r"%[\w.]+|\^\w+", Name.Variable),
            (r"[@!#]\w[\w.]*", Name.Class),
            (r"\w+(\.\w+)+|\w+|\s+|.", Text),
        ]
    }


# Navigation of the pages that are not in it, by their folder.
SHARED: dict[str, Any] = {}


def share_navigation(app: Any, name: str, template: str, context: Any, doctree: Any) -> None:
    """Makes the navigation once for all pages of a folder that it does not show.

    The theme makes it anew for each page, which takes most of a build.
    """
    metadata = app.env.metadata.get(name, {})
    if "orphan" in metadata:
        folder, make = name.rpartition("/")[0], context["toctree"]

        def shared(**options: Any) -> Any:
            if folder not in SHARED:
                SHARED[folder] = make(**options)
            return SHARED[folder]

        context["toctree"] = shared


def setup(app: Any) -> None:
    """Registers what Pygments lacks, and the shared navigation ahead of the theme."""
    app.connect("html-page-context", share_navigation, priority=400)
    app.add_lexer("qn", QuernLexer)
    app.add_lexer("mlir", PlainLexer)
    app.add_lexer("ebnf", PlainLexer)
