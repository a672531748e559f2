"""What there is to say of runs: a list of all of them, one of them, and where one was left off.

The list is made from manifests, steps and records alone. So it is quick, and shows runs whose
graph is gone too; their results cannot be read any more, because their ids are gone with it.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from graphtide.api.answers import Answer, counted, table_of
from graphtide.api.runs.facts import RunFacts, facts_from
from graphtide.api.runs.run import Run
from graphtide.api.runs.tables import flat_table
from graphtide.model.errors import InputError, NotFoundError
from graphtide.store.catalog import Catalog
from graphtide.store.results import open_run

_COLUMNS = ("run", "program", "collection", "views", "finished", "strategy", "seconds", "created")


def runs_table(catalog: Catalog) -> pa.Table:
    """A row a run, finished or not."""
    return table_of(_COLUMNS, [_row(catalog, name) for name in catalog.runs()])


def runs_answer(catalog: Catalog) -> Answer:
    """All runs."""
    found = runs_table(catalog)
    return Answer(counted(found.num_rows, "run"), found)


def run_answer(run: Run, notes: tuple[str, ...] = ()) -> Answer:
    """A run: how it went, and its summary view by view; of pairs, their results themselves."""
    if not len(run):
        return Answer(run_text(run), None, run, notes)
    return Answer(run_text(run), run.to_arrow() if run.of_pairs else run.summary(), run, notes)


def run_text(run: Run) -> str:
    """How a run went, in a few lines."""
    lines = [f"run '{run.name}': {run.explain()}"]
    if not run.finished:
        lines.append(f"  interrupted: {len(run):,} of {len(run.views):,} views can be read")
    return "\n".join(lines)


def finished_views(catalog: Catalog, name: str) -> tuple[int, int]:
    """How many views of a stored run are finished, and how many it has."""
    stored = open_run(catalog, name)
    record = stored.parts.record()
    views = stored.steps().column("view").to_numpy() >= 0
    done = 0 if record is None else record.num_rows
    return int(np.count_nonzero(views[:done])), int(np.count_nonzero(views))


def left_off(catalog: Catalog, name: str, again: str | None) -> str:
    """What an interrupted run has kept, and how to go on; `again` is None if it keeps nothing."""
    if again is None:
        return "no results are kept"
    try:
        done, views = finished_views(catalog, name)
    except NotFoundError:
        return "nothing had been finished"
    return f"the run '{name}' keeps {done:,} of {views:,} views; to go on: {again}"


def save_results(run: Run, folder: Path, *, differences: bool) -> list[Path]:
    """Write results, summary and record of a run as CSV into a folder, which is made.

    With `differences`, what each step changed is written in place of whole results.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = _differences(run, folder) if differences else [run.to_csv(folder / "results.csv")]
        for name, table in (("summary", run.summary()), ("record", run.record())):
            files.append(_written(table, folder / f"{name}.csv"))
    except OSError as error:
        raise InputError(
            f"cannot write results to '{folder}': {error.strerror or error}",
            hint="name a folder that you may write to; the run itself is stored",
        ) from None
    return files


def _differences(run: Run, folder: Path) -> list[Path]:
    if len(run.fields) == 1:
        return [_written(run.differences(), folder / "differences.csv")]
    return [
        _written(run.differences(field), folder / f"differences-{field}.csv")
        for field in run.fields
    ]


def _written(table: pa.Table, path: Path) -> Path:
    pa_csv.write_csv(flat_table(table), path)
    return path


def _row(catalog: Catalog, name: str) -> tuple[object, ...]:
    stored = open_run(catalog, name)
    facts = facts_from(name, stored.manifest)
    record = stored.parts.record()
    seconds = 0.0 if record is None else float(np.sum(record.column("seconds").to_numpy()))
    finished, views = finished_views(catalog, name)
    return (
        name,
        facts.program,
        facts.collection,
        views,
        finished,
        facts.strategy,
        round(seconds, 3),
        _minute(facts),
    )


def _minute(facts: RunFacts) -> str:
    return dt.datetime.fromisoformat(facts.created).strftime("%Y-%m-%d %H:%M")
