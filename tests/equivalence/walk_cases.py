"""Walk programs by hand, and histories of multigraphs that they are followed along.

A history has a few vertices and many edges: loops, parallel edges and both directions of a pair are
common. A batch deletes about as much as it inserts, and often the last or the first edge of a pair;
some come back later.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from typing import Any

import numpy as np

from graphtide.engine.inputs import FIELD_TYPES
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.walks.maintainer import WalkMaintainer
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from tests.oracle.walks import Outcome, run
from tests.property.walk_plans import ACCUMULATORS

PROPERTIES = (("weight", np.float64), ("kind", np.int64), ("open", np.bool_))
GIVEN = {"here": 1, "among": (0, 2), "pi": 2, "pf": 0.5}
ONE = x.Const(1, x.INT)
SUM, COUNT = p.AccumulatorKind.SUM, p.AccumulatorKind.COUNT
BOTH, OUT, IN = p.Direction.BOTH, p.Direction.OUT, p.Direction.IN


def less(one: str, other: str) -> x.Expression:
    return x.Compare("<", x.VertexFact(one, "id"), x.VertexFact(other, "id"))


def triangles(kind: p.AccumulatorKind = COUNT) -> w.WalkProgram:
    """Every triangle once, at its three vertices and for the whole graph."""
    sends = (*(w.SendAt(name, "found", ONE) for name in "uvw"), w.SendGlobal("total", ONE))
    closing = x.Boolean("and", (less("v", "w"), x.Joined("u", "w", "both")))
    inner = w.Step("v", BOTH, "w", None, (w.When(closing, sends),))
    return w.WalkProgram(
        name="Triangles",
        parameters=(),
        state=(p.StateField("triangles", x.INT, 0),),
        accumulators=(p.Accumulator("found", kind, x.INT),),
        globals=(p.Accumulator("total", kind, x.INT),),
        matches=(),
        initialize=(),
        root="u",
        traverse=(w.Step("u", BOTH, "v", None, (w.When(less("u", "v"), (inner,)),)),),
        update=(p.AssignState("triangles", x.AccumulatorRef("found", x.INT)),),
    )


def closed_walks(way: str = "both") -> w.WalkProgram:
    """Closed walks of three steps, whose vertices may be the same: out, any way, and closing."""
    closing = w.When(x.Joined("u", "w", way), (w.SendAt("w", "found", ONE),))
    inner = w.Step("v", BOTH, "w", None, (closing,))
    traverse = (w.Step("u", OUT, "v", None, (inner,)),)
    return replace(triangles(), name="Closed", globals=(), traverse=traverse)


def infinite_product() -> w.WalkProgram:
    """A product of the whole graph, of factors among which are 0 and infinity."""
    factor = x.Binary("+", x.Const(-2.0, x.FLOAT), x.EdgeProperty("weight", x.FLOAT, "e"))
    return w.WalkProgram(
        name="InfiniteProduct",
        parameters=(),
        state=(),
        accumulators=(),
        globals=(p.Accumulator("product", p.AccumulatorKind.PRODUCT, x.FLOAT),),
        matches=(),
        initialize=(),
        root="u",
        traverse=(w.Step("u", OUT, "v", "e", (w.SendGlobal("product", factor),)),),
        update=(),
    )


def rings(length: int) -> w.WalkProgram:
    """Cycles over edges of increasing kind, each as a row of its vertices."""
    names = ["u", *(f"v{at}" for at in range(1, length))]
    columns = tuple((name, "vertex") for name in names)
    row = w.Report("rings", tuple(x.VertexFact(name, "id") for name in names))
    body: tuple[w.WalkStatement, ...] = (row,)
    for at in reversed(range(length)):
        vertex = "end" if at == length - 1 else names[at + 1]
        conditions: list[x.Expression] = []
        if at == length - 1:
            ids = x.VertexFact("end", "id"), x.VertexFact("u", "id")
            conditions.append(x.Compare("==", *ids))
        if at:
            before, now = (x.EdgeProperty("kind", x.INT, f"e{number}") for number in (at - 1, at))
            conditions.append(x.Compare("<", before, now))
        if conditions:
            whole = conditions[0]
            if len(conditions) > 1:
                whole = x.Boolean("and", tuple(conditions))
            body = (w.When(whole, body),)
        body = (w.Step(names[at], OUT, vertex, f"e{at}", body),)
    return w.WalkProgram(
        name="Rings",
        parameters=(),
        state=(),
        accumulators=(),
        globals=(p.Accumulator("count", COUNT, x.INT),),
        matches=(w.Matches("rings", columns),),
        initialize=(),
        root="u",
        traverse=body,
        update=(),
    )


def every_kind() -> w.WalkProgram:
    """Accumulators of every kind, at the end of two steps over edges and for the whole graph."""
    values: dict[x.ValueType, x.Expression] = {
        x.INT: x.EdgeProperty("kind", x.INT, "f"),
        x.FLOAT: x.Binary(
            "*", x.EdgeProperty("weight", x.FLOAT, "e"), x.EdgeProperty("weight", x.FLOAT, "f")
        ),
        x.BOOL: x.EdgeProperty("open", x.BOOL, "e"),
    }
    sends: list[w.WalkStatement] = []
    fields, assigned, held = [], [], []
    for item in ACCUMULATORS:
        value = ONE if item.kind is COUNT else values[item.type]
        index = None if item.size is None else x.Const(1, x.INT)
        sends += [w.SendAt("w", item.name, value, index)]
        sends += [w.SendGlobal("whole_" + item.name, value, index)]
        fields.append(p.StateField("s_" + item.name, item.type, item.identity))
        held.append(replace(item, name="whole_" + item.name))
        read = x.AccumulatorRef(item.name, item.type, index)
        assigned.append(p.AssignState("s_" + item.name, read))
    inner = w.Step("v", BOTH, "w", "f", tuple(sends))
    return w.WalkProgram(
        name="EveryKind",
        parameters=(),
        state=tuple(fields),
        accumulators=ACCUMULATORS,
        globals=tuple(held),
        matches=(),
        initialize=(),
        root="u",
        traverse=(w.Step("u", IN, "v", "e", (inner,)),),
        update=tuple(assigned),
    )


class History:
    """A graph with a maintainer on it, and the live edges as a list beside it.

    A simple graph has no parallel edges, few loops, and a vertex 0 that is beside most others.
    """

    def __init__(
        self, program: w.WalkProgram, vertices: int, edges: int, seed: int, *, simple: bool = False
    ) -> None:
        self.random, self.program = random.Random(seed), program
        self.rows = [self._row(vertices) for _ in range(edges)]
        if simple:
            ends = simple_pairs(self.random, vertices, edges)
            rows = zip(ends, self.rows, strict=True)
            self.rows = [(*pair, values) for pair, (_, _, values) in rows]
        src, dst = (np.array([row[at] for row in self.rows], np.int32) for at in (0, 1))
        columns = {
            name: np.array([row[2][name] for row in self.rows], dtype) for name, dtype in PROPERTIES
        }
        self.graph = ResidentGraph(vertices, src, dst, columns, live=False, grows=True)
        self.given_vertices = [self._vertex() for _ in range(vertices)]
        self.graph.vertex_data = _Values(self.given_vertices)
        self.live: set[int] = set()
        values = {item.name: item.default for item in program.parameters} | GIVEN
        self.given = {item.name: values[item.name] for item in program.parameters}
        self.flip(self.random.sample(range(edges), edges // 2), [])
        self.maintainer = WalkMaintainer(self.graph, program, tuple(self.given.values()))

    def _row(self, vertices: int) -> tuple[int, int, dict[str, Any]]:
        pick = self.random
        ends = pick.randrange(vertices), pick.randrange(vertices)
        weights = (-1.5, 0.0, 0.5, 2.0, 0.1) + ((math.inf,) if pick.random() < 0.1 else ())
        values = pick.choice(weights), pick.randrange(-1, 4), pick.random() < 0.5
        return *ends, dict(zip(("weight", "kind", "open"), values, strict=True))

    def _vertex(self) -> dict[str, Any]:
        pick = self.random
        values = pick.randrange(-1, 4), pick.choice((-1.0, 0.5, 2.0)), pick.random() < 0.5
        city = pick.choice(("oslo", "bergen", None))
        return dict(zip(("age", "size", "shut", "city"), (*values, city), strict=True))

    def flip(self, inserted: list[int], deleted: list[int]) -> Any:
        numbers = self.graph.numbers
        self.live.update(inserted)
        self.live.difference_update(deleted)
        return self.graph.flip(
            numbers[np.array(inserted, np.int64)], numbers[np.array(deleted, np.int64)]
        )

    def batch(self) -> tuple[list[int], list[int]]:
        dead = sorted(set(range(len(self.rows))) - self.live)
        sizes = self.random.choice(((1, 0), (0, 1), (2, 2), (1, 3), (4, 1), (0, 4), (5, 5)))
        come = self.random.sample(dead, min(sizes[0], len(dead)))
        gone = self.random.sample(sorted(self.live), min(sizes[1], len(self.live)))
        return come, gone

    def expected(self) -> Outcome:
        edges = [self.rows[at] for at in sorted(self.live)]
        given = self.given_vertices
        return run(self.program, self.given, self.graph.vertices, edges, given=given)

    def check(self) -> None:
        compare(self.expected(), self.maintainer)


def simple_pairs(pick: random.Random, vertices: int, edges: int) -> list[tuple[int, int]]:
    """Different pairs, either way round: those of vertex 0, three loops, and others."""
    others = list(itertools.combinations(range(1, vertices), 2))
    pairs = [(0, other) for other in range(1, vertices)] + [(at, at) for at in range(1, 4)]
    pairs += pick.sample(others, edges - len(pairs))
    return [pair if pick.random() < 0.5 else pair[::-1] for pair in pairs]


class _Values:
    """The properties of vertices as the engine is given them, from a list of dicts."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows
        self._codes: dict[str, int] = {}

    def array(self, wanted: x.VertexProperty) -> Any:
        values = [row[wanted.name] for row in self._rows]
        if wanted.type is x.TEXT:
            return np.array([-1 if item is None else self.code(item) for item in values], np.int64)
        return np.array(values, FIELD_TYPES[wanted.type])

    def code(self, text: str) -> int:
        return self._codes.setdefault(text, len(self._codes))

    def plain(self, wanted: x.VertexProperty) -> Any:
        if wanted.type is x.TEXT:
            return np.array([row[wanted.name] for row in self._rows], object)
        return self.array(wanted)


def compare(expected: Outcome, found: WalkMaintainer) -> None:
    """All results of a maintainer are those of the oracle."""
    for name, column in expected.state.items():
        assert agree(column, found.values(name).tolist()), (
            name,
            column,
            found.values(name).tolist(),
        )
    for name, value in expected.globals.items():
        held = found.globals[name]
        held = held.tolist() if isinstance(held, np.ndarray) else held
        assert agree(value, held), (name, value, held)
    for name, rows in expected.matches.items():
        assert found.matches[name].rows() == rows, name
        assert found.matches[name].total == len(rows)


def agree(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return all(agree(*pair) for pair in zip(one, other, strict=True))
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return one == other or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
