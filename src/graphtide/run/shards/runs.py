"""A run on shards as its driver sees it: made ready, handed to Spark, and taken in.

The driver knows the plan and what tasks say of their files. It reads no edges and no vertices, and
no results come to it: what tasks have written becomes parts of the run, by links (`taking`).
Vertices that a program names are found by tasks, and what it cannot take is refused by those who
read it. Whatever ends a run before, finished views become parts of it, and the last superstep that
all tasks have kept stays for whoever resumes it.
"""

from __future__ import annotations

import contextlib
import pickle
import secrets
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

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
from graphtide.plan.program_values import BoundProgram
from graphtide.plan.scratch_plans import from_scratch, live_classes
from graphtide.run.catalog.spark_tasks import Report
from graphtide.run.catalog.watching import watched
from graphtide.run.catalog.whole_views import is_whole
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.facts import Strategy
from graphtide.run.collection.made_columns import ENDS
from graphtide.run.collection.settings import RunSettings
from graphtide.run.collection.steps import Deltas, RunSteps, ViewVertices, run_steps
from graphtide.run.collection.stored_graph import check_columns, unread_vertex_table
from graphtide.run.live.compiled import CompiledProgram
from graphtide.run.live.programs import Compiled, compiled_program, vertex_parameters
from graphtide.run.live.vertex_columns import VertexColumns
from graphtide.run.shards.asked_vertices import AskedVertices
from graphtide.run.shards.earlier import Earlier, earlier_states, states_before, states_identity
from graphtide.run.shards.estimate import explained_shards
from graphtide.run.shards.making import chosen_shards, shards_of
from graphtide.run.shards.mesh import Sockets
from graphtide.run.shards.orders import ShardOrder, StatesBefore
from graphtide.run.shards.taking import Taking, progress_of
from graphtide.store.behind import graph_behind
from graphtide.store.collection import StoredCollection
from graphtide.store.parts_on_disk import PartsOnDisk

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
        earlier: Mapping[str, Any] | None = None,
    ) -> list[Report]:
        """All views that are not finished yet; on from an `earlier` run, if there is one."""
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
            before=self._before(earlier) if earlier and same else None,
            states=self._goes_on and strategy != "scratch",
            removed=tuple(
                self.steps.vertices.removed.get(view, ()) for view in self.steps.view.tolist()
            ),
        )
        reports = self._tasks(order, count, taking, report)
        if taking.finished < len(self.steps):
            raise StoreError("the run was stopped elsewhere", hint="resume it: resume=True")
        taking.kept.sweep()
        return reports

    def earlier(self, name: str, strategy: Strategy) -> Earlier | None:
        """What the last run of a name left for this one to go on from."""
        if strategy == "scratch" or not self._goes_on:
            return None
        before = earlier_states(self._space.catalog, self._stored, name, self._identity)
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
    ) -> list[Report]:
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
        reports: list[Report] = [pickle.loads(item) for item in told]
        failed = [item for item in reports if item.error is not None]
        if failed:
            raise min(failed, key=lambda item: item.number).failure()
        return reports
