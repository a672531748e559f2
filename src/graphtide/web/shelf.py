"""What the page can open, by name: the one module of the page that speaks with `api`.

A shelf has the catalog of a session, or none, and things that are in memory alone. A name of memory
stands before the same name of the catalog.

What is stored is opened when it is asked for, and kept until it has changed on disk: a run that is
going on is opened anew whenever it has another part. Several threads may ask at once. Reading the
results of a run moves its cursor, so whoever reads holds the lock of what was opened.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.catalog_graph import CatalogGraph
from graphtide.api.collection import Collection
from graphtide.api.drawable import drawable_collection, drawable_key, drawable_run
from graphtide.api.graph import Graph
from graphtide.api.live_graph import LiveGraph
from graphtide.api.memory_views import MemoryCollection
from graphtide.api.opening import Opens
from graphtide.api.run import Run
from graphtide.api.session import Session
from graphtide.model.errors import InputError, NotFoundError, StoreError
from graphtide.model.schema import name_hint
from graphtide.run.catalog.items import Stamp, StoredItems
from graphtide.run.catalog.listings import schema_table
from graphtide.run.catalog.opened_runs import collection_behind
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.differences import RunDifferences
from graphtide.run.collection.facts import RunFacts
from graphtide.run.collection.planned_views import planned_order, shown_views, similarities
from graphtide.run.collection.stored_vertices import row_number
from graphtide.run.collection.summaries import shown_summary
from graphtide.run.collection.tables import history_table
from graphtide.run.table import Table
from graphtide.run.views.drawable import DrawableGraph
from graphtide.store.log import has_log
from graphtide.web.json_values import noted

Made = TypeVar("Made")
_OPEN = 12
"""Stored things that are kept open."""

_ANSWERS = 32
"""Answers that are kept of each thing."""


class OpenItem:
    """Something that is open, with answers about it as it is now; `stamp` tells when it changes.

    Hold the lock while you read results of a run.
    """

    def __init__(self, thing: Any, stamp: Stamp | None = None) -> None:
        self.thing = thing
        self.stamp = stamp
        self.lock = threading.RLock()
        self._answers: OrderedDict[Any, _Answer] = OrderedDict()
        self._guard = threading.Lock()

    def once(self, key: Any, make: Callable[[], Made]) -> Made:
        """What was made for a key, made now if it was not. Others wait for it, and no other answer.

        What `make` reads it reads from `apart`, since it may take long.
        """
        with self._guard:
            answer = self._answers.setdefault(key, _Answer())
            self._answers.move_to_end(key)
            while len(self._answers) > _ANSWERS:
                self._answers.popitem(last=False)
        with answer.lock:
            if not answer.there:
                answer.value, answer.there = make(), True
                # What was read for it goes back to the system, and not just to Arrow.
                pa.default_memory_pool().release_unused()
            return answer.value  # type: ignore[no-any-return]

    def apart(self) -> Run:
        """The open run with a cursor of its own, for long readings."""
        contents = self.thing._contents
        known = contents.differences
        differences = RunDifferences(known.parts, known.fields, at_hand=2)
        return Run(replace(contents, differences=differences), self.thing._space)


@dataclass
class _Answer:
    """An answer, or the promise of one; who makes it holds the lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    there: bool = False
    value: Any = None


