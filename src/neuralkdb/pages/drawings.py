"""Drawings as SVG and HTML that fit any width: networks, calibration, maps of values, contributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuralkdb.evaluation import Calibration
from neuralkdb.layout import ArcDiagram, placed_labels, shares_from, shortened, value_map
from neuralkdb.network import Floats
from neuralkdb.pages import markup
from neuralkdb.pages.markup import escaped

ROW = 24  # pixels, as in the style
SIDE = 320  # of a square drawing
MAP = (340.0, 260.0)
LONGEST = 22  # characters of a label on a map
LONGEST_OF_GRID = 14
LETTERS = 20  # a margin that labels of a letter or two need: they stand upright


def network(diagram: ArcDiagram) -> str:
    """Names, a bar of what each says about the class, and the arcs."""
    most = max(diagram.information, default=0.0) or 1.0
    names = "".join(f'<li class="r{row}">{markup.name(feature)}</li>' for row, feature in enumerate(diagram.names))
    bars = "".join(
        f'<li class="r{row}" title="{nats:.4f} nats about the class">'
        f'<i style="width:{100 * nats / most:.1f}%"></i></li>'
        for row, nats in enumerate(diagram.information)
    )
    height = ROW * len(diagram.names)
    return (
        f'<figure class="arcs"><ol>{names}</ol><ol class="says-much">{bars}</ol>'
        f'<svg style="height:{height}px" viewBox="0 0 100 {height}" preserveAspectRatio="none" role="img" '
        f'aria-label="arcs from parents to children">{"".join(_arcs(diagram))}</svg></figure>'
    )


def network_style(diagram: ArcDiagram) -> str:
    """Rules that show the arcs of the feature that is pointed at."""
    rows = range(len(diagram.names))
    return "".join(
        f".arcs:has(.r{row}:hover) path {{ stroke-opacity: .08; }} "
        f".arcs:has(.r{row}:hover) path.r{row} {{ stroke: var(--against); stroke-opacity: 1; }}\n"
        for row in rows
    )


def _arcs(diagram: ArcDiagram) -> list[str]:
    return [_arc(diagram, nats, *drawn) for (*_, nats), drawn in zip(diagram.arcs, diagram.drawn, strict=True)]


def _arc(diagram: ArcDiagram, nats: float, upper: int, lower: int, strength: float, length: float) -> str:
    top, bottom, reach = ROW * (upper + 0.5), ROW * (lower + 0.5), (12 + 84 * length) / 0.75
    given = f"{diagram.names[lower]} and {diagram.names[upper]}: {nats:.4f} nats"
    return (
        f'<path class="r{upper} r{lower}" d="M0 {top:g}C{reach:.1f} {top:g} {reach:.1f} {bottom:g} 0 {bottom:g}" '
        f'stroke-width="{diagram.thin * (0.8 + 3.5 * strength):.1f}" stroke-opacity="{0.3 + 0.6 * strength:.2f}">'
        f"<title>{escaped(given)}</title></path>"
    )


@dataclass(frozen=True)
class Square:
    """Shares from a first to 1, across and up."""

    first: float

    def across(self, share: float) -> float:
        """From the left."""
        return round(50 + SIDE * (share - self.first) / (1 - self.first), 1)

    def up(self, share: float) -> float:
        """From the top."""
        return round(10 + SIDE * (1 - share) / (1 - self.first), 1)

    def marked(self, share: float) -> str:
        """A share on both axes."""
        across, up, left, bottom = self.across(share), self.up(share), self.across(self.first), self.up(self.first)
        return (
            f'<path class="axis" d="M{across} {bottom}V{self.up(1)}M{left} {up}H{self.across(1)}"/>'
            f'<text class="faint" x="{across}" y="{bottom + 16}" text-anchor="middle">{share:g}</text>'
            f'<text class="faint" x="{left - 6}" y="{up + 4}" text-anchor="end">{share:g}</text>'
        )


def reliability(calibration: Calibration) -> str:
    """How often the most probable class is right, against how probable it was said to be."""
    filled, most, shares = calibration.counts > 0, calibration.counts.max(), shares_from(calibration)
    square, first = Square(shares[0]), shares[0]
    middle, bottom = 50 + SIDE / 2, 10 + SIDE
    points = "".join(
        f'<circle class="point" cx="{square.across(confidence)}" cy="{square.up(accuracy)}" '
        f'r="{3 + 9 * (n / most) ** 0.5:.1f}">'
        f"<title>{n:,} rows said to be right with {confidence:.3f}: {accuracy:.3f} are</title></circle>"
        for n, confidence, accuracy in zip(
            calibration.counts[filled], calibration.confidence[filled], calibration.accuracy[filled], strict=True
        )
    )
    return (
        f'<figure style="max-width:{SIDE + 60}px"><svg viewBox="0 0 {SIDE + 60} {SIDE + 50}" role="img" '
        f'aria-label="reliability diagram">{"".join(map(square.marked, shares))}'
        f'<path d="M{square.across(first)} {square.up(first)}L{square.across(1)} {square.up(1)}" '
        f'stroke="var(--soft)" stroke-dasharray="4 4"/>{points}'
        f'<text x="{middle}" y="{bottom + 36}" text-anchor="middle">said to be right with</text>'
        f'<text transform="translate(12 {bottom - SIDE / 2}) rotate(-90)" text-anchor="middle">are right</text>'
        f"</svg></figure>"
    )


def grid(labels: Sequence[str], counts: NDArray[np.int64]) -> str:
    """A cell for each true class (down) and predicted one (across): hits blue, mistakes orange, rare ones pale."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    texts, side = [shortened(label, LONGEST_OF_GRID) for label in labels], SIDE / len(labels)
    margin = 8 + 6 * max(map(len, texts))
    cells = "".join(
        f'<rect x="{margin + side * said:.1f}" y="{margin + side * true:.1f}" width="{side:.1f}" height="{side:.1f}" '
        f'fill="var(--{"for" if true == said else "against"})" fill-opacity="{shares[true, said] ** 0.5:.2f}">'
        f"<title>{escaped(labels[true])} taken for {escaped(labels[said])}: {counts[true, said]:,} rows, "
        f"{shares[true, said]:.1%}</title></rect>"
        for true, said in np.argwhere(counts).tolist()
    )
    style, middles = f'style="font-size:{min(side, 11):.1f}px"', [margin + side * (n + 0.65) for n in range(len(texts))]
    names = "".join(
        f'<text x="{margin - 5}" y="{middle:.1f}" text-anchor="end" {style}>{escaped(text)}</text>'
        f'<text transform="translate({middle:.1f} {margin - 5}) rotate({-90 * (margin > LETTERS)})" '
        f'text-anchor="{"start" if margin > LETTERS else "middle"}" dx="{-0.15 * side * (margin <= LETTERS):.1f}" '
        f"{style}>{escaped(text)}</text>"
        for text, middle in zip(texts, middles, strict=True)
    )
    whole = margin + SIDE
    return (
        f'<figure style="max-width:520px"><svg viewBox="0 0 {whole} {whole}" role="img" aria-label="confusion matrix">'
        f'<rect class="axis" x="{margin}" y="{margin}" width="{SIDE}" height="{SIDE}"/>{cells}{names}</svg></figure>'
    )


