"""What sums up the results of a view, by what they mean.

Labels of components are counted; distances have vertices that are reached and a mean; truth values
are counted; everything else has a least, a greatest and a mean value. Everything is computed from
the whole results of each view, so that nothing drifts: O(vertices) a view, when asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.live import arrow_column
from graphtide.api.runs.contents import RunContents
from graphtide.api.runs.tables import value_name
from graphtide.model.errors import InputError
from graphtide.optimize.strategy import Move

Figures = dict[str, Any]


def summary_table(contents: RunContents) -> pa.Table:
    """A row a finished view, in the order of the views."""
    rows = []
    for view in contents.finished_views():
        found: Figures = {"view": contents.steps.names[view]}
        found["edges"] = int(contents.steps.edges[contents.step_of[view]])
        for field, values in contents.values(view).items():
            prefix = "" if len(contents.fields) == 1 else f"{field}_"
            figures = _figures(contents, field, values)
            found |= {prefix + name: figure for name, figure in figures.items()}
        rows.append(found)
    return pa.Table.from_pylist(rows)


def components_table(contents: RunContents, view: int) -> pa.Table:
    """The first vertex of each component, and how many vertices it has."""
    field = contents.facts.labels
    if field is None:
        raise InputError(
            f"{contents.facts.program} does not compute components",
            hint="use a program that does, such as gt.algorithms.WCC",
        )
    labels, sizes = np.unique(contents.values(view)[field], return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    ids = contents.rows.columns(labels[order])
    return pa.table({**ids, "size": pa.array(sizes[order])})


def top_table(contents: RunContents, field: str, count: int) -> pa.Table:
    """The greatest values of each view with their places, and the places gained since the last."""
    before: NDArray[Any] | None = None
    parts = []
    for view in contents.finished_views():
        values = contents.values(view)[field]
        if values.ndim == 2:
            raise InputError(f"'{field}' is an array, which has no order")
        best = np.argsort(-values.astype(np.float64), kind="stable")[:count]
        places = np.arange(1, len(best) + 1)
        rose = pa.nulls(len(best), pa.int64())
        if before is not None:
            rose = pa.array([_place(before, vertex) for vertex in best.tolist()] - places)
        columns: dict[str, Any] = {"view": pa.repeat(contents.steps.names[view], len(best))}
        columns |= {"place": places, **contents.rows.columns(best)}
        columns |= {value_name(contents, field): arrow_column(values[best]), "rose": rose}
        parts.append(pa.table(columns))
        before = values.copy()
    return pa.concat_tables(parts)


def explain_run(contents: RunContents) -> str:
    """A few lines for people."""
    return "\n".join(_explained(contents))


def _explained(contents: RunContents) -> Iterator[str]:
    facts, steps, record = contents.facts, contents.steps, contents.differences.record
    views = contents.finished_views()
    yield f"{facts.program} on '{facts.collection}', {facts.mode} mode: {facts.reason}"
    yield f"strategy {facts.strategy}: {len(views):,} of {len(steps.names):,} views finished"
    if record is None:
        return
    moves, seconds = record.column("move").to_numpy(), record.column("seconds").to_numpy()
    names = [Move(int(code)).strategy for code in moves]
    for name, number in sorted(Counter(names).items()):
        took = seconds[np.array(names) == name].sum()
        yield f"  {number:,} steps {_WORDS[name]}: {took:.3g} s"
    splits = np.count_nonzero(moves == Move.SPLIT)
    yield f"  {splits:,} times a new state was begun, {_rows(contents):,} differences kept"


_WORDS = {"differential": "differentially", "scratch": "from scratch"}


def _rows(contents: RunContents) -> int:
    record = contents.differences.record
    return 0 if record is None else int(record.column("changed").to_numpy().sum())


def _figures(contents: RunContents, field: str, values: NDArray[Any]) -> Figures:
    if contents.facts.labels == field:
        # Labels are numbers of vertices: counting them takes a third of the time of sorting them.
        sizes = np.bincount(values)
        sizes = sizes[sizes > 0]
        single = int(np.count_nonzero(sizes == 1))
        largest = int(sizes.max(initial=0))
        return {"components": len(sizes), "largest": largest, "single": single}
    if values.dtype == np.bool_:
        return {"true": int(np.count_nonzero(values))}
    figures: Figures = {}
    missing = _unreached(contents.base[field])
    if missing is not None:
        figures["reached"] = int(np.count_nonzero(values != missing))
    usual = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    empty = usual.size == 0
    figures["least"] = None if empty else usual.min().item()
    figures["greatest"] = None if empty else usual.max().item()
    figures["mean"] = None if empty else float(usual.mean())
    return figures


def _unreached(base: NDArray[Any]) -> float | None:
    """The infinity that stands for no way, where most vertices have it without edges."""
    if base.dtype.kind != "f":
        return None
    for value in (np.inf, -np.inf):
        if 2 * np.count_nonzero(base == value) >= base.size > 0:
            return value
    return None


def _place(values: NDArray[Any], vertex: int) -> int:
    """The place of a vertex among all, ties in the order of the vertices."""
    mine = values[vertex]
    return 1 + int(np.count_nonzero(values > mine) + np.count_nonzero(values[:vertex] == mine))
