"""What can be drawn: a run by name, the graphs of views, and how alike views are.

How alike the views of a collection are is drawn before and after ordering.

What the similarity matrix shows is computed by `graphtide.run.collection.planned_views`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from graphtide.api.pictures.drawn_graph import MOST_PANELS, DrawingOptions, DrawnVersion, draw_graph
from graphtide.api.pictures.picture import (
    FORMATS,
    Picture,
    headed,
    picture_format,
    shortened,
    styled,
)
from graphtide.api.pictures.summary import check_drawable, draw_leading, draw_summary
from graphtide.api.pictures.times import draw_times, draw_workers
from graphtide.api.pictures.vertices import (
    Colouring,
    kind_colouring,
    number_colouring,
    plain_colouring,
    truth_colouring,
)
from graphtide.api.pictures.views import have_order, program_words, views_words
from graphtide.model.errors import InputError, NotFoundError
from graphtide.model.names import given_path
from graphtide.model.schema import name_hint
from graphtide.model.text import counted, visible
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.figures import unreached
from graphtide.run.collection.planned_views import (
    PlannedViews,
    planned_order,
    shown_views,
    similarities,
)
from graphtide.run.live.results import VertexRows, row_names

Float = NDArray[np.float64]
_NAMED = 8
_LONGEST = 20


def draw_similarity(views: PlannedViews, graph: str) -> Picture:
    """Two matrices: views in the given order, and in the order of the plan."""
    plan = views.plan
    given = np.arange(len(views.views))
    planned = planned_order(plan)
    orders = {"in the given order, which is kept": given}
    if not np.array_equal(given, planned):
        arranged = f"as arranged: {plan.kind}"
        orders = {"in the given order": given, arranged: planned}
    shown = [shown_views(plan, order) for order in orders.values()]
    matrices = similarities(plan, views.weights, shown)
    title = f"How alike the views of {views.name} are"
    figure = Figure(figsize=(7.2 if len(orders) == 1 else 10.7, 5.6), layout="constrained")
    columns = figure.subplots(1, len(orders), squeeze=False)[0]
    names = [view.name for view in views.views]
    drawn = _draw_matrices(columns, list(orders), shown, matrices, names)
    bar = figure.colorbar(drawn, ax=list(columns), shrink=0.75, pad=0.02)
    bar.set_label("share of edges in common (1 = the same)")
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.7g}"))
    headed(figure, title, _subtitle(views, graph, len(shown[0])))
    return Picture(title, figure)


def _draw_matrices(
    columns: NDArray[np.object_],
    titles: list[str],
    shown: list[NDArray[np.int64]],
    matrices: list[Float],
    names: list[str],
) -> AxesImage:
    least = min(float(matrix.min()) for matrix in matrices)
    least = least if least < 1 else 0.0
    for axes, title, order, matrix in zip(columns, titles, shown, matrices, strict=True):
        image: AxesImage = axes.imshow(
            matrix, cmap="cividis", vmin=least, vmax=1.0, interpolation="nearest"
        )
        axes.set_title(title)
        axes.grid(visible=False)
        _name_places(axes, [names[view] for view in order])
    return image


def _name_places(axes: Axes, names: list[str]) -> None:
    places = np.unique(np.linspace(0, len(names) - 1, min(_NAMED, len(names))).round().astype(int))
    labels = [shortened(visible(names[at]), _LONGEST) for at in places]
    axes.set_xticks(places, labels, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(places, labels)
    axes.set_xlabel("view")
    axes.set_ylabel("view")
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def _subtitle(views: PlannedViews, graph: str, shown: int) -> str:
    totals, count = views.plan.totals, len(views.views)
    text = f"{graph}: {counted(count, 'view')}"
    if shown < count:
        text += f", {shown:,} of them shown, evenly spaced"
    now = views.plan.differences(views.weights)
    return f"{text}; {totals.given:,} differences in the given order, {now:,} now"


_USUAL_PANELS = 6
Drawn = Literal["summary", "times", "top", "workers"]


def draw_run(
    run: RunContents,
    path: str | Path | None = None,
    *,
    of: Drawn = "summary",
    field: str | None = None,
    count: int | None = None,
    reference: RunContents | None = None,
    bars: bool | None = None,
) -> Picture:
    """A picture of a run: its `summary` or the `top` vertices by view, the `times` that it took, or
    what its `workers` did when.

    Saved if there is a path.
    """
    if of not in get_args(Drawn):
        known = ", ".join(f"'{name}'" for name in get_args(Drawn))
        raise InputError(f"a run has no picture of {of!r}", hint=f"use one of {known}")
    if of == "times":
        return _drawn(path, lambda: draw_times(run, reference))
    if of == "workers":
        return _drawn(path, lambda: draw_workers(run))
    if of == "top":
        return _drawn(path, lambda: draw_leading(run, field, count, bars))
    return _drawn(path, lambda: draw_summary(run, field, bars))


def draw_collection(views: PlannedViews, graph: str, path: str | Path | None = None) -> Picture:
    """The similarity of a collection's views, before and after ordering."""
    return _drawn(path, lambda: draw_similarity(views, graph))