def embedding_map(feature: str, labels: Sequence[str], similar: Floats, weights: Floats) -> str:
    """The values of a feature, those that occur in like contexts close together; as large as they are frequent."""
    points = _on_paper(value_map(similar))
    texts = [shortened(label, LONGEST) for label in labels]
    radii = (2.5 + 5 * np.sqrt(weights / max(float(weights.max()), 1e-9))).tolist()
    places = placed_labels(points, radii, texts, MAP)
    circles = "".join(
        f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{escaped(label)}</title></circle>'
        for (x, y), label, radius in zip(points, labels, radii, strict=True)
    )
    names = "".join(
        f'<text x="{place.x:.1f}" y="{place.y + 4:.1f}" text-anchor="{place.anchor}" style="font-size:11px">'
        f"{escaped(text)}</text>"
        for place, text in zip(places, texts, strict=True)
        if place is not None
    )
    return (
        f'<figure style="max-width:480px"><h3>{escaped(feature)}</h3>'
        f'<svg viewBox="0 0 {MAP[0]:g} {MAP[1]:g}" role="img" '
        f'aria-label="map of the values of {escaped(feature)}"><rect class="axis" width="{MAP[0]:g}" '
        f'height="{MAP[1]:g}" rx="6"/>{circles}{names}</svg></figure>'
    )


def _on_paper(points: Floats) -> list[tuple[float, float]]:
    """Points spread over the map, with a margin; both directions at one scale."""
    spread = np.ptp(points, axis=0)
    middle = points.min(axis=0) + spread / 2
    room = np.array(MAP) - (90.0, 40.0)
    scale = float(np.min(room / np.maximum(spread, 1e-9)))
    placed = (points - middle) * scale * (1, -1) + np.array(MAP) / 2
    return [(float(x), float(y)) for x, y in placed]


def bars(values: Sequence[tuple[str, float]], digits: int = 3) -> str:
    """A bar for each name."""
    most = max((value for _, value in values), default=0.0) or 1.0
    rows = "".join(
        f"{markup.name(name)}"
        f'<div><i style="width:{100 * max(value, 0) / most:.1f}%"></i></div><b>{value:.{digits}f}</b>'
        for name, value in values
    )
    return f'<div class="bars">{rows}</div>'


def contributions(terms: Sequence[tuple[str, str, float]]) -> str:
    """Name, value, and what it says: to the right for the class, to the left against it."""
    most = max((abs(value) for *_, value in terms), default=0.0) or 1.0
    return f'<div class="says">{"".join(_contribution(*term, most) for term in terms)}</div>'


def _contribution(name: str, cell: str, value: float, most: float) -> str:
    width = 50 * abs(value) / most
    left, kind = (50.0, "more") if value >= 0 else (50 - width, "less")
    shown = f"<em>{escaped(cell)}</em>" if cell else ""
    return (
        f'<span title="{escaped(name)} {escaped(cell)}">{markup.name(name)}{shown}</span>'
        f'<div><i class="{kind}" style="left:{left:.1f}%;width:{width:.1f}%"></i></div><b>{value:+.2f}</b>'
    )
