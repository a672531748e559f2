"""Lists of what is stored, and whether collections are up to date with their graphs.

One damaged item neither hides nor breaks the others. A list looks at every item: its manifest, its
small tables, and whether its files are all there. What cannot be read has a row all the same, with
its name and nothing else, and a note that names the damage. Where something is damaged, or its
graph has changed since it was made, a column `state` says what is: `ok`, `stale` or `damaged`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from graphtide.model.errors import DamagedError, NotFoundError, StoreError
from graphtide.model.text import counted
from graphtide.run.collection.facts import facts_from
from graphtide.store.catalog import Catalog
from graphtide.store.collection import (
    StoredCollection,
    collection_names,
    latest_behind,
    open_collection,
    state_behind,
    view_names,
)
from graphtide.store.files import find_missing
from graphtide.store.generation import Generation, damaged_error
from graphtide.store.graph import EarlierState, StoredGraph, open_graph
from graphtide.store.results import StoredRun, open_run


def table_of(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> pa.Table:
    """Rows as an Arrow table; without rows, columns of no type but the right names."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pa.table({name: list(column) for name, column in zip(names, columns, strict=True)})


def found_behind(catalog: Catalog, stored: StoredCollection) -> EarlierState | None:
    """The state of the graph that a collection was made from; None if that graph is no more.

    DamagedError if the graph cannot be read.
    """
    try:
        return state_behind(stored, latest_behind(catalog, stored))
    except DamagedError:
        raise
    except StoreError:
        return None


def is_stale(catalog: Catalog, stored: StoredCollection) -> bool:
    """Whether the graph has changed since a collection was made of it."""
    origin = found_behind(catalog, stored)
    return origin is not None and (origin.behind > 0 or origin.graph is None)


def stale_notes(catalog: Catalog, stored: StoredCollection) -> tuple[str, ...]:
    """A note for a collection that is stale; none for one that is not."""
    return (state_text(catalog, stored),) if is_stale(catalog, stored) else ()


def stale_collections(catalog: Catalog) -> list[str]:
    """The names of all collections and views whose graphs have changed since."""
    return [name for name in catalog.collections() if is_stale_by_name(catalog, name)]


def is_stale_by_name(catalog: Catalog, name: str) -> bool:
    """Whether a collection is stale; False where it or its graph is damaged."""
    try:
        return is_stale(catalog, open_collection(catalog, name))
    except StoreError:
        return False


def state_text(catalog: Catalog, stored: StoredCollection) -> str:
    """Which state of the graph a collection was made from, and what has come since."""
    origin = found_behind(catalog, stored)
    graph = f"the graph '{stored.facts.graph}'"
    if origin is None:
        return f"made from {graph}, which is gone, or has been loaded anew"
    text = f"made from generation {origin.state.generation} of {graph}"
    if not origin.behind:
        return f"{text}, which is up to date"
    text += f", {counted(origin.behind, 'append')} behind"
    if origin.graph is None:
        return f"{text}; a merge has replaced rows of then: refresh it"
    return f"{text}: refresh it to see them"


Row = tuple[object, ...]
Look = Callable[[str], tuple[Row, list[Generation]]]
"""What an item shows in a list, and the folders it is made of."""

Stale = Callable[[str], bool]
"""Whether the graph of an item that is whole has changed since the item was made."""


@dataclass(frozen=True)
class Listing:
    """A row an item, and a note on each that is damaged."""

    table: pa.Table
    damages: tuple[str, ...]


def list_graphs(catalog: Catalog) -> Listing:
    names = ("graph", "vertices", "edges", "quarantined", "loaded", "source")

    def row(name: str) -> tuple[Row, list[Generation]]:
        item = open_graph(catalog, name)
        sizes = (item.vertices, item.edges, item.quarantined)
        return (name, *sizes, _minute(item.created), item.source), [item.generation]

    return _listing(names, catalog.graphs(), row)


def list_views(catalog: Catalog) -> Listing:
    def row(name: str) -> tuple[Row, list[Generation]]:
        item = open_collection(catalog, name)
        view = item.views[0]
        return (name, item.facts.graph, view.size, view.predicate), [item.generation]

    columns = ("view", "graph", "edges", "predicate")
    return _listing(columns, view_names(catalog), row, partial(is_stale_by_name, catalog))


