"""Every link of a built site leads somewhere within it: python scripts/check_links.py build/docs

Pages, anchors, pictures, scripts and styles; what a page would fetch from another host is an error too, but for links
that a reader follows.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {("script", "src"), ("link", "href"), ("img", "src"), ("source", "src"), ("iframe", "src")}


class Page(HTMLParser):
    """The anchors of a page, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        if tag == "a" and (link := given.get("href")):
            self.links.append(link)
        self.fetched += [value for name, value in given.items() if value and (tag, name) in FETCHED]


def problem(path: Path, link: str, pages: dict[Path, Page]) -> str:
    """What is wrong with a link of a page; nothing where it leads somewhere or to another host."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        elsewhere = parts.scheme not in {"data", "mailto"}
        return f"{path}: fetches {link}" if elsewhere and link in pages[path].fetched else ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        return f"{path}: no {link}"
    missing = target in pages and parts.fragment and unquote(parts.fragment) not in pages[target].anchors
    return f"{path}: no anchor {link}" if missing else ""


def broken(folder: Path) -> list[str]:
    """A line for each link that leads nowhere."""
    files = [path.resolve() for path in folder.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in files}
    found = {problem(path, link, pages) for path, page in pages.items() for link in [*page.links, *page.fetched]}
    return sorted(found - {""})


def main() -> int:
    folder = Path(sys.argv[1])
    problems = broken(folder)
    print("\n".join(problems) or f"{len(list(folder.rglob('*.html')))} pages: every link leads somewhere")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
