"""What all pages share: their look, and markup that cannot be broken by what it holds."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import Path

# Blue and vermilion are told apart by everyone (Okabe and Ito).
STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --soft: #5d6168; --line: #d9dce1; --back: #fff; --band: #f4f5f7;
  --for: #0072b2; --against: #d55e00; --shade: 0, 114, 178; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9eaec; --soft: #a5aab3; --line: #3a3d44; --back: #17181b;
  --band: #212327; --for: #56a8e0; --against: #f0803c; --shade: 86, 168, 224; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, "Segoe UI", "Liberation Sans", sans-serif; color: var(--ink); background: var(--back);
  max-width: 1120px; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 0 0 .25rem; }
h3 { font-size: 1rem; margin: 0 0 .25rem; }
p { margin: 0 0 .75rem; max-width: 75ch; }
.soft, figcaption { color: var(--soft); font-size: .875rem; }
section { margin-top: 2.5rem; min-width: 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 0 2.5rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0 0; }
.tiles div { background: var(--band); border-radius: 8px; padding: .5rem .9rem; }
.tiles b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; line-height: 1.3; }
.tiles span { color: var(--soft); font-size: .8rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap; }
th { font-weight: 600; }
th:first-child { text-align: left; }
thead th { border-bottom: 1px solid var(--ink); }
tbody th, tbody td { max-width: 12rem; overflow: hidden; text-overflow: ellipsis; }
td.cell { border: 1px solid var(--back); }
.bars { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr 3.5rem; gap: .3rem .75rem;
  align-items: center; font-size: .875rem; max-width: 760px; }
.bars > span { max-width: min(38vw, 18rem); }
.bars i { display: block; height: .8rem; border-radius: 2px; background: var(--for); }
.bars b { font-weight: 400; text-align: right; font-variant-numeric: tabular-nums; }
.says { display: grid; grid-template-columns: minmax(0, 15fr) minmax(0, 8fr) max-content; gap: .15rem .6rem;
  align-items: center; font-size: .8125rem; line-height: 1.4; }
.says > span { gap: .35em; }
.name, .says > span { display: flex; min-width: 0; white-space: pre; }
.name span:first-child, .says em { overflow: hidden; text-overflow: ellipsis; min-width: 0; }
.name span + span { flex: none; }
.says em { font-style: normal; color: var(--soft); flex: none; max-width: 55%; }
.says > div { position: relative; height: 1.1rem; background:
  linear-gradient(var(--line), var(--line)) center / 1px 100% no-repeat; }
.says i { position: absolute; top: .15rem; height: .8rem; background: var(--for); border-radius: 2px; }
.says i.less { background: var(--against); }
.says b { font-weight: 400; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); gap: 1.5rem 2rem; }
figure { margin: 0; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--ink); font: 12px system-ui, "Segoe UI", "Liberation Sans", sans-serif; }
svg .faint { fill: var(--soft); font-size: 11px; }
svg .axis { stroke: var(--line); fill: none; }
svg .point { fill: var(--for); fill-opacity: .75; stroke: var(--back); }
.arcs { display: grid; grid-template-columns: minmax(6.5rem, max-content) 4.5rem minmax(0, 1fr); font-size: .875rem;
  max-width: 660px; }
.arcs ol { list-style: none; margin: 0; padding: 0; min-width: 0; }
.arcs li { height: 24px; line-height: 24px; max-width: min(40vw, 20rem); padding-right: .75rem; }
.arcs .says-much li { padding: 8px 4px 8px 0; }
.arcs .says-much i { display: block; height: 8px; background: var(--soft); border-radius: 2px; min-width: 1px; }
.arcs svg { overflow: hidden; }
.arcs path { fill: none; stroke: var(--for); vector-effect: non-scaling-stroke; }
.arcs path:hover { stroke: var(--against); stroke-opacity: 1; }
"""

LONGEST_END = 9  # characters of a name that are always there


def escaped(text: object) -> str:
    """Text that is only text."""
    return html.escape(str(text))


def name(text: str) -> str:
    """A name that gives way in its middle where there is no room: long ones often differ in their ends."""
    whole = len(text) <= LONGEST_END + 4
    ends = (text,) if whole else (text[:-LONGEST_END], text[-LONGEST_END:])
    spans = "".join(f"<span>{escaped(end)}</span>" for end in ends)
    return f'<span class="name" title="{escaped(text)}">{spans}</span>'


def document(title: str, parts: Iterable[str], style: str = "") -> str:
    """The whole page."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escaped(title)}</title>
<link rel="icon" href="data:,">
<style>{STYLE}{style}</style>
</head>
<body>
{"".join(parts)}
</body>
</html>
"""


def section(title: str, caption: str, body: str) -> str:
    """A part of a page under its heading."""
    return f'<section><h2>{escaped(title)}</h2><p class="soft">{escaped(caption)}</p>{body}</section>\n'


def tiles(values: Iterable[tuple[str, str]]) -> str:
    """Names and values side by side, the values large."""
    boxes = "".join(f"<div><b>{escaped(value)}</b><span>{escaped(name)}</span></div>" for name, value in values)
    return f'<div class="tiles">{boxes}</div>'


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells of text; the first of each row is its name."""
    head = "".join(f"<th>{escaped(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr>{_cell('th', name)}{''.join(_cell('td', text) for text in cells)}</tr>" for name, *cells in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(tag: str, text: str) -> str:
    return f'<{tag} title="{escaped(text)}">{escaped(text)}</{tag}>'


def write_page(path: str | Path, text: str) -> None:
    """Write a page to a file."""
    Path(path).write_text(text, encoding="utf-8", errors="replace")
