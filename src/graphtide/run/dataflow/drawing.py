"""A dataflow as a picture: boxes from left to right, loops as frames, ways back dashed.

Plain SVG, written by hand: a node stands one column behind the last of its sources, in the first
row that is free there; a frame surrounds all nodes of a loop.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from graphtide.plan.dataflow import sources_of
from graphtide.plan.dataflow_describing import describe
from graphtide.run.dataflow.counters import operator_counters
from graphtide.run.dataflow.growing import GrowingFlow

WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 190, 44, 240, 70, 40
Place = tuple[int, int]


def draw(flow: GrowingFlow) -> str:
    """The picture as the text of an SVG file."""
    places = _places(flow)
    columns = 1 + max((column for column, _ in places), default=0)
    rows = 1 + max((row for _, row in places), default=0)
    width, height = columns * ACROSS + 2 * MARGIN, rows * DOWN + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
        f"<title>{escape(flow.name)}</title>",
        *_frames(flow, places),
        *_arrows(flow, places),
        *(_box(flow, number, place) for number, place in enumerate(places)),
        "</svg>",
    ]
    return "\n".join(parts)


def _places(flow: GrowingFlow) -> list[Place]:
    """Column and row of every node."""
    places: list[Place] = []
    taken: set[Place] = set()
    for node in flow.plan.nodes:
        column = max((places[source][0] + 1 for source in sources_of(node)), default=0)
        row = min((places[source][1] for source in sources_of(node)), default=0)
        while (column, row) in taken:
            row += 1
        taken.add((column, row))
        places.append((column, row))
    return places


def _corner(place: Place) -> Place:
    return MARGIN + place[0] * ACROSS, MARGIN + place[1] * DOWN


def _box(flow: GrowingFlow, number: int, place: Place) -> str:
    x, y = _corner(place)
    label = describe(flow.plan, number)
    short = label if len(label) <= 30 else f"{label[:29]}…"
    columns = ", ".join(name.strip() for name, _ in flow.plan.schemas[number])
    counted = operator_counters(flow, number)
    counters_text = "; ".join(f"{name} {value:,}" for name, value in counted.items())
    fill = "#e8f1fb" if number in _stateful(flow) else "#f7f7f7"
    return (
        f"<g><title>{escape(f'#{number} {label} ({columns}) {counters_text}')}</title>"
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="{fill}" '
        f'stroke="#555"/><text x="{x + 8}" y="{y + 18}">{escape(short)}</text>'
        f'<text x="{x + 8}" y="{y + 34}" fill="#777">{escape(columns[:34])}</text></g>'
    )


def _stateful(flow: GrowingFlow) -> set[int]:
    """The nodes that are operators of their own."""
    return set(flow.dweller.installed.operators) if flow.dweller else set()


def _frames(flow: GrowingFlow, places: list[Place]) -> list[str]:
    """A frame for each loop, outermost first."""
    plan = flow.plan
    frames = []
    for scope in sorted(range(1, len(plan.scopes)), key=lambda item: plan.scopes[item].depth):
        corners = [
            _corner(places[number])
            for number in range(len(plan.nodes))
            if plan.encloses(scope, plan.scope_of[number])
        ]
        if not corners:
            continue
        pad = 26 - 6 * plan.scopes[scope].depth
        left, top = min(x for x, _ in corners) - pad, min(y for _, y in corners) - pad
        right = max(x for x, _ in corners) + WIDTH + pad
        bottom = max(y for _, y in corners) + HEIGHT + pad
        frames.append(
            f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" rx="9" '
            f'fill="#000" fill-opacity="0.04" stroke="#999"/>'
            f'<text x="{left + 8}" y="{top + 12}" fill="#555">{escape(plan.scopes[scope].name)}'
            f"</text>"
        )
    return frames


def _arrows(flow: GrowingFlow, places: list[Place]) -> list[str]:
    arrows = []
    for number, node in enumerate(flow.plan.nodes):
        arrows += [_arrow(places[source], places[number], "") for source in sources_of(node)]
    for variable, definition in flow.plan.definitions.items():
        dashed = ' stroke-dasharray="5 4"'
        arrows.append(_arrow(places[definition], places[variable], dashed))
    return arrows


def _arrow(source: Place, target: Place, style: str) -> str:
    (x1, y1), (x2, y2) = _corner(source), _corner(target)
    x1, y1, y2 = x1 + WIDTH, y1 + HEIGHT // 2, y2 + HEIGHT // 2
    bend = 40 if x2 > x1 else 120
    return (
        f'<path d="M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}" fill="none" '
        f'stroke="#555"{style} marker-end="url(#tip)"/>'
    )
