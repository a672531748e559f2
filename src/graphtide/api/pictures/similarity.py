"""How like its views are, before and after ordering: the similarity matrix of a collection.

The similarity of two views is the share of their edges that they have in common (Jaccard), exact
and from the classes of the plan alone: no edge is read. Of more views than a picture has places,
evenly spaced ones stand for the rest.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from graphtide.api.pictures.picture import Picture
from graphtide.api.pictures.style import headed, shortened
from graphtide.model.cells import visible
from graphtide.model.wording import counted
from graphtide.optimize.distances import distances_between
from graphtide.plan.collection import CollectionPlan
from graphtide.run.collection.arranged_views import ArrangedViews

Float = NDArray[np.float64]
_MOST_SHOWN = 400
_FEWEST_SHOWN = 60
_MOST_CELLS = 1 << 26
_STRIP = 1 << 16
_NAMED = 8
_LONGEST = 20


def draw_similarity(views: ArrangedViews, graph: str) -> Picture:
    """Two matrices: views in the given order, and in the order of the plan."""
    plan = views.plan
    given = np.arange(len(views.views))
    planned = np.array([step.view for step in plan.steps if step.view is not None])
    orders = {"in the given order, which is kept": given}
    if not np.array_equal(given, planned):
        arranged = f"as arranged: {plan.kind}"
        orders = {"in the given order": given, arranged: planned}
    shown = [_evenly(order, _room(plan.classes)) for order in orders.values()]
    matrices = _similarities(plan, views.weights, shown)
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


def similarity(distances: NDArray[np.int64], left: Float, right: Float) -> Float:
    """Edges in both over edges in either, from sizes and distances; 1 for two empty views."""
    both = left[:, None] + right[None, :]
    either = both + distances
    return np.where(either > 0, (both - distances) / np.maximum(either, 1), 1.0)


def _similarities(
    plan: CollectionPlan, weights: NDArray[np.int64], orders: list[NDArray[np.int64]]
) -> list[Float]:
    wanted = np.unique(np.concatenate(orders))
    points = _memberships(plan, wanted)
    sizes: Float = np.array([weights[held].sum() for held in points], np.float64)
    matrices = []
    for order in orders:
        rows = np.searchsorted(wanted, order)
        chosen = points[rows]
        distances = np.zeros((len(rows), len(rows)), np.int64)
        for first in range(0, max(len(weights), 1), _STRIP):
            strip = np.ascontiguousarray(chosen[:, first : first + _STRIP])
            distances += distances_between(strip, strip, weights[first : first + _STRIP])
        matrices.append(similarity(distances, sizes[rows], sizes[rows]))
    return matrices


def _memberships(plan: CollectionPlan, wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The classes of the wanted views, a row each."""
    rows = {int(view): at for at, view in enumerate(wanted)}
    members = np.zeros((len(wanted), plan.classes), np.bool_)
    for step, held in zip(plan.steps, plan.versions(), strict=True):
        if step.view in rows:
            members[rows[step.view]] = held
    return members


def _room(classes: int) -> int:
    """How many views are shown: fewer where each has very many classes."""
    affordable = _MOST_CELLS // max(classes, 1)
    return int(np.clip(affordable, _FEWEST_SHOWN, _MOST_SHOWN))


def _evenly(order: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    if len(order) <= most:
        return order
    places = np.linspace(0, len(order) - 1, most).round().astype(np.int64)
    chosen: NDArray[np.int64] = order[places]
    return chosen


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


def _subtitle(views: ArrangedViews, graph: str, shown: int) -> str:
    totals, count = views.plan.totals, len(views.views)
    text = f"{graph}: {counted(count, 'view')}"
    if shown < count:
        text += f", {shown:,} of them shown, evenly spaced"
    now = views.plan.differences(views.weights)
    return f"{text}; {totals.given:,} differences in the given order, {now:,} now"
