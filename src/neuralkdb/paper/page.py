"""One self-contained page of all tables and figures: it opens from disk, without a network."""

import base64
import html
from collections.abc import Iterable, Sequence
from pathlib import Path

from neuralkdb.paper.rendering import html_table
from neuralkdb.paper.tables import Table

DRAWN = {
    "scatter": "NeuralKDB against KDB: the accuracy on each data set, for each number of parents k.",
    "dependence": "NeuralKDB and KDB on two larger data sets as the number of parents grows; bands are one deviation.",
    "sensitivity": "NeuralKDB as one of its settings changes, the others as in Table 1; bands are one deviation.",
    "critical-difference": "The average ranks of Table 1; a bar joins methods whose ranks differ by less than "
    "the critical difference.",
}
STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --soft: #62666d; --line: #d9dce1;
        --back: #ffffff; --band: #f5f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9eaec; --soft: #a2a7b0; --line: #3a3d44; --back: #17181b; --band: #202226; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back);
       max-width: 1500px; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
figure { margin: 2.5rem 0; }
figcaption { max-width: 75ch; margin-bottom: .75rem; }
.scroll { overflow-x: auto; border-block: 2px solid var(--ink); }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .55rem; text-align: right; white-space: nowrap; vertical-align: top; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--back); }
thead th { border-bottom: 1px solid var(--ink); }
tbody tr:nth-child(even) > * { background: var(--band); }
tfoot tr:first-child > * { border-top: 1px solid var(--ink); }
.spread, .paper { color: var(--soft); }
.paper { font-size: .75rem; }
.drawing img { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
"""


def page(title: str, about: str, tables: Iterable[Table], drawings: Sequence[Path]) -> str:
    """The whole page; drawings are SVG files, taken in."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
<h1>{html.escape(title)}</h1>
<p>{html.escape(about)}</p>
{"".join(map(html_table, tables))}{"".join(map(_drawing, drawings))}</body>
</html>
"""


def _drawing(file: Path) -> str:
    data = base64.b64encode(file.read_bytes()).decode()
    caption = html.escape(DRAWN[file.stem])
    return f"""<figure class="drawing">
<figcaption>{caption}</figcaption>
<img alt="{caption}" src="data:image/svg+xml;base64,{data}">
</figure>
"""
