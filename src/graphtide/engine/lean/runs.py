"""A vertex program from scratch over a lean graph, by several threads.

The answer is that of its definition, synchronously; its bits do not depend on how many threads
there are. Sums of floats are plain, in the order of rows: off by up to n * 2^-53 of the sum of
their n absolute messages.

Three ways lead there. Plain components come from union-find. A selecting program whose messages are
monotone and never overtake their source makes rounds of offers by all workers, or works off a queue
by one. Any other runs in rounds: phases, one after the other, each shared by the workers. Where few
vertices changed, those and whom they tell take part, by a list that one thread makes; else all do.

A program with a form in lanes reads compressed rows as they are. For any other, slabs stand for the
rows: 24 bytes a vertex, and 4 an edge where messages go against the edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.code import LEAN_OFFERS, ProgramCode, program_code
from graphtide.engine.graph_data import NoData, VertexData
from graphtide.engine.inputs import (
    FIELD_TYPES,
    GrowingParameters,
    Vertices,
    read_block,
    target_slabs,
)
from graphtide.engine.lanes.runs import degrees_read
from graphtide.engine.lean.workers import MOST_PARTS, Room, Workers, listed_parts, vertex_parts
from graphtide.engine.rounds import RoundForm, check_fault, plain_form, single_form
from graphtide.engine.source import is_uniform
from graphtide.engine.synchronous.facts import Ending, run_ending, synchronous_facts
from graphtide.engine.synchronous.rows import StateColumns, row_layout, typed_parameters
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.adjacency import (
    Adjacency,
    CompressedRows,
    LeanGraph,
    Partition,
    Rows,
    Slabs,
    rows_between,
)
from graphtide.kernels.lanes.rows import LaneContext
from graphtide.kernels.lean.threads import (
    Offers,
    OffersContext,
    begin_alone,
    join_first,
    join_rest,
    shorten_chains,
)
from graphtide.kernels.queues import Keyed
from graphtide.kernels.synchronous.histories import RoundContext
from graphtide.kernels.synchronous.rounds import EVERYBODY, Round, VertexRange, list_targets
from graphtide.model.errors import InputError
from graphtide.plan.expressions import FLOAT, INT
from graphtide.plan.program_analysis import Selection
from graphtide.plan.program_reads import edge_properties
from graphtide.plan.programs import AccumulatorKind, VertexProgram

Int32 = NDArray[np.int32]
_SAMPLED = 1024
"""The largest component is looked for among this many vertices."""


def component_labels(lean: LeanGraph, sign: int, workers: Workers) -> Int32:
    """The least vertex (the greatest, for sign -1) of the component of every vertex."""
    above = np.empty(lean.vertices, np.int32)
    parts = vertex_parts(lean, forward=False, backward=True)
    workers.each(lambda part: begin_alone(above, part), parts)
    workers.each(lambda part: join_first(lean.out, above, part, sign), parts)
    workers.each(lambda part: shorten_chains(above, part), parts)
    facts = sign, _largest(above)
    workers.each(lambda part: join_rest(lean.out, lean.into, above, part, facts), parts)
    workers.each(lambda part: shorten_chains(above, part), parts)
    return above


def _largest(above: Int32) -> int:
    """The root that most of some vertices have, all over the graph; any would be right."""
    sample = above[:: max(1, len(above) // _SAMPLED)]
    roots, counts = np.unique(sample, return_counts=True)
    return int(roots[np.argmax(counts)]) if len(roots) else -1


LISTED_SHARE = 16
"""A list is given up once more than one edge in so many has been looked at for it.

