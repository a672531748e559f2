"""From a collection and a program to a finished run: begin, or go on where one was left off.

Before it begins, a run is checked, its plan may be cut for several workers, and its time is
estimated. Differences are counted from the plan. Time is measured, not guessed from constants: the
program is run from scratch on one view, and following a delta is assumed to cost a few times as
much an edge as a run from scratch does.

A program on pairs keeps one state for each distinct source, of the size of the vertices. Where all
of them would not fit, the sources are divided into *pieces*, the whole plan is walked once per
piece, and what the pieces changed at a step becomes what the step changed. Sources have nothing to
do with each other, so the results are those of one walk; only the way to a step may differ from
piece to piece, and the record has that of the first. Each piece has parts of its own: an
interrupted run goes on within the piece it was in. Its views are finished when the pieces have been
put together, all at the end.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes, Values
from graphtide.lang.python import AnyProgram
from graphtide.model.errors import InputError
from graphtide.model.machine import available_bytes, usable_cores
from graphtide.model.progress import ProgressReport
from graphtide.model.text import counted
from graphtide.optimize.cutting import Cutting
from graphtide.optimize.strategy import Chooser, Move
from graphtide.plan.collection import CollectionPlan, GridPlan
from graphtide.run.collection.differences import (
    PartBuffer,
    RunDifferences,
    counted_rows,
    numpy_column,
    rows_between,
    rows_table,
)
from graphtide.run.collection.facts import (
    On,
    RunFacts,
    RunRequest,
    RunSettings,
    Strategy,
    run_name,
)
from graphtide.run.collection.prepare import PreparedProgram, prepare
from graphtide.run.collection.runner import CHOOSERS, Runner, chooser_of
from graphtide.run.collection.steps import Deltas, RunSteps, RunVersions, run_steps
from graphtide.run.collection.sub_plans import (
    SubPlanRun,
    ThreadedRun,
    chosen_cutting,
    cutting_for_slots,
    run_costs,
    sub_plan_run,
)
from graphtide.run.live.computation import Mode
from graphtide.run.live.programs import Compiled, bytes_a_source, compiled_program, pair_numbers
from graphtide.run.live.results import Pairs, arrow_column
from graphtide.store.parts import Parts
from graphtide.store.results import EmptyVersionTables

_DEARER = 4.0
_FIXED = 5e-5


def explained_workers(cutting: Cutting, *, on_spark: bool) -> str:
    """How many workers a run would have, and what they are expected to gain."""
    if cutting.workers == 1 and on_spark:
        return "in this process: Spark is not expected to be done before it"
    if cutting.workers == 1:
        return "one worker: more are not expected to pay"
    pieces, who = len(cutting.cuts) + 1, "slots of Spark" if on_spark else "workers"
    gain = f"expected to be {cutting.gain:.1f} times as fast as one"
    return f"{cutting.workers} {who} on {pieces} sub-plans, {gain}"


def time_one_view(prepared: PreparedProgram, steps: RunSteps, deltas: Deltas) -> float:
    """Seconds a vertex and edge that a run from scratch takes on the first view of the plan.

    Leaves the graph at that view.
    """
    inserted, deleted = deltas.of(0)
    prepared.graph.flip(inserted, deleted)
    took = []
    for _ in range(3):
        began = perf_counter()
        prepared.scratch()
        took.append(perf_counter() - began)
    return min(took) / max(1, prepared.graph.vertices + int(steps.edges[0]))


def estimated_seconds(steps: RunSteps, vertices: int, each: float) -> tuple[float, float]:
    """What a run takes from scratch, and what it takes differentially."""
    views = steps.view >= 0
    scratch = each * float((steps.edges[views] + vertices).sum())
    delta = steps.inserted + steps.deleted
    first = each * float(steps.edges[0] + vertices)
    follow = np.minimum(_DEARER * each * delta[1:], 2 * each * (steps.edges[1:] + vertices))
    return scratch, first + float(follow.sum()) + _FIXED * len(steps)


def _explained_lines(
    compiled: Compiled, plan: CollectionPlan, steps: RunSteps, seconds: tuple[float, float]
) -> Iterator[str]:
    views, stones = len(steps.names), len(steps) - len(steps.names)
    reads = ", ".join(compiled.needed.properties) or "no properties"
    delta = steps.inserted + steps.deleted
    yield f"{compiled.bound} in {compiled.choice}"
    yield f"results: {', '.join(compiled.results)}; reads {reads} of the edges"
    yield f"{plan.kind} of {views:,} views and {stones:,} stepping stones"
    yield f"  from scratch: {int(steps.edges[steps.view >= 0].sum()):,} edges to run on"
    yield f"  differentially: {int(delta.sum()):,} differences to follow"
    scratch, follow = seconds
    yield f"about {scratch:.2g} s from scratch, {follow:.2g} s differentially;"
    yield "adaptive takes what turns out to be faster, view by view"


STATES = 3
"""States of all sources that a run holds: two along a tree, and one for runs from scratch."""

_ROWS_A_PART = 1 << 20

Places = NDArray[np.int64]
"""Where the pairs of a piece stand among all."""

EVERYTHING: Places = np.empty(0, np.int64)
"""Stands for all results, where there is one piece."""


def count_pieces(compiled: Compiled, vertices: int) -> int:
    """How many pieces a run must be done in for its states to fit into half of the memory."""
    sources = compiled.sources
    if not sources:
        return 1
    needed = STATES * sources * bytes_a_source(compiled, vertices)
    return max(1, min(sources, -(-2 * needed // max(1, available_bytes()))))


def divide_pairs(pairs: Pairs, count: int) -> list[Places]:
    """The pairs in so many pieces, those with one source always in the same."""
    numbers: dict[int, int] = {}
    source = np.array([numbers.setdefault(one, len(numbers)) for one, _ in pairs], np.int64)
    piece = source * count // len(numbers)
    return [np.flatnonzero(piece == number) for number in range(count)]


def run_pieces(
    divided: Sequence[Places],
    run_piece: Callable[[Places, Parts, Chooser, RunSettings], None],
    parts: Parts,
    chooser: Chooser,
    settings: RunSettings,
) -> None:
    """Walk the plan once a piece, each into parts of its own."""
    for number, (places, own) in enumerate(zip(divided, parts.pieces(len(divided)), strict=True)):
        report = _PieceReport(settings.report, number, len(divided))
        how = replace(settings, report=report, kept=lambda finished: None)
        run_piece(places, own, copy.deepcopy(chooser), how)


class _PieceReport:
    """Reports progress with the number of the piece."""

    def __init__(self, report: ProgressReport, number: int, count: int) -> None:
        self._report, self._number, self._count = report, number, count

    def __call__(self, stage: str, done: float | None = None) -> None:
        share = None if done is None else (self._number + done) / self._count
        self._report(f"piece {self._number + 1} of {self._count}, {stage}", share)


def join_pieces(
    divided: Sequence[Places], parts: Parts, fields: tuple[str, ...], first: int
) -> None:
    """The steps from `first` on, with what all pieces changed at each, in parts."""
    pieces = [RunDifferences(own, fields) for own in parts.pieces(len(divided))]
    rows = _joined_records(pieces)
    buffer = PartBuffer(fields)
    for step in range(first, len(rows)):
        buffer.add(rows[step], _joined_changes(divided, [piece.of(step) for piece in pieces]))
        if buffer.rows > _ROWS_A_PART:
            parts.append(buffer.take())
    if len(buffer):
        parts.append(buffer.take())


def join_values(divided: Sequence[Places], values: Sequence[Values]) -> Values:
    """The results of all pairs from those of the pieces."""
    if len(values) == 1:
        return values[0]
    order = np.argsort(np.concatenate(divided))
    return {name: np.concatenate([piece[name] for piece in values])[order] for name in values[0]}


def _joined_records(pieces: Sequence[RunDifferences]) -> list[Any]:
    """A row of the record for each step: the first piece's way, and what all pieces took."""
    columns: list[list[Any]] = []
    records = [piece.record for piece in pieces]
    for at in range(records[0].num_columns):  # type: ignore[union-attr]
        each = [record.column(at).to_numpy() for record in records]  # type: ignore[union-attr]
        columns.append((each[0] if at < 2 else np.sum(each, axis=0)).tolist())
    columns[1] = [Move(code) for code in columns[1]]
    return list(zip(*columns, strict=True))


