"""The contents of a run, for tables, summaries and pictures to read: steps, differences, rows.

Results may be larger than this process, so little is read at once. The results of the empty version
that tasks have written are read when somebody asks for them (`KeptBase`): who sums up a view, or
shows a few of its vertices, never does. Those of a run on shards can be read some rows at a time,
by `field_pages` and `base_pages`.

The results themselves are those of the whole graph; which vertices of a view count is a choice
(`ChosenVertices`): those that are there, that it touches, or of a label. A vertex that is taken out
of a view never counts there. Of a window, which is about what happened in it, only vertices with an
edge in it count, unless somebody asks for all. A graph has vertices that no edge of a view is
about: posts and comments, where the view is of who knows whom. `ViewDegrees` keeps the number
of edges of each vertex along the plan, so that neighbouring views cost the edges between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.engine.changes import Values
from graphtide.model.errors import InputError, NotFoundError
from graphtide.model.schema import name_hint
from graphtide.plan.collection import CollectionPlan
from graphtide.plan.walks import Matches
from graphtide.run.collection.differences import Cursor, RunDifferences, numpy_column
from graphtide.run.collection.facts import RunFacts
from graphtide.run.collection.steps import Deltas, Int32, RunSteps, run_steps
from graphtide.run.live.results import ResultRows, VertexRows, named_matches
from graphtide.store.collection import GroupedEdges
from graphtide.store.parts import PartsOnDisk, RecordOnly
from graphtide.store.results import base_table, pages

if TYPE_CHECKING:
    from graphtide.run.routes import Route, ViewRoutes


class StoredBase(Mapping[str, NDArray[Any]]):
    """One column per field, one row per vertex; before any view is finished, no rows.

    `empty` has the fields without rows.
    """

    def __init__(self, empty: Values, parts: PartsOnDisk, vertices: int) -> None:
        self.empty = empty
        self.vertices = vertices
        self._parts = parts
        self._read: dict[str, NDArray[Any]] = {}

    def __getitem__(self, field: str) -> NDArray[Any]:
        if not len(self._parts):
            return self.empty[field]
        if field not in self._read:
            table, empty = base_table(self._parts, field), self.empty[field]
            values = np.empty((self.vertices, *empty.shape[1:]), empty.dtype)
            values[table.column("vertex").to_numpy()] = numpy_column(table.column("value"))
            self._read[field] = values
        return self._read[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self.empty)

    def __len__(self) -> int:
        return len(self.empty)


Ends = Callable[[Int32], tuple[Int32, Int32]]
"""The sources and the destinations of edges."""


class ViewDegrees:
    """The vertices with an edge, one view at a time, beginning with the empty version."""

    def __init__(
        self,
        plan: CollectionPlan,
        names: Sequence[str],
        grouped: GroupedEdges,
        ends: Ends,
        directed: bool = True,
    ) -> None:
        self.directed = directed
        self.plan, self.grouped = plan, grouped
        self._view_steps = plan.view_steps
        self._deltas = Deltas(plan, grouped)
        self._steps = run_steps(plan, names, self._deltas)
        self.ends = ends
        self._edges = np.zeros(0, np.int32)
        self._at = -1

    def mask(self, view: int, vertices: int) -> NDArray[np.bool_]:
        """True for each of so many vertices that has an edge in a view, by its position."""
        if not len(self._edges):
            self._edges = np.zeros(vertices, np.int32)
        step = int(self._view_steps[view])
        up, down = self._steps.way(self._at, step)
        for passed in up:
            self._move(passed, -1)
        for passed in down:
            self._move(passed, 1)
        self._at = step
        return self._edges > 0

    def edges(self, view: int) -> NDArray[np.int64]:
        """The numbers of both ends of each edge of a view, one row per edge."""
        src, dst = self.ends(self.grouped.of_view(self.plan, view))
        return np.column_stack([src, dst]).astype(np.int64)

    def _move(self, step: int, sign: int) -> None:
        for edges, change in zip(self._deltas.of(step), (sign, -sign), strict=True):
            for end in self.ends(edges):
                # Of the types of the array and of indices: any other takes NumPy ten times as long.
                np.add.at(self._edges, end.astype(np.intp), np.int32(change))


_LISTED = 5


@dataclass(frozen=True)
class RunContents:
    """A run, finished or not. `base` holds the results of the empty version, one for each row.

    `find_touched` opens what tells which vertices have an edge in a view, when that is asked for,
    and `find_routes` the edges of views, to find the ways along which results came.
    """

    facts: RunFacts
    steps: RunSteps
    differences: RunDifferences
    base: Values
    rows: ResultRows
    find_touched: Callable[[], ViewDegrees] | None = None
    find_routes: Callable[[], ViewRoutes] | None = None

    def empty(self, field: str) -> NDArray[Any]:
        """A result of no rows, in its type; nothing is read for it."""
        base = self.base
        return base.empty[field] if isinstance(base, StoredBase) else base[field][:0]

    def count(self, field: str) -> int:
        """How many rows a result has; nothing is read for it."""
        return self.base.vertices if isinstance(self.base, StoredBase) else len(self.base[field])

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the results of vertices, or of pairs."""
        return self.facts.fields

    @property
    def globals(self) -> tuple[str, ...]:
        """The names of the results of the whole graph."""
        return self.facts.globals

    def named_by(self, field: str) -> VertexRows | None:
        """The vertices that a result names by their numbers; None where it names none."""
        return self.rows.vertices if field in self.facts.naming else None

    @property
    def kept(self) -> bool:
        """False where there is a record, and no results."""
        return not isinstance(self.differences.parts, RecordOnly)

    @property
    def finished(self) -> bool:
        return self.differences.finished == len(self.steps)

    @property
    def seconds(self) -> float:
        record = self.differences.record
        return 0.0 if record is None else float(np.sum(record.column("seconds").to_numpy()))

    @cached_property
    def step_of(self) -> NDArray[np.int64]:
        """The step of every view, in the order in which views were given."""
        steps = np.flatnonzero(self.steps.view >= 0)
        step_of_view = np.empty(len(steps), np.int64)
        step_of_view[self.steps.view[steps]] = steps
        return step_of_view

    @cached_property
    def cursor(self) -> Cursor:
        """The cursor that moves from step to step as results are read."""
        return Cursor(self.steps, self.differences, self.base)

    @cached_property
    def _touched(self) -> ViewDegrees:
        if self.find_touched is None:
            raise InputError(
                f"the run '{self.facts.name}' does not know the edges of its views",
                hint="run the program again",
            )
        return self.find_touched()

    def touched(self) -> ViewDegrees:
        """Which vertices have an edge in a view; an error where the views are gone."""
        return self._touched

    @cached_property
    def _routes(self) -> ViewRoutes:
        if self.find_routes is None:
            raise InputError(
                f"the run '{self.facts.name}' does not know the edges of its views",
                hint="run the program again; a copy of a run in memory leaves them behind",
            )
        return self.find_routes()

    def __getstate__(self) -> dict[str, Any]:
        """Copied without the graph that routes are found by."""
        return {name: value for name, value in vars(self).items() if name != "_routes"}

    def route(self, view: int, ends: Sequence[Any]) -> Route | None:
        """The way along which the result of a vertex came, in a view by its position."""
        routes = self._routes
        return routes.route(view, self.values(view)[routes.field], ends, self.rows.vertices)

    def finished_views(self) -> list[int]:
        """The positions of the views whose results are there, in the order they were given."""
        views: list[int] = np.flatnonzero(self.step_of < self.differences.finished).tolist()
        return views

    def removed(self, view: int) -> tuple[int, ...]:
        """The vertices that are taken out of a view, by number, ascending."""
        return () if self.facts.pairs is not None else self.steps.vertices.removed.get(view, ())

    def values(self, view: int) -> Values:
        """The results of a finished view by its position; overwritten by the next call."""
        return self.cursor.values(int(self.step_of[view]))

    def position(self, view: str | int) -> int:
        """A view by its name or position; refuses one that is not there or not finished."""
        names = self.steps.names
        if isinstance(view, str):
            if view not in names:
                listed = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
                hint = name_hint(view, names, f"there is: {listed}", "'")
                raise NotFoundError(f"the run '{self.facts.name}' has no view '{view}'", hint=hint)
            place = names.index(view)
        else:
            place = _place(view, len(names), self.facts.name)
        if self.step_of[place] >= self.differences.finished:
            raise InputError(
                f"the view '{names[place]}' is not finished: the run was interrupted",
                hint=f"resume it: collection.run(..., name='{self.facts.name}', resume=True) in "
                "Python, `run ... resume` in GVDL",
            )
        return place

    def match_plan(self, name: str | None) -> Matches:
        """A kind of rows by its name; the first one where none is given."""
        known = {item.name: item for item in self.facts.matches}
        return known[named_matches(str(self.facts.program), tuple(known), name)]

    def check_rows(self) -> None:
        """InputError where there are results of the whole graph alone, or rows."""
        if not self.fields:
            raise InputError(
                f"{self.facts.program} has no results of vertices",
                hint="run.globals() has those of the whole graph, run.matches(VIEW) rows",
            )

    def field(self, name: str | None) -> str:
        """A result of vertices by its name; the first one where none is given."""
        if name in self.globals:
            raise InputError(
                f"'{name}' is a result of the whole graph, and vertices have none of it",
                hint="run.globals() has it, one row per view",
            )
        self.check_rows()
        if name is None:
            return self.fields[0]
        if name not in self.fields:
            hint = name_hint(name, self.fields, f"it has {', '.join(self.fields)}", "'")
            raise InputError(f"{self.facts.program} has no result '{name}'", hint=hint)
        return name


