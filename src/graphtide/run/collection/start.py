"""From a collection and a program to a finished run: begin, or go on where one was left off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa

from graphtide.engine.changes import Values
from graphtide.model.cores import usable_cores
from graphtide.model.errors import InputError, UnusedOptionWarning, warn_user
from graphtide.model.memory import available_bytes
from graphtide.model.wording import counted
from graphtide.optimize.cutting import Cutting
from graphtide.optimize.strategy import Chooser
from graphtide.plan.collection import CollectionPlan
from graphtide.run.collection.estimate import (
    estimated_seconds,
    explained_run,
    explained_workers,
    time_one_view,
)
from graphtide.run.collection.facts import RunFacts, Strategy
from graphtide.run.collection.pieces import (
    EVERYTHING,
    Places,
    count_pieces,
    divide_pairs,
    join_pieces,
    join_values,
    run_pieces,
)
from graphtide.run.collection.prepare import PreparedProgram, prepare
from graphtide.run.collection.reading import Differences, numpy_column
from graphtide.run.collection.row_sets import counted_rows, rows_between, rows_table
from graphtide.run.collection.settings import RunSettings
from graphtide.run.collection.steps import Deltas, RunSteps, run_steps
from graphtide.run.collection.sub_plans import (
    SubPlanRun,
    chosen_cutting,
    cutting_for_slots,
    run_costs,
    sub_plan_run,
)
from graphtide.run.collection.threads import ThreadedRun
from graphtide.run.collection.versions import Versions
from graphtide.run.collection.walking import CHOOSERS, Visited, chooser_of, walk
from graphtide.run.live.arrow_columns import arrow_column
from graphtide.run.live.programs import Compiled, pair_numbers
from graphtide.run.live.result_rows import Pairs
from graphtide.store.parts import Parts
from graphtide.store.results import BaseTables

if TYPE_CHECKING:
    from graphtide.run.collection.grid import GridVersions

On = Literal["spark", "shards"]
"""Where steps are made, if not in this process: by tasks of Spark, each of which has the graph; or
by tasks that hold shards of it."""

BYTES_AN_EDGE = 24
"""What another worker takes beside the states of its programs."""


@dataclass(frozen=True)
class Workers:
    """How many workers a run is to have, None as many as pay, and the strategy of each.

    `cuts` are those of a run that is resumed: it goes on with the sub-plans that it has. Where it
    is `asked_only` what would be done, the plan stays whole. `on_spark` they are slots of Spark,
    which are taken where that pays, or where it is `forced`.
    """

    count: int | None = 1
    strategy: Strategy = "adaptive"
    cuts: tuple[int, ...] | None = None
    asked_only: bool = False
    on_spark: bool = False
    forced: bool = False


class RunInHand:
    """A program and its versions, ready to run."""

    def __init__(
        self, compiled: Compiled, versions: Versions, workers: Workers | None = None
    ) -> None:
        self.compiled = compiled
        self._versions = versions
        self._workers = workers or Workers()
        self._deltas = Deltas(versions.plan, versions.grouped)
        self.steps: RunSteps = run_steps(
            versions.plan, versions.names, self._deltas, versions.vertices
        )
        self._prepared: PreparedProgram = prepare(compiled, versions.known)
        self._pieces = count_pieces(compiled, versions.known.resident.vertices)
        self.sub_plans: SubPlanRun | None = None
        self.cuts = self.cutting.cuts if self._workers.cuts is None else self._workers.cuts
        if (self.cuts or self._is_sent) and not self._workers.asked_only:
            self._cut_plan()

    @property
    def _is_sent(self) -> bool:
        """Whether tasks of Spark are to make the steps even where one of them makes all."""
        return self._workers.on_spark and self._workers.forced

    @property
    def shares(self) -> int:
        """How many sub-plans there are: more workers have nothing to do."""
        return 1 if self.sub_plans is None else len(self.sub_plans.cut)

    @cached_property
    def cutting(self) -> Cutting:
        """How many workers there are, and where they cut the plan."""
        wanted = self._workers
        costs = run_costs(self.steps, self._prepared, wanted.strategy)
        if self._pieces == 1 and wanted.on_spark:
            return cutting_for_slots(costs, wanted.count or 1, forced=wanted.forced)
        if self._pieces == 1:
            return chosen_cutting(costs, wanted.count, self._most_workers())
        if wanted.count not in (None, 1):
            raise InputError(
                f"there are too many pairs for {wanted.count} workers: one fills the memory",
                hint="leave out `workers`, or ask for fewer pairs",
            )
        return chosen_cutting(costs, 1, 1)

    def _most_workers(self) -> int:
        """One a core, as long as their copies of the graph take no more than half of the memory."""
        each = BYTES_AN_EDGE * max(1, self._prepared.graph.edges)
        return max(1, min(usable_cores(), 1 + available_bytes() // (2 * each)))

    def _cut_plan(self) -> None:
        """Replace the plan by its sub-plans, one behind the other."""
        versions = self._versions
        self.sub_plans = sub_plan_run(versions, self.cuts, self._workers.strategy)
        plan = self.sub_plans.cut.plan
        self._deltas = Deltas(plan, versions.grouped)
        self.steps = run_steps(plan, versions.names, self._deltas, versions.vertices)

    @property
    def pairs(self) -> Pairs | None:
        """The pairs that results belong to, by number; None where they are those of vertices."""
        return pair_numbers(self.compiled.bound, self._prepared.parameters)

    def base(self) -> Values:
        """The results of the empty version. Only before anything is run."""
        divided = self._divided(self._pieces)
        return join_values(divided, [self._piece(places).scratch() for places in divided])

    def run(self, base: Values, parts: Parts, chooser: Chooser, settings: RunSettings) -> None:
        """All steps that are not finished yet; in pieces where pairs are more than fit."""
        first = Differences(parts, self.compiled.results).finished
        if self.sub_plans is not None:
            workers = self._workers.count or self._most_workers()
            ThreadedRun(self.sub_plans, base, parts, settings).run(self._prepared, workers)
            return
        divided = self._divided(1 if self.pairs is None else len(parts.pieces(self._pieces)))
        if len(divided) == 1 or first == len(self.steps):
            self._walk(self._prepared, base, parts, chooser, settings)
            return

        def run_piece(places: Places, own: Parts, chosen: Chooser, how: RunSettings) -> None:
            values = {name: column[places] for name, column in base.items()}
            self._prepared.graph.clear()
            self._walk(self._piece(places), values, own, chosen, how)

        run_pieces(divided, run_piece, parts, chooser, settings)
        join_pieces(divided, parts, self.compiled.results, first)
        parts.end_pieces()
        settings.kept(len(self.steps))

    def _divided(self, count: int) -> list[Places]:
        """The pairs of each of `count` pieces, by place; results of vertices are one piece."""
        return [EVERYTHING] if count == 1 or self.pairs is None else divide_pairs(self.pairs, count)

    def _piece(self, places: Places) -> PreparedProgram:
        """The program on some of its pairs."""
        if places is EVERYTHING:
            return self._prepared
        return self._prepared.on_pairs(places)

    def _walk(
        self,
        prepared: PreparedProgram,
        base: Values,
        parts: Parts,
        chooser: Chooser,
        settings: RunSettings,
    ) -> None:
        """All steps that the parts do not have yet."""
        walk(Visited(self.steps, self._deltas, base), prepared, parts, chooser, settings)

    def run_grid(self, grid: GridVersions, base: Values, parts: Parts, how: RunSettings) -> None:
        """All views of a grid that are not finished yet; the steps are those of the grid."""
        # Imported here: the dataflow machine takes a second that other runs do not need.
        from graphtide.run.collection.grid import GridRun

        first = Differences(parts, self.compiled.results).finished
        if first < len(self.steps):
            GridRun(grid, self.steps, self._deltas, self._prepared).run(base, parts, first, how)

    def explain(self, plan: CollectionPlan) -> str:
        """What a run would do, and about how long it would take. Only before anything is run."""
        vertices = self._prepared.graph.vertices
        each = time_one_view(self._prepared, self.steps, self._deltas)
        seconds = estimated_seconds(self.steps, vertices, each)
        text = explained_run(self.compiled, plan, self.steps, seconds)
        return f"{text}\n{explained_workers(self.cutting, on_spark=self._workers.on_spark)}"

    def chooser(self, strategy: Strategy) -> Chooser:
        """The chooser of a strategy, which decides how each step is reached."""
        return chooser_of(strategy, self.steps, self._prepared)


def check_strategy(strategy: str, grid: object = None) -> None:
    """InputError if there is no such strategy, or none to choose."""
    if strategy not in CHOOSERS:
        known = ", ".join(f"'{name}'" for name in get_args(Strategy))
        raise InputError(f"strategy cannot be {strategy!r}", hint=f"use one of {known}")
    if grid is not None and strategy == "scratch":
        raise InputError(
            "the views of a grid are followed together, and cannot be run from scratch",
            hint="leave out `strategy`, or `grid`",
        )


def check_verify(verify: int | None) -> None:
    """InputError unless `verify` is a number of views, or None."""
    if verify is not None and (isinstance(verify, bool) or not isinstance(verify, int)):
        raise InputError(f"verify cannot be {verify!r}", hint="give a number: 10 is every tenth")
    if verify is not None and verify < 1:
        raise InputError(f"verify cannot be {verify}", hint="1 verifies every view, None none")


def check_workers(workers: int | None, grid: object = None) -> None:
    """InputError unless `workers` is a positive number, or None."""
    if workers is None:
        return
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(
            f"workers cannot be {workers!r}",
            hint="give a number from 1 on, or None: as many as pay",
        )
    if grid is not None and workers > 1:
        raise InputError(
            "the views of a grid are followed together, by one worker",
            hint="leave out `workers`, or `grid`",
        )


def tell_unused(
    hand: RunInHand, workers: int | None, tell: Callable[[str], object], *, forced: bool = False
) -> None:
    """Say so where a run has less work to share than workers; InputError where it is `forced`."""
    shares, views = hand.shares, len(hand.steps.names)
    if workers is None or shares >= workers:
        return
    if views == 1:
        why = "workers share the views of a run, and there is one view"
        what = "to share the work of one view: on='shards', or graph.run(program, lean=True)"
    elif shares == len(hand.steps):
        why, what = f"there are {views:,} views to share", "more views are shared by more workers"
    else:
        why = f"its plan of {views:,} views falls into {counted(shares, 'sub-plan')}, and cutting "
        why += "it further would cost more than it saves"
        what = "more views, or larger ones, are shared by more workers"
    who = "one of them works" if shares == 1 else f"{shares} of them work"
    if forced:
        raise InputError(f"{workers} workers cannot share the run: {why}", hint=what)
    tell(f"workers={workers}: {who} on the run, since {why}; {what}")


def warn_unused(line: str) -> None:
    """Say that an option is not used, to whoever runs Python."""
    warn_user(line, UnusedOptionWarning)


def check_force(force: bool, on: str | None, workers: int | None) -> None:
    """InputError where there is nothing to force."""
    if force and on != "spark" and workers is None:
        raise InputError(
            "force is given, and nothing that it could force",
            hint="it goes with on='spark', or with workers: force=True, workers=4",
        )


def check_on(on: str | None, *, grid: object = None, results: bool = True) -> None:
    """InputError unless `on` names a place where steps can be made."""
    if on is None:
        return
    if on not in get_args(On):
        raise InputError(f"on cannot be {on!r}", hint="use 'spark' or 'shards', or leave it out")
    for given, word in ((grid is not None, "grid"), (not results, "results=False")):
        if given:
            raise InputError(
                f"tasks of Spark write the results of views one by one: there is no {word}",
                hint=f"leave out on='{on}', or {word}",
            )


def check_shards(on: str | None, verify: int | None, mode: str = "auto") -> None:
    """InputError if a run on shards is given options that need the whole graph in one process."""
    if on != "shards":
        return
    if mode == "fixpoint":
        raise InputError(
            "on shards every iteration of a program is run: there is no fixpoint mode",
            hint="leave out `mode`, or on='shards'",
        )
    if verify is not None:
        raise InputError(
            "nobody has the whole graph to verify a run on shards by",
            hint="leave out `verify`; to compare, run the program without on='shards' as well",
        )


def check_kept(results: bool, name: str | None, resume: bool) -> None:
    """InputError for a run that has a name to be found by and keeps no results."""
    for given, word in ((name, "name"), (resume, "resume")):
        if given and not results:
            raise InputError(
                f"results=False keeps nothing, so there is nothing for `{word}`",
                hint="leave out one of the two",
            )


def base_tables(base: Values, facts: RunFacts) -> BaseTables:
    """The results of the empty version as they are stored: a table for what has rows in common."""
    columns = {name: arrow_column(base[name]) for name in (*facts.fields, *facts.globals)}
    graph = {name: columns.pop(name) for name in facts.globals}
    rows = {}
    for item in facts.matches:
        there: Any = base[item.name]
        change = rows_between(Counter(), there)
        kinds = [kind for _, kind in item.columns]
        rows[item.name] = rows_table(kinds, np.array([-1], np.int32), [change])
    return BaseTables(pa.table(columns), pa.table(graph) if graph else None, rows)


def base_values(tables: BaseTables) -> Values:
    """The results of the empty version from their tables."""
    found: dict[str, Any] = {
        name: numpy_column(table.column(name))
        for table in (tables.rows, tables.graph)
        if table is not None
        for name in table.column_names
    }
    return found | {name: counted_rows(table) for name, table in tables.matches.items()}
