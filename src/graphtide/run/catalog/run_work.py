"""The work of a run, made ready: who makes its steps, and what is known of it before.

Steps are made by threads of this process, by tasks of Spark, or by tasks that hold shards of the
graph together. Everything that can be refused is refused here, before anything is written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from graphtide.engine.changes import Values
from graphtide.model.errors import DamagedError
from graphtide.optimize.strategy import Chooser
from graphtide.run.catalog.opened_runs import versions_text
from graphtide.run.catalog.stored_versions import edgeless_versions, stored_versions
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.facts import RunFacts, Strategy, begun_facts, facts_from
from graphtide.run.collection.settings import RunSettings
from graphtide.run.collection.start import On, RunInHand, Workers, tell_unused, warn_unused
from graphtide.run.collection.steps import RunSteps
from graphtide.run.live.programs import Compiled
from graphtide.run.live.result_rows import Pairs
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection
from graphtide.store.parts import Parts
from graphtide.store.parts_on_disk import PartsOnDisk
from graphtide.store.results import open_run
from graphtide.store.shards import discard_damaged

if TYPE_CHECKING:
    from graphtide.run.shards.earlier import Earlier

_log = logging.getLogger("graphtide")
BEFORE = "before"
"""Where a run names the earlier one that it goes on from."""

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
    seconds to begin, or where that is to be by `force`. On shards, tasks make every view together.
    What is asked for and not used is told, a line each.
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
    force: bool = False
    tell: Callable[[str], object] = warn_unused


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
class Work:
    """A run that is ready to go: what is known of it, and what makes the steps not made yet."""

    hand: InHand
    facts: RunFacts
    go: Callable[[Values, Parts], None]
    before: Earlier | None = None


def work_of(space: Workspace, stored: StoredCollection, request: RunRequest) -> Work:
    """Prepare a run: refuse what cannot be done, before anything is written."""
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
        tell_unused(hand, request.workers, request.tell, forced=request.force)
        chooser = request.chooser(hand) if request.chooser else hand.chooser(request.strategy)
        facts = _facts(stored, request, hand.pairs, request.compiled.choice.reason, hand.cuts)
        return Work(hand, facts, lambda base, run: hand.run(base, run, chooser, settings))
    # Imported here: the dataflow machine takes a second that other runs do not need.
    from graphtide.run.collection.grid import as_grid

    grid, versions = as_grid(request.compiled, versions, request.grid)
    hand = RunInHand(request.compiled, versions)
    facts = _facts(stored, request, hand.pairs, grid.reason)
    return Work(hand, facts, lambda base, parts: hand.run_grid(grid, base, parts, settings))


def _spark_work(space: Workspace, stored: StoredCollection, request: RunRequest) -> Work | None:
    """The work of a run whose steps tasks of Spark make; None where it stays in this process."""
    catalog, compiled, settings = space.catalog, request.compiled, request.settings
    versions = edgeless_versions(catalog, stored, compiled)
    workers = _workers(catalog, stored, request)
    slots = workers.count or space.gateway.slots()
    wanted = replace(workers, count=slots, on_spark=True, forced=request.force)
    hand = RunInHand(compiled, versions, wanted)
    if hand.sub_plans is None:
        request.tell(_why_here(hand, resumed=workers.cuts is not None))
        return None
    tell_unused(hand, request.workers, request.tell, forced=request.force)
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
    return Work(hand, facts, go)


def _why_here(hand: RunInHand, *, resumed: bool) -> str:
    """Why a run that was to be on Spark stays in this process."""
    why = (
        f"it is expected to take {hand.cutting.alone:.2g} s here, before tasks of Spark have begun"
    )
    if resumed:
        why = "it goes on with the one sub-plan that it was begun with"
    return (
        f"on='spark': the run stays in this process, since {why}; force=True ('forced' in GVDL) "
        "runs it on Spark"
    )


def _shards_work(space: Workspace, stored: StoredCollection, request: RunRequest) -> Work:
    """The work of a run whose views tasks of Spark compute together, each on some shards."""
    # Imported here: runs in this process need no Spark.
    from graphtide.run.shards.runs import ShardsInHand

    hand = ShardsInHand(space, stored, request.compiled, request.workers)
    hand.check_strategy(request.strategy)
    request = replace(request, compiled=hand.compiled)

    def go(base: Values, parts: Parts) -> None:
        assert isinstance(parts, PartsOnDisk)
        run = open_run(space.catalog, request.name)
        earlier = run.manifest.get(BEFORE)
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
    return Work(hand, replace(facts, on_shards=True), go, before)


def _workers(catalog: Catalog, stored: StoredCollection, request: RunRequest) -> Workers:
    """How many workers, and their sub-plans; a resumed run keeps those that it was begun with.

    Where a chooser is given, it knows the steps of the plan: that is not cut then.
    """
    cuts = None
    if request.resume:
        begun = facts_from(request.name, open_run(catalog, request.name).manifest)
        same = begun.versions == versions_text(stored)
        # Whatever is not the same is refused in a moment, by its identity.
        cuts = begun.cuts if same else ()
    count = 1 if request.chooser else request.workers
    return Workers(count, request.strategy, cuts)


def _facts(
    stored: StoredCollection,
    request: RunRequest,
    pairs: Pairs | None,
    reason: str,
    cuts: tuple[int, ...] = (),
    visited: str = "",
) -> RunFacts:
    versions = versions_text(stored)
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
