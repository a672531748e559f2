"""A drawn graph: one version of it, or several beside each other with each vertex in one place.

Edges that came or went since the version before have a colour of their own and are solid or dashed;
vertices have the colour of their result, and a dark ring where it changed. What has too many
vertices to be drawn is cut down to the surroundings of some, and the picture says what it leaves
out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from graphtide.api.pictures.picture import (
    BLACK,
    RED,
    WIDTH,
    Picture,
    headed,
    short_number,
    shortened,
)
from graphtide.api.pictures.vertices import (
    Colouring,
    Float,
    Int,
    Scale,
    lay_out,
    nearest_gap,
    outline_of,
)
from graphtide.model.errors import InputError
from graphtide.model.text import counted, visible
from graphtide.run.live.results import VertexRows, row_names
from graphtide.run.views.drawable import Neighbourhood, edge_index

MOST_PANELS, USUAL_MOST = 12, 200
_MOST = 1000
_HEAD, _PANEL_HEAD, _MARGIN, _SCALE = 0.6, 0.42, 0.12, 2.2
_NAMED, _MOST_NAMES, _LONGEST = 70, 25, 18
_LETTER = 0.6
"""The width of a letter beside its height."""

_MOST_ARROWS, _LONGEST_EDGE = 90, 1.2
_LOOKS: dict[str, dict[str, Any]] = {
    "went": {"color": RED, "linestyle": (0, (2.0, 1.5)), "zorder": 1},
    "stayed": {"color": "#B4B4B4", "linestyle": "-", "zorder": 2},
    "came": {"color": RED, "linestyle": "-", "zorder": 3},
}

Pair = tuple[int, int]
Names = Callable[[Int], list[str]]


@dataclass(frozen=True)
class DrawnVersion:
    """One version: a row (source, destination) for each edge, and a result of each vertex.

    `before` is the version that changes are told from; None where none are told.
    """

    name: str
    edges: Int
    values: NDArray[Any] | None = None
    before: DrawnVersion | None = None


@dataclass(frozen=True)
class DrawingOptions:
    """What a user wants to see: around which vertices, by number, and how many at most.

    `places` has the place of each vertex by its id; `hops` None draws all that is connected, and
    `arrows` None leaves it to the number of edges.
    """

    around: tuple[int, ...] = ()
    hops: int | None = 2
    most: int = USUAL_MOST
    places: Mapping[Any, Sequence[float]] | None = None
    arrows: bool | None = None

    def check(self) -> None:
        """InputError for numbers that no picture can have."""
        if not _is_whole(self.most) or not 1 <= self.most <= _MOST:
            raise InputError(
                f"most cannot be {self.most!r}",
                hint=f"draw 1 to {_MOST:,} vertices; around=VERTEX draws those near it",
            )
        if self.hops is not None and (not _is_whole(self.hops) or self.hops < 0):
            raise InputError(
                f"hops cannot be {self.hops!r}",
                hint="give a whole number, or None for all that is connected",
            )


def draw_graph(
    versions: Sequence[DrawnVersion],
    wanted: DrawingOptions,
    vertices_of: VertexRows,
    heading: tuple[str, str],
    colour_by: Callable[[Int], Colouring],
) -> Picture:
    """The versions as panels that share places and colours.

    `heading` is a title and what stands below it, `colour_by` the colouring that suits the drawn
    vertices.
    """
    names = partial(row_names, vertices_of)
    shown = [item for version in versions for item in (version, version.before) if item]
    edges = np.concatenate([item.edges for item in shown])
    vertices, note = _chosen_vertices(edges, wanted, names)
    if not len(vertices):
        many = counted(len(versions), "view")
        raise InputError(f"{many} without an edge: nothing to draw", hint="draw another view")
    drawing = _Drawing(vertices, edges, wanted, vertices_of)
    colouring = colour_by(vertices)
    legend = _Legend(versions, colouring)
    figure, panels = drawing.figure(len(versions), legend.height)
    for axes, version in zip(panels, versions, strict=True):
        drawing.draw(axes, version, colouring, alone=len(versions) == 1)
    title, below = heading
    headed(figure, title, f"{below}{note}")
    legend.draw(figure)
    return Picture(title, figure)


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _chosen_vertices(edges: Int, wanted: DrawingOptions, names: Names) -> tuple[Int, str]:
    """The vertices that are drawn, ascending, and what the picture says of the others."""
    touched = np.unique(np.concatenate([edges.ravel(), np.array(wanted.around, np.int64)]))
    if not wanted.around and len(touched) <= wanted.most:
        return touched, ""
    degree = np.bincount(edges.ravel(), minlength=int(touched[-1]) + 1)
    starts = np.array(wanted.around or [int(np.argmax(degree))], np.int64)
    hops = wanted.hops if wanted.around else None
    index = edge_index(len(degree), *edges.T.astype(np.int32))
    alive = np.ones(len(edges), np.bool_)
    part = Neighbourhood(index, alive, degree, most_vertices=wanted.most)
    part.grow(starts, hops)
    while not wanted.around and not part.full:
        part.grow(np.array([np.argmax(np.where(part.found, -1, degree))]))
    found = part.found
    kept, called = np.flatnonzero(found), [f"'{visible(name)}'" for name in names(starts[:3])]
    if not wanted.around:
        return kept, f"; drawn: {len(kept):,} of {len(touched):,} vertices, from {called[0]} on"
    near = " and ".join([", ".join(called[:-1]), called[-1]] if called[1:] else called)
    near += f" and {len(starts) - 3} more" if len(starts) > 3 else ""
    far = "connected with" if hops is None else f"within {counted(hops, 'hop')} of"
    cut = ", cut there" if len(kept) == wanted.most else ""
    return kept, f"; {counted(len(kept), 'vertex', 'vertices')} {far} {near}{cut}"


def _pairs(edges: Int, vertices: Int) -> Counter[Pair]:
    """How many edges join each two drawn vertices, by their places among these."""
    places = np.minimum(np.searchsorted(vertices, edges), len(vertices) - 1)
    inner = places[(vertices[places] == edges).all(axis=1)]
    return Counter(map(tuple, inner.tolist()))


class _Drawing:
    """What all panels share: the vertices, where they stand, and how large everything is."""

    def __init__(
        self, vertices: Int, edges: Int, wanted: DrawingOptions, called: VertexRows
    ) -> None:
        self._vertices, self._ids = vertices, called.listed(vertices)
        self._wanted = wanted
        self._pairs = np.array(sorted(_pairs(edges, vertices)), np.int64).reshape(-1, 2)
        self._degree = np.bincount(self._pairs.ravel(), minlength=len(vertices))
        names = row_names(called, vertices)
        self._names = [shortened(visible(name), _LONGEST) for name in names]
        self._places = np.zeros((0, 2))
        self._dot = self._points = 1.0
        self._corners = np.zeros(2), np.zeros(2)

    def figure(self, count: int, foot: float) -> tuple[Figure, list[Axes]]:
        """A figure with `count` panels of the shape of the graph, and room below them."""
        columns = count if count < 3 else 2 if count == 4 else 4 if count > 9 else 3
        rows, head = -(-count // columns), _PANEL_HEAD if count > 1 else 0.0
        width = (WIDTH - _MARGIN * (columns + 1)) / columns
        self._places = self._laid_out(1.75 if count == 1 else 1.45)
        low, high = self._places.min(axis=0), self._places.max(axis=0)
        size = np.maximum(high - low, 1e-9)
        border = 0.35 if count == 1 else 0.2
        longest = _LONGEST_EDGE if self._wanted.places is None else np.inf
        inches = min(longest, (width - 2 * border) / size[0])
        height = float(np.clip(inches * size[1] + 2 * border, 0.25 * width, 0.72 * width))
        self._points = 72 * min(inches, (height - 2 * border) / size[1])
        roomy = 0.55 * nearest_gap(self._places) * self._points
        self._dot = float(np.clip(roomy, 3.2, 13.0 if count == 1 else 9.0))
        tall = _HEAD + rows * (height + head) + foot
        figure, panels = Figure(figsize=(WIDTH, tall)), []
        middle, half = (low + high) / 2, 36 * np.array([width, height]) / self._points
        self._corners = (middle - half) * self._points, (middle + half) * self._points
        for at in range(count):
            row, column = divmod(at, columns)
            left = _MARGIN + column * (width + _MARGIN)
            bottom = tall - _HEAD - (row + 1) * (height + head)
            box = (left / WIDTH, bottom / tall, width / WIDTH, height / tall)
            panels.append(figure.add_axes(box))
            panels[-1].set_xlim(middle[0] - half[0], middle[0] + half[0])
            panels[-1].set_ylim(middle[1] - half[1], middle[1] + half[1])
            panels[-1].set_axis_off()
        return figure, panels

    def _laid_out(self, shape: float) -> Float:
        given = self._wanted.places
        if given is None:
            return lay_out(len(self._vertices), self._pairs, shape)
        lacking = [at for at, vertex in enumerate(self._ids) if vertex not in given]
        if lacking:
            name = self._names[lacking[0]]
            raise InputError(
                f"places lacks {counted(len(lacking), 'vertex', 'vertices')} of those that are "
                f"drawn, '{name}' first",
                hint="give a place (x, y) for every vertex, or none: they are laid out then",
            )
        return np.array([given[vertex] for vertex in self._ids], np.float64)

    def draw(self, axes: Axes, version: DrawnVersion, colouring: Colouring, *, alone: bool) -> None:
        """Draw one version into its panel."""
        now = _pairs(version.edges, self._vertices)
        then = _pairs(version.before.edges, self._vertices) if version.before else now
        old, new = _either_way(then), _either_way(now)
        lines = {
            "went": {pair: many for pair, many in then.items() if pair not in new},
            "stayed": {pair: many for pair, many in now.items() if pair in old},
            "came": {pair: many for pair, many in now.items() if pair not in old},
        }
        wanted = self._wanted.arrows
        arrows = alone and len(self._pairs) <= _MOST_ARROWS if wanted is None else wanted
        for kind, pairs in lines.items():
            self._draw_lines(axes, kind, pairs, arrows=arrows)
        self._draw_vertices(axes, version, colouring, set(chain.from_iterable(now)))
        self._write_names(axes, chain.from_iterable(chain(lines["came"], lines["went"])), alone)
        if not alone:
            self._head(axes, version)

    def _draw_lines(
        self, axes: Axes, kind: str, pairs: Mapping[Pair, int], *, arrows: bool
    ) -> None:
        """Draw edges, wider where they are parallel; loops are small circles."""
        look, wide = _LOOKS[kind], 1.0 if kind == "stayed" else 1.6
        straight = {pair: many for pair, many in pairs.items() if pair[0] != pair[1]}
        widths = [wide * min(1 + 0.35 * np.log2(many), 2.5) for many in straight.values()]
        for at, _ in (pair for pair in pairs if pair[0] == pair[1]):
            x, y = self._places[at]
            beside = 0.75 * self._dot / self._points
            ring = Line2D([x + beside], [y + beside], marker="o", markersize=0.9 * self._dot)
            ring.set(markerfacecolor="none", markeredgecolor=look["color"], markeredgewidth=wide)
            axes.add_line(ring)
        if not arrows:
            ends = [self._places[list(pair)] for pair in straight]
            axes.add_collection(LineCollection(ends, linewidths=widths, **look))
            return
        for (src, dst), width in zip(straight, widths, strict=True):
            both = (dst, src) in straight
            if both and src > dst:
                continue
            style = "<|-|>" if both else "-|>"
            axes.add_patch(
                FancyArrowPatch(
                    self._places[src],
                    self._places[dst],
                    arrowstyle=style,
                    mutation_scale=7 + 1.5 * width,
                    shrinkA=self._dot / 2 + (0.5 if both else 0.0),
                    shrinkB=self._dot / 2 + 0.5,
                    linewidth=width,
                    **look,
                )
            )

    def _draw_vertices(
        self, axes: Axes, version: DrawnVersion, colouring: Colouring, touched: set[int]
    ) -> None:
        """Draw vertices: small ones have no edge, dark rings mark changed results."""
        there = np.isin(np.arange(len(self._vertices)), list(touched))
        values = version.values
        own = self._vertices if values is None else values[self._vertices]
        own = own if colouring.missing is None else np.where(own == colouring.missing, np.nan, own)
        fill = colouring.colours(own)
        edge, width = [outline_of(colour) for colour in fill], [0.8] * len(fill)
        before = None if version.before is None else version.before.values
        if values is not None and before is not None:
            for at in np.flatnonzero(
                _differ(values[self._vertices], before[self._vertices], colouring.slack)
            ).tolist():
                edge[at], width[at] = BLACK, min(1.6, 0.2 * self._dot)
        area = np.where(there, self._dot, 0.55 * self._dot) ** 2
        x, y = self._places.T
        axes.scatter(x, y, area, fill, edgecolors=edge, linewidths=width, zorder=5)

    def _write_names(self, axes: Axes, changed: Iterable[int], alone: bool) -> None:
        """Write names of all vertices where there is room, else of the most important ones."""
        size = 8.0 if alone else 6.5
        first = {*changed}
        around = set(np.searchsorted(self._vertices, list(self._wanted.around)).tolist())
        order = sorted(
            range(len(self._names)),
            key=lambda at: (at not in around, at not in first, -self._degree[at], at),
        )
        few = _NAMED if alone else _NAMED // 4
        most = len(order) if len(order) <= few else _MOST_NAMES if alone else len(around)
        taken = _OccupiedBoxes(
            self._places * self._points, self._dot, self._outward(), self._corners
        )
        halo = [withStroke(linewidth=2.0, foreground="white")]
        for at in order[:most]:
            wide, tall = _LETTER * size * len(self._names[at]), 1.15 * size
            spot = taken.room(at, wide, tall)
            if spot is not None:
                x, y = spot / self._points
                text = axes.text(x, y, self._names[at], fontsize=size, color=BLACK, zorder=6)
                bold = "bold" if at in around else "normal"
                text.set(ha="center", va="center", path_effects=halo, fontweight=bold)

    def _outward(self) -> Float:
        """The direction from each vertex in which it has the fewest neighbours."""
        ways = np.zeros_like(self._places)
        one, other = self._pairs.T
        between = self._places[one] - self._places[other]
        between /= np.maximum(np.hypot(*between.T), 1e-9)[:, None]
        np.add.at(ways, one, between)
        np.add.at(ways, other, -between)
        return ways

    def _head(self, axes: Axes, version: DrawnVersion) -> None:
        """Write the name of a panel, its edges, and how many came and went."""
        told = counted(len(version.edges), "edge")
        if version.before is not None:
            came, went = _edges_changed(version.edges, version.before.edges)
            told += f" (+{came:,} −{went:,})"
        inch = 72 / float(self._corners[1][1] - self._corners[0][1])
        above: dict[str, Any] = {"transform": axes.transAxes, "va": "bottom", "ha": "left"}
        name = shortened(visible(version.name), 34)
        axes.text(0.02, 1 + 0.16 * inch, name, fontsize=10, fontweight="bold", **above)
        axes.text(0.02, 1 + 0.01 * inch, told, fontsize=8, color="#555555", **above)


class _OccupiedBoxes:
    """The boxes of a panel where something stands, in points: left, bottom, right, top."""

    def __init__(
        self, places: Float, dot: float, outward: Float, corners: tuple[Float, Float]
    ) -> None:
        self._places = places
        self._low, self._high = corners
        self._dot = dot
        self._outward = outward
        half = dot / 2
        self._boxes = np.column_stack([places - half, places + half])

    def room(self, at: int, wide: float, tall: float) -> Float | None:
        """The middle of a free box beside a vertex, away from its edges; then it is taken."""
        side, over = (self._dot + wide) / 2 + 1.5, (self._dot + tall) / 2 + 0.5
        near = 0.7 * side, 0.8 * over
        ways = [(side, 0.0), (-side, 0.0), (0.0, over), (0.0, -over)]
        ways += [(x * near[0], y * near[1]) for x in (1, -1) for y in (1, -1)]
        half, outward = np.array([wide, tall]) / 2, self._outward[at]
        ways.sort(key=lambda way: -float(np.dot(way, outward)) / float(np.hypot(*way)))
        for way in ways:
            middle: Float = self._places[at] + way
            box = np.concatenate([middle - half, middle + half])
            apart = (self._boxes[:, :2] >= box[2:]) | (self._boxes[:, 2:] <= box[:2])
            inside = (box[:2] >= self._low).all() and (box[2:] <= self._high).all()
            if inside and apart.any(axis=1).all():
                self._boxes = np.vstack([self._boxes, box])
                return middle
        return None


def _edges_changed(now: Int, then: Int) -> tuple[int, int]:
    """How many edges came and went in the whole version; parallel edges count each."""
    ends = np.sort(np.concatenate([now, then]), axis=1)
    base = int(ends.max(initial=0)) + 1
    _, kind = np.unique(ends[:, 0] * base + ends[:, 1], return_inverse=True)
    net = np.bincount(kind[: len(now)], minlength=len(ends))
    net -= np.bincount(kind[len(now) :], minlength=len(ends))
    return int(net[net > 0].sum()), int(-net[net < 0].sum())


def _either_way(pairs: Iterable[Pair]) -> set[Pair]:
    return {turned for one, other in pairs for turned in ((one, other), (other, one))}


def _differ(one: NDArray[Any], other: NDArray[Any], slack: float) -> NDArray[np.bool_]:
    """Where two results differ by more than the slack. NaN equals NaN."""
    differ: NDArray[np.bool_] = one != other
    if one.dtype.kind == "f":
        known = np.isfinite(one) & np.isfinite(other)
        differ &= ~(np.isnan(one) & np.isnan(other))
        with np.errstate(over="ignore"):
            differ[known] = np.abs(one[known] - other[known]) > slack
    return differ


class _Legend:
    """What lines, colours and rings mean, in rows at the bottom beside the scale of colours."""

    def __init__(self, versions: Sequence[DrawnVersion], colouring: Colouring) -> None:
        self._scale = colouring.scale
        self._handles = [_dot(name, colour, outline_of(colour)) for name, colour in colouring.named]
        if any(version.before is not None for version in versions):
            for kind in ("came", "went"):
                look = {key: _LOOKS[kind][key] for key in ("color", "linestyle")}
                self._handles.append(Line2D([], [], linewidth=1.6, label=f"edge {kind}", **look))
            if versions[0].values is not None:
                label = "result changed" + (" (1% or more)" if colouring.slack else "")
                self._handles.append(_dot(label, "white", BLACK))
        widest = max((len(str(item.get_label())) for item in self._handles), default=1)
        room = WIDTH - 0.2 - (0.0 if self._scale is None else _SCALE + 0.6)
        self._columns = max(1, int(room / (0.5 + 0.07 * widest)))

    @property
    def height(self) -> float:
        """The height in inches."""
        rows = -(-len(self._handles) // self._columns)
        return 0.16 + max(0.2 * rows, 0.24 if self._scale is not None else 0.0)

    def draw(self, figure: Figure) -> None:
        """Draw the legend at the lower left, and the scale at the lower right."""
        if self._scale is not None:
            _draw_scale(figure, self._scale)
        if self._handles:
            figure.legend(
                handles=self._handles,
                loc="lower left",
                bbox_to_anchor=(0.0, 0.0),
                ncols=self._columns,
                columnspacing=1.1,
                handletextpad=0.4,
                fontsize=8.5,
            )


def _dot(name: str, colour: str, edge: str) -> Line2D:
    dot = Line2D([], [], marker="o", linestyle="none", markersize=6.5, label=name)
    dot.set(markerfacecolor=colour, markeredgecolor=edge, markeredgewidth=1.4)
    return dot


def _draw_scale(figure: Figure, scale: Scale) -> None:
    tall = figure.get_figheight()
    box = (1 - (_SCALE + 0.25) / WIDTH, 0.22 / tall, _SCALE / WIDTH, 0.09 / tall)
    bar = figure.colorbar(
        ScalarMappable(scale.norm, scale.colours),
        cax=figure.add_axes(box),
        orientation="horizontal",
        ticks=scale.ticks,
    )
    bar.ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    bar.ax.tick_params(labelsize=7.5, length=2, pad=1)
    bar.outline.set_visible(False)
    beside: dict[str, Any] = {"transform": bar.ax.transAxes, "ha": "right", "va": "center"}
    bar.ax.text(-0.03, 0.5, shortened(scale.name, 14), fontsize=8.5, **beside)
