"""A run on shards as its driver sees it: made ready, handed to Spark, and taken in.

The driver knows the plan and what tasks say of their files. It reads no edges and no vertices, and
no results come to it: what tasks have written becomes parts of the run, by links. Vertices that a
program names are found by tasks, and what it cannot take is refused by those who read it. Whatever
ends a run before, finished views become parts of it, and the last superstep that all tasks have
kept stays for whoever resumes it.

What a run is expected to take is said before anything is made or run. A vertex that has d edges by
which others gather from it has a mirror in a task of t with the chance 1 - (1 - 1/t)^d. With the
mean in place of each d there are more mirrors than there will be, because the chance grows ever
more slowly with d: it is a bound, but for chance.
"""

from __future__ import annotations

import contextlib
import pickle
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from graphtide.engine.changes import Values
from graphtide.engine.shards.following import Following
from graphtide.engine.shards.local_graph import LocalGraph, MirrorExchange, Placement, ShardEdges
from graphtide.engine.shards.supersteps import Supersteps, can_follow, ways_needed
from graphtide.engine.synchronous.facts import run_ending
from graphtide.engine.synchronous.rows import row_layout, typed_parameters
from graphtide.model.errors import GraphtideError, InputError, StoreError
from graphtide.model.machine import cache_root
from graphtide.model.progress import ProgressReport as Telling
from graphtide.model.text import counted
from graphtide.optimize.strategy import Move
from graphtide.plan.collection import from_scratch, live_classes
from graphtide.plan.program_values import BoundProgram
from graphtide.plan.programs import Direction, VertexProgram
from graphtide.run.catalog.build import is_whole
from graphtide.run.catalog.spark_runs import TaskReport, watched
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.differences import RECORD_SCHEMA
from graphtide.run.collection.facts import BEFORE, RunRequest
from graphtide.run.collection.figures import FIGURES, LEADERS, joined
from graphtide.run.collection.ranking import joined_leaders
from graphtide.run.collection.steps import Deltas, RunSteps, ViewVertices, run_steps
from graphtide.run.collection.stored_graph import ENDS, check_columns, unread_vertex_table
from graphtide.run.collection.stored_vertices import Found, StoredVertices
from graphtide.run.live.computation import CompiledProgram
from graphtide.run.live.ids import Ids
from graphtide.run.live.named_graph import VertexColumns
from graphtide.run.live.programs import Compiled, compiled_program, vertex_parameters
from graphtide.run.live.vertex_ids import Int32
from graphtide.run.shards.mesh import Sockets
from graphtide.run.shards.orders import (
    Earlier,
    ShardOrder,
    StatesBefore,
    earlier_states,
    states_before,
    states_identity,
)
from graphtide.run.shards.shard_files import chosen_shards, shards_of
from graphtide.run.shards.tasks import row_bounds
from graphtide.store.collection import StoredCollection, graph_behind
from graphtide.store.files import FileFacts, well_formed
from graphtide.store.graph import StoredGraph
from graphtide.store.parts import PartMaker, Parts, PartsOnDisk, Written
from graphtide.store.results import open_run
from graphtide.store.shards import EMPTY, STATES, KeptSupersteps, Note, StoredShards

AT_ONCE = 1000
"""One job looks for this many ids, which the statistics of the files can narrow."""


class VertexFinder(Protocol):
    """Who finds vertices."""

    def vertices_with_ids(self, stored: StoredGraph, ids: list[int | str]) -> pa.Table:
        """`_vertex`, `_id` and, where there are several labels, `_label` of those that have one."""


class AskedVertices(StoredVertices):
    """The vertices of a stored graph, of which those are known that were asked for."""

    def __init__(self, stored: StoredGraph, asked: VertexFinder) -> None:
        super().__init__(stored, paged=True)
        self._asked = asked
        self._answers: dict[int | str, Found] = {}

    def numbers(self, ids: Ids) -> Int32:
        """The number of each id, -1 where there is none, or where several labels have it."""
        given = (self._as_id(self._parted(item)[1]) for item in ids.tolist())
        self._ask(item.as_py() for item in given if item is not None)
        return super().numbers(ids)

    def _with_id(self, wanted: pa.Scalar) -> Found:
        self._ask([wanted.as_py()])
        return self._answers[wanted.as_py()]

    def _ask(self, ids: Iterable[int | str]) -> None:
        new = [item for item in dict.fromkeys(ids) if item not in self._answers]
        for first in range(0, len(new), AT_ONCE):
            some = new[first : first + AT_ONCE]
            self._take_in(some, self._asked.vertices_with_ids(self.stored, some))

    def _take_in(self, asked: list[int | str], rows: pa.Table) -> None:
        matches: dict[int | str, list[tuple[int, str | None]]] = {item: [] for item in asked}
        labels = rows.column("_label") if self._several else pa.nulls(rows.num_rows)
        columns = rows.column("_id"), rows.column("_vertex"), labels
        for id_, number, label in zip(*(item.to_pylist() for item in columns), strict=True):
            matches[id_].append((number, label))
        for id_, there in matches.items():
            there.sort()
            numbers = np.array([number for number, _ in there], np.int64)
            self._answers[id_] = numbers, [label for _, label in there] if self._several else []


