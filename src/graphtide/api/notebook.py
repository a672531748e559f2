"""What a notebook shows for a session, a graph, a view, a collection, a run and an answer: HTML.

Plain tables that take their colours from the notebook, so that they are readable in light and dark.
Every text is escaped and the result is well-formed XML, so that no name and no value can break the
page. Other modules import this one only when a notebook asks, since it builds on all of them.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from graphtide.api.answers import Answer, schema_table
from graphtide.api.cells import COUNTS, VALUES, CellStyle, cell_text, is_number, visible
from graphtide.api.listings import list_collections, list_graphs, list_runs, list_views
from graphtide.api.run_answers import run_text
from graphtide.plan.collection import EMPTY_VERSION
from graphtide.store.graph import open_graph

if TYPE_CHECKING:
    from graphtide.api.catalog_graph import CatalogGraph
    from graphtide.api.graph import Graph
    from graphtide.api.run import Run
    from graphtide.api.session import Session
    from graphtide.api.view_edges import ViewEdges
    from graphtide.api.view_sequence import AnyCollection

_FIRST_ROWS = 10
_MOST_BARS = 200
_WIDTH, _HEIGHT = 480, 64


def session_html(session: Session) -> str:
    """Tables of all graphs, views and collections; a sentence where there are none."""
    catalog = session.catalog
    lists = {
        "graphs": list_graphs(catalog),
        "views": list_views(catalog),
        "collections": list_collections(catalog),
        "runs": list_runs(catalog),
    }
    parts = [_paragraph(f"session in {catalog.root}")]
    for title, found in lists.items():
        if found.table.num_rows:
            parts += [_paragraph(title), table_html(found.table, COUNTS, rows=None)]
        parts += [_paragraph(f"note: {damage}") for damage in found.damages]
    if len(parts) == 1:
        parts.append(_paragraph("nothing yet: session.load(...) loads a graph"))
    return _block(parts)


def graph_html(graph: CatalogGraph) -> str:
    """Sizes, and a row a property."""
    title = f"graph '{graph.name}': {graph.num_vertices:,} vertices, {graph.num_edges:,} edges"
    stored = open_graph(graph._session.catalog, graph.name)
    return _block([_paragraph(title), table_html(schema_table(stored), COUNTS, rows=None)])


def memory_graph_html(graph: Graph) -> str:
    """Sizes, the version, and the first edges with their numbers."""
    edges = graph.edges()
    title = (
        f"graph in memory: {graph.num_vertices:,} vertices, {graph.num_edges:,} edges, "
        f"version {graph.version}"
    )
    return _block([_paragraph(title), table_html(edges, VALUES)])


def view_html(view: ViewEdges) -> str:
    """The predicate and the first edges."""
    title = f"view '{view.name}': {len(view):,} edges where {view.predicate}"
    table = table_html(view.head(_FIRST_ROWS), VALUES, total=len(view))
    return _block([_paragraph(title), table])


def collection_html(collection: AnyCollection) -> str:
    """Totals of the arrangements, differences per step as bars, and the first steps."""
    steps = collection.to_arrow()
    title = (
        f"collection '{collection.name}' on {collection.graph}: {len(collection):,} views, "
        f"{collection.plan.kind} of {collection.differences:,} differences"
    )
    parts = [_paragraph(title), table_html(_totals_table(collection), COUNTS)]
    parts += bars_html(_advances(collection))
    parts.append(table_html(steps, COUNTS))
    return _block(parts)


def run_html(run: Run) -> str:
    """What was run and how, what each step took as bars, and the summary of the first views."""
    parts = [_paragraph(line) for line in run_text(run).splitlines()]
    record = run.record()
    if "seconds" in record.column_names:
        took = zip(
            record.column("view").to_pylist(),
            (round(1e6 * seconds) for seconds in record.column("seconds").to_pylist()),
            strict=True,
        )
        parts += bars_html(list(took), "microseconds of each step")
    if len(run) and run.kept:
        parts.append(table_html(run.summary(), COUNTS))
        parts.append(_paragraph("run.picture() draws it, run.table(VIEW) reads one view"))
    return _block(parts)


def answer_html(answer: Answer) -> str:
    """The text, the first rows of the table, the notes."""
    parts = [_paragraph(line) for line in answer.text.splitlines()]
    if answer.table is not None and answer.table.num_rows:
        parts.append(table_html(answer.table, COUNTS))
    parts += [_paragraph(f"note: {note}") for note in answer.notes]
    return _block(parts)


def table_html(
    table: pa.Table, style: CellStyle, *, rows: int | None = _FIRST_ROWS, total: int | None = None
) -> str:
    """The first rows of a table (None: all), and how many more there are."""
    shown = table if rows is None else table.slice(0, rows)
    header = "".join(f"<th>{_escaped(name)}</th>" for name in shown.column_names)
    columns = [shown.column(at).to_pylist() for at in range(shown.num_columns)]
    body = "".join(f"<tr>{_cells(row, style)}</tr>" for row in zip(*columns, strict=True))
    more = (table.num_rows if total is None else total) - shown.num_rows
    rest = _paragraph(f"... and {more:,} more") if more > 0 else ""
    return f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>{rest}"


def bars_html(
    steps: Sequence[tuple[str, int]], title: str = "differences of each step after the first"
) -> list[str]:
    """A number of each step as a bar of inline SVG; nothing where there are none to compare.

    Of more steps than fit, neighbours share a bar that is as tall as the tallest of them.
    """
    most = max((size for _, size in steps), default=0)
    if len(steps) < 2 or not most:
        return []
    share = -(-len(steps) // _MOST_BARS)
    groups = [steps[at : at + share] for at in range(0, len(steps), share)]
    width = _WIDTH / len(groups)
    bars = "".join(_bar(at * width, width, group, most) for at, group in enumerate(groups))
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'fill="currentColor" role="img">{bars}</svg>'
    )
    return [_paragraph(f"{title} (at most {most:,})"), picture]


def _bar(left: float, width: float, group: Sequence[tuple[str, int]], most: int) -> str:
    name, size = max(group, key=lambda step: step[1])
    height = _HEIGHT * size / most
    title = _escaped(f"{name}: {size:,}" + (f" (of {len(group)} steps)" if len(group) > 1 else ""))
    return (
        f'<rect x="{left:.2f}" y="{_HEIGHT - height:.2f}" width="{max(width - 0.5, 0.5):.2f}" '
        f'height="{height:.2f}" opacity="0.6"><title>{title}</title></rect>'
    )


def _advances(collection: AnyCollection) -> list[tuple[str, int]]:
    """Name and differences of the steps that start from another; loading dwarfs all of them."""
    table = collection.to_arrow()
    sizes = zip(*(table.column(name).to_pylist() for name in ("inserted", "deleted")), strict=True)
    named = zip(table.column("view").to_pylist(), map(sum, sizes), strict=True)
    steps = zip(collection.plan.steps, named, strict=True)
    return [found for step, found in steps if step.parent != EMPTY_VERSION]


def _totals_table(collection: AnyCollection) -> pa.Table:
    totals = collection.plan.totals
    return pa.table(
        {
            "arrangement": ["given order", "best chain", "tree"],
            "differences": pa.array([totals.given, totals.chain, totals.tree], pa.int64()),
            "at least": pa.array([None, totals.chain_bound, totals.tree_bound], pa.int64()),
        }
    )


def _cells(row: Sequence[object], style: CellStyle) -> str:
    return "".join(
        f'<td style="text-align: {"right" if is_number(value) else "left"}">'
        f"{_escaped(cell_text(value, style))}</td>"
        for value in row
    )


def _block(parts: Sequence[str]) -> str:
    return f"<div>{''.join(parts)}</div>"


def _paragraph(text: str) -> str:
    return f'<p style="margin: 0.3em 0">{_escaped(text)}</p>'


def _escaped(text: str) -> str:
    return html.escape(visible(text))