def _joined_changes(divided: Sequence[Places], found: Sequence[dict[str, Change]]) -> Changes:
    """The changes of one step, in the order of all pairs."""
    joined: dict[str, Change] = {}
    for name in found[0]:
        each = [changes[name] for changes in found]
        rows = [places[change.vertices] for places, change in zip(divided, each, strict=True)]
        order = np.argsort(np.concatenate(rows))
        joined[name] = Change(
            np.concatenate(rows)[order].astype(np.int32),
            np.concatenate([change.old for change in each])[order],
            np.concatenate([change.new for change in each])[order],
        )
    return joined


BYTES_AN_EDGE = 24
"""What another worker takes beside the states of its programs."""


def run_request(
    program: AnyProgram,
    mode: Mode,
    collection: str | None,
    *,
    directed: bool,
    name: str | None = None,
    verify: int | None = None,
    **words: Any,
) -> RunRequest:
    """The request of a user, who writes its words; InputError where they cannot be, or clash.

    `collection` is the name of the views; without one the run has none either.
    """
    strategy, grid = words.get("strategy", "adaptive"), words.get("grid")
    workers, on, kept = words.get("workers"), words.get("on"), words.get("kept", True)
    check_strategy(strategy, grid)
    check_verify(verify)
    check_workers(workers, grid)
    check_on(on, grid=grid, results=kept)
    check_force(words.get("force", False), on, workers)
    check_shards(on, verify, mode)
    check_kept(kept, name, words.get("resume", False))
    compiled = compiled_program(program, mode, directed=directed)
    if name is None:
        name = "in memory" if collection is None else run_name(collection, compiled.bound)
    return RunRequest(name, compiled, settings=RunSettings(verify=verify), **words)