BYTES_AN_EDGE = 12
"""What a task has in memory for an edge that a vertex gathers along: both ways between its ends,
and its number."""

EDGE_SECONDS, ROW_SECONDS, MESSAGE_SECONDS = 2.5e-9, 20e-9, 1e-4
"""Processor time for an edge in a superstep, for a mirror whose state comes, and for a message:
measured with PageRank at 4 million edges, and between two tasks of one machine."""


def explained_shards(
    program: VertexProgram, vertices: int, edges: int, tasks: int, width: int
) -> str:
    """The tasks of a run, what each holds, and what it sends in a superstep."""
    both = program.direction is Direction.BOTH
    gathered = edges * (2 if both else 1)
    mirrors = _mirrors(vertices, gathered, tasks)
    sent = 8 * width * mirrors
    seconds = gathered / tasks * EDGE_SECONDS + mirrors * ROW_SECONDS
    seconds += (tasks - 1) * MESSAGE_SECONDS
    return (
        f"on shards: {tasks:,} tasks at the same time, each with about {gathered // tasks:,} edges "
        f"in {_size(BYTES_AN_EDGE * gathered / tasks)} and up to about {mirrors:,} mirrors; "
        f"a superstep over the whole graph sends up to about {_size(sent)} a task and takes about "
        f"{1e3 * seconds:,.3g} ms"
    )


def _mirrors(vertices: int, gathered: int, tasks: int) -> int:
    """Up to how many mirrors a task is expected to have: of vertices that its own gather from."""
    degree = gathered / max(1, vertices)
    there = vertices * (1 - 1 / tasks)
    return int(there * (1 - (1 - 1 / tasks) ** degree)) if tasks > 1 else 0


