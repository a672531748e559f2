"""What is stored, item by item: sizes, dates, what each was made from, and how it is.

A page asks for the list again and again, so an item is looked at when it has changed, as the times
of its pointer and of its folders tell, and of those that it was made from. One damaged item neither
hides nor breaks the others.

The state of an item is `damaged`; of a run `going on` where somebody holds its lock and `left off`
where it is not finished; `stale` where what it was made from has changed since; else `ok`.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from graphtide.lang.gvdl.parse import parse_script
from graphtide.lang.gvdl.statements import CreateCollection, CreateView
from graphtide.model.errors import GraphtideError, NotFoundError, StoreError
from graphtide.plan.predicates import EVERYTHING
from graphtide.run.catalog.listings import (
    check_all_there,
    finished_views,
    is_stale,
    run_seconds,
)
from graphtide.run.catalog.opened_runs import versions_text
from graphtide.run.collection.facts import facts_from
from graphtide.store.catalog import Catalog
from graphtide.store.collection import CollectionFacts, open_collection
from graphtide.store.commit import holder
from graphtide.store.files import CURRENT, Pointer, read_pointer
from graphtide.store.generation import Generation
from graphtide.store.graph import open_graph
from graphtide.store.log import has_log
from graphtide.store.parts import LAST, PARTS
from graphtide.store.results import open_run

Kind = Literal["graph", "view", "collection", "run", "live"]
State = Literal["ok", "stale", "damaged", "going on", "left off"]
Stamp = tuple[tuple[int, int, int] | None, ...]
"""Times, numbers and sizes of files: another one where something has changed."""


@dataclass(frozen=True)
class CatalogItem:
    """One thing in a catalog; `facts` are sizes and dates, in the order in which they are shown.

    `behind` is all that it was made from, by folder and name.
    """

    kind: Kind
    name: str
    state: State
    made_from: tuple[Kind, str] | None
    facts: dict[str, Any]
    note: str | None = None
    behind: tuple[tuple[str, str], ...] = ()


class StoredItems:
    """The items of a catalog, each looked at again when it has changed."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._looks: dict[tuple[str, str], tuple[Stamp, CatalogItem]] = {}

    def all(self) -> Iterator[CatalogItem]:
        """Graphs, live graphs, collections and views, runs, by their names."""
        catalog = self._catalog
        for kind, names in (
            ("graph", catalog.graphs()),
            ("collection", catalog.collections()),
            ("run", catalog.runs()),
        ):
            for name in names:
                item = self.item(kind, name)
                if item is not None:
                    yield item

    def item(self, kind: str, name: str) -> CatalogItem | None:
        """One item by its kind of folder; None where it has been deleted meanwhile."""
        known = self._looks.get((kind, name))
        if known is None or known[0] != stamp_of(self._catalog, kind, name, known[1].behind):
            before = stamp_of(self._catalog, kind, name)
            looked = self._looked_at(kind, name)
            if looked is None:
                self._looks.pop((kind, name), None)
                return None
            behind = stamp_of(self._catalog, kind, name, looked.behind)[len(before) :]
            known = self._looks[kind, name] = (before + behind, looked)
        return self._as_of_now(kind, known[1])

    def stamp(self, kind: str, name: str) -> Stamp:
        """What changes when an item changes, or something that it was made from."""
        self.item(kind, name)
        known = self._looks.get((kind, name))
        return stamp_of(self._catalog, kind, name) if known is None else known[0]

    def _as_of_now(self, kind: str, item: CatalogItem) -> CatalogItem:
        """The item with its state now: whether somebody is writing it is in no file's time."""
        folder = _folder(self._catalog, kind, item.name)
        if item.state == "left off" and holder(folder) is not None:
            return replace(item, state="going on")
        return item

    def _looked_at(self, kind: str, name: str) -> CatalogItem | None:
        """An item as it is. Looks twice before it calls it damaged: it may be replaced just now."""
        look = {"graph": _graph_item, "collection": _collection_item, "run": _run_item}[kind]
        problem = ""
        for _ in range(2):
            try:
                return look(self._catalog, name)
            except NotFoundError:
                return None
            except GraphtideError as error:
                problem = str(error.what)
        item_kind: Any = kind
        if kind == "graph" and has_log(self._catalog.graph_folder(name)):
            item_kind = "live"
        return CatalogItem(item_kind, name, "damaged", None, {}, problem)


def stamp_of(
    catalog: Catalog, kind: str, name: str, behind: Sequence[tuple[str, str]] = ()
) -> Stamp:
    """What changes when an item changes, or something that it was made from."""
    stamps = _stamps(_folder(catalog, kind, name))
    for one, other in behind:
        stamps += _stamps(_folder(catalog, one, other))
    return tuple(stamps)


