"""Links of a built site: those that lead nowhere, and what would need a network."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that have a name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes one element."""
        values = {name: value for name, value in attrs if value}
        if name := values.get("id"):
            self.names.add(name)
        if tag == "a" and (link := values.get("href")):
            self.links.append(link)
        if (name := LOADED.get(tag)) and (link := values.get(name)):
            self.loaded.append(link)


def target(page: Path, link: str) -> tuple[Path, str] | None:
    """The file and the place that a link names; nothing for one that leaves the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    return (path / "index.html" if path.is_dir() else path), unquote(parts.fragment)


def broken(html: Path) -> list[str]:
    """Links that lead nowhere, and files that a page would load from elsewhere."""
    root = html.resolve()
    pages = {path: Page(path.read_text()) for path in sorted(root.rglob("*.html"))}
    wrong = set()
    for path, page in pages.items():
        name = path.relative_to(root)
        wrong |= {f"{name}: loads {link}" for link in page.loaded if target(path, link) is None}
        for link in (*page.links, *page.loaded):
            found = target(path, link)
            if found is None:
                continue
            file, place = found
            if not file.exists():
                wrong.add(f"{name}: {link} does not exist")
            elif place and file in pages and place not in pages[file].names:
                wrong.add(f"{name}: {link} has no such place")
    return sorted(wrong)
