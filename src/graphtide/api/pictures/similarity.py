"""How like its views are, before and after ordering: the similarity matrix of a collection, drawn.

What it shows is computed by `graphtide.run.collection.similarity`.
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
from graphtide.run.collection.arranged_views import ArrangedViews
from graphtide.run.collection.similarity import (
    planned_order,
    shown_views,
    similarities,
)

Float = NDArray[np.float64]
_NAMED = 8
_LONGEST = 20


def draw_similarity(views: ArrangedViews, graph: str) -> Picture:
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


def _subtitle(views: ArrangedViews, graph: str, shown: int) -> str:
    totals, count = views.plan.totals, len(views.views)
    text = f"{graph}: {counted(count, 'view')}"
    if shown < count:
        text += f", {shown:,} of them shown, evenly spaced"
    now = views.plan.differences(views.weights)
    return f"{text}; {totals.given:,} differences in the given order, {now:,} now"
