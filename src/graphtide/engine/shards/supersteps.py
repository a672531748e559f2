"""A vertex program from scratch on a graph that several tasks hold: superstep by superstep.

A superstep is a round of the program on the own vertices of each task, and one message from each
task to each other with the states that changed. All tasks add up how many vertices moved, so that
they all know when the run ends; it ends when a run on the whole graph would. Results are those of a
run on the whole graph, sums of floats but for their order: it is that of the shards, which no
number of tasks changes.

Supersteps have two forms, for any program and for those that have a form in lanes. Both keep the
same things in the same way: a row of words a vertex, own vertices first and mirrors behind them,
and a list of those that changed. Which form it is changes no result.

Views that follow each other are `following`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.code import ProgramCode, program_code
from graphtide.engine.graph_data import VertexData
from graphtide.engine.inputs import FIELD_TYPES, GrowingParameters, read_block
from graphtide.engine.rounds import Widths, outside, plain_form, single_form
from graphtide.engine.shards.local_graph import WAYS, LocalGraph, MirrorExchange, ShardVersion, Way
from graphtide.engine.synchronous.facts import Ending, run_ending
from graphtide.engine.synchronous.rows import StateColumns, row_layout, typed_parameters
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.adjacency import Partition, no_rows, slab_rows
from graphtide.kernels.lanes.rows import LaneContext
from graphtide.kernels.synchronous.histories import RoundContext
from graphtide.kernels.synchronous.rounds import CHANGED, GOING, ITERATION, MOVES
from graphtide.plan.expressions import ValueType, VertexProperty
from graphtide.plan.program_reads import FACTS, edge_properties, vertex_properties, with_given_facts
from graphtide.plan.programs import Direction, ParameterKind, VertexProgram

Int32 = NDArray[np.int32]
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
class Known:
    """The vertices that a task knows, as parameters are bound to them."""

    vertices: int
    vertex_data: VertexData


def edge_values(graph: LocalGraph, name: str, type_: ValueType) -> NDArray[Any]:
    """An edge property of all edges of a task, live or not, by their numbers."""
    kind = FIELD_TYPES.get(type_, np.int64)
    shards = [item for way in WAYS for item in graph.gathered.get(way, ())]
    values: list[NDArray[Any]] = [np.empty(0, kind)]
    values += [item.properties[name].astype(kind, copy=False) for item in shards]
    return np.concatenate(values)


def ways_needed(program: VertexProgram) -> tuple[tuple[Way, ...], tuple[Way, ...]]:
    """The ways whose edges a program gathers along, and those that it needs for degrees alone."""
    gathered = GATHERED_ALONG[program.direction]
    wanted = {FACTS[name] for name in vertex_properties(with_given_facts(program)) if name in FACTS}
    needed = {way for fact in wanted for way in DEGREES.get(fact, ())}
    return gathered, tuple(way for way in WAYS if way in needed and way not in gathered)


def members(known: Int64, value: Any) -> NDArray[np.bool_]:
    return np.isin(known, np.asarray(list(value), np.int64))


class Stepped(NamedTuple):
    """How many own vertices changed and moved (or whether any did), and what went wrong: an index
    outside of an array, as (1, index, length)."""

    active: int
    moves: int
    fault: tuple[int, int, int]


class Inputs(NamedTuple):
    """What a form is made of: the program, whom it runs on, and what it reads beside the graph."""

    code: ProgramCode
    vertices: int
    owned: int
    version: ShardVersion
    read: Block
    properties: Block
    ending: Ending


class ViewForm:
    """Supersteps of one run on one view: rows of own vertices first, and of mirrors behind them.

    `rows` are the states, `changed` lists those that changed. Programs are told facts of vertices
    as properties, since a task does not see all edges of a mirror.
    """

    def __init__(self, inputs: Inputs, widths: Widths) -> None:
        code, graph = program_code(with_given_facts(inputs.code.plan)), inputs.version.graph
        self._owned, self._reach = inputs.owned, inputs.version.reach
        fault, none = np.zeros(3, np.int64), np.empty(0, np.int64)
        if code.why_not_lanes is None:
            properties = inputs.properties.words
            rows = slab_rows(graph.into, properties), slab_rows(graph.out, properties)
            context = LaneContext(*rows, none, none, inputs.read.words, fault)
            self._form = single_form(code, context, self._reach)
            self._form.work.states.whole.fill(0)
        else:
            plain = RoundContext(graph, inputs.read.words, fault)
            self._form = plain_form(code, plain, widths, self._reach)
        self._course = self._form.course(inputs.ending, 4 * inputs.owned, none)
        self._next_reach = self._reach
        self.changed: Int32 = self._form.work.changed
        self.rows: Int64 = self._form.states(widths[0])
        self.begin = self._form.begin

    @property
    def superstep(self) -> int:
        return int(self._course.progress[ITERATION])

    @superstep.setter
    def superstep(self, number: int) -> None:
        self._course.progress[ITERATION] = number

    def step(self) -> Stepped:
        """Run the superstep after the last."""
        kernels, context, work, *_ = self._form
        progress = self._course.progress
        progress[GOING] = 1  # Others may move where nobody of this task does.
        kernels.run_superstep(context, work._replace(partition=self._next_reach), self._course)
        self._next_reach = self._reach
        there, index, length = context.fault.tolist()
        return Stepped(int(progress[CHANGED]), int(progress[MOVES]), (there, index, length))

    def count(self, changed: int) -> None:
        """So many vertices of `changed` have changed, mirrors included."""
        self._course.progress[CHANGED] = changed

    def let_gather(self, vertices: Int32) -> None:
        """Have these vertices alone gather in the first superstep, from states of another run.

        They are listed as changed, with nobody to tell.
        """
        self.changed[: len(vertices)] = vertices
        self.count(len(vertices))
        nobody = no_rows(len(self.changed))
        self._next_reach = Partition(self._owned, nobody, nobody)
        self._form.kernels.make_parcels(self._form.context, self._form.work)


MOVED, LENGTH, INDEX, KEEP, KEPT = range(5)
"""What tasks tell each other with every superstep: how many vertices moved; one more than the
length of an array that was indexed outside of it, or 0, and the index; whether this superstep is to
be kept, which the first task decides; the last superstep that this task has kept."""


@dataclass
class Keeping:
    """How supersteps are kept: `due` is asked in the first task, `keep` writes the own states.

    `forget` is told the last superstep that all tasks have kept; `begin` is called before the first
    superstep of a view, when edges are in place and what went has fallen, with whether it follows.
    """

    due: Callable[[], bool]
    keep: Callable[[int, Int64], None]
    forget: Callable[[int], None]
    begin: Callable[[bool], None] = lambda follows: None


NEVER = Keeping(lambda: False, lambda superstep, rows: None, lambda superstep: None)


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
        self.exchange = exchange
        self._data = data
        named = typed_parameters(program, parameters)
        self._parameters = tuple(
            members(graph.known, value) if item.kind is ParameterKind.VERTICES else value
            for item, value in zip(program.parameters, named.values(), strict=True)
        )
        self.ending: Ending = run_ending(program, named, None, None)
        layout = row_layout(program, plain=True)
        self.columns = StateColumns(layout, named)
        self._widths = layout.state_width.value(named), layout.sums_width.value(named)
        self.supersteps = 0
        """How many the last run had."""
        wanted = edge_properties(self._given)
        self._edge_values = tuple(edge_values(graph, *item) for item in wanted.items())

    def run(
        self,
        version: ShardVersion,
        keeping: Keeping = NEVER,
        kept: tuple[int, Int64] | None = None,
    ) -> Int64:
        """The states of own vertices that the program ends with, a row each.

        Goes on from the states of own vertices at a superstep, if any were `kept`.
        """
        run = self.on(version)
        if kept is None:
            run.begin()
        else:
            run.go_on(*kept)
        run.finish(keeping)
        self.supersteps = run.form.superstep
        return run.form.rows[: self._graph.owned].copy()

    def on(self, version: ShardVersion, *, levels: bool = False) -> ViewRun:
        """A run on one view that is to begin, or to go on; with the levels of vertices."""
        return ViewRun(self, version, levels=levels)

    @property
    def follows(self) -> bool:
        """True where a view can go on from the results of another one."""
        return can_follow(self._program, self.ending)

    def values(self, rows: Int64) -> dict[str, NDArray[Any]]:
        columns = self.columns
        return {name: np.ascontiguousarray(columns.values(rows, name)) for name in columns.names()}


def can_follow(program: VertexProgram, ending: Ending) -> bool:
    """True of programs that select and end by themselves: a view goes on from another one."""
    selection = program_code(program).selection
    ends_by_itself = not ending.bounded and ending.settle == 0
    return selection is not None and selection.settles and ends_by_itself


class ViewRun:
    """One run on one view.

    `level` is the superstep in which each vertex last changed, of all that the task knows, counted
    on from earlier views; None where nobody asked for it, or where it is not known any more.
    """

    def __init__(self, of: Supersteps, version: ShardVersion, *, levels: bool) -> None:
        self._of = of
        self._owned = of._graph.owned
        self.inputs = self._inputs(version)
        self.form = ViewForm(self.inputs, of._widths)
        self.level = np.zeros(of._graph.vertices, np.int64) if levels else None
        self._before = 0
        self._moves = 1
        self._kept = 0

    @property
    def clock(self) -> int:
        return self._before + self.form.superstep

    def begin(self) -> None:
        """The state of superstep 0, of own vertices and mirrors alike."""
        self.form.begin()
        self._before = 0
        if self.level is not None:
            self.level.fill(0)

    def go_on(self, superstep: int, rows: Int64) -> None:
        """What was kept of a superstep: everybody gathers anew behind it, which changes nothing."""
        exchange, width = self._of.exchange, self.form.rows.shape[1]
        self.form.rows[: self._owned] = rows[:, :width]
        exchange.everything(self.form.rows)
        self.form.superstep = self._kept = superstep
        if self.level is not None and rows.shape[1] > width:
            self.level[: self._owned] = rows[:, width]
            highest = int(self.level.max(initial=0))
            told = exchange.everything(self.level.reshape(-1, 1), (highest,))
            self._before = max(int(item[0]) for item in told.each.values())
        else:
            self.level = None

    def go_on_from(self, rows: Int64, level: Int64, clock: int) -> None:
        """The states of all vertices that the task knows, of another view."""
        self.form.rows[:] = rows
        self.level, self._before = level, clock

    def finish(self, keeping: Keeping) -> None:
        """All supersteps up to the end."""
        while self.goes_on():
            self.step(keeping)

    def goes_on(self) -> bool:
        """False where all tasks together are at the end."""
        ending, done = self._of.ending, self.form.superstep
        if done < ending.last:
            return done == 0 or ending.patient or self._moves != 0
        ending.check_limit(self._of._program.name, done, resting=self._moves == 0)
        return False

    def step(self, keeping: Keeping) -> None:
        """One superstep, and what tasks tell each other after it."""
        form = self.form
        active, moves, (fault, index, length) = form.step()
        wrong = (length + 1, index) if fault else (0, 0)
        told = moves, *wrong, int(keeping.due()), self._kept
        own = form.changed[:active].copy()
        levels = self.level is not None
        found, changed = self._of.exchange.changed(form.rows, own, told, exact=levels)
        for task in found.each.values():
            if task[LENGTH]:
                raise outside(self._of._program.name, task[INDEX], task[LENGTH] - 1)
        if self.level is not None:
            self.level[own] = self.level[changed] = self.clock
        form.changed[active : active + len(changed)] = changed
        form.count(active + len(changed))
        self._moves = int(found.total[MOVED])
        keeping.forget(min(int(item[KEPT]) for item in found.each.values()))
        # Where the run is at its end, its results are kept next.
        if found.each[0][KEEP] and self.goes_on():
            keeping.keep(form.superstep, self.own_rows())
            self._kept = form.superstep

    def own_rows(self) -> Int64:
        """The states of own vertices, and their levels in one more word."""
        rows = self.form.rows[: self._owned]
        return rows if self.level is None else np.column_stack([rows, self.level[: self._owned]])

    def _inputs(self, version: ShardVersion) -> Inputs:
        """All that a form takes: what the program reads beside the graph is in blocks."""
        of = self._of
        data = GivenData(of._data, self._facts(version))
        known = Known(of._graph.vertices, data)
        parameters = GrowingParameters(known, of._given, of._parameters)
        properties = of._edge_values
        read, alone = read_block(properties, parameters), Block(properties)
        code = program_code(of._program)
        sizes = of._graph.vertices, of._graph.owned
        return Inputs(code, *sizes, version, read, alone, of.ending)

    def _facts(self, version: ShardVersion) -> dict[str, Int64]:
        """The facts that the program reads of all vertices here: owners tell those of mirrors."""
        graph, wanted = self._of._graph, vertex_properties(self._of._given)
        read = {name: fact for name, fact in FACTS.items() if name in wanted}
        known = {"id": graph.known} if "id" in read.values() else {}
        for fact, ways in DEGREES.items():
            if fact in read.values():
                rows = np.zeros((graph.vertices, 1), np.int64)
                for way in ways:
                    rows[: graph.owned, 0] += version.degrees[way]
                self._of.exchange.everything(rows)
                known[fact] = rows.reshape(-1)
        return {name: known[fact] for name, fact in read.items()}
