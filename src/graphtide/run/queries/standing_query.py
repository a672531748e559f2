"""One query as its graph keeps it: the searches that it asks for, its edge labels and edge costs.

A search names vertices by number and labels by code. Programs do not read texts of edges, so a
graph keeps them in a table for views; queries need them at hand for every edge. Each property that
a query names as label gets a column of codes by inside number, made once and then kept current; a
code stands for the same label throughout. A label that no edge has had goes with the last query
that names it. Costs of edges are never negative: edges that break that are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, LacksRoomError
from graphtide.engine.queries.searches import UNBOUNDED, Search
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.queries.records import NO_LABEL
from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.plan.expressions import ValueType
from graphtide.plan.program_reads import path_both_ways
from graphtide.plan.regular_paths import Label, automaton_of
from graphtide.run.live.conditions import Fault
from graphtide.run.live.ids import plain_id
from graphtide.run.live.named_graph import NamedGraph
from graphtide.run.live.vertex_ids import VertexIds, id_column
from graphtide.run.queries.kinds import QueryKind, SearchRequest

Columns = Mapping[str, NDArray[Any]]


class QueryConditions:
    """Of all queries of a graph; `weights` are the properties that they read as costs."""

    program = "a query"

    def __init__(self, weights: Iterable[str]) -> None:
        self.properties = dict.fromkeys(weights, ValueType.FLOAT)

    def check_columns(self, columns: Columns) -> None:
        """Refuse a graph whose edges lack a property, or have no numbers in it."""
        known = columns
        for name in self.properties:
            if name not in known:
                names = ", ".join(known) or "none"
                hint = name_hint(name, known, f"they have: {names}")
                raise InputError(f"the edges have no numbers '{name}' to be their cost", hint=hint)
            if known[name].dtype.kind not in "if":
                raise InputError(
                    f"the property '{name}' cannot be the cost of edges", hint="give numbers"
                )

    def check_rows(self, columns: Columns, text: Callable[[int], str]) -> None:
        """Refuse edges with a cost that is negative or missing; `text` tells a row."""
        for fault in self.faults(columns):
            raise fault.error(text)

    def faults(self, columns: Columns) -> Iterator[Fault]:
        """What is wrong with edges of which some have such a cost."""
        for name in self.properties:
            bad = ~(columns[name] >= 0)
            if bad.any():
                yield Fault(
                    bad,
                    f"a query takes the edge property '{name}' for a cost, and it is negative or "
                    "missing",
                    "give every edge a number from 0 on, or leave these edges out",
                )

    def refuses_bare(self) -> str | None:
        """Vertices can be any."""
        return None

    def check_vertices(self, known: NamedGraph, first: int = 0) -> None:
        """Vertices can be any."""

    def reads_vertices(self, names: Iterable[str]) -> bool:
        """Queries read no properties of vertices."""
        return False


Int32 = NDArray[np.int32]
_AT_ONCE = 1 << 16
"""This many labels are made values of Python at a time."""

_FEW = 64
"""Up to this many labels, looking them up one by one is faster than as a column."""

_IN_DICT = 150
"""What a label takes besides its own bytes: its code, and its place in a dict that has doubled."""


@dataclass
class _Named:
    """What a label takes in memory, and how many searches name it."""

    nbytes: int
    searches: int = 0


class EdgeLabels:
    """Codes of labels by property; `kept` is the table that views read, as it is now."""

    def __init__(self, graph: ResidentGraph, kept: Callable[[], pa.Table]) -> None:
        self._graph = graph
        self._budget = Budget()
        self._kept = kept
        self._codes: dict[str, dict[Label, int]] = {}
        self._only_named: dict[tuple[str, Label], _Named] = {}
        """Labels that searches name and no edge has had yet."""
        self._given_back = 0
        """How many codes have gone: no other label gets one of these."""
        self._columns: dict[str, Int32] = {}
        self._in_dicts = 0

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns.values()) + self._in_dicts

    def take_from(self, budget: Budget) -> None:
        """Charge all columns to another budget from now on."""
        budget.take(self.nbytes)
        self._budget = budget

    def name(self, name: str, labels: Sequence[Label]) -> tuple[int, ...]:
        """The codes of labels of a property for a search, on edges or not, until `forget`."""
        known = self._codes.setdefault(name, {})
        fresh = [label for label in labels if label not in known]
        self._take(fresh)
        for label in fresh:
            known[label] = len(known) + self._given_back + 1
            self._only_named[name, label] = _Named(_size(label))
        for label in labels:
            if (name, label) in self._only_named:
                self._only_named[name, label].searches += 1
        return tuple(known[label] for label in labels)

    def forget(self, name: str, labels: Sequence[Label]) -> None:
        """Forget labels that a search named, unless others name them or an edge had them."""
        for label in labels:
            named = self._only_named.get((name, label))
            if named is not None:
                named.searches -= 1
                if not named.searches:
                    del self._only_named[name, label], self._codes[name][label]
                    self._given_back += 1
                    self._in_dicts -= named.nbytes
                    self._budget.give(named.nbytes)

    def column(self, name: str) -> Int32:
        """The codes of all edges, with the room that the graph has for edges."""
        room = len(self._graph.adjacency.out.slot)
        known = self._columns.get(name)
        if known is None:
            known = self._read(name, self._budget.array(room, np.int32, 0))
        elif len(known) < room:
            larger = self._budget.array(room, np.int32, 0)
            larger[: len(known)] = known
            self._budget.give(known.nbytes)
            known = larger
        self._columns[name] = known
        return known

    def _read(self, name: str, column: Int32) -> Int32:
        """Fill in a column; it is given back where the budget does not allow for its labels."""
        try:
            for first in range(0, self._graph.edges, _AT_ONCE):
                edges = np.arange(first, min(first + _AT_ONCE, self._graph.edges))
                column[edges] = self._coded(name, edges)
        except BaseException:
            self._budget.give(column.nbytes)
            raise
        return column

    def refresh(self, edges: Int32) -> None:
        """Read the labels of edges that have come; their numbers may have been others' before."""
        for name in self._columns:
            self.column(name)[edges] = self._coded(name, edges)

    def check(self, name: str, labels: Sequence[Label]) -> None:
        """Refuse a property that edges do not have, that holds no labels, or never any of these."""
        kept = self._kept()
        known = list(dict.fromkeys([*self._graph.dtypes, *kept.column_names]))
        if name not in known:
            names = ", ".join(known) or "none"
            hint = name_hint(name, known, f"they have: {names}")
            raise InputError(f"the edges have no property '{name}' to be their label", hint=hint)
        kind = kept.schema.field(name).type if name in kept.column_names else None
        whole = self._graph.dtypes[name].kind == "i" if kind is None else pa.types.is_integer(kind)
        if not whole and not (kind is not None and _is_text(kind)):
            raise InputError(
                f"the property '{name}' cannot be the label of edges",
                hint="a label is a text or a whole number",
            )
        _check_kind(name, labels, int if whole else str)

    def values(self, name: str, edges: NDArray[Any]) -> list[Label | None]:
        """The labels of edges, as they were given."""
        kept = self._kept()
        if name not in kept.column_names:
            plain: list[Label | None] = self._graph.properties[name][edges].tolist()
            return plain
        rows = self._graph.outside(edges)
        if len(rows) <= _FEW:
            column = kept.column(name)
            return [column[row].as_py() for row in rows.tolist()]
        taken: list[Label | None] = kept.column(name).take(pa.array(rows)).to_pylist()
        return taken

    def _coded(self, name: str, edges: NDArray[Any]) -> list[int]:
        """The codes of edges; new labels get one where the budget allows for them."""
        known, labels = self._codes.setdefault(name, {}), self.values(name, edges)
        before, first = len(known), self._given_back + 1
        codes = [
            NO_LABEL if label is None else known.setdefault(label, first + len(known))
            for label in labels
        ]
        fresh = list(islice(reversed(known), len(known) - before))
        try:
            self._take(fresh)
        except LacksRoomError:
            for label in fresh:
                del known[label]
            raise
        if self._only_named:
            for had in set(labels):
                self._only_named.pop((name, had), None)  # type: ignore[arg-type]
        return codes

    def _take(self, labels: Sequence[Label]) -> None:
        nbytes = sum(map(_size, labels))
        self._budget.take(nbytes)
        self._in_dicts += nbytes


