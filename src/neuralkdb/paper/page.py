"""One self-contained page of all tables and figures: it opens from disk, without a network."""

import base64
import html
from collections.abc import Sequence
from pathlib import Path

from neuralkdb.paper.rendering import html_table
from neuralkdb.paper.tables import Table

DRAWN = {
    "scatter": "NeuralKDB against KDB: the accuracy on each data set, for each number of parents k.",
    "dependence": "NeuralKDB and KDB on two larger data sets as the number of parents grows; "
    "bars are one standard deviation.",
    "sensitivity": "NeuralKDB as one of its settings changes, the others at their defaults; "
    "bars are one standard deviation.",
    "critical-difference": "The average ranks of Table 1; a bar joins methods whose ranks differ by less than "
    "the critical difference.",
}
STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --soft: #5c6068; --line: #d9dce1;
        --back: #ffffff; --band: #f5f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9eaec; --soft: #a2a7b0; --line: #3a3d44; --back: #17181b; --band: #202226; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back);
       max-width: 1500px; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
a { color: inherit; text-decoration-color: var(--soft); text-underline-offset: .2em; }
figure { margin: 2.5rem 0; }
figcaption { max-width: 75ch; margin-bottom: .75rem; text-wrap: pretty; }
.scroll { overflow: auto; max-height: 90vh; border-block: 2px solid var(--ink); width: fit-content; max-width: 100%; }
table { border-collapse: collapse; font-size: .82rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .4rem; text-align: right; white-space: nowrap; vertical-align: top; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--back); }
thead th { position: sticky; top: 0; z-index: 1; background: var(--back); box-shadow: inset 0 -1px var(--ink); }
thead th:first-child { z-index: 2; }
tbody tr:nth-child(even) > * { background: var(--band); }
tfoot tr:first-child > * { border-top: 1px solid var(--ink); }
.spread, .paper { color: var(--soft); }
.paper { font-size: .78em; }
.mark { display: inline-block; width: 1.1em; text-align: center; }
.marked .paper { padding-right: 1.4em; }
.drawings { display: grid; gap: 0 2.5rem; align-items: start;
            grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr)); }
.drawing { min-width: 0; margin: 1.25rem 0; }
.drawing div { overflow-x: auto; }
.drawing img { width: 100%; min-width: 30rem; max-width: 46rem; height: auto; background: #fff; border-radius: 4px; }
@media (min-width: 1240px), print { .fits .scroll { overflow: visible; max-height: none; } }
"""


def page(title: str, about: str, tables: Sequence[Table], drawings: Sequence[Path]) -> str:
    """The whole page, what is short first; drawings are SVG files, taken in."""
    ordered = sorted(tables, key=lambda table: len(table.body))
    short = "".join(html_table(table.short()) for table in ordered if table.is_long)
    whole = "".join(map(html_table, ordered))
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
{_contents(ordered, drawings)}{short}{_drawings(drawings)}{whole}</body>
</html>
"""


def _contents(tables: Sequence[Table], drawings: Sequence[Path]) -> str:
    """Links to what stands on the page."""
    figures = {"figures": "Figures"} if drawings else {}
    names = figures | {table.name: table.title.split(".")[0] for table in tables}
    links = "".join(f'<a href="#{target}">{name}</a>' for target, name in names.items())
    return f"<nav>{links}</nav>\n" if len(names) > 1 else ""


def _drawings(files: Sequence[Path]) -> str:
    shown = "".join(map(_drawing, files))
    return f'<div class="drawings" id="figures">\n{shown}</div>\n' if shown else ""


def _drawing(file: Path) -> str:
    data = base64.b64encode(file.read_bytes()).decode()
    caption = html.escape(DRAWN[file.stem])
    return f"""<figure class="drawing">
<figcaption>{caption}</figcaption>
<div><img alt="{caption}" src="data:image/svg+xml;base64,{data}"></div>
</figure>
"""
