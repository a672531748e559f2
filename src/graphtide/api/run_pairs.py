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
    program, unit = _program(collection)
    notes = (*parameter_notes(statement), *option_notes(statement))
    sources = list(dict.fromkeys(goal.source for goal in goals))
    kept = statement.results != "noresults"
    base = run_name(statement, "MPSP") if kept else passing_name()
    with ExitStack() as stack:
        runs: dict[Any, Run] = {}
        for at, source in enumerate(sources, start=1):
            name = base if len(sources) == 1 else f"{base}-{at}"
            if not kept:
                stack.enter_context(forgotten(collection._session, name))
            there = name in collection._session.runs()
            stated = replace(statement, resume=statement.resume and there)
            runs[source] = run_program(collection, stated, library()[program](source=source), name)
        table = _distances(runs, goals)
    text = _text(runs.values(), len(goals), unit, kept)
    return Answer(text, table, notes=(*notes, *_saved(table, statement)))


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


def _program(collection: Collection) -> tuple[str, str]:
    """The program for one source, and what it adds up."""
    schema = graph_of(collection._session, collection._stored).schema
    for item in schema.edge:
        if item.name == "weight" and item.type in (PropertyType.INT, PropertyType.FLOAT):
            return "shortest_paths", "weight"
    return "bfs", "edges"


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


def _text(runs: Iterable[Run], goals: int, unit: str, kept: bool) -> str:
    found = list(runs)
    seconds = sum(run.seconds for run in found)
    lines = [
        f"{counted(goals, 'pair')} of '{found[0].collection}' by {unit}, "
        f"{counted(len(found), 'run')} of {found[0].program.split('(')[0]}: {seconds:.3g} s"
    ]
    names = ", ".join(f"'{run.name}'" for run in found)
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