def _size(label: Label) -> int:
    """The bytes of a label and its code."""
    return sys.getsizeof(label) + _IN_DICT


def _check_kind(name: str, labels: Sequence[Label], held: type) -> None:
    """Refuse a label that no value of a property can be: a text among numbers, or the reverse."""
    other = next((label for label in labels if not isinstance(label, held)), None)
    if other is None:
        return
    if held is int:
        hint = "write the number without quotes, such as 7, or name another property: label="
        raise InputError(
            f"the labels '{name}' are whole numbers, and {other!r} is a text", hint=hint
        )
    hint = f"write it in quotes: '{other}', or name another property: label="
    raise InputError(f"the labels '{name}' are texts, and {other!r} is a number", hint=hint)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


@dataclass
class QueryPart:
    """One search of a query: what it asks, with the numbers of its targets, None for any.

    `since` is the version at which its vertices were there.
    """

    asked: SearchRequest
    search: Search
    since: int

    @property
    def named(self) -> list[int]:
        return [self.search.start, *(self.search.targets or ())]


@dataclass
class StandingQuery:
    """A query with its parts, whose searches have numbers in the engine.

    `since` is the version it came at. Vertices that it names and that are not there are `absent`:
    what depends on one has no part, so no answer, until the vertex comes.
    """

    name: str
    kind: QueryKind
    since: int
    parts: list[QueryPart] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    absent: tuple[Any, ...] = ()
    directed: bool = True

    @property
    def asked(self) -> tuple[SearchRequest, ...]:
        """What it asks for; on an undirected graph, edges are taken whichever way."""
        if self.directed:
            return self.kind.asked
        return tuple(item._replace(path=path_both_ways(item.path)) for item in self.kind.asked)

    @property
    def searches(self) -> list[Search]:
        return [part.search for part in self.parts]

    @property
    def named(self) -> list[int]:
        return [number for part in self.parts for number in part.named]

    def place(self, source: int, target: int) -> int | None:
        """The part that tells of walks from one vertex to another; None without one."""
        for at, part in enumerate(self.parts):
            targets = part.search.targets
            if part.search.start == source and (targets is None or target in targets):
                return at
        return None

    def find(self, ids: VertexIds, labels: EdgeLabels) -> None:
        """Find what it names; InputError where that can never be there."""
        self.parts = []
        for asked in self.asked:
            for item in (asked.start, *(asked.targets or ())):
                check_can_come(ids, item)
            _check_labels(self.kind, asked, labels)
        self.parts = self.parts_of(ids, labels, self.since)
        self.note_absent(ids, len(ids))

    def parts_of(self, ids: VertexIds, labels: EdgeLabels, since: int) -> list[QueryPart]:
        """The parts whose vertices are there by now and that it has not yet."""
        found = []
        for asked in self.asked:
            start, targets = vertex_number(ids, asked.start), None
            if asked.targets is not None:
                numbers = (vertex_number(ids, target) for target in asked.targets)
                targets = tuple(n for n in numbers if n >= 0 and self.place(start, n) is None)
            is_new = self.place(start, start) is None if targets is None else len(targets) > 0
            if start >= 0 and is_new:
                found.append(QueryPart(asked, self._search(asked, start, targets, labels), since))
        return found

    def note_absent(self, ids: VertexIds, vertices: int) -> None:
        """Note which of its vertices are not among the first so many."""
        every = (item for asked in self.asked for item in (asked.start, *(asked.targets or ())))
        there = range(vertices)
        named = dict.fromkeys(every)
        self.absent = tuple(item for item in named if vertex_number(ids, item) not in there)

    def _search(
        self, asked: SearchRequest, start: int, targets: tuple[int, ...] | None, labels: EdgeLabels
    ) -> Search:
        kind = self.kind
        return Search(
            start,
            automaton_of(asked.path),
            *_labels(kind, asked, labels),
            kind.weight,
            UNBOUNDED if kind.bound is None else min(float(kind.bound), UNBOUNDED),
            targets,
            kind.tells_cost,
        )

    def cut(self, version: int, labels: EdgeLabels) -> list[int]:
        """Remove the parts that came behind a version; returns the numbers of their searches."""
        stays = [part.since <= version for part in self.parts]
        if all(stays):
            return []
        gone = [n for n, stay in zip(self.numbers, stays, strict=False) if not stay]
        self.forget(
            [part for part, stay in zip(self.parts, stays, strict=True) if not stay], labels
        )
        self.numbers = [n for n, stay in zip(self.numbers, stays, strict=False) if stay]
        self.parts = [part for part, stay in zip(self.parts, stays, strict=True) if stay]
        return gone

    def forget(self, parts: list[QueryPart], labels: EdgeLabels) -> None:
        """Forget the labels that some parts name."""
        for part in parts:
            if self.kind.label is not None:
                named = automaton_of(part.asked.path).letters.labels
                labels.forget(self.kind.label, named)