def _place(view: Any, count: int, name: str) -> int:
    try:
        return int(range(count)[view])
    except (IndexError, TypeError):
        raise NotFoundError(
            f"the run '{name}' has {count:,} views, and none at {view!r}",
            hint="give the name of a view, or its position from 0",
        ) from None


Int64 = NDArray[np.int64]


def values_at(contents: RunContents, part: int, field: str, vertices: Int64) -> NDArray[Any]:
    """A result of a few vertices after the one step of a part, looked up page by page."""
    empty = contents.empty(field)
    values = np.zeros((len(vertices), *empty.shape[1:]), empty.dtype)
    left = np.ones(len(vertices), np.bool_)
    sources: list[tuple[Callable[[], Iterator[dict[str, Any]]], str]] = [
        (lambda: field_pages(contents, part, field, ["vertex", "new"]), "new"),
        (lambda: base_pages(contents, field), "value"),
    ]
    for listed, column in sources:
        for page in listed() if left.any() else ():
            order = np.argsort(page["vertex"], kind="stable")
            at = np.searchsorted(page["vertex"], vertices, sorter=order)
            at = order[np.minimum(at, len(order) - 1)] if len(order) else at
            there = left & (page["vertex"][at] == vertices) if len(order) else left & False
            values[there] = page[column][at[there]]
            left &= ~there
    return values


