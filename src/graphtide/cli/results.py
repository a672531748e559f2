"""`graphtide results`: what runs have found, as tables, files and pictures.

The options choose one table (the summary, unless told otherwise). The command shows it, or writes
it whole to a file if one is named; a picture shows the same thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphtide.cli.command import GlobalOptions, Invocation, flag, valued
from graphtide.model.errors import InputError
from graphtide.model.text import COUNTS, FIRST_ROWS, VALUES, CellStyle

if TYPE_CHECKING:
    from graphtide.api.run import Run
    from graphtide.run.table import Table


@dataclass(frozen=True, kw_only=True)
class ResultsOptions(GlobalOptions):
    """Which run, what of it, and where it goes."""

    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="The name of a run; left out: all runs.")
    ] = None
    view: Annotated[str | None, valued("VIEW", "Every vertex with its results in a view.")] = None
    changes: Annotated[
        tuple[str, str] | None, valued("VIEW VIEW", "What differs between two views.")
    ] = None
    vertex: Annotated[str | None, valued("ID", "The results of a vertex in every view.")] = None
    label: Annotated[
        str | None,
        valued(
            "LABEL",
            "The label of --vertex, where several have its id; or count vertices of it only.",
        ),
    ] = None
    touched: Annotated[bool, flag("--touched", "Count vertices with an edge in the view only.")] = (
        False
    )
    all_vertices: Annotated[
        bool, flag("--all-vertices", "Count vertices without an edge too, in windows as well.")
    ] = False
    to: Annotated[
        str | None, valued("ID", "The target of --vertex, where results are of pairs.")
    ] = None
    components: Annotated[
        str | None, valued("VIEW", "The components of a view, largest first.")
    ] = None
    matches: Annotated[
        str | None, valued("VIEW", "The rows that a walk program reports in a view.")
    ] = None
    losses: Annotated[
        str | None, valued("VIEW", "What each view lost beside this one, worst first.")
    ] = None
    top: Annotated[
        int | None, valued("N", "The N greatest of each view, and how they moved.", min=1)
    ] = None
    record: Annotated[bool, flag("--record", "How each step was reached, and what it took.")] = (
        False
    )
    values: Annotated[bool, flag("--values", "All there is: every vertex in every view.")] = False
    field: Annotated[
        str | None,
        valued("NAME", "Which result --top, --losses, --matches and --picture are about."),
    ] = None
    rows: Annotated[int | None, valued("N", f"So many rows, not {FIRST_ROWS}.", min=0)] = None
    all: Annotated[bool, flag("--all", "All rows.")] = False
    csv: Annotated[Path | None, valued("FILE", "Write the whole table as CSV.")] = None
    parquet: Annotated[Path | None, valued("FILE", "Write the whole table as Parquet.")] = None
    picture: Annotated[
        Path | None,
        valued(
            "FILE",
            "Draw the summary by view, with --record the time by view, with --view the graph of "
            "that view: PNG, SVG or PDF.",
        ),
    ] = None
    bars: Annotated[
        bool | None, flag("--bars/--lines", "How to draw views; by their names if not said.")
    ] = None
    reference: Annotated[
        str | None, valued("RUN", "A run from scratch to draw beside the times.")
    ] = None

    @property
    def writes(self) -> bool:
        """True if something is written to a file."""
        return any(item is not None for item in (self.csv, self.parquet, self.picture))

    @property
    def narrows(self) -> bool:
        """True if the vertices to count or show are restricted."""
        return self.touched or self.all_vertices or self.label is not None


class ResultTable:
    """A table with its title, made when it is asked for, and how its numbers are written."""

    def __init__(self, title: str, make: Callable[[], Table], style: CellStyle = VALUES) -> None:
        self.title = title
        self.style = style
        self._make = make

    def first(self, rows: int | None) -> tuple[Table, int]:
        """The first rows, or all, and how many there are in all."""
        table = self._make()
        return table if rows is None else table.slice(0, rows), table.num_rows

    def write_csv(self, path: Path) -> int:
        """Write all rows, arrays as several columns; returns how many."""
        table = self._make()
        table.to_csv(path)
        return len(table)

    def write_parquet(self, path: Path) -> int:
        """Write all rows; returns how many."""
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
        """Reads no more views than needed."""
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
        self._run.to_csv(path)
        return self._rows()

    def write_parquet(self, path: Path) -> int:
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
    """The table that the options choose; the summary by default."""
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
    """A vertex, or a pair, in every view."""
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
    """A vertex id from a text, in the type of the graph's ids."""
    from graphtide.run.collection.stored_vertices import typed_id

    columns = run._contents.rows.columns()
    if run.of_pairs:
        raise InputError(
            f"the results of '{run.name}' are those of pairs of vertices",
            hint="give both ids: --vertex SOURCE --to TARGET; --values shows all pairs",
        )
    return _labelled(run, typed_id(columns["id"], text), label, "label" in columns)


def pair_of_ids(run: Run, ends: tuple[str, str], label: str | None) -> tuple[Any, Any]:
    """A pair of ids from two texts; a label applies to both."""
    from graphtide.run.collection.stored_vertices import typed_id

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
    """The vertex with its label, if ids need one. Errors speak of options."""
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


