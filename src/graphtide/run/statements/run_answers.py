"""What there is to say of a run: how it went, its results in files, and where it was left off."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv as pa_csv

from graphtide.model.errors import NotFoundError
from graphtide.run.catalog.listings import finished_views
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.summaries import explain_run, run_text, shown_summary, summary_table
from graphtide.run.collection.tables import (
    difference_table,
    record_table,
    tidy_reader,
    write_tidy_csv,
)
from graphtide.run.statements.answers import Answer, Made
from graphtide.run.table import flat_table
from graphtide.store.catalog import Catalog
from graphtide.store.results import open_run
from graphtide.store.whole_files import Beside, whole_files


def run_answer(run: RunContents, notes: tuple[str, ...] = ()) -> Answer[Made]:
    """A run: how it went, and its summary view by view; of pairs, their results themselves."""
    table = None
    if run.finished_views() and run.facts.pairs is None:
        table, said = shown_summary(run)
        notes = notes if said is None else (*notes, said)
    elif run.finished_views():
        table = tidy_reader(run).read_all()
    return Answer(run_text(run), table, run, notes)


def timed_answer(run: RunContents, notes: tuple[str, ...]) -> Answer[Made]:
    """What a run took whose results are not kept; of pairs, what was found."""
    text = f"{explain_run(run)}\n  no results are kept"
    table = record_table(run) if run.facts.pairs is None else tidy_reader(run).read_all()
    return Answer(text, table, notes=notes)


def left_off(catalog: Catalog, name: str, again: str | None) -> str:
    """What an interrupted run has kept, and how to go on; `again` is None if it keeps nothing."""
    if again is None:
        return "no results are kept"
    try:
        done, views = finished_views(open_run(catalog, name))
    except NotFoundError:
        return "nothing had been finished"
    return f"the run '{name}' keeps {done:,} of {views:,} views; to go on: {again}"


def save_results(run: RunContents, folder: Path, *, differences: bool) -> list[Path]:
    """Write results, summary and record of a run as CSV into a folder, which is made.

    With `differences`, what each step changed is written in place of whole results.
    """
    with whole_files(folder) as beside:
        if differences:
            names = _write_differences(run, beside)
        else:
            names = ["results.csv"]
            write_tidy_csv(run, beside(names[0]))
        for name, table in (("summary.csv", summary_table(run)), ("record.csv", record_table(run))):
            pa_csv.write_csv(flat_table(table), beside(name))
            names.append(name)
    return [folder / name for name in names]


def _write_differences(run: RunContents, beside: Beside) -> list[str]:
    results = run.facts.results
    names = [
        "differences.csv" if len(results) == 1 else f"differences-{field}.csv" for field in results
    ]
    for name, field in zip(names, results, strict=True):
        pa_csv.write_csv(flat_table(difference_table(run, field)), beside(name))
    return names
