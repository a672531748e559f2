"""What a dataflow is made of and what it has done: counters, `explain` as text, a picture in SVG.

The picture is written by hand: a node stands one column behind the last of its sources, in the
first row that is free there; a frame surrounds all nodes of a loop; ways back are dashed.
"""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from graphtide.engine.dataflow.reading import rows_held
from graphtide.kernels.dataflow import layout
from graphtide.plan.dataflow import Import, Reduce, Variable, describe, sources_of
from graphtide.run.dataflow.flow_builder import FlowBuilder

_FIELDS = {
    "activations": layout.OP_ACTIVATIONS,
    "in": layout.OP_IN,
    "out": layout.OP_OUT,
}
_REDUCE = {
    "recomputed": layout.OP_RECOMPUTED,
    "unchanged": layout.OP_EMPTY,
    "skipped": layout.OP_SKIPPED,
}


def counters(flow: FlowBuilder) -> dict[str, dict[str, int]]:
    """For each operator: activations, rows in, out and held; for reductions also looks at keys.

    `recomputed` looks read the input, `unchanged` ones of them for nothing; `skipped` ones did
    not have to read it.
    """
    installed = flow.install()
    return {
        f"{number} {describe(flow.plan, number)}": operator_counters(flow, number)
        for number in sorted(installed.addresses.operators)
    }


def operator_counters(flow: FlowBuilder, number: int) -> dict[str, int]:
    """The counters of one operator; none where the node is not one."""
    if flow.installed is None or number not in flow.installed.addresses.operators:
        return {}
    done, pool = flow.installed.addresses, flow.host.pool
    node = flow.plan.nodes[number]
    fields = {**_FIELDS, **(_REDUCE if isinstance(node, Reduce) else {})}
    counts = {name: pool.total(done.operators[number], at) for name, at in fields.items()}
    if number in done.traces and not isinstance(node, Import):
        counts["held"] = rows_held(flow.host.pool, done.traces[number])
    return counts


def operator_facts(flow: FlowBuilder) -> dict[str, Any]:
    """All nodes of a dataflow with what they have done, and which reads which, as JSON has it.

    Nodes that are no operators of their own, such as maps, are worked out along the way: they hold
    no rows, and their time is that of whoever sends.
    """
    flow.install()
    plan = flow.plan
    seconds = operator_seconds(flow)
    nodes = [_node_facts(flow, number, seconds) for number in range(len(plan.nodes))]
    edges = [
        [source, number] for number, node in enumerate(plan.nodes) for source in sources_of(node)
    ]
    edges += [[definition, variable] for variable, definition in plan.definitions.items()]
    loops = [
        {"id": number, "name": scope.name, "parent": scope.parent or None}
        for number, scope in enumerate(plan.scopes)
        if number
    ]
    return {"name": plan.name, "operators": nodes, "edges": edges, "loops": loops}


def operator_seconds(flow: FlowBuilder) -> dict[int, float]:
    """The seconds that each operator took: its share of the time that the machine ran."""
    installed, pool = flow.install().addresses.operators, flow.host.pool
    cycles = {
        number: pool.total(operator, layout.OP_CYCLES) for number, operator in installed.items()
    }
    others = (
        pool.total(operator, layout.OP_CYCLES)
        for other in flow.clock.flows
        if other is not flow and other.installed is not None
        for operator in other.installed.addresses.operators.values()
    )
    seconds = sum(machine.seconds for machine in pool.machines)
    whole = max(1, sum(cycles.values()) + sum(others))
    return {number: seconds * count / whole for number, count in cycles.items()}


def _node_facts(flow: FlowBuilder, number: int, seconds: dict[int, float]) -> dict[str, Any]:
    counted = operator_counters(flow, number)
    return {
        "id": number,
        "name": describe(flow.plan, number),
        "kind": type(flow.plan.nodes[number]).__name__.lower(),
        "rows": counted.get("held", 0),
        "seconds": round(seconds.get(number, 0.0), 6),
        "loop": flow.plan.scope_of[number] or None,
        "came": counted.get("in", 0),
        "sent": counted.get("out", 0),
        "activations": counted.get("activations", 0),
    }


def explain(flow: FlowBuilder) -> str:
    """One line a node: its number, what it does, what it reads, its columns, its counters."""
    plan = flow.plan
    lines = [f"dataflow {plan.name}"]
    scope = 0
    for number in range(len(plan.nodes)):
        here = plan.scope_of[number]
        if here != scope and here != 0:
            indent = "  " * plan.scopes[here].depth
            lines.append(f"{indent}loop {plan.scopes[here].name}")
        scope = here
        lines.append("  " * (plan.scopes[here].depth + 1) + _line(flow, number))
    return "\n".join(lines)


def _line(flow: FlowBuilder, number: int) -> str:
    plan = flow.plan
    columns = ", ".join(name.strip() for name, _ in plan.schemas[number])
    reads = " ".join(f"#{source}" for source in sources_of(plan.nodes[number]))
    parts = [f"#{number} {describe(flow.plan, number)}", f"({columns})"]
    if reads:
        parts.append(f"from {reads}")
    if isinstance(plan.nodes[number], Variable) and number in plan.definitions:
        parts.append(f"then #{plan.definitions[number]}")
    counted = operator_counters(flow, number)
    counters_text = ", ".join(f"{name} {value:,}" for name, value in counted.items() if value)
    return " ".join(parts) + (f"  [{counters_text}]" if counters_text else "")


WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 190, 44, 240, 70, 40
Place = tuple[int, int]


def draw(flow: FlowBuilder) -> str:
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


def _places(flow: FlowBuilder) -> list[Place]:
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


def _box(flow: FlowBuilder, number: int, place: Place) -> str:
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


def _stateful(flow: FlowBuilder) -> set[int]:
    """The nodes that are operators of their own."""
    return set(flow.installed.addresses.operators) if flow.installed else set()


def _frames(flow: FlowBuilder, places: list[Place]) -> list[str]:
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


def _arrows(flow: FlowBuilder, places: list[Place]) -> list[str]:
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