_CHOICES = (
    "view",
    "changes",
    "vertex",
    "components",
    "matches",
    "losses",
    "top",
    "record",
    "values",
)
_OF_PART: tuple[list[str], ...] = ([], ["view"], ["components"])


def results(invocation: Invocation, options: ResultsOptions) -> None:
    """Look at what runs have found: their summary, any view, changes, a vertex over time.

    graphtide results

    graphtide results years-WCC --picture components.png

    graphtide results years-BFS --changes upto-2019 upto-2020

    graphtide results years-BFS --vertex LHR --csv lhr.csv

    'graphtide delete run NAME' deletes a run.
    """
    _check(options)
    if options.run is None:
        _show_runs(invocation)
        return
    run = invocation.session.results(options.run)
    if options.csv is not None or options.parquet is not None:
        _write(invocation, options, result_table(run, options))
    if options.picture is not None:
        _draw(invocation, options, run)
    if not options.writes:
        _show(invocation, options, result_table(run, options))


def _check(options: ResultsOptions) -> None:
    """Refuse wrong usage before anything is read."""
    chosen = [name for name in _CHOICES if getattr(options, name) not in (None, False)]
    if len(chosen) > 1:
        said = " and ".join(f"--{name}" for name in chosen)
        raise typer.BadParameter(f"{said} are different tables: choose one")
    if options.run is None and (chosen or options.writes or options.narrows):
        raise typer.BadParameter("name a run: 'graphtide results' lists them")
    problems = [text for wrong, text in _misplaced(options, chosen) if wrong]
    if problems:
        raise typer.BadParameter(problems[0])


def _misplaced(options: ResultsOptions, chosen: list[str]) -> Iterator[tuple[bool, str]]:
    """Options that do not fit the table: whether each is misplaced, and what to say."""
    drawn = options.picture is not None
    yield options.to is not None and chosen != ["vertex"], "--to goes with --vertex"
    yield (
        options.touched and chosen not in _OF_PART,
        "--touched goes with the summary, --view or --components",
    )
    yield (
        options.all_vertices and chosen not in _OF_PART,
        "--all-vertices goes with the summary, --view or --components",
    )
    yield (
        options.touched and options.all_vertices,
        "--touched and --all-vertices exclude each other",
    )
    yield (
        options.label is not None and chosen not in (*_OF_PART, ["vertex"]),
        "--label goes with the summary, --view, --components or --vertex",
    )
    yield (
        drawn and options.narrows,
        "a picture is of what the summary counts: leave out --touched, --all-vertices and --label",
    )
    yield (
        drawn and chosen not in ([], ["record"], ["top"], ["view"]),
        "--picture draws the summary, --view VIEW, --top N or --record",
    )
    yield (
        options.bars is not None and (not drawn or options.record or options.view is not None),
        "--bars and --lines go with a --picture of the summary or of --top N",
    )
    yield (
        options.reference is not None and not (drawn and options.record),
        "--reference goes with --record --picture FILE",
    )
    yield (
        options.field is not None
        and chosen not in (["top"], ["losses"], ["matches"])
        and not drawn,
        "--field goes with --top, --losses, --matches or --picture",
    )


def _show_runs(invocation: Invocation) -> None:
    from graphtide.run.catalog.listings import list_runs
    from graphtide.run.statements.answers import list_answer

    answer = list_answer(list_runs(invocation.session.catalog), "run")
    if answer.table is not None and not answer.table.num_rows and not invocation.options.json:
        folder = invocation.session.catalog.root
        invocation.say(
            f"no runs in {folder} yet: graphtide run -e 'run wcc on COLLECTION' makes one"
        )
        return
    invocation.printer.answer(answer, rows=None)


def _show(invocation: Invocation, options: ResultsOptions, found: ResultTable) -> None:

    rows = FIRST_ROWS if options.rows is None else options.rows
    whole = options.all or (invocation.options.json and options.rows is None)
    table, size = found.first(None if whole else rows)
    text = found.title
    if table.num_rows < size:
        text += f"\nthe first {table.num_rows:,} of {size:,} rows"
    invocation.say(text, table, found.style)


def _write(invocation: Invocation, options: ResultsOptions, found: ResultTable) -> None:
    from graphtide.model.text import counted

    for path, write in ((options.csv, found.write_csv), (options.parquet, found.write_parquet)):
        if path is not None:
            text = f"{counted(write(path), 'row')} written to {path}"
            invocation.say(text)


def _draw(invocation: Invocation, options: ResultsOptions, run: Run) -> None:

    assert options.picture is not None
    if options.view is not None:
        picture = run.draw(options.view, options.picture, field=options.field)
    else:
        other = None if options.reference is None else invocation.session.results(options.reference)
        picture = run.picture(
            options.picture,
            of="times" if options.record else "top" if options.top else "summary",
            field=options.field,
            count=options.top,
            reference=other,
            bars=options.bars,
        )
    invocation.say(f"{picture.title}: drawn to {options.picture}")
