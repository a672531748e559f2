"""A run on shards as its driver sees it: made ready, handed to Spark, and taken in.

The driver knows the vertices, the plan and what tasks say of their files. It reads no edges, and
no results come to it: what tasks have written becomes parts of the run, by links. Whatever ends a
run before, finished views become parts of it, and the last superstep that all tasks have kept stays
for whoever resumes it.
"""

from __future__ import annotations

import contextlib
import pickle
import secrets
import threading
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.engine.changes import Values
from graphtide.engine.shards.exchange import MirrorExchange
from graphtide.engine.shards.following import Following
from graphtide.engine.shards.live_edges import ShardEdges
from graphtide.engine.shards.local_graph import LocalGraph
from graphtide.engine.shards.placement import Placement
from graphtide.engine.shards.reading import ways_needed
from graphtide.engine.shards.supersteps import Supersteps, can_follow
from graphtide.engine.synchronous.ending import run_ending
from graphtide.engine.synchronous.results import typed_parameters
from graphtide.engine.synchronous.row_layout import row_layout
from graphtide.model.cache import cache_root
from graphtide.model.errors import GraphtideError, InputError, StoreError
from graphtide.model.progress import Report as Telling
from graphtide.model.wording import counted
from graphtide.optimize.strategy import Move
from graphtide.plan.program_values import BoundProgram
from graphtide.plan.scratch_plans import from_scratch, live_classes
from graphtide.run.catalog.spark_tasks import Report
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.buffer import RECORD_SCHEMA
from graphtide.run.collection.facts import Strategy
from graphtide.run.collection.made_columns import ENDS
from graphtide.run.collection.runner import RunSettings
from graphtide.run.collection.steps import Deltas, RunSteps, run_steps
from graphtide.run.collection.stored_graph import load_vertices
from graphtide.run.live.compiled import CompiledProgram
from graphtide.run.live.programs import Compiled, checked_parameters, compiled_program
from graphtide.run.shards.estimate import explained_shards
from graphtide.run.shards.making import chosen_shards, shards_of
from graphtide.run.shards.mesh import Sockets
from graphtide.run.shards.tasks import ShardOrder, row_bounds
from graphtide.store.behind import graph_behind
from graphtide.store.collection import StoredCollection
from graphtide.store.parts import Made
from graphtide.store.parts_on_disk import PartsOnDisk
from graphtide.store.shards import StoredShards
from graphtide.store.supersteps import KeptSupersteps, Note

ENTRY = "graphtide.run.shards.tasks:carry_out"
_LOOK_EVERY = 0.5


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
    found = compiled_program(bound, "exact")
    assert isinstance(found, CompiledProgram)
    return found


