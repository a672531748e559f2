"""The answers about graphs that change while the page is open: what is kept current, and how fast.

A live graph of the catalog is opened to be read, and follows its log; it is never taken for
writing. A graph of this process is looked at as it is. Either way an answer is of one version:
whoever makes it has the graph's turn.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pyarrow as pa

from graphtide.api.graph import Graph
from graphtide.api.live import Live
from graphtide.api.live_graph import LiveGraph
from graphtide.api.query import Query
from graphtide.model.errors import GraphtideError, InputError, NotFoundError
from graphtide.model.schema import name_hint
from graphtide.run.durable.registrations import told_program
from graphtide.run.durable.steps import disk_facts
from graphtide.store.files import CURRENT
from graphtide.store.log import LOG
from graphtide.web.json_values import Options
from graphtide.web.shelf import Shelf

_LOOK_EVERY, _QUIET, _HEARTBEAT = 0.25, 1.0, 10.0


def live(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """A live graph, or a graph in memory, as it is now."""
    return _facts(open_graph(shelf, name), name)


def open_graph(shelf: Shelf, name: str) -> Graph:
    """The graph of that name as it is now; InputError if it was closed."""
    graph = shelf.live(name)
    if isinstance(graph, LiveGraph):
        if not (graph.readonly or graph.writable):
            raise InputError(f"the live graph '{name}' was closed", hint="open it again in Python")
        if not shelf.is_stored("live", name):  # The shelf brings those that it opens up to date.
            graph.refresh()
    return graph


def program(shelf: Shelf, name: str, of: str, options: Options) -> pa.Table:
    """The results of a program: of vertices, of the whole graph, or rows (`matches=NAME`)."""
    held = live_program(open_graph(shelf, name), of)
    if "matches" in options or not (held.fields or held.globals):
        return held.matches(options.get("matches")).to_arrow()
    return held.table().to_arrow()


def query(shelf: Shelf, name: str, of: str, options: Options) -> pa.Table:
    return _query(open_graph(shelf, name), of).table().to_arrow()


def changes(shelf: Shelf, name: str, of: str, options: Options) -> pa.Table:
    """What the last advance changed in the results of a program, or in the answer of a query."""
    graph = open_graph(shelf, name)
    if of in _programs(graph):
        return live_program(graph, of).changes().delivered()
    return _query(graph, of).changes().to_arrow()


def operators(shelf: Shelf, name: str, of: str, options: Options) -> dict[str, Any]:
    graph = open_graph(shelf, name)
    with graph._turns.lock:
        maintainer: Any = live_program(graph, of)._kept.maintainer
        if not hasattr(maintainer, "operators"):
            raise InputError(
                f"'{of}' is no dataflow, and has no operators",
                hint="live.explain() in Python says how it is kept current",
            )
        found: dict[str, Any] = maintainer.operators()
    return {**found, "name": of}


def live_events(shelf: Shelf, name: str) -> Iterator[dict[str, Any] | None]:
    """A graph as it changes: four times a second at most, and every ten seconds.

    None where nothing has changed for a second. Ends with an error where the graph is closed or
    deleted.
    """
    looked = _GraphWatch()
    told = listened = 0.0
    wait = threading.Event()
    while True:
        began, facts = monotonic(), None
        if looked.again(shelf, name) or began - told >= _HEARTBEAT:
            facts, told = _facts(looked.graph, name), began
        took = monotonic() - began
        if facts is not None or began - listened >= _QUIET:
            listened = began
            yield facts
        # A long log takes long to look at: that takes a tenth of the time at most.
        wait.wait(min(max(_LOOK_EVERY, 10 * took), _QUIET))


class _GraphWatch:
    """A graph as it was looked at last."""

    graph: Graph

    def __init__(self) -> None:
        self._stamp: Any = None
        self._folder: Path | None = None
        self._files: Any = None

    def again(self, shelf: Shelf, name: str) -> bool:
        """Whether there is something new. Looks at the files first, where only they can change."""
        files = None if self._folder is None else _files(self._folder)
        if files is not None and files == self._files:
            return False
        graph = self.graph = open_graph(shelf, name)
        self._folder = None
        if isinstance(graph, LiveGraph) and graph.readonly and shelf.is_stored("live", name):
            self._folder = graph.folder
        self._files, before = files, self._stamp
        self._stamp = _stamp(graph)
        return bool(self._stamp != before)


def _files(folder: Path) -> tuple[Any, ...]:
    """What changes when another process writes: stamps of the log and of the checkpoint."""
    stamps: list[Any] = [folder]
    log = folder / LOG
    try:
        names = sorted(os.listdir(log))
    except OSError:
        names = []
    for path in (folder / CURRENT, *(log / item for item in names)):
        try:
            found = os.stat(path)
        except OSError:
            stamps.append(None)
        else:
            stamps.append((path.name, found.st_mtime_ns, found.st_size, found.st_ino))
    return tuple(stamps)


def _stamp(graph: Graph) -> tuple[Any, ...]:
    """What changes when there is something new to show."""
    with graph._turns.lock:
        queries = () if graph._asked is None else tuple(graph._asked.queries)
        return graph, graph.version, tuple(_programs(graph)), queries, graph._budget


def _facts(graph: Graph, name: str) -> dict[str, Any]:
    """All that the page shows of a graph."""
    with graph._turns.lock:
        readonly = isinstance(graph, LiveGraph) and graph.readonly
        return {
            "name": name,
            "folder": str(graph.folder) if isinstance(graph, LiveGraph) else None,
            "version": graph.version,
            "vertices": graph.num_vertices,
            "edges": graph.num_edges,
            "writable": not readonly,
            "programs": _program_facts(graph),
            "queries": _query_facts(graph),
            "budget": {
                "bytes": graph.budget,
                "used": 0 if graph._asked is None else graph.query_bytes,
            },
            **_disk_facts(graph),
            "pace": graph._pace.told(latencies=not readonly),
        }


def _disk_facts(graph: Graph) -> dict[str, Any]:
    if not isinstance(graph, LiveGraph):
        return {"log": None, "checkpoint": None}
    return disk_facts(graph.folder, graph._name, graph._what, graph._state)


def _program_facts(graph: Graph) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {
            "name": name,
            "program": str(held.program),
            "mode": held.mode,
            "fields": [*held.fields, *held._kept.globals],
            "matches": list(held._compiled.matches),
            "touched": int(held.touched),
            "dataflow": hasattr(held._kept.maintainer, "operators"),
            "problem": "it could not begin anew, and has no results" if held._kept.failed else None,
        }
        for name, held in _programs(graph).items()
    ]
    lost = graph._lost if isinstance(graph, LiveGraph) else {}
    for name, error in lost.items():
        stored = graph._state.registered.get(name, {})  # type: ignore[attr-defined]
        told: dict[str, Any] = {"name": name, "program": told_program(stored), "mode": ""}
        told |= {"fields": [], "matches": [], "touched": 0, "dataflow": False}
        found.append(told | {"problem": error.what})
    return found


def _query_facts(graph: Graph) -> list[dict[str, Any]]:
    if graph._asked is None:
        return []
    return [
        {
            "name": name,
            "asked": str(held.asked),
            "bytes": held.nbytes,
            "rows": len(held),
            "waits": bool(held.absent),
        }
        for name, held in graph.queries.items()
    ]


def _programs(graph: Graph) -> dict[str, Live]:
    """The programs on a graph by their registered names, or by class names."""
    registered = graph._programs if isinstance(graph, LiveGraph) else {}
    found: dict[str, Live] = {name: held for name, (held, _) in registered.items()}
    known = {id(held) for held in found.values()}
    for held in graph._followers.holders():
        if isinstance(held, Live) and id(held) not in known:
            name = wanted = held.program.program.name
            number = 2
            while name in found:
                name, number = f"{wanted}-{number}", number + 1
            found[name] = held
    return found


def live_program(graph: Graph, name: str) -> Live:
    """A program on a graph, by the name that the page uses."""
    if isinstance(graph, LiveGraph) and name in graph._lost:
        raise graph._lost[name]
    with graph._turns.lock:
        found = _programs(graph)
    if name not in found:
        raise _nothing("program", name, list(found))
    return found[name]


def _query(graph: Graph, name: str) -> Query:
    with graph._turns.lock:
        found = {} if graph._asked is None else graph.queries
    if name not in found:
        raise _nothing("program or query", name, [*_programs(graph), *found])
    return found[name]


def _nothing(kind: str, name: str, known: list[str]) -> GraphtideError:
    listed = ", ".join(known) or "none"
    hint = name_hint(name, known, f"there is: {listed}", "'")
    return NotFoundError(f"there is no {kind} '{name}' here", hint=hint)


ROUTES = {
    "live/*": live,
    "live/*/program/*": program,
    "live/*/query/*": query,
    "live/*/changes/*": changes,
    "live/*/operators/*": operators,
}
EVENTS = {"live/*/events": live_events}