One thread makes it, at some 3 ns an edge, where all threads together take 1 ns or less to gather
along every edge.
"""


class LeanRounds:
    """A run in rounds from its beginning to its end."""

    def __init__(
        self,
        lean: LeanGraph,
        form: RoundForm,
        plan: VertexProgram,
        ending: Ending,
        workers: Workers,
    ) -> None:
        self._lean, self._form, self._facts = lean, form, synchronous_facts(plan)
        self._ending, self._workers = ending, workers
        self._ways = self._facts.forward, self._facts.backward
        self._room = Room(form.room, form.step)
        forward, backward = self._ways
        self._everybody = vertex_parts(lean, forward=forward, backward=backward, room=self._room)
        self._changed = EVERYBODY
        self.iteration = 0
        self.resting = False

    def begin(self) -> None:
        """Iteration 0."""
        self._phase(self._form.kernels.begin_range, self._everybody)

    def goes_on(self) -> bool:
        """Whether there is another round to run."""
        return self.iteration < self._ending.last and not self.resting

    def run_one(self) -> None:
        iteration, kernels = self.iteration + 1, self._form.kernels
        parts = self._taking_part(iteration)
        if self._facts.hoisted:
            self._phase(kernels.parcel_range, self._telling())
        else:
            self._phase(kernels.gather_range, parts)
        setting = Round(iteration, 1, self._ending.settle)
        counts = self._phase(kernels.update_range, parts, setting)
        self._join_lists(parts, [changed for changed, *_ in counts])
        self.iteration = iteration
        self.resting = not self._ending.patient and not any(moves for _, moves, *_ in counts)

    def _phase(self, kernel: Any, parts: list[VertexRange], *more: Any) -> list[Any]:
        context, work = self._form.context, self._form.work
        return self._workers.each(lambda part: kernel(context, work, part, *more), parts)

    def _taking_part(self, iteration: int) -> list[VertexRange]:
        """The parts of those that may change in an iteration."""
        few = 0 <= 4 * self._changed <= self._lean.vertices
        if not few or self._facts.reads_iteration:
            return self._everybody
        most = self._lean.edges // LISTED_SHARE + 1024
        size = list_targets(self._form.work, self._changed, iteration, self._ways, most)
        return self._everybody if size == EVERYBODY else self._listed(int(size))

    def _telling(self) -> list[VertexRange]:
        """The parts of those whose parcels are not what they were."""
        return self._everybody if self._changed == EVERYBODY else self._listed(self._changed)

    def _listed(self, count: int) -> list[VertexRange]:
        each = 1 + self._lean.edges // max(1, self._lean.vertices)
        return listed_parts(count, count * each, self._room)

    def _join_lists(self, parts: list[VertexRange], counts: list[int]) -> None:
        """Move what parts listed at their own beginnings together."""
        changed, size = self._form.work.changed, 0
        for part, count in zip(parts, counts, strict=True):
            if count and size != part.first:
                changed[size : size + count] = changed[part.first : part.first + count]
            size += count
        self._changed = size


def edge_columns(lean: LeanGraph, program: VertexProgram) -> tuple[NDArray[Any], ...]:
    """The edge properties that a program reads, each in the type it reads it as."""
    columns: list[NDArray[Any]] = []
    for name, type_ in edge_properties(program).items():
        if name not in lean.columns or type_ not in FIELD_TYPES:
            known = ", ".join(lean.columns) or "none"
            raise InputError(f"the edges have no property '{name}'", hint=f"they have: {known}")
        columns.append(lean.columns[name].astype(FIELD_TYPES[type_], copy=False))
    return tuple(columns)


def lean_form(
    code: ProgramCode, lean: LeanGraph, named: dict[str, Any], parameters: GrowingParameters
) -> RoundForm:
    program, columns = code.plan, edge_columns(lean, code.plan)
    properties, read = Block(columns).words, read_block(columns, parameters).words
    out, into = (_rows(rows, properties) for rows in (lean.out, lean.into))
    partition, fault = Partition(lean.vertices, out, into), np.zeros(3, np.int64)
    if code.why_not_lanes is None:
        context = LaneContext(into, out, *_degrees(lean, program), read, fault)
        return single_form(code, context, partition, MOST_PARTS)
    layout = row_layout(program, plain=True)
    widths = layout.state_width.value(named), layout.sums_width.value(named)
    backward = synchronous_facts(program).backward
    numbers = np.arange(lean.edges if backward else 0, dtype=lean.into.edge.dtype)
    graph = Adjacency(_slabs(lean.out._replace(edge=numbers)), _slabs(lean.into))
    return plain_form(code, RoundContext(graph, read, fault), widths, partition, MOST_PARTS)


def _rows(rows: CompressedRows, properties: NDArray[np.int64]) -> Rows:
    start, stop = rows.offsets[:-1], rows.offsets[1:]
    return rows_between(start, stop, rows.neighbour, rows.edge, properties)


def _slabs(rows: CompressedRows) -> Slabs:
    start, live = rows.offsets[:-1].astype(np.int64), np.diff(rows.offsets).astype(np.int32)
    return Slabs(start, live, live, live, rows.neighbour, rows.edge, np.empty(0, np.int32))


def _degrees(lean: LeanGraph, program: VertexProgram) -> tuple[Any, Any]:
    """How many edges enter each vertex, and how many leave it, where the program asks."""
    none, (reads_out, reads_in) = np.empty(0, np.int64), degrees_read(program)
    out = np.diff(lean.out.offsets).astype(np.int64) if reads_out else none
    return np.diff(lean.into.offsets).astype(np.int64) if reads_in else none, out


PULL_SHARE = 16
"""All vertices pull once those that make offers have more than one edge in this many."""
FEW = 1 << 12
"""One thread takes rounds of up to this many vertices, with a queue."""
NEAREST = 1 << 17
"""So many of those that wait make their offers in a round, the best of them (Dong and others,
rho-stepping, 2021), where edges carry different things."""
_AT_ONCE, _ASKED = 1 << 22, 1024


def has_offers(program: VertexProgram, selection: Selection) -> bool:
    """False where messages look at their target, or values are no words of the processor's."""
    return selection.type in (INT, FLOAT) and not target_slabs(program)