def _folder(catalog: Catalog, kind: str, name: str) -> Path:
    match kind:
        case "graph":
            return catalog.graph_folder(name)
        case "collection":
            return catalog.collection_folder(name)
    return catalog.run_folder(name)


def _stamps(folder: Path) -> list[tuple[int, int, int] | None]:
    """The stamps of the pointer, the current generation and the folders of its tables."""
    pointer = read_pointer(folder / CURRENT)
    looked = [_stat(folder / CURRENT)]
    if isinstance(pointer, Pointer):
        path = folder / pointer.name
        inner = (path, path / "edges", path / "vertices", path / PARTS, path / PARTS / LAST)
        looked += map(_stat, inner)
    return looked


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


def _graph_item(catalog: Catalog, name: str) -> CatalogItem:
    stored = open_graph(catalog, name)
    check_all_there([stored.generation])
    live = has_log(catalog.graph_folder(name))
    facts: dict[str, Any] = {"vertices": stored.vertices, "edges": stored.edges}
    if stored.quarantined:
        facts["quarantined"] = stored.quarantined
    facts |= {"bytes": _bytes([stored.generation]), "loaded": _minute(stored.created)}
    facts |= {"source": stored.source}
    note = "as of its last checkpoint" if live else None
    return CatalogItem("live" if live else "graph", name, "ok", None, facts, note)


def _collection_item(catalog: Catalog, name: str) -> CatalogItem:
    stored = open_collection(catalog, name)
    check_all_there([stored.generation])
    facts, plan = stored.facts, stored.plan
    kind: Kind = "view" if facts.kind == "view" else "collection"
    behind = [("graph", facts.graph)]
    made_from: tuple[Kind, str] = ("graph", facts.graph)
    view = _view_behind(facts)
    if view is not None:
        made_from = ("view", view)
        behind.append(("collection", view))
    shown: dict[str, Any] = {}
    if kind == "view":
        shown |= {"edges": stored.views[0].size, "predicate": stored.views[0].predicate}
    else:
        shown |= {"views": len(stored.views), "plan": plan.kind}
        shown |= {"differences": plan.differences(stored.weights)}
        shown |= {"given order": plan.totals.given}
    shown |= {"bytes": _bytes([stored.generation]), "created": _minute(stored.created)}
    state, note = _state_of_collection(catalog, stored)
    return CatalogItem(kind, name, state, made_from, shown, note, tuple(behind))


def _view_behind(facts: CollectionFacts) -> str | None:
    """The view that a collection stands on, as its statement names it; None where it is the graph.

    Only a view has a predicate to add, and most statements need not be parsed.
    """
    if facts.base in ("", str(EVERYTHING)):
        return None
    (statement,) = parse_script(facts.statement)
    assert isinstance(statement, CreateView | CreateCollection)
    return None if statement.base in (None, facts.graph) else statement.base


def _state_of_collection(catalog: Catalog, stored: Any) -> tuple[State, str | None]:
    graph = stored.facts.graph
    if not catalog.has_graph(graph):
        return "stale", f"the graph '{graph}' is gone"
    try:
        stale = is_stale(catalog, stored)
    except StoreError as error:
        return "ok", str(error.what)
    return ("stale", f"the graph '{graph}' has changed since") if stale else ("ok", None)


def _run_item(catalog: Catalog, name: str) -> CatalogItem:
    stored = open_run(catalog, name)
    facts = facts_from(name, stored.manifest)
    check_all_there([stored.generation, *stored.parts.generations])
    finished, views = finished_views(stored)
    shown = {
        "program": facts.program,
        "views": views,
        "finished": finished,
        "strategy": facts.strategy,
        "seconds": run_seconds(stored),
        "bytes": _bytes([stored.generation, *stored.parts.generations]),
        "created": _minute(dt.datetime.fromisoformat(facts.created)),
    }
    state, note = _state_of_run(catalog, facts)
    if finished < views:
        state = "left off"
    behind = (("collection", facts.collection), ("graph", facts.graph))
    return CatalogItem("run", name, state, ("collection", facts.collection), shown, note, behind)


def _state_of_run(catalog: Catalog, facts: Any) -> tuple[State, str | None]:
    if not catalog.has_graph(facts.graph):
        return "stale", f"the graph '{facts.graph}' is gone, and with it the ids of its results"
    try:
        stored = open_collection(catalog, facts.collection)
    except NotFoundError:
        return "ok", f"the collection '{facts.collection}' is gone"
    except StoreError as error:
        return "ok", str(error.what)
    if versions_text(stored) != facts.versions:
        return "stale", f"the collection '{facts.collection}' has been made anew since"
    return "ok", None


def _bytes(generations: Sequence[Generation]) -> int:
    return sum(facts.size for item in generations for facts in item.files.values())


def _minute(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%MZ")
