"""Go on with a run by its name alone: what it was is stored with it.

A run stores what it was asked for: its program, as live graphs store one, with its parameters, and
how it was to run. Programs of the library are found by name, others are read from their text; a
dataflow is a function, which is found only where the caller trusts its module.
"""

from __future__ import annotations

from typing import Any

from graphtide.model.errors import GraphtideError, InputError
from graphtide.run.catalog.listings import finished_views
from graphtide.run.catalog.opened_runs import SOURCE, collection_behind
from graphtide.run.catalog.run_work import RunRequest
from graphtide.run.catalog.stored_runs import ASKED, run_collection
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.facts import RunFacts, facts_from
from graphtide.run.collection.settings import RunSettings
from graphtide.run.live.programs import Bound, compiled_program
from graphtide.store.behind import graph_behind
from graphtide.store.collection import StoredCollection
from graphtide.store.results import StoredRun, open_run


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
    from graphtide.run.durable.registered import made_program, trusted

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