def list_collections(catalog: Catalog) -> Listing:
    names = ("collection", "graph", "views", "plan", "differences", "given order", "created")

    def row(name: str) -> tuple[Row, list[Generation]]:
        item = open_collection(catalog, name)
        plan = item.plan
        numbers = plan.differences(item.weights), plan.totals.given
        known = (name, item.facts.graph, len(item.views), plan.kind)
        return (*known, *numbers, _minute(item.created)), [item.generation]

    return _listing(names, collection_names(catalog), row, partial(is_stale_by_name, catalog))


def list_runs(catalog: Catalog) -> Listing:
    """One row per run, finished or not.

    Made from manifests, steps and records alone. So it is quick, and shows runs whose graph is gone
    too; their results cannot be read any more, because their ids are gone with it.
    """
    names = ("run", "program", "collection", "views", "finished", "strategy", "seconds", "created")

    def row(name: str) -> tuple[Row, list[Generation]]:
        stored = open_run(catalog, name)
        facts = facts_from(name, stored.manifest)
        finished, views = finished_views(stored)
        known = (name, facts.program, facts.collection, views, finished, facts.strategy)
        created = _minute(dt.datetime.fromisoformat(facts.created))
        row = (*known, run_seconds(stored), created)
        return row, [stored.generation, *stored.parts.generations]

    return _listing(names, catalog.runs(), row)


def schema_table(stored: StoredGraph) -> pa.Table:
    """One row per property: whose, name, type."""
    schema = stored.schema
    rows = [("vertex", "id", schema.id_type.value)]
    rows += [("vertex", "label", "string")] if schema.vertex_labels else []
    rows += [("vertex", item.name, item.type.value) for item in schema.vertex]
    rows += [("edge", "label", "string")] if schema.edge_labels else []
    rows += [("edge", item.name, item.type.value) for item in schema.edge]
    return table_of(("of", "property", "type"), rows)


def run_seconds(stored: StoredRun) -> float:
    """What the finished steps took, to the millisecond."""
    record = stored.parts.record()
    return 0.0 if record is None else round(float(np.sum(record.column("seconds").to_numpy())), 3)


def finished_views(stored: StoredRun) -> tuple[int, int]:
    """How many views are finished, and how many there are."""
    record = stored.parts.record()
    views = stored.steps().column("view").to_numpy() >= 0
    done = 0 if record is None else record.num_rows
    return int(np.count_nonzero(views[:done])), int(np.count_nonzero(views))


def _listing(
    columns: Sequence[str], names: Sequence[str], look: Look, stale: Stale = lambda name: False
) -> Listing:
    rows = [item for name in names if (item := _looked_at(name, look, len(columns))) is not None]
    table = table_of(columns, [row for row, _ in rows])
    damages = tuple(damage for _, damage in rows if damage is not None)
    states = [_state(str(row[0]), damage, stale) for row, damage in rows]
    if set(states) - {"ok"}:
        table = table.append_column("state", pa.array(states, pa.string()))
    return Listing(table, damages)


def _state(name: str, damage: str | None, stale: Stale) -> str:
    if damage is not None:
        return "damaged"
    return "stale" if stale(name) else "ok"


def _looked_at(name: str, look: Look, width: int) -> tuple[Row, str | None] | None:
    """The row of an item and what is wrong with it; None if it has been deleted meanwhile.

    Looks twice before it calls an item damaged: it may have been replaced under our eyes.
    """
    row: Row = (name, *[None] * (width - 1))
    damage = None
    for _ in range(2):
        try:
            row, generations = look(name)
            check_all_there(generations)
        except NotFoundError:
            return None
        except StoreError as error:
            damage = f"{error.what}; 'graphtide check {name}' says more"
        else:
            return row, None
    return row, damage


def check_all_there(generations: Sequence[Generation]) -> None:
    """DamagedError where a file of one of the folders is missing."""
    for item in generations:
        missing = find_missing(item.path, item.files)
        if missing:
            raise damaged_error(item.what, missing[0], item.remedy, len(missing) - 1)


def _minute(moment: dt.datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M")
