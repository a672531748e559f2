"""Tables as users hold and read them: Arrow within, text in a terminal, HTML in a notebook.

Whoever computes with a table gets Arrow's data without a copy. Whoever looks at one sees its first
rows and as many columns as fit, and a line that says what is not shown. The HTML of sessions,
graphs, views, collections, runs and answers is here too: plain tables that take their colours from
the notebook. Every text is escaped and the result is well-formed XML, so that no name and no value
can break the page.
"""

from __future__ import annotations

import html
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from graphtide.model.elsewhere import SaysWhere, plain_name
from graphtide.model.errors import SetupError
from graphtide.model.names import given_path
from graphtide.model.text import (
    COUNTS,
    FIRST_ROWS,
    VALUES,
    CellStyle,
    cell_text,
    is_number,
    not_shown,
    shown_lines,
    visible,
)
from graphtide.plan.collection import EMPTY_VERSION, CollectionPlan

if TYPE_CHECKING:
    import pandas
    import polars


_FIRST_ROWS = 10
_MOST_COLUMNS = 20
_MOST_BARS = 200
_BARS_WIDTH, _BARS_HEIGHT = 480, 64


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
    width = _BARS_WIDTH / len(groups)
    bars = "".join(_bar(at * width, width, group, most) for at, group in enumerate(groups))
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_BARS_WIDTH}" height="{_BARS_HEIGHT}" '
        f'fill="currentColor" role="img">{bars}</svg>'
    )
    return [_paragraph(f"{title} (at most {most:,})"), picture]


def _bar(left: float, width: float, group: Sequence[tuple[str, int]], most: int) -> str:
    name, size = max(group, key=lambda step: step[1])
    height = _BARS_HEIGHT * size / most
    title = _escaped(f"{name}: {size:,}" + (f" (of {len(group)} steps)" if len(group) > 1 else ""))
    return (
        f'<rect x="{left:.2f}" y="{_BARS_HEIGHT - height:.2f}" width="{max(width - 0.5, 0.5):.2f}" '
        f'height="{height:.2f}" opacity="0.6"><title>{title}</title></rect>'
    )


def _advances(plan: CollectionPlan, table: pa.Table) -> list[tuple[str, int]]:
    """Names and sizes of all steps but the first, which would dwarf them."""
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


_WIDTH = 120
"""The width that is filled where there is no terminal."""


_OF_FRAMES = """agg apply astype describe dropna fillna groupby hist iloc index info iterrows
itertuples loc melt merge nlargest nsmallest nunique pivot pivot_table plot query reset_index sample
set_index sort_values tail to_dict to_excel to_html to_json to_markdown to_numpy to_string
value_counts values"""
"""What people try that pandas has, and Arrow has not."""


class _ReadAsArrow:
    """Takes the place of a `pyarrow.Table` where a function asks for one and then reads columns.

    `isinstance` believes `__class__`, and Polars looks for "pyarrow." in the names of ancestors
    before it asks. Otherwise `polars.from_arrow` would make a series of structs of it. Functions
    of Arrow itself that need the table's memory look at the type, and refuse it.
    """

    __qualname__ = "like pyarrow.Table"

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return pa.Table


