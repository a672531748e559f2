"""The vertices with the greatest values of each view, and how their places changed.

In the view before, places are known of those that led there too; those of the others are asked
for in a second walk.

Like figures, leaders are followed from differences, or found anew where there is little to look at
or where floats do not hold the values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.figures import is_little
from graphtide.run.collection.kept_ranking import kept_ranking
from graphtide.run.collection.ranking import Int64, WholeRanking
from graphtide.run.collection.tables import column_name
from graphtide.run.live.arrow_columns import arrow_column


def top_table(contents: RunContents, field: str, count: int) -> pa.Table:
    """The first `count` of each view with their places, and the places gained since the last.

    `rose` is null for `new` ones, who had no value of their own in the view before.
    """
    check_order(contents, field)
    count = min(count, contents.count(field))
    ranking = _ranking(contents, field, count)
    best, values = ranking.leaders(count)
    views = [contents.steps.names[view] for view in contents.finished_views()]
    place = np.broadcast_to(np.arange(1, best.shape[1] + 1), best.shape)
    rose = _places_before(ranking, best) - place
    new = ranking.newcomers(best, values)
    first = np.broadcast_to((np.arange(len(views)) == 0)[:, None], best.shape).ravel()
    names = pa.array(views, pa.string()).take(pa.array(np.arange(len(views)).repeat(best.shape[1])))
    columns: dict[str, Any] = {"view": names, "place": place.ravel()}
    columns |= contents.rows.columns(best.ravel())
    columns[column_name(contents, field)] = arrow_column(values.ravel())
    columns["rose"] = pa.array(rose.ravel(), mask=first | new.ravel())
    return pa.table({**columns, "new": pa.array(new.ravel(), mask=first)})


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
