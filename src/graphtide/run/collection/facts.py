"""What is known of a run beside its steps and results: its program, its collection, how it runs.

Facts are what a manifest stores, so that a run can be found, read and resumed. Settings are for
this process alone: how often parts are written, what is verified, who is told of progress.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from graphtide.model.errors import StoreError, UnusedOptionWarning, warn_user
from graphtide.model.progress import ProgressReport, silent
from graphtide.optimize.strategy import Chooser
from graphtide.plan.expressions import ValueType
from graphtide.plan.walks import Matches
from graphtide.run.live.programs import Bound, Compiled
from graphtide.run.live.results import VERTEX, Pairs

ALONE = "this process"
"""Who makes the steps of a run that has one worker."""

KEEP_EVERY = 1.0


@dataclass(frozen=True)
class RunSettings:
    """How a run is kept and watched.

    `verify`: every so many views, compare with a plain run from scratch; `seen` views before the
    first one count. `keep_every`: seconds between parts. `kept` is told the number of finished
    steps whenever they have been kept. `go_on` is called between steps, and raises to end the run.
    `worker` is who makes them, of which `sub_plan`, and `since` when it began with that (seconds of
    the epoch, and of its processor time).
    """

    verify: int | None = None
    seen: int = 0
    keep_every: float = KEEP_EVERY
    report: ProgressReport = silent
    kept: Callable[[int], None] = lambda finished: None
    go_on: Callable[[], None] = lambda: None
    worker: str = ALONE
    sub_plan: int = 0
    since: tuple[float, float] | None = None


Strategy = Literal["adaptive", "differential", "scratch"]


BEFORE = "before"
"""Where a run names the earlier one that it goes on from."""

On = Literal["spark", "shards"]
"""Where steps are made, if not in this process: by tasks of Spark, each of which has the graph; or
by tasks that hold shards of it."""


def warn_unused(line: str) -> None:
    """Say that an option is not used, to whoever runs Python."""
    warn_user(line, UnusedOptionWarning)


@dataclass(frozen=True)
class RunRequest:
    """A run that a user asks for. `chooser` overrides what the strategy would choose.

    With `grid`, rows and columns, the views are fed as versions of two coordinates. Where results
    are not to be `kept`, nothing is written: what is left is the record, and the results of pairs.
    An earlier run of the name is an error unless it is to `replace` it. `workers` is how many there
    are, None as many as pay. `on` Spark, tasks make the steps: where that pays, for it takes a few
    seconds to begin, or where that is to be by `force`. On shards, tasks make every view together.
    `tell` hears, a line each, of what is asked for and not used. Runs in memory are not stored, and
    so take nothing but strategy, chooser, grid, workers and settings from it.
    """

    name: str
    compiled: Compiled
    strategy: Strategy = "adaptive"
    resume: bool = False
    settings: RunSettings = field(default_factory=RunSettings)
    chooser: Chooser | None = None
    grid: tuple[int, int] | None = None
    kept: bool = True
    replace: bool = True
    workers: int | None = None
    on: On | None = None
    force: bool = False
    tell: Callable[[str], object] = warn_unused

    def reporting_to(self, report: ProgressReport) -> RunRequest:
        """The same request, whose progress is reported there."""
        return replace(self, settings=replace(self.settings, report=report))


@dataclass(frozen=True)
class RunFacts:
    """The facts of a run, as its manifest stores them.

    `identity` is that of the program with its parameters and of the collection: only what has the
    same can be resumed. `labels` names the result that holds components, if one does. `pairs` are
    those that results belong to, by the numbers of their vertices; None where they are vertices'.
    `versions` is the collection as of the run; empty where none is stored. `fields` are results of
    vertices or pairs, `globals` those of the whole graph. `cuts` are the steps of the collection's
    plan before which it was cut into sub-plans. Of a run `on_shards`, tasks have written the
    results of the empty version as well, and tell what sums up each view. `naming` are the results
    that name a vertex, by its number in the graph: runs of versions that did not note them have
    those of components.
    """

    name: str
    program: str
    fields: tuple[str, ...]
    labels: str | None
    mode: str
    reason: str
    strategy: Strategy
    collection: str
    graph: str
    graph_identity: str
    identity: str
    created: str
    pairs: Pairs | None = None
    versions: str = ""
    globals: tuple[str, ...] = ()
    matches: tuple[Matches, ...] = ()
    cuts: tuple[int, ...] = ()
    on_shards: bool = False
    naming: tuple[str, ...] = ()

    @property
    def results(self) -> tuple[str, ...]:
        """All that is kept: results of vertices or pairs, of the whole graph, then rows."""
        return (*self.fields, *self.globals, *(item.name for item in self.matches))

    def to_json(self) -> dict[str, Any]:
        lists: dict[str, Any] = {"fields": list(self.fields), "globals": list(self.globals)}
        lists |= {"cuts": list(self.cuts), "naming": list(self.naming)}
        lists["matches"] = [
            [item.name, [[name, str(kind)] for name, kind in item.columns], item.limit]
            for item in self.matches
        ]
        return {"run": {**vars(self), **lists}}


def run_name(collection: str, bound: Bound) -> str:
    """The name of a run that was given none."""
    return f"{collection}-{bound.program.name}"


def begun_facts(
    request: RunRequest,
    pairs: Pairs | None,
    visited: str = "",
    cuts: tuple[int, ...] = (),
    **stored: str,
) -> RunFacts:
    """The facts of a run that begins now; `visited` is what it visits, as text.

    `stored` are the name of its collection, the reason of its mode, and all that only stored runs
    have.
    """
    compiled = request.compiled
    graph_facts: dict[str, Any] = {"graph": "", "graph_identity": ""}
    return RunFacts(
        name=request.name,
        program=str(compiled.bound),
        fields=compiled.fields,
        labels=compiled.labels,
        naming=compiled.naming,
        mode=compiled.choice.mode,
        strategy=request.strategy,
        identity=run_identity(compiled, visited),
        created=dt.datetime.now(dt.UTC).isoformat(),
        pairs=pairs,
        globals=compiled.globals,
        matches=compiled.match_plans,
        cuts=cuts,
        **(graph_facts | stored),
    )


def facts_from(name: str, manifest: dict[str, Any]) -> RunFacts:
    try:
        given = manifest["run"]
        later = ("pairs", "versions", "globals", "matches", "cuts", "on_shards", "naming")
        known = {item.name: given[item.name] for item in fields(RunFacts) if item.name not in later}
        known |= {"name": name, "fields": tuple(given["fields"])}
        pairs = given.get("pairs")
        pairs = None if pairs is None else tuple(map(tuple, pairs))
        known |= {"globals": tuple(given.get("globals", ())), "versions": given.get("versions", "")}
        known["cuts"] = tuple(given.get("cuts", ()))
        known["on_shards"] = bool(given.get("on_shards", False))
        labels = () if given["labels"] is None else (given["labels"],)
        known["naming"] = tuple(given.get("naming", labels))
        return RunFacts(**known, pairs=pairs, matches=_matches(given.get("matches", ())))
    except (KeyError, TypeError) as error:
        raise StoreError(
            f"the manifest of the run '{name}' is damaged: {error!r}", hint="run it again"
        ) from None


def _matches(given: Any) -> tuple[Matches, ...]:
    """The rows of a manifest: name, columns with their types, limit."""
    return tuple(
        Matches(name, tuple((column, _kind(kind)) for column, kind in columns), limit)
        for name, columns, limit in given
    )


def _kind(text: str) -> ValueType | str:
    return text if text == VERTEX else ValueType(text)


def run_identity(compiled: Compiled, versions: str) -> str:
    """Equal for the same program with the same parameters, mode and versions, and only then."""
    text = f"{compiled.identity}|{compiled.choice.mode}|{versions}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]
