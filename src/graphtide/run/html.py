"""What a notebook shows, as HTML, for a session, a graph, a view, a collection, a run, an answer.

Plain tables that take their colours from the notebook, so that they are readable in light and dark.
Every text is escaped and the result is well-formed XML, so that no name and no value can break the
page.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import pyarrow as pa

from graphtide.model.cells import COUNTS, CellStyle, cell_text, is_number, not_shown, visible
from graphtide.plan.collection import EMPTY_VERSION, CollectionPlan

_FIRST_ROWS = 10
_MOST_COLUMNS = 20
_MOST_BARS = 200
_WIDTH, _HEIGHT = 480, 64


def session_html(root: object, lists: Mapping[str, tuple[pa.Table, Sequence[str]]]) -> str:
    """Tables of what is stored, with notes on what is damaged; a sentence if there are none."""
    parts = [_paragraph(f"session in {root}")]
    for title, (table, damages) in lists.items():
        if table.num_rows:
            parts += [_paragraph(title), table_html(table, COUNTS, rows=None)]
        parts += [_paragraph(f"note: {damage}") for damage in damages]
    if len(parts) == 1:
        parts.append(_paragraph("nothing yet: session.load(...) loads a graph"))
    return _block(parts)


def titled_html(
    title: str,
    table: pa.Table,
    style: CellStyle,
    *,
    rows: int | None = _FIRST_ROWS,
    total: int | None = None,
) -> str:
    """A title and the first rows of a table, which is the start of one with so many in all."""
    return _block([_paragraph(title), table_html(table, style, rows=rows, total=total)])


def collection_html(title: str, plan: CollectionPlan, steps: pa.Table) -> str:
    """Totals of the arrangements, differences per step as bars, and the first steps."""
    parts = [_paragraph(title), table_html(_totals_table(plan), COUNTS)]
    parts += bars_html(_advances(plan, steps))
    parts.append(table_html(steps, COUNTS))
    return _block(parts)


def run_html(text: str, record: pa.Table, summary: pa.Table | None) -> str:
    """What was run and how, what each step took as bars, and the summary of the first views."""
    parts = [_paragraph(line) for line in text.splitlines()]
    if "seconds" in record.column_names:
        took = zip(
            record.column("view").to_pylist(),
            (round(1e6 * seconds) for seconds in record.column("seconds").to_pylist()),
            strict=True,
        )
        parts += bars_html(list(took), "microseconds of each step")
    if summary is not None:
        parts.append(table_html(summary, COUNTS))
        parts.append(_paragraph("run.picture() draws it, run.table(VIEW) reads one view"))
    return _block(parts)


def answer_html(
    text: str, table: pa.Table | None, notes: Sequence[str], style: CellStyle = COUNTS
) -> str:
    """The text, the first rows of the table, the notes."""
    parts = [_paragraph(line) for line in text.splitlines()]
    if table is not None and table.num_rows:
        parts.append(table_html(table, style))
    parts += [_paragraph(f"note: {note}") for note in notes]
    return _block(parts)


def table_html(
    table: pa.Table, style: CellStyle, *, rows: int | None = _FIRST_ROWS, total: int | None = None
) -> str:
    """The first rows (None: all) and columns of a table, and how many more there are."""
    shown = table if rows is None else table.slice(0, rows)
    shown = shown.select(shown.column_names[:_MOST_COLUMNS])
    header = "".join(f"<th>{_escaped(name)}</th>" for name in shown.column_names)
    columns = [shown.column(at).to_pylist() for at in range(shown.num_columns)]
    body = "".join(f"<tr>{_cells(row, style)}</tr>" for row in zip(*columns, strict=True))
    more = (table.num_rows if total is None else total) - shown.num_rows
    unshown = not_shown(more, table.column_names[_MOST_COLUMNS:])
    rest = _paragraph(unshown) if unshown else ""
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


def _advances(plan: CollectionPlan, table: pa.Table) -> list[tuple[str, int]]:
    """Name and differences of the steps that start from another; loading dwarfs all of them."""
    sizes = zip(*(table.column(name).to_pylist() for name in ("inserted", "deleted")), strict=True)
    named = zip(table.column("view").to_pylist(), map(sum, sizes), strict=True)
    steps = zip(plan.steps, named, strict=True)
    return [row for step, row in steps if step.parent != EMPTY_VERSION]


def _totals_table(plan: CollectionPlan) -> pa.Table:
    totals = plan.totals
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
