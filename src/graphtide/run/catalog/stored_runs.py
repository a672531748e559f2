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
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

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
from graphtide.run.collection.facts import (
    BEFORE,
    RunFacts,
    RunRequest,
    RunSettings,
    begun_facts,
    facts_from,
)
from graphtide.run.collection.start import PreparedRun, base_tables, base_values
from graphtide.run.collection.steps import steps_table
from graphtide.run.live.programs import Bound, compiled_program
from graphtide.run.progress import shown
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection, graph_behind
from graphtide.store.parts import Parts, PartsInMemory, PartsOnDisk, RecordOnly
from graphtide.store.results import StoredRun, begin_run, continue_run, open_run
from graphtide.store.shards import discard_damaged

if TYPE_CHECKING:
    from graphtide.run.shards.runs import ShardedRun


_log = logging.getLogger("graphtide")


def prepared_run(
    space: Workspace, stored: StoredCollection, request: RunRequest
) -> PreparedRun | ShardedRun:
    """A run that is ready to go: what cannot be done is refused before anything is written."""
    if request.on == "shards":
        # Imported here: runs in this process need no Spark.
        from graphtide.run.shards.runs import ShardedRun

        return ShardedRun(space, stored, request)
    cuts = _begun_cuts(space.catalog, stored, request) if request.resume else None
    if request.on == "spark":
        run: PreparedRun = SparkPreparedRun(space, stored, request, cuts)
        if run.sub_plans is not None:
            run.tell_unused(request.workers)
            return run
        request.tell(_why_here(run, resumed=cuts is not None))
        request = replace(request, on=None)
    versions = stored_versions(space.catalog, stored, request.compiled)
    run = PreparedRun(versions, request, cuts=cuts if request.grid is None else None)
    run.tell_unused(request.workers)
    return run


class SparkPreparedRun(PreparedRun):
    """A run whose steps tasks of Spark make: it has all vertices, and sizes in place of edges."""

    def __init__(
        self,
        space: Workspace,
        stored: StoredCollection,
        request: RunRequest,
        cuts: tuple[int, ...] | None,
    ) -> None:
        self._space, self._collection = space, stored.name
        slots = request.workers or space.gateway.slots()
        versions = edgeless_versions(space.catalog, stored, request.compiled)
        super().__init__(versions, replace(request, workers=slots), cuts=cuts)

    def run(
        self,
        base: Values,
        parts: Parts,
        chooser: Chooser | None = None,
        settings: RunSettings | None = None,
    ) -> None:
        """All steps that are not finished yet, each made by a task."""
        # Imported here: runs in this process need no Spark.
        from graphtide.run.catalog.spark_runs import SparkRun, SubPlanOrder

        assert isinstance(parts, PartsOnDisk)
        assert self.sub_plans is not None
        request, mode = self.request, self.compiled.choice.mode
        catalog, settings = self._space.catalog, settings or request.settings
        order = SubPlanOrder(
            folder=catalog.root,
            run=request.name,
            checksum=open_run(catalog, request.name).generation.checksum,
            collection=self._collection,
            program=self.compiled.bound,
            mode=mode if mode in ("fixpoint", "exact") else "auto",
            strategy=request.strategy,
            cuts=self.cuts,
            verify=settings.verify,
            keep_every=settings.keep_every,
        )
        SparkRun(self._space, order, self.sub_plans, parts, settings.report).run()


def _begun_cuts(catalog: Catalog, stored: StoredCollection, request: RunRequest) -> tuple[int, ...]:
    """The cuts that a run was begun with; none where it is not the same, and soon refused."""
    begun = facts_from(request.name, open_run(catalog, request.name).manifest)
    return begun.cuts if begun.versions == versions_text(stored) else ()


def _why_here(run: PreparedRun, *, resumed: bool) -> str:
    """Why a run that was to be on Spark stays in this process."""
    why = f"it is expected to take {run.cutting.alone:.2g} s here, before tasks of Spark have begun"
    if resumed:
        why = "it goes on with the one sub-plan that it was begun with"
    return (
        f"on='spark': the run stays in this process, since {why}; force=True ('forced' in GVDL) "
        "runs it on Spark"
    )


