"""Runs of the catalog: begun, resumed and found again by name."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from graphtide.engine.changes import Values
from graphtide.model.errors import DamagedError, NotFoundError, StoreError
from graphtide.optimize.strategy import Chooser
from graphtide.run.catalog.stored_versions import edgeless_versions, stored_versions
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.facts import RunFacts, Strategy, begun_facts, facts_from
from graphtide.run.collection.kept_base import KeptBase
from graphtide.run.collection.reading import Differences
from graphtide.run.collection.runner import RunSettings
from graphtide.run.collection.start import On, RunInHand, Workers, base_tables, base_values
from graphtide.run.collection.steps import RunSteps, steps_from, steps_table
from graphtide.run.collection.stored_vertices import StoredVertices
from graphtide.run.collection.touched import TouchedVertices
from graphtide.run.live.programs import Compiled
from graphtide.run.live.result_rows import PairRows, Pairs, ResultRows
from graphtide.run.progress import shown
from graphtide.store.behind import graph_behind
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection, open_collection
from graphtide.store.graph import StoredGraph, open_graph
from graphtide.store.history import find_state
from graphtide.store.merged import edge_table
from graphtide.store.parts import Parts, PartsInMemory, RecordOnly
from graphtide.store.parts_on_disk import PartsOnDisk
from graphtide.store.results import StoredRun, begin_run, continue_run, open_run
from graphtide.store.shards import discard_damaged

if TYPE_CHECKING:
    from graphtide.run.shards.earlier import Earlier

_log = logging.getLogger("graphtide")
_BEFORE = "before"
SHARDED = "tasks hold shards of the graph, and run iteration by iteration"
"""Why a run on shards is in the mode that it is in."""

GOES_ON = "on from where the run before it ended"


@dataclass(frozen=True)
class RunRequest:
    """A run that a user asks for. `chooser` overrides what the strategy would choose.

    With `grid`, rows and columns, the views are fed as versions of two coordinates. Where results
    are not to be `kept`, nothing is written: what is left is the record, and the results of pairs.
    An earlier run of the name is an error unless it is to `replace` it. `workers` is how many there
    are, None as many as pay. `on` Spark, tasks make the steps: where that pays, for it takes a few
    seconds to begin. On shards, tasks make every view together.
    """

    name: str
    compiled: Compiled
    strategy: Strategy = "adaptive"
    resume: bool = False
    settings: RunSettings = field(default_factory=RunSettings)
    chooser: Callable[[RunInHand], Chooser] | None = None
    grid: tuple[int, int] | None = None
    kept: bool = True
    replace: bool = True
    workers: int | None = None
    on: On | None = None


class InHand(Protocol):
    """A program and what it visits, ready to run."""

    @property
    def steps(self) -> RunSteps:
        """What is visited."""

    @property
    def pairs(self) -> Pairs | None:
        """The pairs that results belong to; None where they are those of vertices."""

    def base(self) -> Values:
        """The results of the empty version."""


@dataclass(frozen=True)
class _Work:
    """A run that is ready to go: what is known of it, and what makes the steps not made yet."""

    hand: InHand
    facts: RunFacts
    go: Callable[[Values, Parts], None]
    before: Earlier | None = None


def run_collection(space: Workspace, stored: StoredCollection, request: RunRequest) -> RunContents:
    """Run a program over a collection, or go on where an earlier run was left off."""
    with shown(f"run {request.name}", enabled=space.progress) as report:
        report("reading the collection")
        request = replace(request, settings=replace(request.settings, report=report))
        if request.resume:
            _check_begun(space.catalog, request.name)
        work = _work(space, stored, request)
        if not request.kept:
            return _run_unkept(space.catalog, stored, work)
        if request.resume:
            with continue_run(space.catalog, request.name) as run:
                _check_same(run, work.facts)
                work.go(base_values(run.base()), run.parts)
        else:
            base = work.hand.base()
            tables = base_tables(base, work.facts), steps_table(work.hand.steps)
            name, before = request.name, work.before
            facts = work.facts.to_json() | ({} if before is None else {_BEFORE: before.told})
            files = {} if before is None else before.files
            words: dict[str, Any] = {"replace": request.replace, "linked": files}
            with begin_run(space.catalog, name, facts, *tables, **words) as run:
                work.go(base, run.parts)
    return open_stored_run(space.catalog, request.name)


def explain_run(
    space: Workspace,
    stored: StoredCollection,
    compiled: Compiled,
    workers: int | None = None,
    on: On | None = None,
) -> str:
    """What a run would do, and about how long it would take; runs on one view.

    On shards nothing is run: no process has the view.
    """
    if on == "shards":
        from graphtide.run.shards.runs import ShardsInHand

        return ShardsInHand(space, stored, compiled, workers).explain()
    count = workers or space.gateway.slots() if on == "spark" else workers
    asked = Workers(count, asked_only=True, on_spark=on == "spark")
    versions = stored_versions(space.catalog, stored, compiled)
    return RunInHand(compiled, versions, asked).explain(stored.plan)


def open_stored_run(catalog: Catalog, name: str) -> RunContents:
    """The run of that name, with the steps that are finished now."""
    stored = open_run(catalog, name)
    facts = facts_from(name, stored.manifest)
    try:
        graph = open_graph(catalog, facts.graph)
    except NotFoundError:
        graph = None
    found = None if graph is None else find_state(graph, facts.graph_identity)
    if graph is None or found is None:
        raise StoreError(
            f"the graph '{facts.graph}' behind the run '{name}' "
            + ("is gone" if graph is None else "has been loaded anew since"),
            hint="the ids of its results are not known any more: run the program again",
        )
    steps, differences = steps_from(stored.steps()), Differences(stored.parts, facts.results)
    # Vertices keep their numbers and ids for good: the first so many are those of then.
    then, base = graph.at(found.state), base_values(stored.base())
    rows = _rows(then, facts.pairs, paged=facts.on_shards)
    if facts.on_shards:
        base = KeptBase(base, stored.parts, then.vertices)
    touched = partial(_touched, catalog, facts)
    return RunContents(facts, steps, differences, base, rows, touched)


def _touched(catalog: Catalog, facts: RunFacts) -> TouchedVertices:
    """The vertices that views touch, from the collection as it was when the run was made."""
    try:
        stored = open_collection(catalog, facts.collection)
    except NotFoundError:
        stored = None
    if stored is None or _versions_text(stored) != facts.versions:
        raise StoreError(
            f"the collection '{facts.collection}' behind the run '{facts.name}' "
            + ("is gone" if stored is None else "has been made anew since"),
            hint="which vertices its views touch is not known any more: run the program again",
        )
    ends_of = edge_table(graph_behind(catalog, stored), ["_src", "_dst"])
    src, dst = (ends_of.column(name).to_numpy() for name in ("_src", "_dst"))
    names = [view.name for view in stored.views]
    ends = lambda edges: (src[edges], dst[edges])  # noqa: E731
    return TouchedVertices(stored.plan, names, stored.grouped_edges, ends)


def _versions_text(stored: StoredCollection) -> str:
    """A collection as of now, as text."""
    return f"{stored.name}|{stored.created.isoformat()}|{stored.facts.graph_identity}"


def _rows(graph: StoredGraph, pairs: Pairs | None, *, paged: bool = False) -> ResultRows:
    vertices = StoredVertices(graph, paged=paged)
    return vertices if pairs is None else PairRows(vertices, pairs)


def _work(space: Workspace, stored: StoredCollection, request: RunRequest) -> _Work:
    """Everything that can be refused is refused here, before anything is written."""
    if request.on == "shards":
        return _shards_work(space, stored, request)
    if request.on == "spark":
        work = _spark_work(space, stored, request)
        if work is not None:
            return work
    catalog = space.catalog
    versions, settings = stored_versions(catalog, stored, request.compiled), request.settings
    if request.grid is None:
        hand = RunInHand(request.compiled, versions, _workers(catalog, stored, request))
        chooser = request.chooser(hand) if request.chooser else hand.chooser(request.strategy)
        facts = _facts(stored, request, hand.pairs, request.compiled.choice.reason, hand.cuts)
        return _Work(hand, facts, lambda base, run: hand.run(base, run, chooser, settings))
    # Imported here: the dataflow machine takes a second that other runs do not need.
    from graphtide.run.collection.grid import as_grid

    grid, versions = as_grid(request.compiled, versions, request.grid)
    hand = RunInHand(request.compiled, versions)
    facts = _facts(stored, request, hand.pairs, grid.reason)
    return _Work(hand, facts, lambda base, parts: hand.run_grid(grid, base, parts, settings))


def _spark_work(space: Workspace, stored: StoredCollection, request: RunRequest) -> _Work | None:
    """The work of a run whose steps tasks of Spark make; None where it stays in this process."""
    catalog, compiled, settings = space.catalog, request.compiled, request.settings
    versions = edgeless_versions(catalog, stored, compiled)
    workers = _workers(catalog, stored, request)
    slots = workers.count or space.gateway.slots()
    hand = RunInHand(compiled, versions, replace(workers, count=slots, on_spark=True))
    if hand.sub_plans is None:
        return None
    # Imported here: runs in this process need no Spark.
    from graphtide.run.catalog.spark_runs import SparkRun
    from graphtide.run.catalog.spark_tasks import Order

    def go(base: Values, parts: Parts) -> None:
        assert isinstance(parts, PartsOnDisk)
        assert hand.sub_plans is not None
        order = Order(
            folder=catalog.root,
            run=request.name,
            checksum=open_run(catalog, request.name).generation.checksum,
            collection=stored.name,
            program=compiled.bound,
            mode=compiled.choice.mode if compiled.choice.mode in ("fixpoint", "exact") else "auto",
            strategy=request.strategy,
            cuts=hand.cuts,
            verify=settings.verify,
            keep_every=settings.keep_every,
        )
        SparkRun(space, order, hand.sub_plans, parts, settings.report).run()

    facts = _facts(stored, request, hand.pairs, compiled.choice.reason, hand.cuts)
    return _Work(hand, facts, go)


def _shards_work(space: Workspace, stored: StoredCollection, request: RunRequest) -> _Work:
    """The work of a run whose views tasks of Spark compute together, each on some shards."""
    # Imported here: runs in this process need no Spark.
    from graphtide.run.shards.runs import ShardsInHand

    hand = ShardsInHand(space, stored, request.compiled, request.workers)
    hand.check_strategy(request.strategy)
    request = replace(request, compiled=hand.compiled)

    def go(base: Values, parts: Parts) -> None:
        assert isinstance(parts, PartsOnDisk)
        run = open_run(space.catalog, request.name)
        earlier = run.manifest.get(_BEFORE)
        checksum = run.generation.checksum
        given = parts, request.name, checksum, request.settings, request.strategy, earlier
        try:
            hand.run(*given)
        except DamagedError as error:
            if not discard_damaged(space.catalog, stored.name, error):
                raise
            _log.warning("%s; they are made again from the collection", error.what)
            hand.run(*given)

    before = None if request.resume else hand.earlier(request.name, request.strategy)
    reason = SHARDED if before is None else f"{SHARDED}; {GOES_ON}"
    facts = _facts(stored, request, None, reason, visited="|shards")
    return _Work(hand, replace(facts, on_shards=True), go, before)


def _workers(catalog: Catalog, stored: StoredCollection, request: RunRequest) -> Workers:
    """As many as were asked for; a run that is resumed has the sub-plans that it was begun with.

    Where a chooser is given, it knows the steps of the plan: that is not cut then.
    """
    cuts = None
    if request.resume:
        begun = facts_from(request.name, open_run(catalog, request.name).manifest)
        same = begun.versions == _versions_text(stored)
        # Whatever is not the same is refused in a moment, by its identity.
        cuts = begun.cuts if same else ()
    count = 1 if request.chooser else request.workers
    return Workers(count, request.strategy, cuts)


def _run_unkept(catalog: Catalog, stored: StoredCollection, work: _Work) -> RunContents:
    """Run without writing anything: nothing to lock, to resume or to find by name."""
    pairs = work.hand.pairs
    parts = RecordOnly() if pairs is None else PartsInMemory()
    base = work.hand.base()
    work.go(base, parts)
    differences = Differences(parts, work.facts.results)
    graph = graph_behind(catalog, stored)
    rows, touched = _rows(graph, pairs), partial(_touched, catalog, work.facts)
    return RunContents(work.facts, work.hand.steps, differences, base, rows, touched)


def _check_begun(catalog: Catalog, name: str) -> None:
    try:
        catalog.existing_run(name)
    except NotFoundError as error:
        error.hint = f"{error.hint}; without `resume` a run of that name is begun"
        raise


def _check_same(run: StoredRun, wanted: RunFacts) -> None:
    found = facts_from(run.name, run.manifest)
    if found.identity != wanted.identity:
        raise StoreError(
            f"the run '{run.name}' cannot be resumed: it was {found.program} in {found.mode} "
            f"mode on '{found.collection}' as of then, and is to be {wanted.program} in "
            f"{wanted.mode} mode on '{wanted.collection}' as of now",
            hint="leave out resume=True to begin anew, or give another name",
        )


def _facts(
    stored: StoredCollection,
    request: RunRequest,
    pairs: Pairs | None,
    reason: str,
    cuts: tuple[int, ...] = (),
    visited: str = "",
) -> RunFacts:
    versions = _versions_text(stored)
    return begun_facts(
        request.compiled,
        request.strategy,
        pairs,
        f"{versions}{visited}" if request.grid is None else f"{versions}|{request.grid}",
        cuts,
        name=request.name,
        collection=stored.name,
        reason=reason,
        graph=stored.facts.graph,
        graph_identity=stored.facts.graph_identity,
        versions=versions,
    )
