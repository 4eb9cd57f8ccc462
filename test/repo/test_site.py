"""The site of the documents builds without a warning, and its links lead somewhere."""

from __future__ import annotations

from pathlib import Path

import library_pages
import pytest
import site_links
from site_pages import build_site, is_leaf, pages
from slices import matrix

LEAVES = sorted(name for name in pages() if is_leaf(name))


def test_builds(tmp_path: Path) -> None:
    """Pages about one code or module are many and alike: the quick tier has a share of them."""
    chosen = matrix("pages of the site", LEAVES, group=lambda name: name.split("/")[0], quick=0.1)
    assert build_site(tmp_path, left_out=set(LEAVES) - set(chosen)) == 0


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a id="here" href="b.html">b</a> <a href="#there">c</a>')
    assert site_links.broken(tmp_path) == [
        "a.html: #there has no such place",
        "a.html: b.html does not exist",
    ]


def test_what_needs_a_network_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<script src="https://example.org/x.js"></script>')
    assert site_links.broken(tmp_path) == ["a.html: loads https://example.org/x.js"]


def test_signatures_of_the_library() -> None:
    """Every declaration has its whole header, and its overloads."""
    text = (library_pages.LIBRARY / "attention.qn").read_text()
    found = {one.name: one for one in library_pages.declarations(text)}
    assert found["attention"].signature.startswith("rowwise attention[T: Float](q: T[B, H, M, D]")
    assert found["attention"].signature.endswith("-> (T[B, H, M, E], acc(T)[B, H, M])")
    assert found["attention_on_gpu"].kind == "op"
    assert len(found["attention_on_gpu"].overloads) == 2
    assert found["attention_shared"].text == "Groups of heads share their keys and values."


@pytest.mark.parametrize("name", library_pages.modules())
def test_each_module_says_what_it_holds(name: str) -> None:
    text = (library_pages.LIBRARY / name).read_text()
    assert library_pages.summary(text)
    assert library_pages.declarations(text)