class ShardsInHand:
    """A program and the views of a collection, ready to be run on shards."""

    pairs = None

    def __init__(
        self,
        space: Workspace,
        stored: StoredCollection,
        compiled: Compiled,
        workers: int | None = None,
    ) -> None:
        self.compiled = on_shards(compiled)
        self._space = space
        self._workers = workers
        self._stored = stored
        self._plan = from_scratch(stored.plan)
        names = tuple(view.name for view in stored.views)
        deltas = Deltas(self._plan, stored.grouped_sizes)
        self.steps: RunSteps = run_steps(self._plan, names, deltas)
        self._known = load_vertices(graph_behind(space.catalog, stored), self.compiled.needed)
        edges = np.empty(0, np.int32)
        self.parameters = checked_parameters(self.compiled, self._known, edges)
        # Whatever Spark cannot do is refused before anything is written.
        assert self.tasks > 0

    @property
    def follows(self) -> bool:
        """True where views can go on from the one before."""
        program = self.compiled.bound.program
        named = typed_parameters(program, self.parameters)
        return can_follow(program, run_ending(program, named, None, None))

    def check_strategy(self, strategy: Strategy) -> None:
        """InputError if views are to follow each other that cannot."""
        program = self.compiled.bound.program
        if strategy == "differential" and not self.follows:
            raise InputError(
                f"on shards views follow each other only where a program selects and ends by "
                f"itself, and {program.name} does not",
                hint="leave out `strategy`: every view is run from scratch then",
            )

    def base(self) -> Values:
        """The results of the empty version, by one task here; compiles what tasks run."""
        vertices = self._known.resident.vertices
        program, none = self.compiled.bound.program, np.empty(0, np.int32)
        properties = dict.fromkeys(self.compiled.needed.properties, np.empty(0))
        empty = ShardEdges(np.zeros(vertices + 1, np.int64), none, none, none, properties)
        gathered, counted = ({way: [empty] for way in ways} for ways in ways_needed(program))
        graph = LocalGraph(Placement(vertices, 1, 1), 0, gathered, counted)
        exchange = MirrorExchange(graph, Sockets(0, {}))
        data = self._known.vertex_columns
        steps = Supersteps(program, self.parameters, graph, exchange, data)
        following = Following(steps, graph, follows=self.follows)
        # Where views follow, the way from a class to none compiles what tasks run as edges leave.
        for live in (True, False) if self.follows else (False,):
            ran = following.run(np.full(1, live))
        return steps.values(ran.rows)

    def explain(self) -> str:
        """What a run would do; nothing is made or run for it."""
        bound, vertices = self.compiled.bound, self._known.resident.vertices
        edges = int(self.steps.edges.max(initial=0))
        shards = chosen_shards(vertices, int(self._stored.weights.sum()))
        tasks = min(self.tasks, shards)
        named = typed_parameters(bound.program, self.parameters)
        width = row_layout(bound.program, plain=True).state_width.value(named)
        views = f"{bound} on {counted(len(self.steps), 'view')}, superstep by superstep"
        way = "from the last one, as far as its results stay" if self.follows else "from scratch"
        told = explained_shards(bound.program, vertices, edges, tasks, width)
        return f"{views}\neach view {way}\n{told}"

    @cached_property
    def tasks(self) -> int:
        """How many tasks there are, but for shards; all of them must run at the same time."""
        slots, wanted = self._space.gateway.slots_together(), self._workers
        if wanted is not None and wanted > slots:
            raise InputError(
                f"{wanted} tasks must run at the same time, and Spark has {slots} slots",
                hint=f"give up to {slots} workers, or Spark more executors",
            )
        return wanted or slots

    def run(
        self,
        parts: PartsOnDisk,
        name: str,
        checksum: str,
        settings: RunSettings,
        strategy: Strategy,
    ) -> list[Report]:
        """All views that are not finished yet."""
        report = settings.report
        report("making shards")
        shards = shards_of(self._space, self._stored)
        count = min(self.tasks, shards.shards)
        taking = _Taking(self.steps, parts, shards)
        taking.take_in()
        if taking.finished == len(self.steps):
            taking.kept.sweep()
            return []
        order = ShardOrder(
            folder=self._space.catalog.root,
            run=name,
            checksum=checksum,
            collection=self._stored.name,
            shards=shards.collection,
            program=self.compiled.bound,
            parameters=self.parameters,
            views=tuple(live_classes(self._plan)),
            first=taking.finished,
            strategy=strategy,
            keep_every=settings.keep_every,
            secret=secrets.token_bytes(32),
        )
        reports = self._tasks(order, count, taking, report)
        if taking.finished < len(self.steps):
            raise StoreError("the run was stopped elsewhere", hint="resume it: resume=True")
        taking.kept.sweep()
        return reports

    def _tasks(
        self, order: ShardOrder, count: int, taking: _Taking, report: Telling
    ) -> list[Report]:
        gateway, cache = self._space.gateway, str(cache_root())
        taking.kept.begin()
        try:
            with _watched(taking, len(self.steps), report):
                told = gateway.run_together(ENTRY, pickle.dumps(order), count, cache)
        except BaseException:
            taking.kept.stop()
            with contextlib.suppress(GraphtideError):
                taking.take_in()
            raise
        taking.take_in()
        reports: list[Report] = [pickle.loads(item) for item in told]
        failed = [item for item in reports if item.error is not None]
        if failed:
            raise min(failed, key=lambda item: item.number).failure()
        return reports


class _Taking:
    """Results that tasks have kept, on their way to become parts of the run."""

    def __init__(self, steps: RunSteps, parts: PartsOnDisk, shards: StoredShards) -> None:
        placement = Placement(shards.vertices, shards.shards, 1)
        self._parts = parts
        self._steps = steps
        self.kept = KeptSupersteps(parts, row_bounds(placement))
        record = parts.record()
        self.finished = 0 if record is None else int(record.num_rows)

    def take_in(self) -> None:
        """Make the finished views parts, as far as there are no gaps."""
        found = self.kept.results()
        while self.finished in found:
            self._take_in(self.finished, found[self.finished])
            self.finished += 1

    def _take_in(self, step: int, notes: list[Note]) -> None:
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
        fields = {
            name: [
                (note.path.parent / file, note.files[file])
                for note in notes
                for file in (note.told["fields"][name],)
            ]
            for name in told[0]["fields"]
        }
        made = [
            Made(
                item["worker"],
                0,
                item["began"],
                item["ended"],
                item["processor"],
                item.get("spans", ()),
            )
            for item in told
        ]
        self._parts.take_in(record, fields, made)


@contextlib.contextmanager
def _watched(taking: _Taking, steps: int, report: Telling) -> Iterator[None]:
    """Tell, as long as this lasts, how far all tasks together are."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_EVERY):
            with contextlib.suppress(OSError, GraphtideError):
                done, superstep = taking.kept.reached()
                kept = f", superstep {superstep:,} kept of the next" if superstep else ""
                report(f"{done:,} of {steps:,} views on shards{kept}", done / max(1, steps))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