@dataclass(frozen=True)
class VersionsToDraw:
    """Named versions of a graph: their edges by position, and the vertices that these join.

    `run` has the results that colour them, if there is a run, and `field` is the one that does.
    Edges of a graph that is not `directed` have no arrows, unless that is asked for.
    """

    names: Sequence[str]
    ends: Callable[[int], NDArray[np.int64]]
    vertices: VertexRows
    run: RunContents | None = None
    field: str | None = None
    directed: bool = True

    def position(self, view: str | int) -> int:
        """A view by its name or position; InputError if there is none."""
        if self.run is not None:
            return self.run.position(view)
        if isinstance(view, str) and view in self.names:
            return self.names.index(view)
        if isinstance(view, int) and -len(self.names) <= view < len(self.names):
            return view % len(self.names)
        hint = name_hint(str(view), self.names, "see its names: collection.names", "'")
        raise NotFoundError(f"the collection has no view {view!r}", hint=hint)

    def version(self, position: int) -> DrawnVersion:
        """One version with its results, which are copied: the next one overwrites them."""
        values = None
        if self.run is not None and self.field is not None:
            values = self.run.values(position)[self.field].copy()
        return DrawnVersion(self.names[position], self.ends(position), values)


def draw_run_views(
    run: RunContents,
    views: str | int | Sequence[str | int] | None,
    path: str | Path | None,
    *,
    field: str | None,
    **wanted: Any,
) -> Picture:
    """The graph of one view of a run or of several, coloured by a result of its vertices."""
    if isinstance(views, str) and Path(views).suffix.lower() in FORMATS and path is None:
        hint = f"name the view first: run.draw(VIEW, {views!r})"
        if views not in run.steps.names:
            raise InputError(f"'{views}' is no view, but the name of a picture", hint=hint)
    if views is None:
        check_drawable(run)
        finished = run.finished_views()
        places = np.linspace(0, len(finished) - 1, min(len(finished), _USUAL_PANELS)).round()
        views = [finished[int(at)] for at in places]
    if run.facts.pairs is not None:
        raise InputError(
            f"{run.facts.program} has results of pairs, which colour no vertex",
            hint="draw the view itself: collection[VIEW].draw()",
        )
    name = run.field(field) if run.fields or field is not None else None
    if name is not None and run.empty(name).ndim > 1:
        raise InputError(f"'{name}' is an array, which is no colour", hint="see run.table(VIEW)")
    touched = run.touched()
    of_run = run.steps.names, touched.edges, run.rows.vertices, run, name
    versions = VersionsToDraw(*of_run, directed=touched.directed)
    return draw_versions(versions, views, path, **wanted)


