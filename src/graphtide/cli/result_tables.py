"""The tables of a run that the command line shows or writes, by its options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtide.model.cells import COUNTS, VALUES, CellStyle
from graphtide.model.errors import InputError

if TYPE_CHECKING:
    from graphtide.api.run import Run
    from graphtide.cli.results_options import ResultsOptions
    from graphtide.run.table import Table


class ResultTable:
    """A table with its title, made when it is asked for, and how its numbers are written."""

    def __init__(self, title: str, make: Callable[[], Table], style: CellStyle = VALUES) -> None:
        self.title = title
        self.style = style
        self._make = make

    def first(self, rows: int | None) -> tuple[Table, int]:
        """So many of the first rows, or all of them, and how many there are in all."""
        table = self._make()
        return table if rows is None else table.slice(0, rows), table.num_rows

    def write_csv(self, path: Path) -> int:
        """Write all rows, arrays as several columns; returns how many there were."""
        table = self._make()
        table.to_csv(path)
        return len(table)

    def write_parquet(self, path: Path) -> int:
        """Write all rows; returns how many there were."""
        table = self._make()
        table.to_parquet(path)
        return len(table)


class ValuesTable(ResultTable):
    """Every vertex in every view: read and written one view at a time."""

    def __init__(self, run: Run, title: str) -> None:
        from graphtide.run.table import Table

        super().__init__(title, lambda: Table(run.to_arrow()))
        self._run = run

    def first(self, rows: int | None) -> tuple[Table, int]:
        """Reads no more views than it takes."""
        import pyarrow as pa

        from graphtide.run.table import Table

        if rows is None:
            return super().first(None)
        batches, count = [], 0
        reader = self._run.reader()
        for batch in reader:
            batches.append(batch)
            count += batch.num_rows
            if count >= rows:
                break
        table = pa.Table.from_batches(batches, reader.schema)
        return Table(table.slice(0, rows)), self._rows()

    def write_csv(self, path: Path) -> int:
        """One view at a time."""
        self._run.to_csv(path)
        return self._rows()

    def write_parquet(self, path: Path) -> int:
        """One view at a time."""
        import pyarrow.parquet as pq

        from graphtide.store.whole_files import whole_file

        reader = self._run.reader()
        with whole_file(path) as partial, pq.ParquetWriter(partial, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        return self._rows()

    def _rows(self) -> int:
        fields = self._run.fields
        if not fields:
            return len(self._run)
        contents = self._run._contents
        away = sum(len(contents.removed(view)) for view in contents.finished_views())
        return len(self._run) * contents.count(fields[0]) - away


def result_table(run: Run, choice: ResultsOptions) -> ResultTable:
    """The table that was asked for: the summary, where nothing else was."""
    program = f"{run.program} on {run.collection}"
    counted = "touched" if choice.touched else "all" if choice.all_vertices else None
    part: Any = {"vertices": counted, "label": choice.label}
    if choice.view is not None:
        view = choice.view
        return ResultTable(f"{program}, view '{view}'", lambda: run.table(view, **part))
    if choice.changes is not None:
        one, other = choice.changes
        title = f"{program}, what differs between '{one}' and '{other}'"
        return ResultTable(title, lambda: run.changes(one, other))
    if choice.vertex is not None:
        return _history(run, program, choice.vertex, choice)
    if choice.components is not None:
        view = choice.components
        title = f"{program}, components of '{view}'"
        return ResultTable(title, lambda: run.components(view, **part))
    if choice.matches is not None:
        view, name = choice.matches, choice.field
        title = f"{program}, rows of '{view}'"
        return ResultTable(title, lambda: run.matches(view, name))
    if choice.losses is not None:
        baseline, field = choice.losses, choice.field
        title = f"{program}, what was lost beside '{baseline}'"
        return ResultTable(title, lambda: run.losses(baseline, field=field))
    if choice.top is not None:
        count, field = choice.top, choice.field
        title = f"{program}, the {count:,} greatest of each view"
        return ResultTable(title, lambda: run.top(count, field))
    if choice.record:
        return ResultTable(f"{program}, how each step was reached", run.record, COUNTS)
    if choice.values:
        return ValuesTable(run, f"{program}, every vertex in every view")
    return _summary(run, part)


def _history(run: Run, program: str, text: str, choice: ResultsOptions) -> ResultTable:
    """A vertex, or a pair of them, in every view."""
    if choice.to is None:
        vertex = vertex_id(run, text, choice.label)
        title = f"{program}, vertex {text} in every view"
    else:
        vertex = pair_of_ids(run, (text, choice.to), choice.label)
        title = f"{program}, from {text} to {choice.to} in every view"
    return ResultTable(title, lambda: run.history(vertex))


def _summary(run: Run, part: Any) -> ResultTable:
    from graphtide.run.collection.summaries import run_text

    return ResultTable(run_text(run._contents), lambda: run.summary(**part), COUNTS)


def vertex_id(run: Run, text: str, label: str | None) -> Any:
    """The id that a text on the command line stands for, in the type of the graph's ids."""
    from graphtide.run.collection.row_texts import typed_id

    columns = run._contents.rows.columns()
    if run.of_pairs:
        raise InputError(
            f"the results of '{run.name}' are those of pairs of vertices",
            hint="give both ids: --vertex SOURCE --to TARGET; --values shows all pairs",
        )
    return _labelled(run, typed_id(columns["id"], text), label, "label" in columns)


def pair_of_ids(run: Run, ends: tuple[str, str], label: str | None) -> tuple[Any, Any]:
    """The pair that two texts on the command line stand for; a label is that of both."""
    from graphtide.run.collection.row_texts import typed_id

    columns = run._contents.rows.columns()
    if not run.of_pairs:
        raise InputError(
            f"the results of '{run.name}' are those of single vertices", hint="leave out --to"
        )
    source, target = (
        typed_id(columns[side], text) for side, text in zip(("source", "target"), ends, strict=True)
    )
    return (source, target) if label is None else ((label, source), (label, target))


def _labelled(run: Run, vertex: Any, label: str | None, needed: bool) -> Any:
    """The vertex with its label, where ids need one; tells of labels in the words of options."""
    if label is not None and not needed:
        raise InputError(f"the ids of '{run.collection}' need no label", hint="leave out --label")
    named = vertex if label is None else (label, vertex)
    try:
        run._contents.rows.number(named)
    except InputError as error:
        if label is None and error.hint and error.hint.startswith("several labels"):
            error.hint = "several labels have it: say which with --label"
        raise
    return named