class OfferedRun:
    """One run of a selecting program."""

    def __init__(
        self, lean: LeanGraph, code: ProgramCode, parameters: GrowingParameters, workers: Workers
    ) -> None:
        assert code.selection is not None
        self._lean, self._workers = lean, workers
        self._kernels = code.module(LEAN_OFFERS)
        read = read_block(edge_columns(lean, code.plan), parameters).words
        self._context = OffersContext(lean.out, lean.into, read)
        words = np.zeros(-(-lean.vertices // 8), np.uint64)
        self._offers = Offers(
            value=np.empty(lean.vertices, FIELD_TYPES[code.selection.type]),
            listed=np.empty(8 * len(words), np.int32),
            marked=words.view(np.uint8),
            words=words,
        )
        facts = synchronous_facts(code.plan)
        self._along = facts.forward + facts.backward
        self._pulling = vertex_parts(lean, forward=facts.forward, backward=facts.backward)
        self._uniform = is_uniform(code.selection)
        room = 0 if self._uniform else 16 * FEW
        self._heap = Keyed(np.empty(room, np.int32), np.empty(room, self._offers.value.dtype))

    def values(self) -> NDArray[Any]:
        value: NDArray[Any] = self._offers.value
        if not self._lean.vertices:
            return value
        self._phase(self._kernels.begin_values, self._pulling)
        size, edges, alike = self._listed()
        while size:
            if size > FEW or not self._alone(size):
                self._round(size, edges, alike=alike)
            size, edges, alike = self._listed()
        return value

    def _round(self, size: int, edges: int, *, alike: bool) -> None:
        share = PULL_SHARE * edges > self._along * self._lean.edges
        if self._uniform and alike and share:
            self._phase(self._kernels.pull_range, self._pulling)
            return
        if not self._uniform and size > NEAREST:
            size, edges = self._nearest(size), edges * NEAREST // size
        self._phase(self._kernels.push_range, listed_parts(size, size + edges))

    def _nearest(self, size: int) -> int:
        """Let only the best of those listed make their offers now; how many that are.

        The others are marked again: until it is their turn they may have got better, and all that
        they said before would have been in vain.
        """
        listed, sign = self._offers.listed, self._kernels.SIGN
        keys = sign * self._offers.value[listed[:size]]
        sample = np.sort(keys[:: max(1, size // _ASKED)])
        near = keys <= sample[len(sample) * NEAREST // size]
        self._offers.marked[listed[:size][~near]] = 1
        chosen = listed[:size][near]
        listed[: len(chosen)] = chosen
        return len(chosen)

    def _alone(self, size: int) -> bool:
        """Let one thread make offers, until too many wait for it; False if it could make none."""
        given = self._context, self._offers
        if self._uniform:
            self._kernels.run_queue(*given, size, 4 * FEW, _AT_ONCE)
            return True
        _, done = self._kernels.run_heap(*given, self._heap, size, _AT_ONCE)
        return bool(done) or self._unmark(size)

    def _phase(self, kernel: Any, parts: list[VertexRange]) -> list[Any]:
        context, offers = self._context, self._offers
        return self._workers.each(lambda part: kernel(context, offers, part), parts)

    def _listed(self) -> tuple[int, int, bool]:
        """List the marked: how many, with how many edges to offer along, all with one value?"""
        listed, value = self._offers.listed, self._offers.value
        parts = listed_parts(len(self._offers.words), self._lean.vertices)
        found = self._phase(self._kernels.list_marked, parts)
        size, levels = 0, set()
        for part, (count, _, _) in zip(parts, found, strict=True):
            if count:
                first = 8 * part.first
                listed[size : size + count] = listed[first : first + count]
                levels.add(value[listed[size]].item())
                size += count
        alike = len(levels) == 1 and all(same for _, _, same in found)
        return size, sum(int(edges) for _, edges, _ in found), alike

    def _unmark(self, size: int) -> bool:
        """Those listed are to make their offers in a round instead."""
        self._offers.marked[self._offers.listed[:size]] = 0
        return False


COMPONENTS = "components by union-find"
OFFERS = "offers of those that got better"
ROUNDS = "rounds in which every vertex gathers from its neighbours"


class _Vertices:
    """So many vertices and what the data say of them: what parameters are bound to."""

    def __init__(self, vertices: int, vertex_data: VertexData) -> None:
        self.vertices = vertices
        self.vertex_data = vertex_data


class LeanRun:
    """One program with its parameters on a lean graph; `iterations` is how many were run."""

    def __init__(
        self,
        lean: LeanGraph,
        program: VertexProgram,
        parameters: tuple[Any, ...],
        vertex_data: VertexData | None = None,
        *,
        settles: bool = False,
    ) -> None:
        """`settles`: the edges meet the conditions under which no message overtakes its source."""
        self._settles = settles
        self._lean, self._program = lean, program
        self._code, self._facts = program_code(program), synchronous_facts(program)
        self._named = typed_parameters(program, parameters)
        self._ending = run_ending(program, self._named, None, None)
        vertices: Vertices = _Vertices(lean.vertices, vertex_data or NoData())
        self._parameters = GrowingParameters(vertices, program, tuple(self._named.values()))
        self.iterations = 0
        self.way = ROUNDS
        """How the run computes, or has computed: one of the three ways above."""

    def values(self, workers: Workers) -> dict[str, NDArray[Any]]:
        """The result of every vertex, by state field. The arrays are the caller's."""
        selection = self._code.selection
        if selection is not None and self._ends_by_itself():
            if self._code.labels_components:
                self.way = COMPONENTS
                sign = 1 if selection.kind is AccumulatorKind.MIN else -1
                labels = component_labels(self._lean, sign, workers)
                return {selection.state: labels.astype(FIELD_TYPES[selection.type])}
            if self._settles and has_offers(self._program, selection):
                self.way = OFFERS
                run = OfferedRun(self._lean, self._code, self._parameters, workers)
                return {selection.state: run.values()}
        self.way = ROUNDS
        form = lean_form(self._code, self._lean, self._named, self._parameters)
        rounds = LeanRounds(self._lean, form, self._program, self._ending, workers)
        rounds.begin()
        while rounds.goes_on():
            rounds.run_one()
            check_fault(self._program.name, form.context.fault)
        self.iterations = rounds.iteration
        self._ending.check_limit(self._program.name, rounds.iteration, resting=rounds.resting)
        layout = row_layout(self._program, plain=True)
        columns = StateColumns(layout, self._named)
        rows = form.states(layout.state_width.value(self._named))
        return {name: columns.values(rows, name) for name in columns.names()}

    def _ends_by_itself(self) -> bool:
        return not self._ending.bounded and self._ending.settle == 0