class PreparedRun:
    """A request on versions of a graph, checked and compiled: ready to run, or to be explained.

    A run that is resumed goes on with the `cuts` that it was begun with. The plan stays `whole`
    where somebody only asks what would be done.
    """

    def __init__(
        self,
        versions: RunVersions,
        request: RunRequest,
        *,
        cuts: tuple[int, ...] | None = None,
        whole: bool = False,
    ) -> None:
        self.request, self.compiled = request, request.compiled
        self.reason = self.compiled.choice.reason
        self._grid: GridPlan | None = None
        if request.grid is not None:
            # Imported here: the dataflow machine takes a second that other runs do not need.
            from graphtide.run.collection.grid import as_grid

            self._grid, versions, self.reason = as_grid(self.compiled, versions, request.grid)
        # A chooser knows the steps of the whole plan, and a grid is followed by one worker.
        one = request.chooser is not None or request.grid is not None
        self._workers = 1 if one else request.workers
        self.versions = versions
        self._visit(versions.plan)
        self._prepared: PreparedProgram = prepare(self.compiled, versions.known)
        self._pieces = count_pieces(self.compiled, versions.known.resident.vertices)
        self.sub_plans: SubPlanRun | None = None
        self.cuts = self.cutting.cuts if cuts is None else cuts
        if (self.cuts or (request.on == "spark" and request.force)) and not whole:
            self.sub_plans = sub_plan_run(versions, self.cuts, request.strategy)
            self._visit(self.sub_plans.cut.plan)

    def _visit(self, plan: CollectionPlan) -> None:
        """Take the steps of this plan: that of the versions, or its sub-plans one by one."""
        versions = self.versions
        self._deltas = Deltas(plan, versions.grouped)
        self.steps: RunSteps = run_steps(plan, versions.names, self._deltas, versions.vertices)

    def tell_unused(self, workers: int | None) -> None:
        """Say so where there is less to share than `workers`; InputError where that is forced."""
        shares = 1 if self.sub_plans is None else len(self.sub_plans.cut)
        views = len(self.steps.names)
        if workers is None or shares >= workers:
            return
        if views == 1:
            why = "workers share the views of a run, and there is one view"
            what = "to share the work of one view: on='shards', or graph.run(program, lean=True)"
        elif shares == len(self.steps):
            why = f"there are {views:,} views to share"
            what = "more views are shared by more workers"
        else:
            why = f"its plan of {views:,} views falls into {counted(shares, 'sub-plan')}, and "
            why += "cutting it further would cost more than it saves"
            what = "more views, or larger ones, are shared by more workers"
        who = "one of them works" if shares == 1 else f"{shares} of them work"
        if self.request.force:
            raise InputError(f"{workers} workers cannot share the run: {why}", hint=what)
        self.request.tell(f"workers={workers}: {who} on the run, since {why}; {what}")

    @cached_property
    def cutting(self) -> Cutting:
        """How many workers there are, and where they cut the plan."""
        request, workers = self.request, self._workers
        costs = run_costs(self.steps, self._prepared, request.strategy)
        if self._pieces == 1 and request.on == "spark":
            return cutting_for_slots(costs, workers or 1, forced=request.force)
        if self._pieces == 1:
            return chosen_cutting(costs, workers, self._most_workers())
        if workers not in (None, 1):
            raise InputError(
                f"there are too many pairs for {workers} workers: one fills the memory",
                hint="leave out `workers`, or ask for fewer pairs",
            )
        return chosen_cutting(costs, 1, 1)

    def _most_workers(self) -> int:
        """One a core, as long as their copies of the graph take no more than half of the memory."""
        each = BYTES_AN_EDGE * max(1, self._prepared.graph.edges)
        return max(1, min(usable_cores(), 1 + available_bytes() // (2 * each)))

    @property
    def pairs(self) -> Pairs | None:
        """The pairs that results belong to, by number; None where they are those of vertices."""
        return pair_numbers(self.compiled.bound, self._prepared.parameters)

    def base(self) -> Values:
        """The results of the empty version. Only before anything is run."""
        divided = self._divided(self._pieces)
        return join_values(divided, [self._piece(places).scratch() for places in divided])

    def run(
        self,
        base: Values,
        parts: Parts,
        chooser: Chooser | None = None,
        settings: RunSettings | None = None,
    ) -> None:
        """All steps that are not finished yet; in pieces where pairs are more than fit.

        Another chooser or other settings than those of the request may be given.
        """
        settings = settings or self.request.settings
        first = RunDifferences(parts, self.compiled.results).finished
        if self.sub_plans is not None:
            workers = self._workers or self._most_workers()
            ThreadedRun(self.sub_plans, base, parts, settings).run(self._prepared, workers)
            return
        if self._grid is not None:
            from graphtide.run.collection.grid import GridRun

            if first < len(self.steps):
                made = self._grid, self.versions.grouped, self.steps, self._deltas
                GridRun(*made, self._prepared).run(base, parts, first, settings)
            return
        chooser = chooser or self.request.chooser or self.chooser(self.request.strategy)
        divided = self._divided(1 if self.pairs is None else len(parts.pieces(self._pieces)))
        if len(divided) == 1 or first == len(self.steps):
            runner = Runner(self.steps, self._deltas, self._prepared, base, parts)
            runner.run(chooser, settings)
            return

        def run_piece(places: Places, own: Parts, chosen: Chooser, how: RunSettings) -> None:
            values = {name: column[places] for name, column in base.items()}
            self._prepared.graph.clear()
            runner = Runner(self.steps, self._deltas, self._piece(places), values, own)
            runner.run(chosen, how)

        run_pieces(divided, run_piece, parts, chooser, settings)
        join_pieces(divided, parts, self.compiled.results, first)
        parts.end_pieces()
        settings.kept(len(self.steps))

    def _divided(self, count: int) -> list[Places]:
        """The pairs of each of `count` pieces, by place; results of vertices are one piece."""
        return [EVERYTHING] if count == 1 or self.pairs is None else divide_pairs(self.pairs, count)

    def _piece(self, places: Places) -> PreparedProgram:
        return self._prepared if places is EVERYTHING else self._prepared.on_pairs(places)

    def explain(self) -> str:
        """What a run would do, and about how long it would take. Only before anything is run."""
        vertices = self._prepared.graph.vertices
        each = time_one_view(self._prepared, self.steps, self._deltas)
        seconds = estimated_seconds(self.steps, vertices, each)
        lines = _explained_lines(self.compiled, self.versions.plan, self.steps, seconds)
        workers = explained_workers(self.cutting, on_spark=self.request.on == "spark")
        return "\n".join([*lines, workers])

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


def base_tables(base: Values, facts: RunFacts) -> EmptyVersionTables:
    """The results of the empty version as they are stored: a table for what has rows in common."""
    columns = {name: arrow_column(base[name]) for name in (*facts.fields, *facts.globals)}
    graph = {name: columns.pop(name) for name in facts.globals}
    rows = {}
    for item in facts.matches:
        there: Any = base[item.name]
        change = rows_between(Counter(), there)
        kinds = [kind for _, kind in item.columns]
        rows[item.name] = rows_table(kinds, np.array([-1], np.int32), [change])
    return EmptyVersionTables(pa.table(columns), pa.table(graph) if graph else None, rows)


def base_values(tables: EmptyVersionTables) -> Values:
    found: dict[str, Any] = {
        name: numpy_column(table.column(name))
        for table in (tables.rows, tables.graph)
        if table is not None
        for name in table.column_names
    }
    return found | {name: counted_rows(table) for name, table in tables.matches.items()}