def _size(number: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if number < 1000:
            return f"{number:,.3g} {unit}"
        number /= 1000
    return f"{number:,.3g} GB"


class Taking:
    """Results that tasks have kept, on their way to become parts of the run."""

    def __init__(
        self, steps: RunSteps, parts: PartsOnDisk, shards: StoredShards, program: str = ""
    ) -> None:
        self._program, self._shards = program, shards
        placement = Placement(shards.vertices, shards.shards, 1)
        self._parts = parts
        self._steps = steps
        self.kept = KeptSupersteps(parts, row_bounds(placement))
        record = parts.record()
        self.finished = 0 if record is None else int(record.num_rows)

    def take_in(self) -> None:
        """Make the finished views parts, as far as there are no gaps."""
        results = self.kept.results()
        while self.finished in results and (self.finished or EMPTY in results):
            base, notes = [] if self.finished else results[EMPTY], results[self.finished]
            with well_formed("what tasks have kept of a run", notes[0].path):
                record, files, made, told = self._part(self.finished, notes)
                more = _written(base), _kept_states(notes)
            self._parts.take_in(record, files, made, told, base=more[0], states=more[1])
            self.finished += 1

    def _part(self, step: int, notes: list[Note]) -> tuple[Any, ...]:
        """The record of a step, its files, who made it, and what is told of it."""
        told = [note.told for note in notes]
        began, ended = min(item["began"] for item in told), max(item["ended"] for item in told)
        edges, changed = (sum(item[name] for item in told) for name in ("edges", "changed"))
        seconds = ended - began
        move = int(Move.FOLLOW if told[0]["follows"] else Move.PASS)
        row: tuple[Any, ...] = step, move, seconds, np.nan, np.nan, edges, changed
        columns = [
            pa.array([item], kind.type) for item, kind in zip(row, RECORD_SCHEMA, strict=True)
        ]
        record = pa.table(columns, schema=RECORD_SCHEMA)
        made = [
            PartMaker(
                item["worker"],
                0,
                item["began"],
                item["ended"],
                item["processor"],
                item.get("spans", ()),
                item.get("sent", 0),
            )
            for item in told
        ]
        return record, _written(notes), made, _told(told) | self._states(notes)

    def _states(self, notes: list[Note]) -> dict[str, Any]:
        """What is told of the states that a later run may go on from, if all tasks kept them."""
        if not _kept_states(notes):
            return {}
        sizes = {"shards": self._shards.shards, "vertices": self._shards.vertices}
        spans = [[note.first, note.behind] for note in notes]
        return {STATES: {"program": self._program, "spans": spans, **sizes}}


def _kept_states(notes: list[Note]) -> Written:
    """The files of the states that all tasks have kept; nothing where one has not."""
    if not all(STATES in note.told for note in notes):
        return ()
    return [_file(note, note.told[STATES]) for note in notes]


def _told(told: list[dict[str, Any]]) -> dict[str, Any]:
    """What all tasks together tell of the results of a view."""
    joins = {FIGURES: joined, LEADERS: joined_leaders}
    return {
        what: {field: join([item[what][field] for item in told]) for field in told[0][what]}
        for what, join in joins.items()
    }


def _written(notes: list[Note]) -> dict[str, Written]:
    """The files of each field that tasks have written together."""
    names = notes[0].told["fields"] if notes else ()
    return {name: [_file(note, note.told["fields"][name]) for note in notes] for name in names}


def _file(note: Note, name: str) -> tuple[Path, FileFacts]:
    return note.path.parent / name, note.files[name]


def progress_of(taking: Taking, steps: int) -> Callable[[], tuple[str, float]]:
    def look() -> tuple[str, float]:
        done, superstep = taking.kept.reached()
        progress = f", superstep {superstep:,} kept of the next" if superstep else ""
        return f"{done:,} of {steps:,} views on shards{progress}", done / max(1, steps)

    return look


ENTRY = "graphtide.run.shards.tasks:carry_out"


def on_shards(compiled: Compiled) -> CompiledProgram:
    """The program as it runs on shards: every iteration of a vertex program. InputError if none."""
    bound = compiled.bound
    if not isinstance(bound, BoundProgram):
        raise InputError(
            f"{bound.program.name} is no vertex program, and only those run on shards",
            hint="leave out on='shards'",
        )
    if bound.program.pairs is not None:
        raise InputError(
            f"{bound.program.name} has results of pairs, which one task could not tell",
            hint="leave out on='shards', or give one source: a parameter of type gt.Vertex",
        )
    if ENDS in compiled.needed.properties:
        raise InputError(
            f"{bound.program.name} reads a property that no file has",
            hint="leave out on='shards'",
        )
    exact = compiled_program(bound, "exact", directed=True)  # It goes both ways where it must.
    assert isinstance(exact, CompiledProgram)
    return exact


class ShardedRun:
    """A request on the views of a collection, ready to be run on shards."""

    pairs = None
    cuts = ()

    def __init__(self, space: Workspace, stored: StoredCollection, request: RunRequest) -> None:
        self.compiled = on_shards(request.compiled)
        self.request = replace(request, compiled=self.compiled)
        self._space = space
        self._stored = stored
        self._plan = from_scratch(stored.plan)
        self._changes: dict[str, StatesBefore | None] = {}
        names = tuple(view.name for view in stored.views)
        deltas = Deltas(self._plan, stored.grouped_sizes)
        self.steps: RunSteps = run_steps(self._plan, names, deltas, ViewVertices.of(stored.views))
        self._graph = graph_behind(space.catalog, stored)
        check_columns(self._graph, self.compiled.needed)
        self._table = unread_vertex_table(self._graph, self.compiled.needed)
        ids = AskedVertices(self._graph, space.gateway)
        self.parameters = vertex_parameters(self.compiled.bound, ids)
        # Whatever Spark cannot do is refused before anything is written.
        assert self.tasks > 0
        if request.strategy == "differential" and not self.follows:
            raise InputError(
                f"on shards views follow each other only where a program selects and ends by "
                f"itself, and {self.compiled.bound.program.name} does not",
                hint="leave out `strategy`: every view is run from scratch then",
            )

    @property
    def follows(self) -> bool:
        """True where views can go on from the one before."""
        program = self.compiled.bound.program
        named = typed_parameters(program, self.parameters)
        return can_follow(program, run_ending(program, named, None, None))

    @property
    def reason(self) -> str:
        """Why it is in the mode that it is in."""
        sharded = "tasks hold shards of the graph, and run iteration by iteration"
        return f"{sharded}; on from where the run before it ended" if self.before else sharded

    def base(self) -> Values:
        """The results of the empty version of no vertices; compiles what tasks run."""
        vertices = 1
        program, none = self.compiled.bound.program, np.empty(0, np.int32)
        properties = dict.fromkeys(self.compiled.needed.properties, np.empty(0))
        empty = ShardEdges(np.zeros(vertices + 1, np.int64), none, none, none, properties)
        gathered, counted = ({way: [empty] for way in ways} for ways in ways_needed(program))
        graph = LocalGraph(Placement(vertices, 1, 1), 0, gathered, counted)
        exchange = MirrorExchange(graph, Sockets(0, {}))
        data = VertexColumns(self._table, vertices)
        steps = Supersteps(program, self.parameters, graph, exchange, data)
        following = Following(steps, graph, follows=self.follows)
        # Where views follow, the way from a class to none compiles what tasks run as edges leave.
        for live in (True, False) if self.follows else (False,):
            ran = following.run(np.full(1, live))
        return steps.values(ran.rows[:0])

    def explain(self) -> str:
        """What a run would do; nothing is made or run for it."""
        bound, vertices = self.compiled.bound, self._graph.vertices
        edges = int(self.steps.edges.max(initial=0))
        shards = chosen_shards(vertices, int(self._stored.weights.sum()))
        tasks = min(self.tasks, shards)
        named = typed_parameters(bound.program, self.parameters)
        width = row_layout(bound.program, plain=True).state_width.value(named)
        views = f"{bound} on {counted(len(self.steps), 'view')}, superstep by superstep"
        way = "from the last one, as far as its results stay" if self.follows else "from scratch"
        lines = explained_shards(bound.program, vertices, edges, tasks, width)
        return f"{views}\neach view {way}\n{lines}"

    @cached_property
    def tasks(self) -> int:
        """How many tasks there are, but for shards; all of them must run at the same time."""
        slots, wanted = self._space.gateway.slots_together(), self.request.workers
        if wanted is not None and wanted > slots:
            raise InputError(
                f"{wanted} tasks must run at the same time, and Spark has {slots} slots",
                hint=f"give up to {slots} workers, or Spark more executors",
            )
        return wanted or slots

    def run(self, base: Values, parts: Parts) -> list[TaskReport]:
        """All views that are not finished yet; on from an earlier run, if there is one."""
        assert isinstance(parts, PartsOnDisk)
        request, run = self.request, open_run(self._space.catalog, self.request.name)
        settings, earlier = request.settings, run.manifest.get(BEFORE)
        report = settings.report
        report("making shards")
        shards = shards_of(self._space, self._stored)
        count = min(self.tasks, shards.shards)
        taking = Taking(self.steps, parts, shards, self._identity)
        taking.take_in()
        if taking.finished == len(self.steps):
            taking.kept.sweep()
            return []
        same = earlier and earlier["shards"] == shards.shards
        order = ShardOrder(
            folder=self._space.catalog.root,
            run=request.name,
            checksum=run.generation.checksum,
            collection=self._stored.name,
            shards=shards.collection,
            program=self.compiled.bound,
            parameters=self.parameters,
            views=tuple(live_classes(self._plan)),
            first=taking.finished,
            strategy=request.strategy,
            keep_every=settings.keep_every,
            secret=secrets.token_bytes(32),
            before=self._before(earlier) if earlier and same else None,
            states=self._goes_on and request.strategy != "scratch",
            removed=tuple(
                self.steps.vertices.removed.get(view, ()) for view in self.steps.view.tolist()
            ),
        )
        reports = self._tasks(order, count, taking, report)
        if taking.finished < len(self.steps):
            raise StoreError("the run was stopped elsewhere", hint="resume it: resume=True")
        taking.kept.sweep()
        return reports

    @cached_property
    def before(self) -> Earlier | None:
        """What the last run of the name left for this one to go on from."""
        request = self.request
        if request.resume or request.strategy == "scratch" or not self._goes_on:
            return None
        before = earlier_states(self._space.catalog, self._stored, request.name, self._identity)
        return None if before is None or self._before(before.told) is None else before

    @property
    def _goes_on(self) -> bool:
        """Whether a run goes on from state to state: where it follows, over all edges."""
        return self.follows and is_whole(self._stored)

    @property
    def _identity(self) -> str:
        return states_identity(self.compiled, self.parameters)

    def _before(self, earlier: Mapping[str, Any]) -> StatesBefore | None:
        """What has changed since an earlier run; jobs of Spark look for it once."""
        key = earlier["graph_identity"]
        if key not in self._changes:
            given = self._space, self._graph, self.compiled, earlier
            self._changes[key] = states_before(*given)
        return self._changes[key]

    def _tasks(
        self, order: ShardOrder, count: int, taking: Taking, report: Telling
    ) -> list[TaskReport]:
        gateway, cache = self._space.gateway, str(cache_root())
        taking.kept.begin()
        try:
            look = progress_of(taking, len(self.steps))
            with watched(look, report, taking.kept.stop):
                told = gateway.run_together(ENTRY, pickle.dumps(order), count, cache)
        except BaseException:
            taking.kept.stop()
            with contextlib.suppress(GraphtideError):
                taking.take_in()
            raise
        taking.take_in()
        reports: list[TaskReport] = [pickle.loads(item) for item in told]
        failed = [item for item in reports if item.error is not None]
        if failed:
            raise min(failed, key=lambda item: item.number).failure()
        return reports
