"""The vertices with the greatest values of each view, and how their places changed.

Greater values come first, the same ones in the order of their vertices, and last what is not
reached: nobody asks for the farthest vertex to see one without a way. In the view before, places
are known of those that led there too; those of the others are asked for in a second walk.

Like figures, leaders are followed from differences, or found anew where there is little to look at
or where floats do not hold the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.figures import is_little, unreached
from graphtide.run.collection.newcomers import newcomers
from graphtide.run.collection.tables import value_name
from graphtide.run.live.arrow_columns import arrow_column

Int64 = NDArray[np.int64]
Led = tuple[Int64, NDArray[Any]]
"""The first vertices of each view, a row a view, and their values."""

Questions = tuple[Int64, Int64]
"""Views and vertices, in the order of the views: which place the one has in the other."""


def top_table(contents: RunContents, field: str, count: int) -> pa.Table:
    """The first `count` of each view with their places, and the places gained since the last.

    `rose` is null for `new` ones, who had no value of their own in the view before.
    """
    check_order(contents, field)
    ranking = _ranking(contents, field)
    best, values = ranking.leaders(min(count, len(contents.base[field])))
    views = [contents.steps.names[view] for view in contents.finished_views()]
    place = np.broadcast_to(np.arange(1, best.shape[1] + 1), best.shape)
    rose = _places_before(ranking, best) - place
    new = newcomers(contents, field, best, values)
    first = np.broadcast_to((np.arange(len(views)) == 0)[:, None], best.shape).ravel()
    names = pa.array(views, pa.string()).take(pa.array(np.arange(len(views)).repeat(best.shape[1])))
    columns: dict[str, Any] = {"view": names, "place": place.ravel()}
    columns |= contents.rows.columns(best.ravel())
    columns[value_name(contents, field)] = arrow_column(values.ravel())
    columns["rose"] = pa.array(rose.ravel(), mask=first | new.ravel())
    return pa.table({**columns, "new": pa.array(new.ravel(), mask=first)})


def check_order(contents: RunContents, field: str) -> None:
    """InputError for results of which none is greater than another."""
    if contents.facts.labels == field:
        raise InputError(
            f"'{field}' names components, which have no order",
            hint="run.components(VIEW) has the largest of a view, run.summary() of all",
        )
    if contents.base[field].ndim == 2:
        raise InputError(f"'{field}' is an array, which has no order", hint="see run.summary()")


def ranked(contents: RunContents, field: str, values: NDArray[Any]) -> NDArray[Any]:
    """Values as they are ranked: NaN, which comes last, where nothing is reached."""
    return np.where(values == np.inf, np.nan, values) if far(contents, field) else values


def far(contents: RunContents, field: str) -> bool:
    """True where infinity stands for what is not reached."""
    return unreached(contents.base[field]) == np.inf


def descending(values: NDArray[Any]) -> NDArray[Any]:
    """What is less where a value is greater: of whole numbers without rounding, or overflow."""
    return ~values if values.dtype.kind in "iu" else -values.astype(np.float64)


def _ranking(contents: RunContents, field: str) -> WholeRanking:
    if is_little(contents, field):
        return WholeRanking(contents, field)
    from graphtide.run.collection.followed_leaders import followed_ranking

    return followed_ranking(contents, field) or WholeRanking(contents, field)


def _places_before(ranking: WholeRanking, best: Int64) -> Int64:
    """The place that each leader of a view has in the view before; nothing for the first view."""
    found = np.zeros_like(best)
    unknown = []
    for view in range(1, len(best)):
        led = {vertex: place for place, vertex in enumerate(best[view - 1].tolist(), start=1)}
        places = [led.get(vertex, 0) for vertex in best[view].tolist()]
        found[view] = places
        unknown += [(view, at) for at, place in enumerate(places) if not place]
    if unknown:
        views, at = np.array(unknown).T
        found[views, at] = ranking.places((views - 1, best[views, at]))
    return found


class WholeRanking:
    """Leaders and places from the whole results of each view, which are sorted."""

    def __init__(self, contents: RunContents, field: str) -> None:
        self.contents = contents
        self.field = field

    def leaders(self, count: int) -> Led:
        """The first so many vertices of each view."""
        views, base = len(self.contents.finished_views()), self.contents.base[self.field]
        best, led = np.empty((views, count), np.int64), np.empty((views, count), base.dtype)
        for view, values, order in self._orders():
            best[view] = order[:count]
            led[view] = values[order[:count]]
        return best, led

    def places(self, questions: Questions) -> Int64:
        """The place of each vertex in its view."""
        found = np.empty(len(questions[0]), np.int64)
        for view, _, order in self._orders():
            asked = slice(*np.searchsorted(questions[0], [view, view + 1]))
            found[asked] = np.argsort(order)[questions[1][asked]] + 1
        return found

    def _orders(self) -> Iterator[tuple[int, NDArray[Any], Int64]]:
        """Views in the order of the plan, with their values and all vertices in order."""
        contents = self.contents
        views = contents.finished_views()
        for at in np.argsort(contents.step_of[views], kind="stable").tolist():
            values = contents.values(views[at])[self.field]
            order = descending(ranked(contents, self.field, values))
            yield at, values, np.argsort(order, kind="stable")
