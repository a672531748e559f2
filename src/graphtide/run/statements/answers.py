"""What a statement answers: a sentence, perhaps a table, and the thing that it made or found.

Of a run, the answer is how it went, its results in files, and where it was left off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import pyarrow as pa
import pyarrow.csv as pa_csv

from graphtide.model.errors import NotFoundError
from graphtide.model.text import COUNTS, CellStyle, counted, sized
from graphtide.run.catalog.listings import Listing, finished_views, schema_table, table_of
from graphtide.run.catalog.row_counts import RowCounts
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.planned_views import plan_table, unviewed_text
from graphtide.run.collection.summaries import explain_run, run_text, shown_summary, summary_table
from graphtide.run.collection.tables import (
    difference_table,
    record_table,
    tidy_reader,
    write_tidy_csv,
)
from graphtide.run.table import Table, answer_html, flat_table
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection
from graphtide.store.graph import StoredGraph
from graphtide.store.results import open_run
from graphtide.store.whole_files import Beside, whole_files


@dataclass(frozen=True)
class SingleView:
    """A view that is no part of a larger collection."""

    stored: StoredCollection


Made = StoredGraph | SingleView | StoredCollection | RunContents
Thing = TypeVar("Thing", covariant=True)


@dataclass(frozen=True)
class Answer(Generic[Thing]):
    """`text` is for people, `table` for whoever goes on with it, `value` the thing itself.

    `notes` say what a statement asked for that has no meaning here, and why. `style` is how the
    table is shown to people: with VALUES where it holds ids and values of the user. `counts` are of
    the rows of a load.
    """

    text: str
    table: Table | pa.Table | None = None
    value: Thing | None = None
    notes: tuple[str, ...] = ()
    style: CellStyle = COUNTS
    counts: RowCounts | None = None

    def __post_init__(self) -> None:
        if self.table is not None and not isinstance(self.table, Table):
            object.__setattr__(self, "table", Table(self.table, self.style))

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return answer_html(self.text, self.table, self.notes, self.style)


def graph_answer(stored: StoredGraph, notes: tuple[str, ...] = ()) -> Answer[Made]:
    kind = "graph" if stored.directed else "undirected graph"
    text = (
        f"{kind} '{stored.name}': {sized(stored.vertices, stored.edges, ' and ')} ({stored.source})"
    )
    if stored.number:
        text += f"; after {counted(stored.number, 'append')}"
    if stored.quarantined:
        text += f"; in quarantine: {counted(stored.quarantined, 'bad row')}"
    return Answer(text, schema_table(stored), stored, notes)


def counted_answer(stored: StoredGraph, counts: RowCounts | None) -> Answer[Made]:
    """A graph after a load or an append, with what that did to it."""
    if counts is None:
        return graph_answer(stored)
    notes = list(counts.notes)
    if counts.set_aside:
        notes.append(f"rows set aside are in {', '.join(map(str, counts.files))}")
    answer = graph_answer(stored, tuple(notes))
    return replace(answer, text=f"{counts}\n{answer.text}", counts=counts)


def view_answer(stored: StoredCollection, notes: tuple[str, ...] = ()) -> Answer[Made]:
    """A single view."""
    view, graph = stored.views[0], stored.facts.graph
    text = f"view '{stored.name}' on {graph}: {counted(view.size, 'edge')}"
    row = (stored.name, graph, view.size, view.predicate)
    table = table_of(("view", "graph", "edges", "predicate"), [row])
    return Answer(text, table, SingleView(stored), notes)


def collection_answer(stored: StoredCollection, notes: tuple[str, ...] = ()) -> Answer[Made]:
    """A collection: what it cost, what else it could have cost, and its steps as a table."""
    return Answer(collection_text(stored), plan_table(stored), stored, notes)


def collection_text(stored: StoredCollection) -> str:
    """Views, plan and totals in a few lines."""
    totals, differences = stored.plan.totals, stored.plan.differences(stored.weights)
    lines = [
        f"collection '{stored.name}' on {stored.facts.graph}: "
        f"{counted(len(stored.views), 'view')}, made in {stored.facts.seconds:.1f} s",
        f"  plan: {stored.plan.kind}, {counted(differences, 'difference')}"
        + (f", {stored.plan.stones} stepping stones" if stored.plan.stones else ""),
        f"  in the given order: {totals.given:,}; best chain: {_number(totals.chain)}; "
        f"tree: {_number(totals.tree)}",
        f"  no chain can need fewer than {totals.chain_bound:,}, no tree than "
        f"{totals.tree_bound:,}",
    ]
    said = unviewed_text(stored.unviewed)
    return "\n".join(lines if said is None else [*lines, f"  {said}"])


def list_answer(found: Listing, what: str) -> Answer[Made]:
    return Answer(counted(found.table.num_rows, what), found.table, notes=found.damages)


def _number(value: int | None) -> str:
    return "not worked out" if value is None else f"{value:,}"


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
