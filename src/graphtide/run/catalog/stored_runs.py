"""Begins, resumes and explains the runs of a catalog."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from graphtide.model.errors import GraphtideError, NotFoundError, StoreError
from graphtide.run.catalog.opened_runs import (
    open_stored_run,
    program_source,
    result_rows,
    touched_vertices,
)
from graphtide.run.catalog.run_work import BEFORE, RunRequest, Work, work_of
from graphtide.run.catalog.stored_versions import stored_versions
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.facts import RunFacts, facts_from
from graphtide.run.collection.reading import Differences
from graphtide.run.collection.start import On, RunInHand, Workers, base_tables, base_values
from graphtide.run.collection.steps import steps_table
from graphtide.run.live.programs import Compiled
from graphtide.run.progress import shown
from graphtide.store.behind import graph_behind
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection
from graphtide.store.parts import PartsInMemory, RecordOnly
from graphtide.store.results import StoredRun, begin_run, continue_run

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
    from graphtide.run.durable.registered import stored_program

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
    asked = Workers(count, asked_only=True, on_spark=on == "spark")
    versions = stored_versions(space.catalog, stored, compiled)
    return RunInHand(compiled, versions, asked).explain(stored.plan)


def _run_unkept(catalog: Catalog, stored: StoredCollection, work: Work) -> RunContents:
    """Run without writing anything: nothing to lock, to resume or to find by name."""
    pairs = work.hand.pairs
    parts = RecordOnly() if pairs is None else PartsInMemory()
    base = work.hand.base()
    work.go(base, parts)
    differences = Differences(parts, work.facts.results)
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
