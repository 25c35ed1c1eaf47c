"""Links that lead out of this folder, as GitHub understands them, turned into links within the site.

`[`name`](../src/neuralkdb/module.py)` becomes a reference to `neuralkdb.module.name` in the API, a script of examples/
its page in the gallery, CONTRIBUTING.md and its neighbours their pages; what has no page is set as code.
"""

from __future__ import annotations

import re
from typing import Any

import neuralkdb

LINK = re.compile(r"\[([^\]]+)\]\(\.\./([^)#]+)(#[^)]*)?\)")
PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
    "examples/README.rst": "gallery/index.rst",
}


def replaced(link: re.Match[str]) -> str:
    """The link as this site has it."""
    text, path, anchor = link[1], link[2], link[3] or ""
    if path.startswith("docs/"):
        return f"[{text}]({path.removeprefix('docs/')}{anchor})"
    if path in PAGES:
        return f"[{text}]({PAGES[path]}{anchor})"
    if path.startswith("examples/") and path.endswith(".py"):
        return f"[{text}](gallery/{path.removeprefix('examples/').removesuffix('.py')}.rst)"
    if path.startswith("src/") and path.endswith(".py"):
        name, module = text.strip("`"), path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        public = name in neuralkdb.__all__
        return f"{{py:obj}}`{name} <{'neuralkdb' if public else module}.{name}>`"
    return text if text.startswith("`") else f"`{text}`"


def rewritten(app: Any, page: str, source: list[str]) -> None:
    """Rewrite the links of a Markdown page."""
    if app.env.doc2path(page, base=False).suffix == ".md":
        source[0] = LINK.sub(replaced, source[0])


def included(app: Any, path: Any, parent: str, source: list[str]) -> None:
    """Rewrite the links of a file of the root folder that a page here includes: they start at the root."""
    if path.suffix == ".md":
        source[0] = LINK.sub(replaced, re.sub(r"\]\((?!https?:|#|\.\./)", "](../", source[0]))


def setup(app: Any) -> dict[str, Any]:
    """Join Sphinx."""
    app.connect("source-read", rewritten)
    app.connect("include-read", included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
