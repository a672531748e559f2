"""What a query answers, as tables by the users' ids: all of it, what an advance changed, a path."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.queries.engine import QueryEngine
from graphtide.run.queries.kept import KeptQueries
from graphtide.run.queries.kept_query import KeptQuery
from graphtide.run.queries.plain import Edges, PlainEdge, plain_answers

Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]


class Rows(NamedTuple):
    """Vertices that are answers (or targets, with their sources), and what each costs."""

    sources: Int32 | None
    vertices: Int32
    costs: Float64


def answer_rows(kept: KeptQueries, query: KeptQuery) -> Rows:
    """The whole answer. O(vertices) without targets, O(targets log queries) with them."""
    if query.targets[0] is None:
        (number,), (search,) = kept.numbers_of(query), query.searches
        vertices, states, values = kept.engine.reader.collect(number)
        ends = np.isin(states, list(search.automaton.accepting))
        return Rows(None, *_least(vertices[ends], values[ends]))
    sources, targets = pair_numbers(kept, query)
    costs = np.full(len(targets), np.inf)
    for at, (source, target) in enumerate(zip(sources.tolist(), targets.tolist(), strict=True)):
        place = _search_from(query, source)
        end = np.array([target], np.int32)
        costs[at] = kept.engine.reader.answers(kept.numbers_of(query)[place], end)[0]
    return Rows(sources, targets, costs)


def pair_numbers(kept: KeptQueries, query: KeptQuery) -> tuple[Int32, Int32]:
    """The sources and targets of a query that has some, in the order in which they were given."""
    number = {
        end: at
        for single, ends in zip(query.kind.asked, query.targets, strict=True)
        for end, at in zip(single.targets or (), ends or (), strict=True)
    }
    starts = zip(query.kind.asked, query.searches, strict=True)
    number |= {single.start: search.start for single, search in starts}
    pairs = [(number[source], number[target]) for source, target in query.kind.pairs or ()]
    both = np.array(pairs, np.int32).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


def answer_table(kept: KeptQueries, query: KeptQuery) -> pa.Table:
    """The whole answer as a table."""
    rows = answer_rows(kept, query)
    columns = _ids(kept, rows)
    if query.kind.tells_cost or rows.sources is not None:
        columns[query.kind.cost] = cost_column(query, rows.costs)
    if query.kind.tells_path:
        assert rows.sources is not None
        pairs = zip(rows.sources.tolist(), rows.vertices.tolist(), strict=True)
        columns["path"] = _path_column(kept, [path_of(kept, query, *pair) for pair in pairs])
    return pa.table(columns)


def cost_column(query: KeptQuery, costs: Float64) -> pa.Array:
    """Costs as users read them: hops, distances, or whether there is a walk; missing if none is."""
    there = np.isfinite(costs)
    if not query.kind.tells_cost:
        return pa.array(there)
    if query.kind.weight is not None:
        return pa.array(costs, mask=~there)
    return pa.array(np.where(there, costs, 0).astype(np.int64), mask=~there)


def change_table(kept: KeptQueries, query: KeptQuery) -> pa.Table:
    """What the last advance changed: ids, `old` and `new`, missing (or false) where no walk leads.

    O(what changed) without targets.
    """
    now = answer_changes(kept, query)
    columns = _ids(kept, Rows(now.sources, now.vertices, now.new))
    columns["old"] = cost_column(query, now.old)
    columns["new"] = cost_column(query, now.new)
    return pa.table(columns)


def changed_tables(kept: KeptQueries) -> dict[str, pa.Table]:
    """What the last advance changed, by query; without those whose answers stayed."""
    kept.check_told()
    touched = kept.engine.reader.changed() if kept.fresh else set()
    if not touched:
        return {}
    tables = {
        name: change_table(kept, query)
        for name, query in kept.queries.items()
        if not touched.isdisjoint(kept.numbers_of(query))
    }
    return {name: table for name, table in tables.items() if table.num_rows}


class _Changed(NamedTuple):
    sources: Int32 | None
    vertices: Int32
    old: Float64
    new: Float64


def answer_changes(kept: KeptQueries, query: KeptQuery) -> _Changed:
    """The rows whose cost the last advance changed, with both costs."""
    parts = [_changes_of(kept, query, place) for place in range(len(kept.numbers_of(query)))]
    if query.targets[0] is None:
        return _differing(query, None, *parts[0])
    sources, targets = pair_numbers(kept, query)
    rows = answer_rows(kept, query)
    old = rows.costs.copy()
    for at, (source, target) in enumerate(zip(sources.tolist(), targets.tolist(), strict=True)):
        vertices, before, _ = parts[_search_from(query, source)]
        found = np.searchsorted(vertices, target)
        if found < len(vertices) and vertices[found] == target:
            old[at] = before[found]
    return _differing(query, sources, targets, old, rows.costs)


def _changes_of(kept: KeptQueries, query: KeptQuery, place: int) -> tuple[Int32, Float64, Float64]:
    """The vertices at which entries of a search have changed, with the old and the new answer."""
    none = np.empty(0, np.int32), np.empty(0), np.empty(0)
    number, automaton = kept.numbers_of(query)[place], query.searches[place].automaton
    kept.check_told()
    if not kept.fresh or query.since == kept.version:
        return none
    vertices, states, values = kept.engine.reader.before(number)
    if not len(vertices):
        return none
    ends = np.isin(states, list(automaton.accepting))
    changed = np.unique(vertices[ends])
    new = kept.engine.reader.answers(number, changed)
    old = np.full(len(changed), np.inf)
    np.minimum.at(old, np.searchsorted(changed, vertices[ends]), values[ends])
    noted = set(zip(vertices[ends].tolist(), states[ends].tolist(), strict=True))
    for at, vertex in enumerate(changed.tolist()):
        for state in automaton.accepting:
            if (vertex, state) not in noted:
                old[at] = min(old[at], kept.engine.reader.value(number, vertex, state))
    return changed, old, new


def _differing(
    query: KeptQuery, sources: Int32 | None, vertices: Int32, old: Float64, new: Float64
) -> _Changed:
    changed = old != new if query.kind.tells_cost else np.isfinite(old) != np.isfinite(new)
    of_sources = None if sources is None else sources[changed]
    return _Changed(of_sources, vertices[changed], old[changed], new[changed])


def path_of(kept: KeptQueries, query: KeptQuery, source: int, target: int) -> list[int] | None:
    """The vertices of a best walk from a source to a target; None without one."""
    return kept.engine.reader.path(kept.numbers_of(query)[_search_from(query, source)], target)


def verify_answer(kept: KeptQueries, query: KeptQuery) -> None:
    """Compare with the definition; AssertionError at the first difference."""
    edges = plain_edges(kept, query)
    rows = answer_rows(kept, query)
    for at, search in enumerate(query.searches):
        path = query.asked[at].path
        wanted = plain_answers(path, edges, search.start, search.bound)
        mine = np.ones(len(rows.vertices), np.bool_)
        if rows.sources is not None:
            mine = rows.sources == search.start
            wanted = {v: wanted.get(v, np.inf) for v in rows.vertices[mine].tolist()}
        answer = dict(zip(rows.vertices[mine].tolist(), rows.costs[mine].tolist(), strict=True))
        if not query.kind.tells_cost:
            answer, wanted = _reached(answer), _reached(wanted)
        if answer != wanted:
            vertex = next(v for v in {**wanted, **answer} if wanted.get(v) != answer.get(v))
            raise AssertionError(
                f"query '{query.name}': {kept.known.ids[vertex]!r} has {query.kind.cost} "
                f"{answer.get(vertex)}, by definition {wanted.get(vertex)}"
            )
        if query.kind.tells_cost:
            _verify_bounds(kept, kept.numbers_of(query)[at], wanted)


def _verify_bounds(kept: KeptQueries, number: int, wanted: dict[int, float]) -> None:
    """Landmarks, where a search has some, bound every cost that is within the bound."""
    if not isinstance(kept.engine, QueryEngine):
        return
    for vertex, cost in wanted.items():
        bounds = kept.engine.reader.bounds(number, vertex)
        if bounds is not None and cost < np.inf and not bounds[0] <= cost <= bounds[1]:
            raise AssertionError(
                f"landmarks say that {kept.known.ids[vertex]!r} costs {bounds[0]:g} to "
                f"{bounds[1]:g}, by definition {cost:g}"
            )


def _reached(costs: dict[int, float]) -> dict[int, float]:
    """Without costs where nobody is told of them: what reaches something is any walk."""
    return {vertex: 0.0 if cost < np.inf else cost for vertex, cost in costs.items()}


def plain_edges(kept: KeptQueries, query: KeptQuery) -> Edges:
    """The edges of the current version at each of their ends, as the definition reads them."""
    resident, kind = kept.known.resident, query.kind
    live = resident.live_edges()
    labels: list[Any] = [None] * len(live)
    if kind.label is not None and query.searches[0].label is not None:
        labels = kept.labels.values(kind.label, live)
    costs = [1.0] * len(live)
    if kind.weight is not None:
        costs = resident.properties[kind.weight][live].astype(np.float64).tolist()
    edges: Edges = {}
    sources, targets = (ends.tolist() for ends in resident.ends(live))
    for source, target, label, cost in zip(sources, targets, labels, costs, strict=True):
        edges.setdefault(source, []).append(PlainEdge(target, False, label, cost))
        edges.setdefault(target, []).append(PlainEdge(source, True, label, cost))
    return edges


def _search_from(query: KeptQuery, source: int) -> int:
    return next(at for at, search in enumerate(query.searches) if search.start == source)


def _least(vertices: Int32, values: Float64) -> tuple[Int32, Float64]:
    """Each vertex once, with its least value; they come in order."""
    if not len(vertices):
        return vertices, values
    first = np.flatnonzero(np.r_[True, vertices[1:] != vertices[:-1]])
    return vertices[first], np.minimum.reduceat(values, first)


def _ids(kept: KeptQueries, rows: Rows) -> dict[str, pa.Array]:
    ids = kept.known.ids
    if rows.sources is None:
        return {"id": ids.taken(rows.vertices)}
    return {"source": ids.taken(rows.sources), "target": ids.taken(rows.vertices)}


def _path_column(kept: KeptQueries, paths: list[list[int] | None]) -> pa.Array:
    flat = [vertex for path in paths for vertex in path or ()]
    values = kept.known.ids.taken(np.array(flat, np.int64))
    ends = np.cumsum([0, *(len(path or ()) for path in paths)])
    offsets = pa.array(ends, pa.int32())
    missing = pa.array([path is None for path in paths])
    return pa.ListArray.from_arrays(offsets, values, mask=missing)
