"""Rules on a graph in memory: its facts, the dataflow over them, and rows that follow the graph.

The graph's edges and vertices are records with their properties; texts are stored as codes, and
looked up in the graph's own data when a code is first met. An edge or vertex that lacks a text that
the rules read has no fact. As any dataflow, rules only go forward: to roll back is to be fed the
inverse with what comes next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.machine import DEFAULT_MEMORY
from graphtide.engine.graph_data import NO_TEXT
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.walks.matches import MatchRows, RowChange, WalkChanges, row_change
from graphtide.kernels.graph.flips import Delta
from graphtide.lang.datalog.program import EDGE, VERTEX, BoundRules, RuleProgram, vertex_wanted
from graphtide.plan.expressions import ValueType
from graphtide.plan.rule_demand import demanded
from graphtide.plan.rules import Relation
from graphtide.plan.walks import Matches
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.flow import Dataflow
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.dataflow.maintainer import DTYPES, ForwardMaintainer, GraphFlow
from graphtide.run.rules.bodies import UNIT, flow_columns
from graphtide.run.rules.build import RuleBuilder, explain_rules

Columns = dict[str, NDArray[Any]]
Int32 = NDArray[np.int32]


class GraphFactReader:
    """The facts of one graph, as columns by the names of a program's relations."""

    def __init__(self, graph: ResidentGraph, program: RuleProgram) -> None:
        self._graph = graph
        self._program = program
        self._texts: dict[str, dict[int, str]] = {}
        names = {item.name: item.names for item in program.plan.relations}
        self._edge, self._vertex = names.get(EDGE), names.get(VERTEX)

    def edges(self, edges: Int32) -> Columns | None:
        """Edges by their inside numbers; None where the rules do not read them."""
        if self._edge is None:
            return None
        graph = self._graph
        src, dst = graph.ends(edges)
        if not graph.directed:  # Both ways, a loop once.
            back = src != dst
            src, dst = np.concatenate([src, dst[back]]), np.concatenate([dst, src[back]])
            edges = np.concatenate([edges, edges[back]])
        columns: list[NDArray[Any]] = [src, dst]
        there = np.ones(len(edges), np.bool_)
        for name, kind in self._program.edge_properties:
            if kind is ValueType.TEXT:
                codes = graph.coded(name, kind)[edges]
                there &= codes != NO_TEXT
                columns.append(self._edge_texts(name, codes))
            else:
                columns.append(graph.column(name, DTYPES[kind.value])[edges])
        return _columns(self._edge, columns, there)

    def vertices(self) -> Columns | None:
        """All vertices; None where the rules do not read them."""
        if self._vertex is None:
            return None
        count = self._graph.vertices
        columns: list[NDArray[Any]] = [np.arange(count)]
        there = np.ones(count, np.bool_)
        for wanted in vertex_wanted(self._program.vertex_properties):
            if wanted.type is ValueType.TEXT:
                texts = self._graph.vertex_data.plain(wanted)[:count]
                there &= np.array([item is not None for item in texts], np.bool_)
                columns.append(texts)
            else:
                columns.append(self._graph.vertex_data.array(wanted)[:count])
        return _columns(self._vertex, columns, there)

    def _edge_texts(self, name: str, codes: NDArray[np.int64]) -> NDArray[Any]:
        known = self._texts.setdefault(name, {NO_TEXT: ""})
        if not known.keys() >= set(codes.tolist()):
            graph = self._graph
            texts = graph.by_inside(graph.edge_data.plain(name, ValueType.TEXT, 0, graph.edges))
            all_codes = graph.coded(name, ValueType.TEXT)[: graph.edges]
            pairs = zip(all_codes.tolist(), texts.tolist(), strict=True)
            known.update({code: text for code, text in pairs if text is not None})
        return np.array([*(known[code] for code in codes.tolist()), None], np.object_)[:-1]


def _columns(
    names: tuple[str, ...], found: list[NDArray[Any]], there: NDArray[np.bool_]
) -> Columns:
    return {name: column[there] for name, column in zip(names, found, strict=True)}


RowCounts = Counter[tuple[Any, ...]]