def field_pages(
    contents: RunContents, part: int, field: str, columns: list[str] | None = None
) -> Iterator[dict[str, Any]]:
    wanted = columns or ["vertex", "old", "new"]
    return _pages(contents, part, f"{field}.field", wanted)


def base_pages(contents: RunContents, field: str) -> Iterator[dict[str, Any]]:
    """The results of the empty version, some at a time."""
    return _pages(contents, 0, f"{field}.base", ["vertex", "value"])


def _pages(
    contents: RunContents, part: int, stem: str, columns: list[str]
) -> Iterator[dict[str, Any]]:
    parts = contents.differences.parts
    assert isinstance(parts, PartsOnDisk)
    for page in pages(parts, part, stem, columns):
        yield {name: numpy_column(page.column(name)) for name in columns}


Counted = Literal["all", "touched"]
Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class ChosenVertices:
    """A choice of the vertices of a view that count: by touch, and by label.

    Where nothing is said, vertices of windows are those with an edge, and those of other views all
    that are there. Runs on shards count all of windows too: their driver does not have the edges.
    """

    counted: Counted | None = None
    label: str | None = None

    def everything(self, contents: RunContents) -> bool:
        """True where every vertex of the graph counts in every view."""
        if contents.facts.pairs is not None:
            return True
        vertices = contents.steps.vertices
        chosen = self.label is not None or bool(vertices.removed)
        windows = any(self._touched(contents, view) for view in vertices.windows)
        return not (chosen or windows or self.counted == "touched")

    def all_there(self, contents: RunContents) -> bool:
        """True where every vertex counts that is not taken out of a view."""
        windows = any(self._touched(contents, view) for view in contents.steps.vertices.windows)
        return self.label is None and self.counted != "touched" and not windows

    def _touched(self, contents: RunContents, view: int) -> bool:
        if self.counted is not None or contents.facts.pairs is not None or contents.facts.on_shards:
            return self.counted == "touched"
        return view in contents.steps.vertices.windows

    def check(self, contents: RunContents) -> None:
        """InputError where the run cannot choose so."""
        if self.counted is not None and self.counted not in get_args(Counted):
            raise InputError(
                f"vertices cannot be {self.counted!r}",
                hint="use 'touched' or 'all'; label='...' chooses those of a label",
            )
        if contents.facts.pairs is not None and (self.counted == "touched" or self.label):
            raise InputError(
                f"the results of '{contents.facts.name}' are those of pairs of vertices",
                hint="choose pairs when you run the program",
            )
        if self.label is not None:
            _check_label(contents, self.label)

    def mask(self, contents: RunContents, view: int) -> Truths | None:
        """True for each vertex that counts in a view, by its position; None where all count.

        O(vertices).
        """
        contents.check_rows()
        touched, removed = self._touched(contents, view), contents.removed(view)
        if not (touched or removed or self.label is not None):
            return None
        vertices = contents.count(contents.fields[0])
        chosen = np.ones(vertices, np.bool_)
        chosen[list(removed)] = False
        if touched:
            chosen &= contents.touched().mask(view, vertices)
        if self.label is not None:
            labels = contents.rows.columns()["label"]
            chosen &= pc.equal(labels, self.label).to_numpy(zero_copy_only=False)
        return chosen

    def of(self, contents: RunContents, view: int, values: NDArray[Any]) -> NDArray[Any]:
        mask = self.mask(contents, view)
        return values if mask is None else values[mask]


BY_VIEW = ChosenVertices()
"""Those that each view has."""

THERE = ChosenVertices("all")
"""All that are not taken out."""


def _check_label(contents: RunContents, label: str) -> None:
    columns = contents.rows.columns()
    if "label" not in columns:
        raise InputError(
            "the vertices have no labels to choose by, or one label", hint="leave out the label"
        )
    known = pc.unique(columns["label"]).to_pylist()
    if label not in known:
        hint = name_hint(label, known, f"there are: {', '.join(known)}", "'")
        raise InputError(f"no vertex has the label {label!r}", hint=hint)
