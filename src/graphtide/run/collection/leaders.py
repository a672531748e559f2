"""The vertices with the greatest values of each view, and how their places changed.

In the view before, places are known of those that led there too; those of the others are asked
for in a second walk.

Like figures, leaders are followed from differences, or found anew where there is little to look at
or where floats do not hold the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.collection.chosen_vertices import BY_VIEW
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.figures import is_little
from graphtide.run.collection.kept_ranking import kept_ranking
from graphtide.run.collection.ranking import CountingRanking, Int64, WholeRanking
from graphtide.run.collection.tables import column_name
from graphtide.run.live.arrow_columns import arrow_column


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
    """True for each vertex, a row a view, that is among those of its view."""
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
    from graphtide.run.collection.followed_leaders import followed_ranking

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
