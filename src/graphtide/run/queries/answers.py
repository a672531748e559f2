"""What a query answers, as tables by the users' ids: all of it, what an advance changed, a path.

`verify_answer` compares with the definition of regular paths, which has no automaton, no state and
no kernel: a walk is at a vertex with what is left to be read of the path, and every edge takes a
step of that. All walks are followed from the start, those that cost least first. Much slower than
the engine.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.queries.engine import QueryEngine
from graphtide.engine.queries.states import BestWalkOrNone
from graphtide.plan import regular_paths as paths
from graphtide.run.queries.standing_queries import StandingQueries
from graphtide.run.queries.standing_query import StandingQuery, vertex_number

Rest = tuple[paths.RegularPath, ...]


class PlainEdge(NamedTuple):
    """An edge as a walk meets it: where it leads, by which way, with its label and cost."""

    end: int
    back: bool
    label: paths.Label | None
    cost: float


Edges = dict[int, list[PlainEdge]]
"""The edges at each vertex, both ways."""


def plain_answers(
    path: paths.RegularPath, edges: Edges, start: int, bound: float
) -> dict[int, float]:
    """The vertices that walks of a path lead to, and the least cost of one."""
    follow = _Rests()
    best: dict[tuple[int, Rest], float] = {}
    todo: list[tuple[float, int, int, Rest]] = [(0.0, 0, start, (path,))]
    costs: dict[int, float] = {}
    pushed = 0
    while todo:
        cost, _, vertex, rest = heapq.heappop(todo)
        if best.get((vertex, rest), float("inf")) <= cost:
            continue
        best[vertex, rest] = cost
        if all(map(takes_nothing, rest)):
            costs.setdefault(vertex, cost)
        for edge in edges.get(vertex, ()):
            total = cost + edge.cost
            if total <= bound:
                for left in follow.after(rest, edge.label, edge.back):
                    pushed += 1
                    heapq.heappush(todo, (total, pushed, edge.end, left))
    return costs


def takes_nothing(path: paths.RegularPath) -> bool:
    """Whether a walk without edges matches the path."""
    match path:
        case paths.Step() | paths.Except():
            return False
        case paths.Inverse(inner):
            return takes_nothing(inner)
        case paths.Sequence(parts):
            return all(map(takes_nothing, parts))
        case paths.Alternative(parts):
            return any(map(takes_nothing, parts))
        case paths.Repeat(inner, least, most):
            return least == 0 or most == 0 or takes_nothing(inner)


class _Rests:
    """Remembers what letters leave of rests."""

    def __init__(self) -> None:
        self._known: dict[tuple[Rest, paths.Label | None, bool], tuple[Rest, ...]] = {}

    def after(self, rest: Rest, label: paths.Label | None, back: bool) -> tuple[Rest, ...]:
        key = rest, label, back
        if key not in self._known:
            self._known[key] = tuple(dict.fromkeys(_after(rest, label, back)))
        return self._known[key]


def _after(rest: Rest, label: paths.Label | None, back: bool) -> Iterator[Rest]:
    for at, part in enumerate(rest):
        for left in _left_of(part, label, back):
            yield (*left, *rest[at + 1 :])
        if not takes_nothing(part):
            return


def _left_of(path: paths.RegularPath, label: paths.Label | None, back: bool) -> Iterator[Rest]:
    """What is left of one part once a letter has been read in it."""
    match path:
        case paths.Step(name):
            if label == name and not back:
                yield ()
        case paths.Except(names, against):
            named = against if back else names
            if named is not None and (not named or (label is not None and label not in named)):
                yield ()
        case paths.Sequence(parts):
            yield from _after(parts, label, back)
        case paths.Alternative(parts):
            for part in parts:
                yield from _left_of(part, label, back)
        case paths.Repeat(inner, least, most):
            if most != 0:
                again = paths.Repeat(inner, max(least - 1, 0), None if most is None else most - 1)
                for left in _left_of(inner, label, back):
                    yield (*left, again)
        case paths.Inverse(inner):
            yield from _left_of_inverse(inner, label, back)


def _left_of_inverse(
    path: paths.RegularPath, label: paths.Label | None, back: bool
) -> Iterator[Rest]:
    """The same of a path that is walked from its end: inverses move down to the steps."""
    match path:
        case paths.Step() | paths.Except():
            yield from _left_of(path, label, not back)
        case paths.Inverse(inner):
            yield from _left_of(inner, label, back)
        case paths.Sequence(parts):
            yield from _after(tuple(paths.Inverse(part) for part in reversed(parts)), label, back)
        case paths.Alternative(parts):
            for part in parts:
                yield from _left_of(paths.Inverse(part), label, back)
        case paths.Repeat(inner, least, most):
            yield from _left_of(paths.Repeat(paths.Inverse(inner), least, most), label, back)


Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]


_NO_CHANGES = np.empty(0, np.int32), np.empty(0), np.empty(0)


class AnswerRows(NamedTuple):
    """Vertices that are answers (or targets, with their sources), and what each costs."""

    sources: Int32 | None
    vertices: Int32
    costs: Float64


def answer_rows(kept: StandingQueries, query: StandingQuery) -> AnswerRows:
    """The whole answer. O(vertices) without targets, O(targets log queries) with them."""
    if query.kind.pairs is None:
        numbers = kept.numbers_of(query)
        if not numbers:
            return AnswerRows(None, np.empty(0, np.int32), np.empty(0))
        vertices, states, values = kept.engine.reader.collect(numbers[0])
        ends = np.isin(states, list(query.searches[0].automaton.accepting))
        return AnswerRows(None, *_least(vertices[ends], values[ends]))
    sources, targets = pair_numbers(kept, query)
    costs = np.full(len(targets), np.inf)
    numbers = kept.numbers_of(query)
    for at, (source, target) in enumerate(zip(sources.tolist(), targets.tolist(), strict=True)):
        place = query.place(source, target)
        if place is not None:
            end = np.array([target], np.int32)
            costs[at] = kept.engine.reader.answers(numbers[place], end)[0]
    return AnswerRows(sources, targets, costs)


def pair_numbers(kept: StandingQueries, query: StandingQuery) -> tuple[Int32, Int32]:
    """The sources and targets of a query that has some, in the order in which they were given;
    -1 for a vertex that is not there.
    """
    ids = kept.known.ids
    ends = dict.fromkeys(end for pair in query.kind.pairs or () for end in pair)
    number = {end: vertex_number(ids, end) for end in ends}
    pairs = [(number[source], number[target]) for source, target in query.kind.pairs or ()]
    both = np.array(pairs, np.int32).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


def answer_table(kept: StandingQueries, query: StandingQuery) -> pa.Table:
    rows = answer_rows(kept, query)
    columns = _ids(kept, query, rows)
    if query.kind.tells_cost or rows.sources is not None:
        columns[query.kind.cost] = cost_column(query, rows.costs)
    if query.kind.tells_path:
        assert rows.sources is not None
        pairs = zip(rows.sources.tolist(), rows.vertices.tolist(), strict=True)
        walks = [path_of(kept, query, *pair) for pair in pairs]
        columns["path"] = _path_column(kept, [walk and walk.vertices for walk in walks])
    return pa.table(columns)


def cost_column(query: StandingQuery, costs: Float64) -> pa.Array:
    """Costs as users read them: hops, distances, or whether there is a walk; missing if none is."""
    there = np.isfinite(costs)
    if not query.kind.tells_cost:
        return pa.array(there)
    if query.kind.weight is not None:
        return pa.array(costs, mask=~there)
    return pa.array(np.where(there, costs, 0).astype(np.int64), mask=~there)


def change_table(kept: StandingQueries, query: StandingQuery) -> pa.Table:
    """What the last advance changed: ids, `old` and `new`, missing (or false) where no walk leads.

    O(what changed) without targets.
    """
    now = answer_changes(kept, query)
    columns = _ids(kept, query, AnswerRows(now.sources, now.vertices, now.new))
    columns["old"] = cost_column(query, now.old)
    columns["new"] = cost_column(query, now.new)
    return pa.table(columns)


def changed_tables(kept: StandingQueries) -> dict[str, pa.Table]:
    """What the last advance changed, by query; without those whose answers stayed."""
    kept.check_told()
    touched = kept.engine.reader.changed() if kept.fresh else set()
    tables = {
        name: change_table(kept, query)
        for name, query in kept.queries.items()
        if not touched.isdisjoint(kept.numbers_of(query)) or _has_come(kept, query)
    }
    return {name: table for name, table in tables.items() if table.num_rows}


class _Changed(NamedTuple):
    sources: Int32 | None
    vertices: Int32
    old: Float64
    new: Float64


def answer_changes(kept: StandingQueries, query: StandingQuery) -> _Changed:
    parts = [_changes_of(kept, query, place) for place in range(len(kept.numbers_of(query)))]
    if query.kind.pairs is None:
        return _differing(query, None, *(parts[0] if parts else _NO_CHANGES))
    sources, targets = pair_numbers(kept, query)
    rows = answer_rows(kept, query)
    old = rows.costs.copy()
    for at, (source, target) in enumerate(zip(sources.tolist(), targets.tolist(), strict=True)):
        if (place := query.place(source, target)) is None:
            continue
        vertices, before, _ = parts[place]
        found = np.searchsorted(vertices, target)
        if found < len(vertices) and vertices[found] == target:
            old[at] = before[found]
    return _differing(query, sources, targets, old, rows.costs)


def _changes_of(
    kept: StandingQueries, query: StandingQuery, place: int
) -> tuple[Int32, Float64, Float64]:
    """The vertices at which entries of a search have changed, with the old and the new answer."""
    number, automaton = kept.numbers_of(query)[place], query.searches[place].automaton
    kept.check_told()
    if not kept.fresh or query.since == kept.version:
        return _NO_CHANGES
    if query.parts[place].since == kept.version:
        return _all_new(kept, query, place)
    vertices, states, values = kept.engine.reader.before(number)
    if not len(vertices):
        return _NO_CHANGES
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


def _all_new(
    kept: StandingQueries, query: StandingQuery, place: int
) -> tuple[Int32, Float64, Float64]:
    """The changes of a search whose vertices have come with the last advance: all that it tells."""
    reader, number = kept.engine.reader, kept.numbers_of(query)[place]
    search = query.searches[place]
    if search.targets is None:
        vertices, states, values = reader.collect(number)
        ends = np.isin(states, list(search.automaton.accepting))
        vertices, costs = _least(vertices[ends], values[ends])
    else:
        vertices = np.unique(np.array(search.targets, np.int32))
        costs = reader.answers(number, vertices)
    return vertices, np.full(len(vertices), np.inf), costs


def _has_come(kept: StandingQueries, query: StandingQuery) -> bool:
    """Whether a vertex that a query waited for has come with the last advance."""
    return kept.fresh and any(query.since < part.since == kept.version for part in query.parts)


def _differing(
    query: StandingQuery, sources: Int32 | None, vertices: Int32, old: Float64, new: Float64
) -> _Changed:
    changed = old != new if query.kind.tells_cost else np.isfinite(old) != np.isfinite(new)
    of_sources = None if sources is None else sources[changed]
    return _Changed(of_sources, vertices[changed], old[changed], new[changed])


def path_of(
    kept: StandingQueries, query: StandingQuery, source: int, target: int
) -> BestWalkOrNone:
    starts = [search.start for search in query.searches]
    if source not in starts or target < 0:
        return None
    place = query.place(source, target)
    place = starts.index(source) if place is None else place
    return kept.engine.reader.path(kept.numbers_of(query)[place], target)


def verify_answer(kept: StandingQueries, query: StandingQuery) -> None:
    """Compare with the definition; AssertionError at the first difference."""
    edges = plain_edges(kept, query)
    rows = answer_rows(kept, query)
    for item in query.absent:
        if vertex_number(kept.known.ids, item) >= 0:
            raise AssertionError(f"query '{query.name}' waits for {item!r}, which is there")
    for at, search in enumerate(query.searches):
        path = query.parts[at].asked.path
        wanted = plain_answers(path, edges, search.start, search.bound)
        mine = np.ones(len(rows.vertices), np.bool_)
        if rows.sources is not None:
            mine = (rows.sources == search.start) & np.isin(rows.vertices, search.targets or ())
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


def _verify_bounds(kept: StandingQueries, number: int, wanted: dict[int, float]) -> None:
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
    """Costs as zero or infinity: whoever asks only what is reached compares no costs."""
    return {vertex: 0.0 if cost < np.inf else cost for vertex, cost in costs.items()}


def plain_edges(kept: StandingQueries, query: StandingQuery) -> Edges:
    """The edges of the current version at each of their ends, as the definition reads them."""
    resident, kind = kept.known.resident, query.kind
    live = resident.live_edges()
    labels: list[Any] = [None] * len(live)
    if kind.label is not None and any(search.label is not None for search in query.searches):
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


def _least(vertices: Int32, values: Float64) -> tuple[Int32, Float64]:
    """Each vertex once, with its least value; they come in order."""
    if not len(vertices):
        return vertices, values
    first = np.flatnonzero(np.r_[True, vertices[1:] != vertices[:-1]])
    return vertices[first], np.minimum.reduceat(values, first)


def _ids(kept: StandingQueries, query: StandingQuery, rows: AnswerRows) -> dict[str, pa.Array]:
    ids = kept.known.ids
    if rows.sources is None:
        return {"id": ids.taken(rows.vertices)}
    ends = {"source": rows.sources, "target": rows.vertices}
    if all((numbers >= 0).all() for numbers in ends.values()):
        return {end: ids.taken(numbers) for end, numbers in ends.items()}
    given = zip(*(query.kind.pairs or ()), strict=True)  # Whoever is not there has no number.
    return {end: ids.as_column(items) for end, items in zip(ends, given, strict=True)}


def _path_column(kept: StandingQueries, paths: list[list[int] | None]) -> pa.Array:
    flat = [vertex for path in paths for vertex in path or ()]
    values = kept.known.ids.taken(np.array(flat, np.int64))
    ends = np.cumsum([0, *(len(path or ()) for path in paths)])
    offsets = pa.array(ends, pa.int32())
    missing = pa.array([path is None for path in paths])
    return pa.ListArray.from_arrays(offsets, values, mask=missing)
