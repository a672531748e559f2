"""Shortest paths between pairs of vertices (`mpsp`): one run from each source.

The pairs share the runs of their sources, and the answer is a row for each view and pair. By the
edges' property `weight` where they have one that is a number, or else by the number of edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.csv as pa_csv

from graphtide.api.answers import Answer, counted
from graphtide.api.collection import Collection
from graphtide.api.computations import library, parameter_notes
from graphtide.api.maintain import Bound
from graphtide.api.run_statement import forgotten, passing_name, run_name, run_program
from graphtide.api.run_strategy import option_notes
from graphtide.api.runs.run import Run
from graphtide.api.view import graph_of
from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl import statements as s
from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType

_KNOWN = ("goals", "weight_cap")


class Goal(NamedTuple):
    """Two vertices, by the user's ids."""

    source: Any
    target: Any


def run_pairs(collection: Collection, statement: s.Run) -> Answer:
    """Run from every source, and answer with the distance of every pair in every view."""
    goals = _goals(statement)
    programs = source_programs(collection, statement)
    notes = (*parameter_notes(statement), *option_notes(statement))
    kept = statement.results != "noresults"
    base = run_name(statement, "MPSP") if kept else passing_name()
    with ExitStack() as stack:
        runs: dict[Any, Run] = {}
        for at, (source, program) in enumerate(programs.items(), start=1):
            name = base if len(programs) == 1 else f"{base}-{at}"
            if not kept:
                stack.enter_context(forgotten(collection._session, name))
            there = name in collection._session.runs()
            stated = replace(statement, resume=statement.resume and there)
            runs[source] = run_program(collection, stated, program, name)
        table = _distances(runs, goals)
    text = _text(list(runs.values()), len(goals), kept)
    return Answer(text, table, notes=(*notes, *_saved(table, statement)))


def source_programs(collection: Collection, statement: s.Run) -> dict[Any, Bound]:
    """The program to run for each source of the pairs."""
    program = library()["shortest_paths" if _has_weights(collection) else "bfs"]
    sources = dict.fromkeys(goal.source for goal in _goals(statement))
    return {source: program(source=source) for source in sources}


def _goals(statement: s.Run) -> list[Goal]:
    """The pairs that the statement gives."""
    given = dict(statement.parameters)
    for name in given:
        if name not in _KNOWN:
            raise language_error(
                f"{statement.computation} has no parameter '{name}'",
                statement.place(f"({name})"),
                "it has goals: `goals=[(source, target), ...]`",
            )
    goals = given.get("goals", ())
    if not isinstance(goals, tuple) or not goals or not all(map(_is_pair, goals)):
        raise language_error(
            f"{statement.computation} needs pairs of vertices",
            statement.place("(goals)" if goals else "computation"),
            "give them by their ids: `goals=[('a', 'b'), ('a', 'c')]`",
        )
    return [Goal(*pair) for pair in cast(tuple[tuple[Any, Any], ...], goals)]


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def _has_weights(collection: Collection) -> bool:
    schema = graph_of(collection._session, collection._stored).schema
    numbers = (PropertyType.INT, PropertyType.FLOAT)
    return any(item.name == "weight" and item.type in numbers for item in schema.edge)


def _distances(runs: Mapping[Any, Run], goals: Iterable[Goal]) -> pa.Table:
    """A row a view and pair, in the order of the views; inf where there is no way."""
    parts = []
    for goal in goals:
        history = runs[goal.source].history(goal.target)
        rows = history.num_rows
        ids = [pa.array([goal.source] * rows), pa.array([goal.target] * rows)]
        columns = [history.column("view"), *ids, history.column("value")]
        parts.append(pa.table(columns, names=["view", "source", "target", "distance"]))
    try:
        table = pa.concat_tables(parts)
    except pa.ArrowException:
        raise InputError("the ids of goals are of several types", hint="give ids of one") from None
    place = {name: at for at, name in enumerate(next(iter(runs.values())).views)}
    order = pa.array([place[name] for name in table.column("view").to_pylist()])
    return table.append_column("_", order).sort_by("_").drop_columns("_")


def _text(runs: list[Run], goals: int, kept: bool) -> str:
    seconds = sum(run.seconds for run in runs)
    program = runs[0].program.split("(")[0]
    unit = "number of edges" if program == "BFS" else "sum of 'weight'"
    lines = [
        f"{counted(goals, 'pair')} of '{runs[0].collection}', distance by {unit}: "
        f"{counted(len(runs), 'run')} of {program} in {seconds:.3g} s"
    ]
    names = ", ".join(f"'{run.name}'" for run in runs)
    lines.append(f"  kept as {names}" if kept else "  no results are kept")
    return "\n".join(lines)


def _saved(table: pa.Table, statement: s.Run) -> tuple[str, ...]:
    if statement.save_to is None:
        return ()
    path = Path(statement.save_to).expanduser() / "pairs.csv"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pa_csv.write_csv(table, path)
    except OSError as error:
        raise InputError(
            f"cannot write to '{path.parent}': {error.strerror or error}",
            hint="name a folder that you may write to; the runs are stored",
        ) from None
    return (f"written to {path}",)
