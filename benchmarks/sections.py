"""Sections of pages that benchmarks write: text between `<!-- name -->` and `<!-- end -->`."""

from __future__ import annotations

import platform
import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
MEASUREMENTS = DOCS / "measurements.md"


def write_section(name: str, text: str, page: Path = MEASUREMENTS) -> None:
    """Replace what stands in the section, which the page must have."""
    old = page.read_text()
    section = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not section.search(old):
        raise SystemExit(f"{page} has no section {name!r}")
    page.write_text(section.sub(lambda found: f"{found[1]}{text}\n{found[2]}", old))


def machine() -> str:
    """What the figures were measured on."""
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
