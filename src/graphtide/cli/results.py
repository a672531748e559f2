"""`graphtide results`: what runs have found, as tables, files and pictures.

The options choose one table (the summary, unless told otherwise). The command shows it, or writes
it whole to a file if one is named; a picture shows the same thing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.result_tables import ResultTable, result_table
from graphtide.cli.results_options import ResultsOptions
from graphtide.model.table_text import FIRST_ROWS

if TYPE_CHECKING:
    from graphtide.api.run import Run

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
    """Wrong usage, told before anything is read."""
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
    """Options that say something about another table or about none: is it so, and what to say."""
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
    from graphtide.run.statements.answers import Answer, list_answer

    answer = list_answer(list_runs(invocation.session.catalog), "run")
    if answer.table is not None and not answer.table.num_rows and not invocation.options.json:
        folder = invocation.session.catalog.root
        answer = Answer(
            f"no runs in {folder} yet: graphtide run -e 'run wcc on COLLECTION' makes one"
        )
    invocation.printer.answer(answer, rows=None)


def _show(invocation: Invocation, options: ResultsOptions, found: ResultTable) -> None:
    from graphtide.run.statements.answers import Answer

    rows = FIRST_ROWS if options.rows is None else options.rows
    whole = options.all or (invocation.options.json and options.rows is None)
    table, size = found.first(None if whole else rows)
    text = found.title
    if table.num_rows < size:
        text += f"\nthe first {table.num_rows:,} of {size:,} rows"
    invocation.printer.answer(Answer(text, table, style=found.style), rows=None)


def _write(invocation: Invocation, options: ResultsOptions, found: ResultTable) -> None:
    from graphtide.model.wording import counted
    from graphtide.run.statements.answers import Answer

    for path, write in ((options.csv, found.write_csv), (options.parquet, found.write_parquet)):
        if path is not None:
            text = f"{counted(write(path), 'row')} written to {path}"
            invocation.printer.answer(Answer(text))


def _draw(invocation: Invocation, options: ResultsOptions, run: Run) -> None:
    from graphtide.run.statements.answers import Answer

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
    invocation.printer.answer(Answer(f"{picture.title}: drawn to {options.picture}"))
