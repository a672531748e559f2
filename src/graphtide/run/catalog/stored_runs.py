"""Begins, resumes and explains the runs of a catalog.

The work of a run is prepared first: who makes its steps, and what is known of it before. Steps are
made by threads of this process, by tasks of Spark, or by tasks that hold shards of the graph
together. Everything that can be refused is refused then, before anything is written.

A run stores what it was asked for: its program, as live graphs store one, with its parameters, and
how it was to run. So it can be resumed by its name alone. Programs of the library are found by
name, others are read from their text; a dataflow is a function, which is found only where the
caller trusts its module.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from graphtide.engine.changes import Values
from graphtide.model.errors import (
    DamagedError,
    GraphtideError,
    InputError,
    NotFoundError,
    StoreError,
)
from graphtide.optimize.strategy import Chooser
from graphtide.run.catalog.listings import finished_views
from graphtide.run.catalog.opened_runs import (
    SOURCE,
    collection_behind,
    edgeless_versions,
    open_stored_run,
    program_source,
    result_rows,
    stored_versions,
    touched_vertices,
    versions_text,
)
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.differences import RunDifferences
from graphtide.run.collection.facts import RunFacts, RunSettings, Strategy, begun_facts, facts_from
from graphtide.run.collection.start import (
    On,
    RunInHand,
    WorkerSettings,
    base_tables,
    base_values,
    tell_unused,
    warn_unused,
)
from graphtide.run.collection.steps import RunSteps, steps_table
from graphtide.run.live.programs import Bound, Compiled, compiled_program
from graphtide.run.live.results import Pairs
from graphtide.run.progress import shown
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection, graph_behind
from graphtide.store.parts import Parts, PartsInMemory, RecordOnly
from graphtide.store.results import PartsOnDisk, StoredRun, begin_run, continue_run, open_run
from graphtide.store.shards import discard_damaged

if TYPE_CHECKING:
    from graphtide.run.shards.orders import Earlier


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
class RunWork:
    """A run that is ready to go: what is known of it, and what makes the steps not made yet."""

    hand: InHand
    facts: RunFacts
    go: Callable[[Values, Parts], None]
    before: Earlier | None = None


def work_of(space: Workspace, stored: StoredCollection, request: RunRequest) -> RunWork:
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
        return RunWork(hand, facts, lambda base, run: hand.run(base, run, chooser, settings))
    # Imported here: the dataflow machine takes a second that other runs do not need.
    from graphtide.run.collection.grid import as_grid

    grid, versions = as_grid(request.compiled, versions, request.grid)
    hand = RunInHand(request.compiled, versions)
    facts = _facts(stored, request, hand.pairs, grid.reason)
    return RunWork(hand, facts, lambda base, parts: hand.run_grid(grid, base, parts, settings))


def _spark_work(space: Workspace, stored: StoredCollection, request: RunRequest) -> RunWork | None:
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
    from graphtide.run.catalog.spark_runs import SparkRun, SubPlanOrder

    def go(base: Values, parts: Parts) -> None:
        assert isinstance(parts, PartsOnDisk)
        assert hand.sub_plans is not None
        order = SubPlanOrder(
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
    return RunWork(hand, facts, go)


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


def _shards_work(space: Workspace, stored: StoredCollection, request: RunRequest) -> RunWork:
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
    return RunWork(hand, replace(facts, on_shards=True), go, before)


def _workers(catalog: Catalog, stored: StoredCollection, request: RunRequest) -> WorkerSettings:
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
    return WorkerSettings(count, request.strategy, cuts)


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


ASKED = "asked"
"""Where a run says what it was asked for."""


def run_collection(space: Workspace, stored: StoredCollection, request: RunRequest) -> RunContents:
    """Run a program over a collection, or go on where an earlier run was left off."""
    with shown(f"run {request.name}", enabled=space.progress) as report:
        report("reading the collection")
        request = replace(request, settings=replace(request.settings, report=report))
        if request.resume:
            _check_begun(space.catalog, request.name)
        work = work_of(space, stored, request)
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
            facts = work.facts.to_json() | ({} if before is None else {BEFORE: before.told})
            facts |= program_source(request.compiled) | {ASKED: _asked(request)}
            files = {} if before is None else before.files
            words: dict[str, Any] = {"replace": request.replace, "linked": files}
            with begin_run(space.catalog, name, facts, *tables, **words) as run:
                work.go(base, run.parts)
    return open_stored_run(space.catalog, request.name)


def _asked(request: RunRequest) -> dict[str, Any]:
    """What a run was asked for, so that it can be resumed by its name alone."""
    # Imported here: programs, which who looks at results does not need.
    from graphtide.run.durable.registrations import stored_program

    asked: dict[str, Any] = {"grid": request.grid, "verify": request.settings.verify}
    asked |= {"workers": request.workers, "on": request.on, "force": request.force}
    with suppress(GraphtideError):
        asked["program"] = stored_program(request.compiled.bound)
    return asked


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
    asked = WorkerSettings(count, asked_only=True, on_spark=on == "spark")
    versions = stored_versions(space.catalog, stored, compiled)
    return RunInHand(compiled, versions, asked).explain(stored.plan)


def _run_unkept(catalog: Catalog, stored: StoredCollection, work: RunWork) -> RunContents:
    """Run without writing anything: nothing to lock, to resume or to find by name."""
    pairs = work.hand.pairs
    parts = RecordOnly() if pairs is None else PartsInMemory()
    base = work.hand.base()
    work.go(base, parts)
    differences = RunDifferences(parts, work.facts.results)
    graph = graph_behind(catalog, stored)
    rows, touched = result_rows(graph, pairs), partial(touched_vertices, catalog, work.facts)
    return RunContents(work.facts, work.hand.steps, differences, base, rows, touched)


def _check_begun(catalog: Catalog, name: str) -> None:
    try:
        catalog.existing_run(name)
    except NotFoundError as error:
        error.hint = f"{error.hint}; without `resume` a run of that name is begun"
        raise


def _check_same(run: StoredRun, wanted: RunFacts) -> None:
    earlier = facts_from(run.name, run.manifest)
    if earlier.identity != wanted.identity:
        raise StoreError(
            f"the run '{run.name}' cannot be resumed: it was {earlier.program} in {earlier.mode} "
            f"mode on '{earlier.collection}' as of then, and is to be {wanted.program} in "
            f"{wanted.mode} mode on '{wanted.collection}' as of now",
            hint="leave out resume=True to begin anew, or give another name",
        )


def resume_run(space: Workspace, name: str) -> RunContents:
    """Go on with the run of that name; InputError where it is finished or its program unknown."""
    return run_collection(space, *resumed(space, name))


def resumed(space: Workspace, name: str) -> tuple[StoredCollection, RunRequest]:
    """The collection of a run that was left off, and the request that goes on with it."""
    run = open_run(space.catalog, name)
    facts = facts_from(name, run.manifest)
    done, views = finished_views(run)
    if done == views:
        raise InputError(f"the run '{name}' is finished", hint="run it again to begin anew")
    stored = collection_behind(space.catalog, facts, "which edges its views have")
    asked = run.manifest.get(ASKED)
    asked = asked if isinstance(asked, dict) else {}
    program = _program(space, run, facts, asked)
    mode: Any = facts.mode if facts.mode in ("fixpoint", "exact") else "auto"
    compiled = compiled_program(
        program, mode, directed=graph_behind(space.catalog, stored).directed
    )
    grid = asked.get("grid")
    on: Any = "shards" if facts.on_shards else asked.get("on")
    return stored, RunRequest(
        name,
        compiled,
        facts.strategy,
        resume=True,
        settings=RunSettings(verify=asked.get("verify")),
        grid=None if grid is None else (int(grid[0]), int(grid[1])),
        workers=asked.get("workers"),
        on=on,
        force=bool(asked.get("force")),
    )


def _program(space: Workspace, run: StoredRun, facts: RunFacts, asked: dict[str, Any]) -> Bound:
    # Imported here: looking at what is stored needs no programs.
    from graphtide.run.durable.registrations import made_program, trusted

    source = asked.get("program") or run.manifest.get(SOURCE)
    hint = (
        f"go on in Python: session.collection('{facts.collection}').run(program, "
        f"name='{run.name}', resume=True)"
    )
    if not isinstance(source, dict):
        raise InputError(
            f"the run '{run.name}' does not say what its program {facts.program} is", hint=hint
        )
    try:
        return made_program(source, trusted(space.trust))
    except GraphtideError as error:
        raise InputError(error.what, where=error.where, hint=hint) from None
