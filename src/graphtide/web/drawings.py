"""Drawn graphs: a part of one version, what came and went against another, and where vertices are.

The page lays the part out and draws it. Here it is chosen: what lies around a vertex, all that is
connected with it, a sample, everything where that is little, or what lies around the vertex with
most edges. A version and the one that it is beside are looked at together, so that an edge that
went is as near as one that is there.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.api.drawable import drawable_live
from graphtide.api.graph import Graph
from graphtide.api.live import Live
from graphtide.model.errors import InputError
from graphtide.model.text import counted
from graphtide.run.collection.figures import unreached
from graphtide.run.live.results import PairRows
from graphtide.run.views.drawable import (
    DrawableGraph,
    DrawableVersion,
    Int,
    Neighbourhood,
    Truth,
    sample,
)
from graphtide.run.views.snapshot import Snapshot
from graphtide.web.json_values import Options, json_cell, whole_number
from graphtide.web.live import live_program, open_graph
from graphtide.web.shelf import OpenItem, Shelf

MOST_EDGES, USUAL_EDGES, USUAL_HOPS, MOST_HOPS = 50_000, 2_000, 2, 1_000
_HELD = 4
"""Graphs whose edges are held by vertex, for all that is drawn of them: 40 bytes an edge."""

STAYED, CAME, WENT = 0, 1, 2
_MOST_MORE = 50
NOT_REACHED = "not reached"

Results = Callable[[int], NDArray[Any]]
"""A result of all vertices in a version, by its position; a copy."""


class VertexColours(NamedTuple):
    """The result that colours vertices, by position of a version, and how it reads as cells."""

    field: str
    values: Results
    cells: Callable[[NDArray[Any]], list[Any]]
    has: Callable[[int], bool]
    known: Callable[[int], int] | None = None
    """How many vertices have one in a version; all, if it does not say."""


@dataclass(eq=False)
class DrawnGraphs:
    """The graphs of a shelf that have been drawn last."""

    lock: Lock = field(default_factory=Lock)
    graphs: OrderedDict[Any, DrawableGraph] = field(default_factory=OrderedDict)
    live: OrderedDict[str, list[LiveVersion]] = field(default_factory=OrderedDict)
    """The versions of live graphs that were drawn last, two of each."""

    def get(self, key: Any, make: Callable[[], DrawableGraph]) -> DrawableGraph:
        """The graph of that key, made when it is first asked for."""
        with self.lock:
            found = self.graphs.pop(key, None)
            self.graphs[key] = found = make() if found is None else found
            while len(self.graphs) > _HELD:
                self.graphs.popitem(last=False)
            return found

    def live_versions(self, name: str) -> list[LiveVersion]:
        """The versions that are held of a live graph, to be added to."""
        self.live[name] = found = self.live.pop(name, [])
        while len(self.live) > _HELD:
            self.live.popitem(last=False)
        return found


def held_by(shelf: Shelf) -> DrawnGraphs:
    """What a shelf holds of graphs that have been drawn."""
    return shelf.part(DrawnGraphs, DrawnGraphs)


def collection_drawing(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """A part of a view of a collection."""
    graph = _collection_graph(shelf, name)
    return drawing(graph, Pair.of(graph, options), options, None)


def run_drawing(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """A part of a view of a run, with its results."""
    graph, contents, opened = _run_graph(shelf, name)
    coloured = run_colours(graph, contents, options.get("field"), opened.once)
    with opened.lock:
        return drawing(graph, Pair.of(graph, options, contents.position), options, coloured)


def collection_vertex(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """What a vertex carries, and how many edges it has in a view."""
    return vertex_facts(_collection_graph(shelf, name), options, {})


def run_vertex(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """The same, with its results."""
    graph, contents, opened = _run_graph(shelf, name)
    if contents.facts.pairs is not None:
        return vertex_facts(graph, options, {})
    number = graph.vertex(_required(options, "vertex"))
    view = contents.position(_required(options, "view"))
    with opened.lock:
        values = contents.values(view)
        own = {item: values[item][number : number + 1].copy() for item in contents.fields}
    results = {
        item: result_cells(graph, part, naming=contents.named_by(item) is not None)[0]
        for item, part in own.items()
    }
    away = number in contents.removed(view)
    return vertex_facts(graph, options, {} if away else results)


def collection_edge(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """The ends of an edge, and what it carries."""
    return edge_facts(_collection_graph(shelf, name), options)


def run_edge(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """The ends of an edge, and what it carries."""
    return edge_facts(_run_graph(shelf, name)[0], options)


@dataclass(eq=False)
class LiveVersion:
    """A version of a graph that changes, as it was drawn, with the results that coloured it."""

    number: int
    numbering: object
    """What stays as long as vertices and edges keep their numbers."""
    snapshot: Snapshot
    values: dict[tuple[str, str], NDArray[Any]] = field(default_factory=dict)


def live_drawing(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """A part of a live graph as it is now, beside the version that was drawn before."""
    graph, versions, results = _live_graph(shelf, name, options)
    position = len(versions) - 1
    against = position - 1 if position and options.get("alone") != "1" else None
    return drawing(graph, Pair(position, against), options, results)


def live_vertex(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """What a vertex carries, with the result that colours it."""
    graph, versions, coloured = _live_graph(shelf, name, options)
    found: dict[str, Any] = {}
    if coloured is not None:
        values = coloured.values(len(versions) - 1)
        number = graph.vertex(_required(options, "vertex"))
        found = {coloured.field: coloured.cells(values[number : number + 1])[0]}
    return vertex_facts(graph, {**options, "view": graph.names[-1]}, found)


def live_edge(shelf: Shelf, name: str, options: Options) -> dict[str, Any]:
    """The ends of an edge, and what it carries."""
    return edge_facts(_live_graph(shelf, name, options)[0], options)


def _live_graph(
    shelf: Shelf, name: str, options: Options
) -> tuple[DrawableGraph, list[LiveVersion], VertexColours | None]:
    """A live graph as it is now, with what of it was drawn last, and the result that is asked for.

    Facts about what is drawn, which carry the `view`, are those of the version that was drawn.
    """
    held, known = open_graph(shelf, name), held_by(shelf)
    chosen = _live_result(held, options)
    with held._turns.lock, known.lock:
        versions = known.live_versions(name)
        drawn = f"version {versions[-1].number}" if versions else None
        if drawn is None or options.get("view") != drawn:
            _take_version(held, versions)
        if chosen is not None and versions[-1].number == held.version:
            program, field_, live = chosen
            versions[-1].values[program, field_] = live._kept.values(field_).copy()
        versions = list(versions)
    early = versions[0].snapshot if len(versions) > 1 else None
    names = [f"version {item.number}" for item in versions]
    make = partial(drawable_live, versions[-1].snapshot, early, names)
    graph = known.get(("live", *versions), make)
    return graph, versions, None if chosen is None else _live_colours(graph, versions, chosen)


def _take_version(held: Graph, versions: list[LiveVersion]) -> None:
    """Note the version that a graph is at; the one before it stays, where it has its numbers."""
    if versions and versions[-1].numbering is not held._known:
        versions.clear()
    if not versions or versions[-1].number != held.version:
        versions.append(LiveVersion(held.version, held._known, held._snapshot()))
    del versions[:-2]


def _live_result(held: Graph, options: Options) -> tuple[str, str, Live] | None:
    """The program and the result that colour vertices; None where no program is named."""
    program = options.get("program")
    if not program:
        return None
    live = live_program(held, program)
    fields = [] if isinstance(live._rows, PairRows) else list(live.fields)
    wanted = options.get("field") or (fields[0] if fields else None)
    if wanted is None or wanted not in fields or live._kept.values(wanted).ndim > 1:
        raise InputError(
            f"'{program}' has no result '{wanted or ''}' of vertices that is a colour",
            hint=f"it has {', '.join(fields) or 'none'}",
        )
    return program, wanted, live


def _live_colours(
    graph: DrawableGraph, versions: list[LiveVersion], chosen: tuple[str, str, Live]
) -> VertexColours | None:
    program, field_, live = chosen
    if (program, field_) not in versions[-1].values:
        return None
    naming = live._named_by(field_) is not None
    least = versions[-1].values[program, field_]
    missing = np.iinfo(least.dtype).max if least.dtype.kind == "i" and not naming else None

    def values(view: int) -> NDArray[Any]:
        own = versions[view].values[program, field_]
        # Vertices that came later have no value of before: that of no vertex stands for it.
        lacking = len(graph.vertices) - len(own)
        return own if lacking <= 0 else np.concatenate([own, np.repeat(own[:1], lacking)])

    return VertexColours(
        field_,
        values,
        lambda part: result_cells(graph, part, naming=naming, missing=missing),
        lambda view: (program, field_) in versions[view].values,
        lambda view: len(versions[view].values[program, field_]),
    )


ROUTES: dict[str, Callable[..., Any]] = {
    "live/*/drawing": live_drawing,
    "live/*/vertex": live_vertex,
    "live/*/edge": live_edge,
    "collection/*/drawing": collection_drawing,
    "run/*/drawing": run_drawing,
    "collection/*/vertex": collection_vertex,
    "run/*/vertex": run_vertex,
    "collection/*/edge": collection_edge,
    "run/*/edge": run_edge,
}


def _collection_graph(shelf: Shelf, name: str) -> DrawableGraph:
    _, key, make = shelf.drawable_collection(name)
    return held_by(shelf).get(key, make)


def _run_graph(shelf: Shelf, name: str) -> tuple[DrawableGraph, Any, OpenItem]:
    opened, key, make, contents = shelf.drawable_run(name)
    return held_by(shelf).get(key, make), contents, opened


class Pair(NamedTuple):
    """The version that is drawn and the one that it is beside, by position; None where there is
    none.
    """

    view: int
    against: int | None

    @classmethod
    def of(
        cls, graph: DrawableGraph, options: Options, position: Callable[[str], int] | None = None
    ) -> Pair:
        """The views that options name: beside its parent in the plan, if they name no other."""
        position = position or graph.position
        view = position(_required(options, "view"))
        other = options.get("against")
        against = graph.parent(view) if not other else position(other)
        if options.get("alone") == "1":
            against = None
        return cls(view, None if against == view else against)


def drawing(
    graph: DrawableGraph, pair: Pair, options: Options, coloured: VertexColours | None
) -> dict[str, Any]:
    """A part of a version as the page draws it."""
    now = graph.version(pair.view)
    then = None if pair.against is None else graph.version(pair.against)
    chosen = chosen_part(graph, now, then, options)
    return {
        "view": graph.names[pair.view],
        "against": None if pair.against is None else graph.names[pair.against],
        "directed": graph.directed,
        "field": None if coloured is None else coloured.field,
        "vertices": _drawn_vertices(graph, chosen.vertices, now, then)
        | _drawn_values(chosen.vertices, pair, now, then, coloured),
        "edges": _drawn_edges(graph, chosen, now, then),
        "whole": {"vertices": now.vertices(), "edges": int(np.count_nonzero(now.alive))},
        "note": chosen.note,
    }


class ChosenPart(NamedTuple):
    """The vertices of a part, ascending, its edges by place, and what is left out."""

    vertices: Int
    edges: Int
    note: str | None


def chosen_part(
    graph: DrawableGraph, now: DrawableVersion, then: DrawableVersion | None, options: Options
) -> ChosenPart:
    """The part that options ask for."""
    most = max(1, whole_number(options, "most", USUAL_EDGES, MOST_EDGES))
    alive = now.alive if then is None else now.alive | then.alive
    chosen = _chosen_part(graph, now, then, alive, options, most)
    more = _listed(options.get("more"))
    return chosen if not more else _with_more(graph, now, alive, chosen, more)


def _chosen_part(
    graph: DrawableGraph,
    now: DrawableVersion,
    then: DrawableVersion | None,
    alive: Truth,
    options: Options,
    most: int,
) -> ChosenPart:
    if options.get("around"):
        return _around(graph, now, alive, most, options)
    for name in ("hops", "component"):
        if options.get(name):
            raise InputError(f"{name} needs a vertex", hint="name it by around=ID")
    if options.get("sample") == "1":
        part = sample(graph.index, alive, graph.src, most)
        note = "a sample from all over the graph" if part.cut else None
        return _chosen(graph, part, note)
    count = int(np.count_nonzero(alive))
    if count <= most:
        return _everything(graph, now, then, alive, most)
    start = graph.busiest
    part = Neighbourhood(graph.index, alive, now.degree.astype(np.int64), most_edges=most)
    part.grow(np.array([start]))
    name = graph.texts(np.array([start]))[0]
    return _chosen(graph, part, f"what lies around '{name}', which has most edges of all views")


def _around(
    graph: DrawableGraph, now: DrawableVersion, alive: Truth, most: int, options: Options
) -> ChosenPart:
    """What lies within some hops of a vertex, or all that is connected with it."""
    name = options["around"]
    start = graph.vertex(name)
    hops: int | None = whole_number(options, "hops", USUAL_HOPS, MOST_HOPS)
    hops = None if options.get("component") == "1" else hops
    part = Neighbourhood(graph.index, alive, now.degree.astype(np.int64), most_edges=most)
    part.grow(np.array([start]), hops)
    far = "connected with" if hops is None else f"within {counted(hops, 'hop')} of"
    note = f"all {far} '{name}'"
    if start in now.removed:
        note = f"'{name}' is taken out of this view; {note}"
    if part.cut:
        note += f", as far as {counted(most, 'edge')} go"
    return _chosen(graph, part, note)


def _with_more(
    graph: DrawableGraph, now: DrawableVersion, alive: Truth, chosen: ChosenPart, more: list[str]
) -> ChosenPart:
    """A part, and the edges at some more vertices: as many as there may be in any drawing."""
    rest = alive.copy()
    rest[chosen.edges] = False
    room = MOST_EDGES - len(chosen.edges)
    part = Neighbourhood(graph.index, rest, now.degree.astype(np.int64), most_edges=room)
    part.grow(np.array([graph.vertex(name) for name in more]), 1)
    edges = np.sort(np.concatenate([chosen.edges, part.edges]))
    vertices = np.union1d(chosen.vertices, np.flatnonzero(part.found)).astype(np.int64)
    return ChosenPart(vertices, edges, chosen.note)


def _listed(text: str | None) -> list[str]:
    """The ids of a list in JSON."""
    if not text:
        return []
    try:
        listed = json.loads(text)
    except ValueError:
        listed = None
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise InputError(f"more cannot be '{text[:40]}'", hint='give ids: more=["7", "8"]')
    return listed[:_MOST_MORE]


def _everything(
    graph: DrawableGraph,
    now: DrawableVersion,
    then: DrawableVersion | None,
    alive: Truth,
    most: int,
) -> ChosenPart:
    """All edges, and vertices without any where there are not many of them."""
    edges = np.flatnonzero(alive)
    ends = np.unique(np.concatenate([graph.src[edges], graph.dst[edges]])).astype(np.int64)
    count = len(graph.vertices)
    if now.window or count > most:
        lonely = now.vertices() - int(np.count_nonzero(now.degree))
        note = None
        if lonely > 0:
            note = f"left out: {counted(lonely, 'vertex', 'vertices')} without an edge"
        return ChosenPart(ends, edges, note)
    away = set(now.removed) - set(ends.tolist())
    if then is not None:
        away -= set(range(count)) - set(then.removed) - set(now.removed)
    vertices = np.setdiff1d(np.arange(count), np.array(sorted(away), np.int64))
    return ChosenPart(vertices, edges, None)


def _chosen(graph: DrawableGraph, part: Neighbourhood, note: str | None) -> ChosenPart:
    edges = np.sort(part.edges)
    ends = np.concatenate([graph.src[edges], graph.dst[edges]])
    vertices = np.union1d(np.flatnonzero(part.found), ends).astype(np.int64)
    return ChosenPart(vertices, edges, note)


def _drawn_vertices(
    graph: DrawableGraph, vertices: Int, now: DrawableVersion, then: DrawableVersion | None
) -> dict[str, Any]:
    """What vertices are called, where they are, and whether they came or went."""
    state = np.zeros(len(vertices), np.int64)
    state[np.isin(vertices, now.removed)] = WENT
    if then is not None:
        state[np.isin(vertices, then.removed) & (state != WENT)] = CAME
    x = y = None
    if graph.places is not None:
        own = [column[vertices] for column in graph.places]
        known = np.isfinite(own[0]) & np.isfinite(own[1])
        if 2 * int(known.sum()) >= len(vertices) > 0:
            x, y = (_numbers(np.where(known, column, np.nan)) for column in own)
    return {
        "id": graph.texts(vertices),
        "degree": now.degree[vertices].tolist(),
        "state": state.tolist(),
        "x": x,
        "y": y,
    }


def _numbers(column: NDArray[np.float64]) -> list[float | None]:
    return [None if value != value else value for value in column.tolist()]


def _drawn_values(
    vertices: Int,
    pair: Pair,
    now: DrawableVersion,
    then: DrawableVersion | None,
    coloured: VertexColours | None,
) -> dict[str, Any]:
    """The results of vertices in both versions; missing where a vertex is taken out."""
    if coloured is None:
        return {"value": None, "before": None}
    value = coloured.cells(coloured.values(pair.view)[vertices])
    before = None
    if pair.against is not None and then is not None and coloured.has(pair.against):
        before = coloured.cells(coloured.values(pair.against)[vertices])
        before = _without(before, vertices, then.removed)
        if coloured.known is not None:
            late = vertices >= coloured.known(pair.against)
            before = [None if new else cell for cell, new in zip(before, late, strict=True)]
    return {"value": _without(value, vertices, now.removed), "before": before}


def _without(cells: list[Any], vertices: Int, removed: tuple[int, ...]) -> list[Any]:
    for at in np.flatnonzero(np.isin(vertices, removed)).tolist() if removed else ():
        cells[at] = None
    return cells


def _drawn_edges(
    graph: DrawableGraph, chosen: ChosenPart, now: DrawableVersion, then: DrawableVersion | None
) -> dict[str, Any]:
    """Edges by the places of their ends among the drawn vertices, and what became of each."""
    edges, state = chosen.edges, np.zeros(len(chosen.edges), np.int64)
    if then is not None:
        state[~then.alive[edges]] = CAME
        state[~now.alive[edges]] = WENT
    places = [np.searchsorted(chosen.vertices, end[edges]) for end in (graph.src, graph.dst)]
    return {
        "from": places[0].tolist(),
        "to": places[1].tolist(),
        "state": state.tolist(),
        "number": graph.numbers[edges].tolist(),
    }


def vertex_facts(
    graph: DrawableGraph, options: Options, results: Mapping[str, Any]
) -> dict[str, Any]:
    """A vertex with what it carries: VertexFacts."""
    name = _required(options, "vertex")
    number = graph.vertex(name)
    version = graph.version(graph.position(_required(options, "view")))
    own = graph.properties.vertex(number)
    return {
        "id": name,
        "degree": int(version.degree[number]),
        "properties": {name: json_cell(value) for name, value in own.items()},
        "results": dict(results),
    }


def edge_facts(graph: DrawableGraph, options: Options) -> dict[str, Any]:
    """An edge with its ends and what it carries: EdgeFacts."""
    number = whole_number(options, "number", 0, 1 << 62)
    place = graph.place(number)
    ends = graph.texts(np.array([graph.src[place], graph.dst[place]]))
    own = graph.properties.edge(number)
    properties = {name: json_cell(value) for name, value in own.items()}
    return {"from": ends[0], "to": ends[1], "properties": properties}


def run_colours(
    graph: DrawableGraph, contents: Any, name: str | None, once: Callable[..., Any]
) -> VertexColours | None:
    """The result that colours the vertices of a run; None where it has none of vertices.

    `once` keeps what is made for a key: what stands for no value is known by all results of the
    empty version.
    """
    if contents.facts.pairs is not None or (not contents.fields and name is None):
        return None
    if not contents.kept:
        return None
    chosen = contents.field(name or None)
    if contents.empty(chosen).ndim > 1:
        raise InputError(
            f"'{chosen}' is an array, which is no colour", hint="choose another result"
        )
    naming = contents.named_by(chosen) is not None
    missing = (
        None if naming else once(("missing", chosen), lambda: unreached(contents.base[chosen]))
    )
    return VertexColours(
        chosen,
        lambda view: contents.values(view)[chosen].copy(),
        lambda values: result_cells(graph, values, naming=naming, missing=missing),
        lambda view: bool(contents.step_of[view] < contents.differences.finished),
    )


def result_cells(
    graph: DrawableGraph, values: NDArray[Any], *, naming: bool, missing: float | None = None
) -> list[Any]:
    """Results as cells: vertices by the texts of their ids, words where nothing was reached."""
    if values.ndim > 1:
        return [[json_cell(item) for item in row] for row in values.tolist()]
    if not naming:
        none = np.zeros(len(values), np.bool_) if missing is None else values == missing
        cells = [json_cell(value) for value in values.tolist()]
        return [NOT_REACHED if gone else cell for cell, gone in zip(cells, none, strict=True)]
    numbers, places = np.unique(values.astype(np.int64), return_inverse=True)
    there = (numbers >= 0) & (numbers < len(graph.vertices))
    names: list[str | None] = [None] * len(numbers)
    for at, text in zip(np.flatnonzero(there).tolist(), graph.texts(numbers[there]), strict=True):
        names[at] = text
    return [names[at] for at in places.tolist()]


def _required(options: Options, name: str) -> str:
    text = options.get(name)
    if not text:
        raise InputError(f"this needs {name}", hint=f"name it: ?{name}=...")
    return text
