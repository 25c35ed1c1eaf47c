"""A table as Markdown, LaTeX, CSV and HTML."""

import csv
import html
import io
from collections.abc import Callable, Iterable, Mapping
from math import ceil

from neuralkdb.paper.tables import Cell, Row, Table

LATEX_SYMBOLS = {
    "\\": r"\textbackslash{}",
    "●": r"$\bullet$",
    "○": r"$\circ$",
    "±": r"$\pm$",
    "−": r"$-$",
    "<": r"$<$",
    ">": r"$>$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
PLACE_NAMES = {1: "best", 2: "second"}
FITTING_COLUMNS = 9  # of Table 1 on a page that is no wider than a screen


def markdown(table: Table) -> str:
    """GitHub's dialect; the paper's number stands small below ours."""
    lines = [
        f"### {table.title}",
        "",
        table.caption,
        "",
        _bars(map(_markdown_text, table.header)),
        _bars(["---", *["---:"] * (len(table.header) - 1)]),
        *(_bars([row.label, *map(_markdown_cell, row.cells)]) for row in table.body),
        *(_bars([f"**{row.label}**", *map(_markdown_cell, row.cells)]) for row in table.footer),
    ]
    return "\n".join(lines) + "\n"


def _bars(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown_text(text: str) -> str:
    return text.replace("|", r"\|").replace("_", r"\_").replace("*", r"\*")


def _markdown_cell(cell: Cell) -> str:
    value = {1: f"**{cell.value}**", 2: f"<u>{cell.value}</u>"}.get(cell.place, cell.value)
    return _with_spread(value, cell) + (f"<br><sub>{beside(cell)}</sub>" if cell.paper else "")


def _with_spread(value: str, cell: Cell) -> str:
    return value + (f" ± {cell.spread}" if cell.spread else "") + (cell.mark and f" {cell.mark}")


def beside(cell: Cell) -> str:
    """The paper's number and the difference, in words for below ours."""
    spread = f" ± {cell.paper_spread}" if cell.paper_spread else ""
    return f"paper {cell.paper}{spread}" + (f" ({cell.difference})" if cell.difference else "")


def latex(table: Table) -> str:
    """A document of its own, as wide as the table: two lines a row, ours and the paper's."""
    rows = "\n".join(_latex_row(row) for row in table.body)
    footer = "\n".join(_latex_row(row) for row in table.footer)
    rule = "\\midrule\n" if table.footer else ""
    heading = " & ".join(f"\\textbf{{{_latex_text(name)}}}" for name in table.header)
    return rf"""\documentclass{{article}}
\usepackage[T1]{{fontenc}}
\usepackage[utf8]{{inputenc}}
\usepackage{{booktabs,longtable}}
\usepackage[paperwidth={_paper_width(table)}cm,paperheight=29.7cm,margin=1.5cm]{{geometry}}
\begin{{document}}
\setlength{{\tabcolsep}}{{4pt}}
\noindent\textbf{{{_latex_text(table.title)}.}} {_latex_text(table.caption)}
\begin{{longtable}}{{l{"r" * (len(table.header) - 1)}}}
\toprule
{heading} \\
\midrule
\endhead
\bottomrule
\endfoot
{rows}
{rule}{footer}
\end{{longtable}}
\end{{document}}
"""


def _paper_width(table: Table) -> int:
    """Centimetres that hold the table, by the letters in its widest cells."""
    small = 0.75  # the paper's numbers stand in smaller type
    names = max((len(row.label) for row in (*table.body, *table.footer)), default=0)
    cells = [
        max([len(name), *(small * len(beside(row.cells[column])) for row in table.body)])
        for column, name in enumerate(table.header[1:])
    ]
    return ceil(4 + 0.19 * names + sum(0.19 * letters + 0.3 for letters in cells))


def _latex_row(row: Row) -> str:
    ours = " & ".join([_latex_text(row.label), *map(_latex_cell, row.cells)]) + r" \\"
    if not any(cell.paper for cell in row.cells):
        return ours
    below = (f"\\scriptsize {_latex_text(beside(c))}" if c.paper else "" for c in row.cells)
    return f"{ours}*\n & {' & '.join(below)} \\\\ \\addlinespace"


def _latex_cell(cell: Cell) -> str:
    value = _latex_text(cell.value)
    command = {1: r"\textbf", 2: r"\underline"}.get(cell.place)
    shown = f"{command}{{{value}}}" if command else value
    return shown + _latex_text(_with_spread("", cell))


def _latex_text(text: str) -> str:
    return "".join(LATEX_SYMBOLS.get(character, character) for character in text)


def comma_separated(table: Table) -> str:
    """Seven columns for each column of the table: the value and what belongs to it."""
    parts: Mapping[str, Callable[[Cell], str]] = {
        "": lambda cell: cell.value,
        " std": lambda cell: cell.spread,
        " place": lambda cell: PLACE_NAMES.get(cell.place, ""),
        " mark": lambda cell: cell.mark,
        " paper": lambda cell: cell.paper,
        " paper std": lambda cell: cell.paper_spread,
        " difference": lambda cell: cell.difference.replace("−", "-"),
    }
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([table.header[0], *(n + part for n in table.header[1:] for part in parts)])
    for row in (*table.body, *table.footer):
        writer.writerow([row.label, *(of(cell) for cell in row.cells for of in parts.values())])
    return stream.getvalue()


def html_table(table: Table) -> str:
    """A figure element for a page."""
    heading = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in table.header)
    fits = " fits" if len(table.header) <= FITTING_COLUMNS else ""
    return f"""<figure class="table{fits}" id="{html.escape(table.name)}">
<figcaption><strong>{html.escape(table.title)}.</strong> {html.escape(table.caption)}</figcaption>
<div class="scroll"><table>
<thead><tr>{heading}</tr></thead>
<tbody>
{"".join(map(_html_row, table.body))}</tbody>
<tfoot>
{"".join(map(_html_row, table.footer))}</tfoot>
</table></div>
</figure>
"""


def _html_row(row: Row) -> str:
    cells = "".join(map(_html_cell, row.cells))
    return f'<tr><th scope="row">{html.escape(row.label)}</th>{cells}</tr>\n'


def _html_cell(cell: Cell) -> str:
    value = html.escape(cell.value)
    value = {1: f"<b>{value}</b>", 2: f"<u>{value}</u>"}.get(cell.place, value)
    below = f'<div class="paper">{html.escape(_printed(cell))}</div>' if cell.paper else ""
    if not cell.spread:
        return f"<td>{value}{below}</td>"
    # a place for the mark in every cell, so that the numbers stand below one another
    spread = f'<span class="spread">± {cell.spread}</span><span class="mark">{cell.mark}</span>'
    return f'<td class="marked">{value} {spread}{below}</td>'


def _printed(cell: Cell) -> str:
    """The paper's number and the difference, where the caption says what they are."""
    spread = f" ± {cell.paper_spread}" if cell.paper_spread else ""
    return f"{cell.paper}{spread}" + (f" {cell.difference}" if cell.difference else "")


FORMATS: Mapping[str, Callable[[Table], str]] = {
    ".md": markdown,
    ".tex": latex,
    ".csv": comma_separated,
}