class GraphRules(GraphFlow):
    """The dataflow of rules over a graph; `parameters` have vertices by number."""

    def __init__(
        self,
        bound: BoundRules,
        parameters: Sequence[Any],
        *,
        memory: int = DEFAULT_MEMORY,
    ) -> None:
        plan = bound.program.plan
        super().__init__(Dataflow(bound.program.name, memory=memory))
        self._inputs: dict[str, InputCollection] = {}
        given: dict[str, Collection] = {}
        for relation in plan.relations:
            if relation.name in (EDGE, VERTEX):
                # Parallel edges are one fact.
                source = self._input(relation)
                given[relation.name] = source.distinct() if relation.name == EDGE else source
        for item, vertices in zip(bound.program.parameters, parameters, strict=True):
            relation = plan.relation(item.name)
            given[item.name] = self._input(relation)
            self._put(item.name, {relation.names[0]: np.unique(np.array(vertices, np.int64))}, 1)
        for name, facts in plan.facts:
            given[name] = self._input(plan.relation(name))
            self._inputs[name].insert([fact or (0,) for fact in facts])
        unit = self.flow.input("unit", **{UNIT: int})
        unit.insert([(0,)])
        rewritten = demanded(plan, plan.wanted, (), asked=False)
        self.built = RuleBuilder(self.flow, rewritten, given, unit, {}).build(plan.wanted)
        self._outputs = {name: self.built.collection(name).output(name) for name in plan.wanted}

    def feed(self, relation: str, facts: Columns | None, diff: int) -> None:
        """Let facts of the graph come (1) or go (-1) with the next advance."""
        if facts is not None and len(next(iter(facts.values()))):
            self._put(relation, facts, diff)

    def advance(self) -> dict[str, RowCounts]:
        """Go to the version that was fed; the rows that came (above 0) and left (below 0)."""
        self.flow.advance()
        counts: dict[str, RowCounts] = {}
        for name, output in self._outputs.items():
            changed: RowCounts = Counter()
            for row, _, diff in output.changes():
                changed[row] += diff
            counts[name] = changed
        return counts

    def define(self) -> dict[str, RowCounts]:
        """The rows that the definition of the dataflow gives for what was fed; it never runs."""
        meaning = self.flow.meaning()
        return {name: Counter(meaning.value(out.number)) for name, out in self._outputs.items()}

    def explain(self) -> str:
        """Strata, rules and orders."""
        given = self._inputs
        return explain_rules(self.flow, self.built, lambda name: "given" if name in given else None)

    def _input(self, relation: Relation) -> InputCollection:
        collection = self.flow.input(relation.name, **flow_columns(relation))
        self._inputs[relation.name] = collection
        return collection

    def _put(self, relation: str, facts: Columns, diff: int) -> None:
        self._inputs[relation]._change(facts, diff, None)


Fed = tuple[str, Columns | None, int]


class _AppliedFacts(NamedTuple):
    """What it takes to go back: what was fed, and the rows that came and left."""

    fed: list[Fed]
    rows: dict[str, RowCounts]