class Shelf:
    """Graphs, collections, runs and live graphs by name. `changes` allows statements."""

    def __init__(self, session: Session | None = None, *, changes: bool = False) -> None:
        self.session = session
        self.changes = changes
        self.stored = None if session is None else StoredItems(session.catalog)
        self._held: dict[str, dict[str, OpenItem]] = {"collection": {}, "run": {}, "live": {}}
        self._open: OrderedDict[tuple[str, str], OpenItem] = OrderedDict()
        self._parts: dict[type, Any] = {}
        self._lock = threading.Lock()

    def part(self, kind: type[Made], make: Callable[[], Made]) -> Made:
        """What another module keeps with the shelf, one object of each class."""
        with self._lock:
            return self._parts.setdefault(kind, make())  # type: ignore[no-any-return]

    def put(self, thing: MemoryCollection[Any] | Run | Graph, name: str | None = None) -> list[str]:
        """Take up something that is in memory; the place of the page that shows it.

        It has the name that it has, with a number behind it where that is taken.
        """
        kind = _kind_of(thing)
        wanted = name or getattr(thing, "name", None) or getattr(thing, "_name", None) or "graph"
        with self._lock:
            held = self._held[kind]
            for known, opened in held.items():
                if opened.thing is thing:
                    return [kind, known]
            free = _free_name(wanted, held)
            held[free] = OpenItem(thing)
        return [kind, free]

    def held(self) -> Iterator[tuple[str, str, Any]]:
        """Everything in memory: kind, name and object."""
        with self._lock:
            listed = [
                (kind, name, opened.thing)
                for kind, several in self._held.items()
                for name, opened in several.items()
            ]
        yield from listed

    def graph(self, name: str) -> CatalogGraph:
        return self.opened("graph", name).thing  # type: ignore[no-any-return]

    def collection(self, name: str) -> Collection | MemoryCollection[Any]:
        return self.opened("collection", name).thing  # type: ignore[no-any-return]

    def run(self, name: str) -> Run:
        """The run of that name. See `opened` before reading its results."""
        return self.opened("run", name).thing  # type: ignore[no-any-return]

    def drawable_collection(self, name: str) -> tuple[OpenItem, Any, Callable[[], DrawableGraph]]:
        """A collection, the key of its drawn graph, and what reads its edges."""
        opened = self.opened("collection", name)
        thing = opened.thing
        return opened, drawable_key(thing) or opened, lambda: drawable_collection(thing)

    def drawable_run(
        self, name: str
    ) -> tuple[OpenItem, Any, Callable[[], DrawableGraph], RunContents]:
        """The same of a run, with its contents."""
        opened = self.opened("run", name)
        run: Run = opened.thing
        return opened, drawable_key(run) or opened, lambda: drawable_run(run), run._contents

    def live(self, name: str) -> Graph:
        """The live graph, or the graph in memory, of that name as it is now."""
        return self.opened("live", name).thing  # type: ignore[no-any-return]

    def opened(self, kind: str, name: str) -> OpenItem:
        """Something by kind and name: from memory first, else from the store."""
        held = self._held.get(kind, {}).get(name)
        if held is not None:
            return held
        if self.session is None:
            known = [*self._held.get(kind, {})]
            hint = name_hint(name, known, "the catalog lists all", "'")
            raise NotFoundError(f"there is no {kind} '{name}'", hint=hint)
        if kind == "live":
            return self._live(name)
        return self._stored(kind, name)

    def is_stored(self, kind: str, name: str) -> bool:
        """Whether it is on disk, and not only in memory."""
        return name not in self._held.get(kind, {})

    def schema(self, name: str) -> pa.Table:
        """The properties of a stored graph, one row each."""
        return schema_table(self.graph(name)._stored)

    def stale(self, name: str) -> int:
        """How many appends the graph of a collection has taken since; 0 if the graph is gone."""
        held = self.collection(name)
        try:
            return held.stale if isinstance(held, Collection) else 0
        except StoreError:
            return 0

    def view_sizes(self, name: str) -> list[int]:
        """The number of edges of each view, in the given order."""
        return [view.size for view in self.collection(name)._arranged.views]

    def runs_of(self, name: str) -> list[str]:
        """The names of the runs over a collection."""
        held = [of for kind, of, thing in self.held() if kind == "run" and thing.collection == name]
        if self.stored is None or not self.is_stored("collection", name):
            return held
        behind = ("collection", name)
        return held + [
            item.name for item in self.stored.all() if item.kind == "run" and behind in item.behind
        ]

    def similarity(self, name: str, *, planned: bool) -> tuple[list[str], NDArray[np.float64]]:
        """The views of the similarity matrix, and the matrix."""
        held = self.collection(name)
        order = planned_order(held.plan) if planned else np.arange(len(held))
        shown = shown_views(held.plan, order)
        names = held.names
        return [names[at] for at in shown], similarities(held.plan, held.weights, [shown])[0]

    def drawable(self, name: str) -> bool:
        """Whether the views of a run can be drawn: the run's collection is still there."""
        held = self.run(name)
        if self.session is None or not self.is_stored("run", name):
            return held._contents.find_touched is not None
        try:
            collection_behind(self.session.catalog, held._contents.facts, "")
        except StoreError:
            return False
        return True

    def resumable(self, name: str) -> bool:
        """Whether a stored run was interrupted and nobody works on it."""
        if self.stored is None or not self.is_stored("run", name):
            return False
        item = self.stored.item("run", name)
        return item is not None and item.state == "left off"

    def summary(self, run: Run) -> pa.Table:
        """The summary of a run; with a note, where its views are gone and all vertices count."""
        table, note = shown_summary(run._contents)
        return table if note is None else noted(table, note)

    def key_columns(self, run: Run) -> list[str]:
        """The columns that identify rows of results: ids, labels, ends."""
        return list(run._contents.rows.columns(np.empty(0, np.int64)))

    def run_facts(self, run: Run) -> RunFacts:
        """The facts of a run beside its results."""
        return run._contents.facts

    def history(self, run: Run, text: str, to: str | None) -> Table:
        """The results of one vertex or pair, named by text, in every view."""
        contents = run._contents
        return Table(history_table(contents, row_number(contents.rows, text, to)))

    def _stored(self, kind: str, name: str) -> OpenItem:
        assert self.session is not None
        assert self.stored is not None
        open_one: dict[str, Callable[[str], Any]] = {
            "graph": self.session.graph,
            "collection": self.session.collection,
            "run": self.session.results,
        }
        stamp = self.stored.stamp(kind, name)
        with self._lock:
            opened = self._open.get((kind, name))
            if opened is not None and opened.stamp == stamp:
                self._open.move_to_end((kind, name))
                return opened
        opened = OpenItem(open_one[kind](name), stamp)
        with self._lock:
            self._open[kind, name] = opened
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
        return opened

    def _live(self, name: str) -> OpenItem:
        assert self.session is not None
        if not has_log(self.session.catalog.existing_graph(name)):
            raise NotFoundError(
                f"the graph '{name}' is no live graph",
                hint="the catalog lists it among the graphs",
            )
        graph: LiveGraph = self.session.live_at_hand(name, readonly=True)
        with self._lock:
            opened = self._open.get(("live", name))
            if opened is None or opened.thing is not graph:
                opened = self._open["live", name] = OpenItem(graph)
        return opened


def shelf_of(thing: Any) -> tuple[Shelf, list[str]]:
    """A shelf for one object, and the place that shows it."""
    session, place = thing._on_page() if isinstance(thing, Opens) else (None, None)
    shelf = Shelf(session)
    return shelf, shelf.put(thing) if place is None else place


def _kind_of(thing: Any) -> str:
    kinds: dict[str, Any] = {"collection": MemoryCollection, "run": Run, "live": Graph}
    for kind, known in kinds.items():
        if isinstance(thing, known):
            return kind
    raise InputError(
        f"{type(thing).__name__} is nothing that the page shows",
        hint="give a collection of a graph in memory, a run, or a graph",
    )


def _free_name(wanted: str, taken: dict[str, OpenItem]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    return name