class Table(_ReadAsArrow, SaysWhere):
    """A table that prints as one: an Arrow table inside, whose methods and attributes it has.

    `table["rank"]` is a column, `table[0]` a row, and a loop goes over rows, as dicts.
    `to_pandas()` and `to_polars()` make frames of it; Polars, DuckDB, `pyarrow.table` and others
    read it directly. `to_arrow()` is the Arrow table itself, for functions that take nothing else.
    """

    _elsewhere = {plain_name(name): f"table.to_pandas().{name}" for name in _OF_FRAMES.split()}

    def __init__(self, table: pa.Table, style: CellStyle = VALUES) -> None:
        self._table = table
        self._style = style

    def to_arrow(self) -> pa.Table:
        """The table as one of Arrow."""
        return self._table

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """The table as a pandas DataFrame; options are those of `pyarrow.Table.to_pandas`."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> polars.DataFrame:
        """The table as a Polars DataFrame."""
        return polars_frame(self.to_arrow())

    def to_csv(self, path: str | Path) -> Path:
        """Write the table to a CSV file with a header: all of it or, if that fails, nothing.

        It is packed if its name ends with .gz, .bz2 or .zst; arrays become several columns.
        """
        import pyarrow.csv

        from graphtide.store.whole_files import whole_stream

        target = given_path(path)
        with whole_stream(target) as stream:
            pyarrow.csv.write_csv(flat_table(self.to_arrow()), stream)
        return target

    def to_parquet(self, path: str | Path) -> Path:
        """Write the table to a Parquet file: all of it or, if that fails, nothing."""
        import pyarrow.parquet

        from graphtide.store.whole_files import whole_file

        target = given_path(path)
        with whole_file(target) as partial:
            pyarrow.parquet.write_table(self.to_arrow(), partial)
        return target

    def head(self, rows: int = 5) -> Table:
        """The first rows."""
        return Table(self.to_arrow().slice(0, max(rows, 0)), self._style)

    def __len__(self) -> int:
        return int(self.to_arrow().num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.to_arrow().to_batches(max_chunksize=1024):
            yield from batch.to_pylist()

    def __getitem__(self, key: Any) -> Any:
        table = self.to_arrow()
        if isinstance(key, slice):
            return Table(table[key], self._style)
        if not hasattr(key, "__index__"):
            return Table(table.select(key), self._style) if isinstance(key, list) else table[key]
        at, rows = key.__index__(), table.num_rows
        if not -rows <= at < rows:
            raise IndexError(f"row {at} of a table of {rows:,} rows")
        return table.slice(at % rows, 1).to_pylist()[0]

    def __contains__(self, name: object) -> bool:
        return name in self.to_arrow().column_names

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name != "__dataframe__":
            raise AttributeError(name)
        if not hasattr(pa.Table, name):
            return super().__getattr__(name)  # type: ignore[misc]
        found = getattr(self.to_arrow(), name)
        return _table_method(found, self._style) if callable(found) else found

    def __dir__(self) -> list[str]:
        arrow = [name for name in dir(pa.Table) if not name.startswith("_")]
        return sorted({*super().__dir__(), *arrow})

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, pa.Table):
            return NotImplemented
        return bool(self.to_arrow().equals(_arrow(other)))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return Table, (self.to_arrow(), self._style)

    def __repr__(self) -> str:
        width = shutil.get_terminal_size((_WIDTH, 24)).columns
        return "\n".join(shown_lines(self.to_arrow(), self._style, width))

    def _repr_html_(self) -> str:
        style = replace(self._style, aligned=True)
        return f"<div>{table_html(self.to_arrow(), style, rows=FIRST_ROWS)}</div>"


def _of_results(held: str) -> dict[str, str]:
    """Hints for methods that people know from pandas, for an object with one table."""
    views = "a run over views has it: graph.collection(...).run(program)"
    values = f"{held}.table(), or {held}['RESULT'] for a NumPy array"
    ranked = f"{held}.table().sort_by([('RESULT', 'descending')]).head(10)"
    return {
        "todict": f"{held}.table().to_pydict(), or {held}.at(vertex) for the results of one",
        "items": f"for row in {held}.table()",
        "tocsv": f"{held}.table().to_csv(path)",
        "toparquet": f"{held}.table().to_parquet(path)",
        "head": f"{held}.table().head()",
        "df": f"{held}.to_pandas()",
        **dict.fromkeys(("values", "results"), values),
        **dict.fromkeys(("top", "nlargest", "sort", "sortvalues", "orderby"), ranked),
        **dict.fromkeys(("summary", "history", "picture", "plot"), views),
    }


class HasTable(SaysWhere):
    """Something whose results are one table, `table()`: frames and Arrow are made of that."""

    _held: ClassVar[str]
    """What users call it in examples."""

    def __init_subclass__(cls) -> None:
        cls._elsewhere = _of_results(cls._held)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and name in type(self)._names(self):
                told = f"'{type(self).__name__}' object has no attribute '{name}'"
                where = f"{self._held}['{name}']"
                raise AttributeError(f"{told}; try: {where}", name=name, obj=self)
            return super().__getattr__(name)

    def _names(self) -> tuple[str, ...]:
        return ()

    def table(self) -> Table:
        """The results."""
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """The table as one of Arrow."""
        return self.table().to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame."""
        return self.table().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The table as a Polars DataFrame."""
        return self.table().to_polars()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)


def polars_frame(table: Any) -> polars.DataFrame:
    """A table of Arrow as a frame of Polars; SetupError where Polars is not installed."""
    try:
        import polars
    except ModuleNotFoundError:
        hint = "pip install 'graphtide[polars]', or take to_pandas() or to_arrow()"
        raise SetupError("Polars is not installed", hint=hint) from None
    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame


def _arrow(item: Any) -> Any:
    return item.to_arrow() if isinstance(item, Table) else item


def _table_method(method: Callable[..., Any], style: CellStyle) -> Callable[..., Any]:
    """A method of Arrow's table that takes tables like these, and returns such."""

    @wraps(method)
    def called(*given: Any, **named: Any) -> Any:
        given_tables = map(_arrow, given)
        made = method(*given_tables, **{name: _arrow(item) for name, item in named.items()})
        return Table(made, style) if isinstance(made, pa.Table) else made

    return called


def flat_table(table: pa.Table) -> pa.Table:
    """The table with a column for each place of an array: `share_0`, `share_1`."""
    columns: dict[str, Any] = {}
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        if not pa.types.is_fixed_size_list(column.type):
            columns[name] = column
            continue
        width = column.type.list_size
        flat = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
        columns |= {f"{name}_{at}": pa.array(flat[:, at]) for at in range(width)}
    return pa.table(columns)
