"""Drawings as SVG and HTML that fit any width: networks, calibration, maps of values, contributions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neuralkdb.evaluation import Calibration
from neuralkdb.layout import ArcDiagram, placed_labels, shortened, value_map
from neuralkdb.network import Floats
from neuralkdb.pages.markup import escaped

ROW = 24  # pixels, as in the style
SIDE = 320  # of a square drawing
MAP = (340.0, 260.0)
LONGEST = 22  # characters of a label on a map
LONGEST_NAME = 24  # characters of a name that a narrow screen has room for


def network(diagram: ArcDiagram) -> str:
    """Names, a bar of what each says about the class, and the arcs."""
    most = max(diagram.information, default=0.0) or 1.0
    names = "".join(
        f'<li class="r{row}" title="{escaped(name)}">{escaped(shortened(name, LONGEST_NAME))}</li>'
        for row, name in enumerate(diagram.names)
    )
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


def reliability(calibration: Calibration) -> str:
    """How often the most probable class is right, against how probable it was said to be."""
    filled = calibration.counts > 0
    most = calibration.counts.max()
    points = "".join(
        f'<circle class="point" cx="{_across(confidence):.1f}" cy="{_up(accuracy):.1f}" '
        f'r="{3 + 9 * (n / most) ** 0.5:.1f}">'
        f"<title>{n} rows said to be right with {confidence:.3f}: {accuracy:.3f} are</title></circle>"
        for n, confidence, accuracy in zip(
            calibration.counts[filled], calibration.confidence[filled], calibration.accuracy[filled], strict=True
        )
    )
    ticks = "".join(
        f'<path class="axis" d="M{_across(share)} {_up(0)}V{_up(1)}M{_across(0)} {_up(share)}H{_across(1)}"/>'
        f'<text class="faint" x="{_across(share)}" y="{_up(0) + 16}" text-anchor="middle">{share:g}</text>'
        f'<text class="faint" x="{_across(0) - 6}" y="{_up(share) + 4}" text-anchor="end">{share:g}</text>'
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    return (
        f'<figure style="max-width:{SIDE + 60}px"><svg viewBox="0 0 {SIDE + 60} {SIDE + 50}" role="img" '
        f'aria-label="reliability diagram">{ticks}'
        f'<path d="M{_across(0)} {_up(0)}L{_across(1)} {_up(1)}" stroke="var(--soft)" stroke-dasharray="4 4"/>{points}'
        f'<text x="{_across(0.5)}" y="{_up(0) + 36}" text-anchor="middle">said to be right with</text>'
        f'<text transform="translate(12 {_up(0.5)}) rotate(-90)" text-anchor="middle">are right</text></svg></figure>'
    )


def _across(share: float) -> float:
    return 50 + SIDE * share


def _up(share: float) -> float:
    return 10 + SIDE * (1 - share)


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
        f'<span title="{escaped(name)}">{escaped(shortened(name, LONGEST_NAME))}</span>'
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
    shown = f"{escaped(name)} <em>{escaped(cell)}</em>" if cell else escaped(name)
    return (
        f'<span title="{escaped(name)} {escaped(cell)}">{shown}</span>'
        f'<div><i class="{kind}" style="left:{left:.1f}%;width:{width:.1f}%"></i></div><b>{value:+.2f}</b>'
    )
