"""What sums up a run: tables with one row per view or leader, components of a view, a few lines.

**Figures** by view are in `summary_table`.

**Leaders** are the vertices with the greatest values of each view, with how their places changed.
In the view before, places are known of those that led there too; those of the others are asked for
in a second walk. Like figures, leaders are kept from differences, or found anew where there is
little to look at or where floats do not hold the values.

**Losses** are beside a baseline: one line a view, the worst first. What a loss is follows from what
the results mean, as figures do. Of components, vertices are cut off that are no longer with the
greatest part of their former component. Of distances, vertices are lost that are no longer reached.
Of truth values, those that are no longer true. Of other numbers, the sum is less. A vertex that is
taken out of a view is no loss there: it is not compared. Every view is read whole: O(vertices) a
view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.model.errors import InputError, StoreError
from graphtide.model.text import counted
from graphtide.optimize.strategy import Move
from graphtide.run.collection.contents import BY_VIEW, THERE, ChosenVertices, RunContents
from graphtide.run.collection.figures import (
    Figures,
    differ,
    difference,
    exact_sum,
    is_little,
    kept_figures,
    unreached,
    whole_figures,
)
from graphtide.run.collection.ranking import CountingRanking, Int64, WholeRanking, kept_ranking
from graphtide.run.collection.tables import (
    column_name,
    explained_workers,
    globals_table,
    match_counts,
)
from graphtide.run.live.results import arrow_column

Row = dict[str, int | float | None]
Values = NDArray[Any]


def losses_table(contents: RunContents, field: str, baseline: int) -> pa.Table:
    """One row per finished view but the baseline; of the same loss, in the order of the views.

    `not_finite` is there where some values are infinite or no numbers, and so count for nothing.
    """
    if contents.empty(field).ndim == 2:
        raise InputError(f"'{field}' is an array, which has no losses", hint="see run.changes()")
    before = contents.values(baseline)[field].copy()
    edges = contents.steps.edges[contents.step_of]
    views = [view for view in contents.finished_views() if view != baseline]
    rows: dict[int, Row] = {}
    for view in sorted(views, key=lambda view: int(contents.step_of[view])):
        lost: Row = {"edges_lost": int(edges[baseline] - edges[view])}
        both = [before, contents.values(view)[field]]
        away = sorted({*contents.removed(baseline), *contents.removed(view)})
        both = [np.delete(item, away) for item in both] if away else both
        rows[view] = lost | _losses(contents, field, *both)
    order = sorted(views, key=lambda view: _severity(rows[view]), reverse=True)
    nothing: Row = {"edges_lost": 0} | _losses(contents, field, before, before)
    columns = {"view": pa.array([contents.steps.names[view] for view in order], pa.string())}
    for name, least in nothing.items():
        column = [rows[view][name] for view in order]
        if name != "not_finite" or any(column):
            columns[name] = _column(column, isinstance(least, int))
    return pa.table(columns)


def _column(values: list[int | float | None], whole: bool) -> pa.Array:
    """Ints as decimals where 64 bits do not hold them: sums may be greater than all values."""
    if not whole:
        return pa.array(values, pa.float64())
    wide = any(value is not None and not -(2**63) <= value < 2**63 for value in values)
    return pa.array(values, pa.decimal128(38) if wide else pa.int64())


def _severity(row: Row) -> tuple[float, ...]:
    """The sort key of a view: its figures after the edges, in order."""
    return tuple(0 if value is None else value for value in list(row.values())[1:])


def _losses(contents: RunContents, field: str, before: Values, after: Values) -> Row:
    if contents.facts.labels == field:
        return _cut_off(before, after)
    if contents.named_by(field) is not None:
        return {"changed": _count(before != after)}
    if before.dtype == np.bool_:
        return {"lost": _count(before & ~after), "gained": _count(after & ~before)}
    missing = unreached(contents.base[field])
    if missing is not None:
        return _unreached(before, after, missing)
    return _less(before, after)


def _cut_off(before: Values, after: Values) -> Row:
    """Vertices that are not with the greatest part of what was their component.

    Components are named by numbers of vertices, so that two fit one number of 64 bits.
    """
    keys, sizes = np.unique((before.astype(np.int64) << 32) | after, return_counts=True)
    labels = keys >> 32
    first = np.flatnonzero(np.diff(labels, prepend=-1))
    greatest = np.maximum.reduceat(sizes, first) if len(first) else sizes
    more = _count(np.bincount(after)) - len(first)
    return {"cut_off": len(before) - int(greatest.sum()), "components_more": more}


def _unreached(before: Values, after: Values, missing: float) -> Row:
    """Vertices without a way, and how much farther the others are (for widths, narrower)."""
    both = (before != missing) & (after != missing)
    one, other = (before, after) if missing > 0 else (after, before)
    usual = both & np.isfinite(before) & np.isfinite(after)
    count = _count(usual)
    return {
        "lost": _count((before != missing) & (after == missing)),
        "worse": _count(both & (other > one)),
        "mean_worse": difference(other[usual], one[usual], count) if count else None,
        "not_finite": _count(both & ~usual & differ(before, after)),
    }


def _less(before: Values, after: Values) -> Row:
    """The loss in all, the number of vertices that lost, and the largest loss of one."""
    if before.dtype.kind == "f":
        usual = np.isfinite(before) & np.isfinite(after)
        one, other = before[usual], after[usual]
        with np.errstate(over="ignore"):  # What is lost in one vertex may be beyond the floats.
            most: int | float = float((one - other).max(initial=0.0))
        lost: int | float = difference(one, other)
    else:
        usual = np.ones(len(before), np.bool_)
        pairs = zip(before.tolist(), after.tolist(), strict=True)
        most = max(0, max((one - other for one, other in pairs), default=0))
        lost = exact_sum(before) - exact_sum(after)
    return {
        "lost": lost,
        "lower": _count(usual & (before > after)),
        "most": most,
        "not_finite": _count(~usual & differ(before, after)),
    }


def _count(truths: Values) -> int:
    return int(np.count_nonzero(truths))


def top_table(contents: RunContents, field: str, count: int) -> pa.Table:
    """The first `count` of each view with their places, and the places gained since the last.

    `rose` is null for `new` ones, who had no value of their own in the view before, or were not
    there: taken out, or without an edge in a window.
    """
    check_order(contents, field)
    views = [contents.steps.names[view] for view in contents.finished_views()]
    away = [contents.removed(view) for view in contents.finished_views()]
    ranking: WholeRanking
    if BY_VIEW.all_there(contents):
        # Ranked are all vertices: enough of them, that those which are taken out can be left out.
        ranked = min(count + max(map(len, away), default=0), contents.count(field))
        ranking = _ranking(contents, field, ranked)
    else:
        ranked, away = min(count, contents.count(field)), [()] * len(views)
        ranking = CountingRanking(contents, field)
    best, values = ranking.leaders(ranked)
    there = (best >= 0) & ~_are_among(best, away)
    place = np.cumsum(there, axis=1)
    before = _places_before(ranking, best)
    new = ranking.newcomers(best, values)
    new[1:] |= _are_among(best[1:], away[:-1]) | (before[1:] == 0)
    before[1:] -= _removed_before(ranking, before, away)
    rose = before - place
    shown = there & (place <= count)
    at = np.nonzero(shown)[0]
    names = pa.array(views, pa.string()).take(pa.array(at))
    columns: dict[str, Any] = {"view": names, "place": place[shown]}
    columns |= contents.rows.columns(best[shown])
    columns[column_name(contents, field)] = arrow_column(values[shown])
    columns["rose"] = pa.array(rose[shown], mask=(at == 0) | new[shown])
    return pa.table({**columns, "new": pa.array(new[shown], mask=at == 0)})


def _are_among(vertices: Int64, away: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
    """True for each vertex, one row per view, that is among those of its view."""
    among = np.zeros(vertices.shape, np.bool_)
    for row, some in enumerate(away):
        if some:
            among[row] = np.isin(vertices[row], some)
    return among


def _removed_before(ranking: WholeRanking, places: Int64, away: Sequence[tuple[int, ...]]) -> Int64:
    """How many that are taken out of the view before stand there above each leader of a view."""
    before = np.zeros(places[1:].shape, np.int64)
    views = np.repeat(np.arange(len(away)), [len(some) for some in away])
    if len(views):
        vertices = np.array([vertex for some in away for vertex in some], np.int64)
        removed = ranking.places((views, vertices))
        for view, place in zip(views.tolist(), removed.tolist(), strict=True):
            before[view : view + 1] += places[view + 1 : view + 2] > place
    return before


def check_order(contents: RunContents, field: str) -> None:
    """InputError for results of which none is greater than another."""
    if contents.facts.labels == field:
        raise InputError(
            f"'{field}' names components, which have no order",
            hint="run.components(VIEW) has the largest of a view, run.summary() of all",
        )
    if contents.named_by(field) is not None:
        raise InputError(
            f"'{field}' names vertices, which have no order",
            hint="run.table(VIEW) has them, run.history(VERTEX) those of one vertex",
        )
    if contents.empty(field).ndim == 2:
        raise InputError(f"'{field}' is an array, which has no order", hint="see run.summary()")


def _ranking(contents: RunContents, field: str, count: int) -> WholeRanking:
    told_by_tasks = kept_ranking(contents, field, count)
    if told_by_tasks is not None:
        return told_by_tasks
    if is_little(contents, field):
        return WholeRanking(contents, field)
    # Imported here: kernels take a second, and small results need none.
    from graphtide.run.collection.incremental_figures import followed_ranking

    return followed_ranking(contents, field) or WholeRanking(contents, field)


def _places_before(ranking: WholeRanking, best: Int64) -> Int64:
    """The place that each leader of a view has in the view before; nothing for the first view."""
    places_before = np.zeros_like(best)
    unknown = []
    for view in range(1, len(best)):
        led = {vertex: place for place, vertex in enumerate(best[view - 1].tolist(), start=1)}
        places = [led.get(vertex, 0) for vertex in best[view].tolist()]
        places_before[view] = places
        unknown += [(view, at) for at, place in enumerate(places) if not place]
    if unknown:
        views, at = np.array(unknown).T
        places_before[views, at] = ranking.places((views - 1, best[views, at]))
    return places_before


def summary_table(contents: RunContents, chosen: ChosenVertices = BY_VIEW) -> pa.Table:
    """One row per finished view, in the order of the views; how many vertices count, if not all.

    Rows of matches are counted as they are kept: where a limit is reached there may be more.
    """
    chosen.check(contents)
    views = contents.finished_views()
    names = [contents.steps.names[view] for view in views]
    columns: dict[str, pa.Array] = {
        "view": pa.array(names, pa.string()),
        "edges": pa.array(contents.steps.edges[contents.step_of[views]]),
    }
    if contents.fields and not chosen.everything(contents):
        columns["vertices"] = pa.array(_counts(contents, views, chosen), pa.int64())
    whole = globals_table(contents)
    columns |= {name: whole.column(name) for name in whole.column_names if name != "view"}
    for item in contents.facts.matches:
        counts = match_counts(contents, item.name)
        columns[f"{item.name}_rows"] = counts
        if item.limit is not None:
            columns[f"{item.name}_at_limit"] = pc.greater_equal(counts, item.limit)
    for field in contents.fields:
        prefix = figure_prefix(contents, field)
        figures = _figures(contents, field, chosen)
        columns |= {prefix + name: column for name, column in figures.items()}
    return pa.table(columns)


def shown_summary(contents: RunContents) -> tuple[pa.Table, str | None]:
    """The summary for who only looks at a run: of all vertices, where the views are gone.

    And a line that says so.
    """
    try:
        return summary_table(contents), None
    except StoreError as error:
        said = f"the summary counts all vertices, touched or not: {error.what}"
        return summary_table(contents, THERE), said


def figure_prefix(contents: RunContents, field: str) -> str:
    """What the figures of a result are called by, where it is not the only one."""
    alone = len(contents.facts.results) == 1
    return "" if alone else f"{field}_"


def _figures(contents: RunContents, field: str, chosen: ChosenVertices) -> Figures:
    """One column per figure, one row per finished view in the order of the views.

    Of those with an edge, or of a label, figures are computed anew in every view.
    """
    if not chosen.all_there(contents):
        return whole_figures(contents, field, chosen)
    told_by_tasks = kept_figures(contents, field)
    if told_by_tasks is not None:
        return told_by_tasks
    if contents.empty(field).ndim == 1 and not is_little(contents, field):
        # Imported here: kernels take a second, and small results need none.
        from graphtide.run.collection.incremental_figures import followed_figures

        followed = followed_figures(contents, field)
        if followed is not None:
            return followed
    return whole_figures(contents, field)


def _counts(contents: RunContents, views: list[int], chosen: ChosenVertices) -> list[int]:
    """How many vertices count in each view, asked for in the order of the plan."""
    counts, all_vertices = {}, contents.count(contents.fields[0])
    if chosen.all_there(contents):
        return [all_vertices - len(contents.removed(view)) for view in views]
    for view in sorted(views, key=lambda view: int(contents.step_of[view])):
        mask = chosen.mask(contents, view)
        counts[view] = all_vertices if mask is None else int(np.count_nonzero(mask))
    return [counts[view] for view in views]


def components_table(
    contents: RunContents, view: int, chosen: ChosenVertices = BY_VIEW
) -> pa.Table:
    """The first vertex of each component, and how many vertices it has that count."""
    chosen.check(contents)
    field = contents.facts.labels
    if field is None:
        raise InputError(
            f"{contents.facts.program} does not compute components",
            hint="use a program that does, such as gt.algorithms.WCC",
        )
    values = chosen.of(contents, view, contents.values(view)[field])
    labels, sizes = np.unique(values, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    ids = contents.rows.columns(labels[order])
    return pa.table({**ids, "size": pa.array(sizes[order])})


def run_text(run: RunContents) -> str:
    """How a run went, in a few lines."""
    lines = [f"run '{run.facts.name}': {explain_run(run)}"]
    if not run.finished:
        done, views = len(run.finished_views()), len(run.steps.names)
        lines.append(f"  interrupted: {done:,} of {views:,} views can be read")
    return "\n".join(lines)


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
        yield f"  {counted(number, 'step')} {_WORDS[name]}: {took:.3g} s"
    splits = np.count_nonzero(moves == Move.SPLIT)
    differences = f"{counted(_rows(contents), 'difference')} {'kept' if contents.kept else 'found'}"
    yield f"  {counted(int(splits), 'time')} a new state was begun, {differences}"
    yield from explained_workers(contents)


_WORDS = {"differential": "differentially", "scratch": "from scratch"}


def _rows(contents: RunContents) -> int:
    record = contents.differences.record
    return 0 if record is None else int(record.column("changed").to_numpy().sum())
