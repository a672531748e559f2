"""A vertex program from scratch on a graph that several tasks hold: superstep by superstep.

A superstep is a round of the program on the own vertices of each task, and one message from each
task to each other with the states that changed. All tasks add up how many vertices moved, so that
they all know when the run ends; it ends when a run on the whole graph would.

Results are those of a run on the whole graph, sums of floats but for their order: it is that of the
shards, which no number of tasks changes.

A program that selects, and whose messages never overtake their source, may go on from the results
of a view that the next one contains. These are no better than the next ones, and more edges only
make messages better: both runs sink to the same results, bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import FIELD_TYPES, GrowingParameters, read_block
from graphtide.engine.code import program_code
from graphtide.engine.shards.exchange import MirrorExchange
from graphtide.engine.shards.forms import Form, Inputs, chosen_form
from graphtide.engine.shards.local_graph import WAYS, LocalGraph, Version, Way
from graphtide.engine.synchronous.ending import MOST_ITERATIONS, Ending, run_ending
from graphtide.engine.synchronous.results import Columns, typed_parameters
from graphtide.engine.synchronous.row_layout import row_layout
from graphtide.engine.vertex_data import VertexData
from graphtide.kernels.blocks import Block
from graphtide.model.errors import InputError, LimitError
from graphtide.plan.expressions import ValueType, VertexProperty
from graphtide.plan.given_facts import FACTS, with_given_facts
from graphtide.plan.program_reads import edge_properties, vertex_properties
from graphtide.plan.programs import Direction, ParameterKind, VertexProgram

Int64 = NDArray[np.int64]

GATHERED_ALONG: dict[Direction, tuple[Way, ...]] = {
    Direction.OUT: ("into",),
    Direction.IN: ("out",),
    Direction.BOTH: WAYS,
}
"""The edges that vertices gather along, by the direction of messages."""

DEGREES: dict[str, tuple[Way, ...]] = {
    "in_degree": ("into",),
    "out_degree": ("out",),
    "degree": WAYS,
}
"""The edges that each degree counts."""

MOVES, LENGTH, INDEX, KEEP, KEPT = range(5)
"""What tasks tell each other with every superstep: how many vertices moved; one more than the
length of an array that was indexed outside of it, or 0, and the index; whether this superstep is to
be kept, which the first task decides; the last superstep that this task has kept."""


@dataclass
class Keeping:
    """How supersteps are kept: `due` is asked in the first task, `keep` writes the own states.

    `forget` is told the last superstep that all tasks have kept.
    """

    due: Callable[[], bool]
    keep: Callable[[int, Int64], None]
    forget: Callable[[int], None]


NEVER = Keeping(lambda: False, lambda superstep, rows: None, lambda superstep: None)


class GivenData:
    """What the data say of the vertices that a task knows, and the facts of them."""

    def __init__(self, given: VertexData, facts: Mapping[str, Int64]) -> None:
        self._given = given
        self._facts = facts

    def array(self, wanted: VertexProperty) -> NDArray[Any]:
        """A property, or a fact under the name that it has as one."""
        fact = self._facts.get(wanted.name)
        return self._given.array(wanted) if fact is None else fact

    def code(self, text: str) -> int:
        """The code of a text."""
        return self._given.code(text)

    def plain(self, wanted: VertexProperty) -> NDArray[Any]:
        """Nobody checks a part of a graph by itself."""
        return self.array(wanted)


@dataclass(frozen=True)
class _Known:
    """The vertices that a task knows, as parameters are bound to them."""

    vertices: int
    vertex_data: VertexData


class Supersteps:
    """A program on the shards of a task, run on one view after the other."""

    def __init__(
        self,
        program: VertexProgram,
        parameters: tuple[Any, ...],
        graph: LocalGraph,
        exchange: MirrorExchange,
        data: VertexData,
    ) -> None:
        self._program = program
        self._given = with_given_facts(program)
        self._graph = graph
        self._exchange = exchange
        self._data = data
        named = typed_parameters(program, parameters)
        self._parameters = tuple(
            _members(graph.known, value) if item.kind is ParameterKind.VERTICES else value
            for item, value in zip(program.parameters, named.values(), strict=True)
        )
        self.ending: Ending = run_ending(program, named, None, None)
        layout = row_layout(program, plain=True)
        self.columns = Columns(layout, named)
        self._widths = layout.state_width.value(named), layout.sums_width.value(named)
        self.supersteps = 0
        """How many the last run had."""

    def run(
        self,
        version: Version,
        keeping: Keeping = NEVER,
        kept: tuple[int, Int64] | None = None,
    ) -> Int64:
        """The states of own vertices that the program ends with, a row each.

        Goes on from the states of own vertices at a superstep, if any were `kept`: 0 stands for
        the results of a view that this one contains, of a program that `follows`.
        """
        run = _Run(self, version)
        if kept is None:
            run.begin()
        else:
            run.go_on(*kept)
        while run.goes_on():
            run.step(keeping)
        self.supersteps = run.form.superstep
        return run.form.rows[: self._graph.owned].copy()

    @property
    def follows(self) -> bool:
        """True where a view can go on from the results of one that it contains."""
        found = program_code(self._program).selection
        ends_by_itself = not self.ending.bounded and self.ending.settle == 0
        return found is not None and found.settles and ends_by_itself

    def values(self, rows: Int64) -> dict[str, NDArray[Any]]:
        """Rows of states by field."""
        columns = self.columns
        return {name: np.ascontiguousarray(columns.values(rows, name)) for name in columns.names()}


class _Run:
    """One run on one view."""

    def __init__(self, of: Supersteps, version: Version) -> None:
        self._of = of
        self._owned = of._graph.owned
        self.form: Form = chosen_form(self._inputs(version), of._widths)
        self._moves = 1
        self._kept = 0

    def begin(self) -> None:
        """The state of superstep 0, of own vertices and mirrors alike."""
        self.form.begin()

    def go_on(self, superstep: int, rows: Int64) -> None:
        """The states of a superstep: everybody gathers anew behind it, which changes nothing."""
        self.form.rows[: self._owned] = rows
        self._of._exchange.everything(self.form.rows)
        self.form.superstep = self._kept = superstep

    def goes_on(self) -> bool:
        """False where all tasks together are at the end."""
        ending, done = self._of.ending, self.form.superstep
        if done < ending.last:
            return done == 0 or ending.patient or self._moves != 0
        if not ending.bounded and self._moves != 0:
            raise LimitError(
                f"{self._of._program.name} still changes after {MOST_ITERATIONS:,} iterations",
                hint="give it a number of iterations, or a tolerance",
            )
        return False

    def step(self, keeping: Keeping) -> None:
        """One superstep, and what tasks tell each other after it."""
        form = self.form
        active, moves, (fault, index, length) = form.step()
        wrong = (length + 1, index) if fault else (0, 0)
        told = moves, *wrong, int(keeping.due()), self._kept
        own = form.changed[:active].copy()
        found, changed = self._of._exchange.changed(form.rows, own, told)
        self._check_faults(found.each)
        form.changed[active : active + len(changed)] = changed
        form.count(active + len(changed))
        self._moves = int(found.total[MOVES])
        keeping.forget(min(int(item[KEPT]) for item in found.each.values()))
        # Where the run is at its end, its results are kept next.
        if found.each[0][KEEP] and self.goes_on():
            keeping.keep(form.superstep, form.rows[: self._owned])
            self._kept = form.superstep

    def _check_faults(self, each: Mapping[int, Int64]) -> None:
        for told in each.values():
            if told[LENGTH]:
                raise InputError(
                    f"{self._of._program.name}: index {told[INDEX]} is outside of an array of "
                    f"{told[LENGTH] - 1}",
                    hint="check what is used as an index, or give the array another size",
                )

    def _inputs(self, version: Version) -> Inputs:
        """All that a form takes: what the program reads beside the graph is in blocks."""
        of = self._of
        data = GivenData(of._data, self._facts(version))
        known = _Known(of._graph.vertices, data)
        parameters = GrowingParameters(known, of._given, of._parameters)
        wanted = edge_properties(of._given)
        properties = tuple(edge_values(of._graph, version, *item) for item in wanted.items())
        read, alone = read_block(properties, parameters), Block(properties)
        code = program_code(of._program)
        sizes = of._graph.vertices, of._graph.owned
        return Inputs(code, *sizes, version, read, alone, of.ending)

    def _facts(self, version: Version) -> dict[str, Int64]:
        """The facts that the program reads of all vertices here: owners tell those of mirrors."""
        graph, wanted = self._of._graph, vertex_properties(self._of._given)
        read = {name: fact for name, fact in FACTS.items() if name in wanted}
        known = {"id": graph.known} if "id" in read.values() else {}
        for fact, ways in DEGREES.items():
            if fact in read.values():
                rows = np.zeros((graph.vertices, 1), np.int64)
                for way in ways:
                    rows[: graph.owned, 0] += version.degrees[way]
                self._of._exchange.everything(rows)
                known[fact] = rows.reshape(-1)
        return {name: known[fact] for name, fact in read.items()}


def edge_values(graph: LocalGraph, version: Version, name: str, type_: ValueType) -> NDArray[Any]:
    """An edge property of all live edges of a task, by their numbers."""
    kind = FIELD_TYPES.get(type_, np.int64)
    found: list[NDArray[Any]] = [np.empty(0, kind)]
    for way in WAYS:
        for item, places in zip(graph.gathered.get(way, ()), version.places[way], strict=True):
            found.append(item.properties[name][places].astype(kind))
    return np.concatenate(found)


def ways_needed(program: VertexProgram) -> tuple[tuple[Way, ...], tuple[Way, ...]]:
    """The ways whose edges a program gathers along, and those that it needs for degrees alone."""
    gathered = GATHERED_ALONG[program.direction]
    wanted = {FACTS[name] for name in vertex_properties(with_given_facts(program)) if name in FACTS}
    needed = {way for fact in wanted for way in DEGREES.get(fact, ())}
    return gathered, tuple(way for way in WAYS if way in needed and way not in gathered)


def _members(known: Int64, value: Any) -> NDArray[np.bool_]:
    """Which of the vertices here are in a set of vertices."""
    return np.isin(known, np.asarray(list(value), np.int64))