def _facts(stored: StoredCollection, run: PreparedRun | ShardedRun) -> RunFacts:
    versions, grid = versions_text(stored), run.request.grid
    on_shards = run.request.on == "shards"
    visited = f"{versions}|shards" if on_shards else versions
    facts = begun_facts(
        run.request,
        run.pairs,
        visited if grid is None else f"{versions}|{grid}",
        run.cuts if grid is None else (),
        collection=stored.name,
        reason=run.reason,
        graph=stored.facts.graph,
        graph_identity=stored.facts.graph_identity,
        versions=versions,
    )
    return replace(facts, on_shards=on_shards)


ASKED = "asked"
"""Where a run says what it was asked for."""


def run_collection(space: Workspace, stored: StoredCollection, request: RunRequest) -> RunContents:
    """Run a program over a collection, or go on where an earlier run was left off."""
    catalog, name = space.catalog, request.name
    with shown(f"run {name}", enabled=space.progress) as report:
        report("reading the collection")
        if request.resume:
            _check_begun(catalog, name)
        run = prepared_run(space, stored, request.reporting_to(report))
        facts = _facts(stored, run)
        if not request.kept:
            return _run_unkept(catalog, stored, run, facts)
        if request.resume:
            with continue_run(catalog, name) as begun:
                _check_same(begun, facts)
                _carry_out(catalog, stored, run, base_values(begun.base()), begun.parts)
        else:
            base, before = run.base(), None if isinstance(run, PreparedRun) else run.before
            tables = base_tables(base, facts), steps_table(run.steps)
            manifest = facts.to_json() | ({} if before is None else {BEFORE: before.told})
            manifest |= program_source(request.compiled) | {ASKED: _asked(request)}
            files = {} if before is None else before.files
            words: dict[str, Any] = {"replace": request.replace, "linked": files}
            with begin_run(catalog, name, manifest, *tables, **words) as begun:
                _carry_out(catalog, stored, run, base, begun.parts)
    return open_stored_run(catalog, name)


def _carry_out(
    catalog: Catalog,
    stored: StoredCollection,
    run: PreparedRun | ShardedRun,
    base: Values,
    parts: Parts,
) -> None:
    """Make the steps that are not made yet; shards that are damaged are made again, once."""
    try:
        run.run(base, parts)
    except DamagedError as error:
        if run.request.on != "shards" or not discard_damaged(catalog, stored.name, error):
            raise
        _log.warning("%s; they are made again from the collection", error.what)
        run.run(base, parts)


def _asked(request: RunRequest) -> dict[str, Any]:
    """What a run was asked for, so that it can be resumed by its name alone."""
    # Imported here: programs, which who looks at results does not need.
    from graphtide.run.durable.registrations import stored_program

    asked: dict[str, Any] = {"grid": request.grid, "verify": request.settings.verify}
    asked |= {"workers": request.workers, "on": request.on, "force": request.force}
    with suppress(GraphtideError):
        asked["program"] = stored_program(request.compiled.bound)
    return asked


def explain_run(space: Workspace, stored: StoredCollection, request: RunRequest) -> str:
    """What a run would do, and about how long it would take; runs on one view.

    On shards nothing is run: no process has the view.
    """
    if request.on == "shards":
        from graphtide.run.shards.runs import ShardedRun

        return ShardedRun(space, stored, request).explain()
    if request.on == "spark":
        request = replace(request, workers=request.workers or space.gateway.slots())
    versions = stored_versions(space.catalog, stored, request.compiled)
    return PreparedRun(versions, request, whole=True).explain()


def _run_unkept(
    catalog: Catalog, stored: StoredCollection, run: PreparedRun | ShardedRun, facts: RunFacts
) -> RunContents:
    """Run without writing anything: nothing to lock, to resume or to find by name."""
    parts = RecordOnly() if run.pairs is None else PartsInMemory()
    base = run.base()
    run.run(base, parts)
    differences = RunDifferences(parts, facts.results)
    rows = result_rows(graph_behind(catalog, stored), run.pairs)
    touched = partial(touched_vertices, catalog, facts)
    return RunContents(facts, run.steps, differences, base, rows, touched)


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