def draw_versions(
    versions: VersionsToDraw,
    views: str | int | Sequence[str | int],
    path: str | Path | None,
    *,
    around: Any,
    since: str | int | Literal[False] | None,
    **wanted: Any,
) -> Picture:
    """The graphs of some views beside each other, with what changed between them."""
    listed = [views] if isinstance(views, str | int) else list(views)
    if not 1 <= len(listed) <= MOST_PANELS:
        raise InputError(
            f"a picture has no room for {counted(len(listed), 'view')}",
            hint=f"draw 1 to {MOST_PANELS} of them",
        )
    starts = around if isinstance(around, list) else [] if around is None else [around]
    numbers = tuple(versions.vertices.number(vertex) for vertex in starts)
    chosen = DrawingOptions(around=numbers, **wanted)
    chosen.check()
    if chosen.arrows is None and not versions.directed:
        chosen = replace(chosen, arrows=False)
    shown, told = _with_changes(versions, [versions.position(view) for view in listed], since)
    return _drawn(path, lambda: _draw_panels(versions, shown, told, chosen))


def _with_changes(
    versions: VersionsToDraw, places: list[int], since: str | int | Literal[False] | None
) -> tuple[list[DrawnVersion], str]:
    """The versions with those that changes are told from, and what the picture says of these."""
    shown = [versions.version(place) for place in places]
    if since is False:
        return shown, ""
    if since is not None:
        start = versions.version(versions.position(since))
        return [replace(item, before=start) for item in shown], f"changes since {start.name}"
    if not have_order(versions.names):
        return shown, ""
    if len(shown) > 1:
        before = [None, *shown[:-1]]
        pairs = zip(shown, before, strict=True)
        return [
            replace(item, before=other) for item, other in pairs
        ], "changes since the panel before"
    if not places[0]:
        return shown, ""
    earlier = versions.version(places[0] - 1)
    return [replace(shown[0], before=earlier)], f"changes since {earlier.name}"


def _draw_panels(
    versions: VersionsToDraw, shown: list[DrawnVersion], told: str, wanted: DrawingOptions
) -> Picture:
    run, field = versions.run, versions.field
    names = [item.name for item in shown]
    below = [told]
    if len(shown) == 1:
        below.insert(0, counted(len(shown[0].edges), "edge"))
    if run is None:
        title = f"The graph of {names[0]}"
    else:
        words, parameters = program_words(run.facts.program)
        title = f"{words}{views_words(names)}"
        below = [run.facts.collection, *below, parameters]
    heading = title, "; ".join(filter(None, below))
    names_of = partial(row_names, versions.vertices)

    def colour_by(vertices: NDArray[np.int64]) -> Colouring:
        if run is None or field is None:
            return plain_colouring()
        values = [item.values[vertices] for item in shown if item.values is not None]
        return _colouring(run, field, values, names_of)

    return draw_graph(shown, wanted, versions.vertices, heading, colour_by)


def _colouring(
    run: RunContents, field: str, values: list[NDArray[Any]], names: Callable[..., list[str]]
) -> Colouring:
    """The colours that suit a result: components, other vertices that it names, truth, numbers."""
    if run.named_by(field) is not None:
        return kind_colouring(values, names, "with" if run.facts.labels == field else field)
    if values[0].dtype == np.bool_:
        return truth_colouring(field)
    missing = unreached(run.base[field])
    numbers = [part.astype(np.float64) for part in values]
    if missing is not None:
        numbers = [np.where(part == missing, np.nan, part) for part in numbers]
    return number_colouring(numbers, field, missing)


def _drawn(path: str | Path | None, draw: Callable[[], Picture]) -> Picture:
    """Draw in our style and save; a file that is no picture is refused before anything is drawn."""
    if path is not None:
        picture_format(given_path(path))
    with styled():
        picture = draw()
    if path is not None:
        picture.save(path)
    return picture