class RuleMaintainer(ForwardMaintainer):
    """Rules on a graph, with their state; `parameters` have vertices by number."""

    def __init__(
        self,
        graph: ResidentGraph,
        bound: BoundRules,
        parameters: Sequence[Any],
        plans: Sequence[Matches],
    ) -> None:
        super().__init__(graph, ())
        self._bound = bound
        self._parameters = tuple(parameters)
        self._facts = GraphFactReader(graph, bound.program)
        self._rules: GraphRules | None = None
        self._vertices: Columns | None = None
        self._owed: list[Fed] = []
        self._ahead: dict[str, RowCounts] = {}
        self._plans = tuple(plans)
        self.matches: dict[str, MatchRows] = {item.name: MatchRows(item, None) for item in plans}

    def values(self, field: str | None = None) -> Any:
        """The rows of a relation."""
        return Counter(self.matches[field or self._plans[0].name].kept)

    def start(self) -> None:
        """Run from scratch on the version that the graph is at; forgets what could be undone."""
        self._drop()
        self.forget()
        self.matches = {item.name: MatchRows(item, None) for item in self._plans}
        self._take(self._begun())

    def begin_again(self) -> Any:
        """Start on a version whose vertices have other values; says what that changed."""
        before = {name: Counter(rows.kept) for name, rows in self.matches.items()}
        self.start()
        return self._changes(
            {name: _less(rows.kept, before[name]) for name, rows in self.matches.items()}
        )

    def scratch(self) -> Mapping[str, Any]:
        """The rows of the graph's present version, apart from the state."""
        rules = self._fed_rules()
        rows = rules.advance()
        rules.close()
        return rows

    def plainly(self) -> Mapping[str, Any]:
        """The same to verify by: every operator in plain Python."""
        rules = self._fed_rules()
        rows = rules.define()
        rules.close()
        return rows

    def _fed_rules(self) -> GraphRules:
        """New rules that have been fed the graph's present version."""
        rules = GraphRules(self._bound, self._parameters)
        rules.feed(EDGE, self._facts.edges(self.graph.live_edges()), 1)
        rules.feed(VERTEX, self._facts.vertices(), 1)
        return rules

    def follow(self, delta: Delta) -> Any:
        """Follow a graph that has been flipped, and may have got vertices; says what changed."""
        came = self._facts.edges(delta.inserted)
        fed: list[Fed] = [(EDGE, came, 1), (EDGE, self._facts.edges(delta.deleted), -1)]
        before, now = self._vertices, self._facts.vertices()
        if now is not None and before is not None:
            fed += [(VERTEX, _behind(now, before), 1), (VERTEX, _behind(before, now), -1)]
        moved = self._brought_along(fed, now)
        self._take(moved)
        self._done.append(_AppliedFacts(fed, moved))
        return self._changes(moved)

    def _put_back(self, done: _AppliedFacts) -> None:
        """The dataflow is fed the inverse with what comes next."""
        if self._rules is not None:
            self._owed += [(name, facts, -diff) for name, facts, diff in done.fed]
            for name, rows in done.rows.items():
                self._ahead.setdefault(name, Counter()).update(rows)
        for name, facts, diff in done.fed:
            if name == VERTEX and facts is not None and self._vertices is not None:
                count = len(next(iter(self._vertices.values()))) - diff * len(
                    next(iter(facts.values()))
                )
                self._vertices = {key: item[:count] for key, item in self._vertices.items()}
        self._take({name: _negated(rows) for name, rows in done.rows.items()})

    def verify(self) -> None:
        """Compare with a run from scratch; AssertionError at the first difference."""
        for name, rows in self.scratch().items():
            if rows != self.values(name):
                raise AssertionError(f"{name} has other rows than a run from scratch")

    def _present(self) -> GraphRules:
        if self._rules is None:
            self._begun()
        assert self._rules is not None
        return self._rules

    def _brought_along(self, fed: list[Fed], vertices: Columns | None) -> dict[str, RowCounts]:
        """Feed what is owed and what is new, in one batch; by which rows the results move."""
        try:
            if self._rules is None:
                moved = self._begun()
                return {name: _less(moved[name], self.matches[name].kept) for name in moved}
            for name, facts, diff in (*self._owed, *fed):
                self._rules.feed(name, facts, diff)
            moved = self._rules.advance()
        except BaseException:
            self._drop()
            raise
        for name, rows in self._ahead.items():
            moved[name] = _sum(moved[name], rows)
        self.touched = self._rules.touched()
        self._owed.clear()
        self._ahead.clear()
        self._vertices = vertices
        return moved

    def _begun(self) -> dict[str, RowCounts]:
        """Let there be a dataflow at the version that the graph is at; its rows."""
        self._drop()
        rules = self._fed_rules()
        self._vertices = self._facts.vertices()
        try:
            rows = rules.advance()
        except BaseException:
            rules.close()
            raise
        self._rules = rules
        self.touched = rules.touched()
        return rows

    def _take(self, moved: Mapping[str, RowCounts]) -> None:
        for name, rows in moved.items():
            self.matches[name].take(rows.items())

    def _changes(self, moved: Mapping[str, RowCounts]) -> WalkChanges:
        changes: dict[str, RowChange] = {
            name: row_change((row, count) for row, count in rows.items() if count)
            for name, rows in moved.items()
        }
        fields: Any = changes
        return WalkChanges(fields, {}, {name: item for name, item in changes.items() if len(item)})

    def _drop(self) -> None:
        if self._rules is not None:
            self._rules.close()
        self._rules = None
        self._owed.clear()
        self._ahead.clear()


def _behind(one: Columns, other: Columns) -> Columns:
    """The vertices of one that are behind the last of the other."""
    first, second = (len(next(iter(item.values()))) for item in (one, other))
    return {name: column[min(first, second) :] for name, column in one.items()}


def _sum(one: RowCounts, other: RowCounts) -> RowCounts:
    total = Counter(one)
    total.update(other)
    return Counter({row: count for row, count in total.items() if count})


def _less(one: RowCounts, other: RowCounts) -> RowCounts:
    return _sum(one, _negated(other))


def _negated(rows: RowCounts) -> RowCounts:
    return Counter({row: -count for row, count in rows.items()})
