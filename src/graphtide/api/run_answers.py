"""What there is to say of a run: how it went, its results in files, and where it was left off."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv as pa_csv

from graphtide.api.answers import Answer
from graphtide.api.listings import finished_views
from graphtide.api.run import Run
from graphtide.api.whole_files import Beside, whole_files
from graphtide.model.errors import NotFoundError
from graphtide.run.collection.tables import flat_table, write_tidy_csv
from graphtide.store.catalog import Catalog
from graphtide.store.results import open_run


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


def left_off(catalog: Catalog, name: str, again: str | None) -> str:
    """What an interrupted run has kept, and how to go on; `again` is None if it keeps nothing."""
    if again is None:
        return "no results are kept"
    try:
        done, views = finished_views(open_run(catalog, name))
    except NotFoundError:
        return "nothing had been finished"
    return f"the run '{name}' keeps {done:,} of {views:,} views; to go on: {again}"


def save_results(run: Run, folder: Path, *, differences: bool) -> list[Path]:
    """Write results, summary and record of a run as CSV into a folder, which is made.

    With `differences`, what each step changed is written in place of whole results.
    """
    with whole_files(folder) as beside:
        if differences:
            names = _write_differences(run, beside)
        else:
            names = ["results.csv"]
            write_tidy_csv(run._contents, beside(names[0]))
        for name, table in (("summary.csv", run.summary()), ("record.csv", run.record())):
            pa_csv.write_csv(flat_table(table), beside(name))
            names.append(name)
    return [folder / name for name in names]


def _write_differences(run: Run, beside: Beside) -> list[str]:
    one = len(run.fields) == 1
    names = ["differences.csv" if one else f"differences-{field}.csv" for field in run.fields]
    for name, field in zip(names, run.fields, strict=True):
        pa_csv.write_csv(flat_table(run.differences(field)), beside(name))
    return names
