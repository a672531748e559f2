"""From a collection and a program to a finished run: begin, or go on where one was left off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow as pa

from graphtide.engine.changes import Values
from graphtide.model.errors import InputError
from graphtide.optimize.adaptive import Adaptive
from graphtide.optimize.strategy import (
    AlwaysScratch,
    AlwaysTogether,
    Chooser,
    Move,
    Observation,
    StepSizes,
)
from graphtide.plan.collection import CollectionPlan
from graphtide.run.collection.current import CurrentResults
from graphtide.run.collection.estimate import estimated_seconds, explained_run, time_one_view
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
from graphtide.run.collection.runner import Runner, RunSettings
from graphtide.run.collection.steps import Deltas, RunSteps, run_steps
from graphtide.run.collection.versions import Versions
from graphtide.run.live.arrow_columns import arrow_column
from graphtide.run.live.programs import Compiled, pair_numbers
from graphtide.run.live.result_rows import Pairs
from graphtide.store.results import BaseTables, Parts

if TYPE_CHECKING:
    from graphtide.run.collection.grid import GridVersions

CHOOSERS: dict[str, Callable[[StepSizes], Chooser]] = {
    "adaptive": Adaptive,
    "differential": lambda sizes: AlwaysTogether(),
    "scratch": lambda sizes: AlwaysScratch(),
}


class RunInHand:
    """A program and its versions, ready to run."""

    def __init__(self, compiled: Compiled, versions: Versions) -> None:
        self.compiled = compiled
        self._deltas = Deltas(versions.plan, versions.grouped)
        self.steps: RunSteps = run_steps(versions.plan, versions.names, self._deltas)
        self._prepared: PreparedProgram = prepare(compiled, versions.known)
        self._pieces = count_pieces(compiled, versions.known.resident.vertices)

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
        """The places of the pairs in so many pieces; of vertices there is one piece."""
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
        steps, known = self.steps, Differences(parts, self.compiled.results)
        runner = Runner(steps, self._deltas, prepared, CurrentResults(base), parts)
        first = known.finished
        if first:
            _recall(known.record, chooser)
        if first < len(steps):
            moves = [] if known.record is None else known.record.column("move").to_pylist()
            for step in steps.path(int(steps.parent[first])):
                runner.descend(step, known.of(step), moves[step] == Move.PASS)
            runner.run(first, chooser, settings)

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
        return explained_run(self.compiled, plan, self.steps, seconds)

    def chooser(self, strategy: Strategy) -> Chooser:
        """What decides how steps are reached."""
        prepared = self._prepared
        sizes = self.steps.sizes(prepared.graph.vertices)
        return CHOOSERS[strategy](replace(sizes, spreads=prepared.adds_up, prices=prepared.prices))


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
    """InputError if views cannot be counted by it."""
    if verify is not None and (isinstance(verify, bool) or not isinstance(verify, int)):
        raise InputError(f"verify cannot be {verify!r}", hint="give a number: 10 is every tenth")
    if verify is not None and verify < 1:
        raise InputError(f"verify cannot be {verify}", hint="1 verifies every view, None none")


def check_kept(results: bool, name: str | None, resume: bool) -> None:
    """InputError if nothing is to be kept of a run that is to be found again."""
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


def _recall(record: Any, chooser: Chooser) -> None:
    """Teach the models what the steps took that were finished before."""
    columns = [record.column(name).to_pylist() for name in ("step", "move", "seconds")]
    for step, code, seconds in zip(*columns, strict=True):
        move = Move(code)
        if move == Move.FOLLOW:
            chooser.observe(step, Observation(move, 0.0, seconds))
        elif move != Move.RESTART:
            chooser.observe(step, Observation(move, seconds, 0.0))