def vertex_number(ids: VertexIds, item: Any) -> int:
    """The number of a vertex by its id; -1 where it is not there."""
    return int(ids.numbers(id_column([item], "the vertex"))[0])


def check_can_come(ids: VertexIds, item: Any) -> None:
    """Refuse what no vertex of the graph can ever be called."""
    if vertex_number(ids, item) < 0:
        column = id_column([item], "the vertex")
        ids.check_new([plain_id(column[0])])


def _labels(
    kind: QueryKind, asked: SearchRequest, labels: EdgeLabels
) -> tuple[tuple[int, ...], str | None]:
    """The codes of the labels that a path names, and the property that has them."""
    named = automaton_of(asked.path).letters.labels
    if not named or kind.label is None:
        return (), None
    return labels.name(kind.label, named), kind.label


def _check_labels(kind: QueryKind, asked: SearchRequest, labels: EdgeLabels) -> None:
    """Refuse labels that edges can never have."""
    named = automaton_of(asked.path).letters.labels
    if named and kind.label is not None:
        labels.check(kind.label, named)


def check_costs(known: NamedGraph, name: str) -> None:
    """Refuse a property that cannot be what edges cost, by the edges that there are."""
    resident, conditions = known.resident, QueryConditions((name,))
    conditions.check_columns(resident.properties)
    known.check_edges(conditions, resident.live_edges())
