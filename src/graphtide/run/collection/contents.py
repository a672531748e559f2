"""The contents of a run, for tables, summaries and pictures to read: steps, differences, rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Values
from graphtide.model.errors import InputError, NotFoundError
from graphtide.model.schema import name_hint
from graphtide.plan.walks import Matches
from graphtide.run.collection.facts import RunFacts
from graphtide.run.collection.kept_base import KeptBase
from graphtide.run.collection.reading import Cursor, Differences
from graphtide.run.collection.steps import RunSteps
from graphtide.run.collection.touched import TouchedVertices
from graphtide.run.live.match_tables import named_matches
from graphtide.run.live.result_rows import ResultRows, VertexRows
from graphtide.store.parts import RecordOnly

if TYPE_CHECKING:
    from graphtide.run.routes import Route, ViewRoutes

_LISTED = 5


@dataclass(frozen=True)
class RunContents:
    """A run, finished or not. `base` holds the results of the empty version, one for each row.

    `find_touched` opens what tells which vertices have an edge in a view, when that is asked for,
    and `find_routes` the edges of views, to find the ways along which results came.
    """

    facts: RunFacts
    steps: RunSteps
    differences: Differences
    base: Values
    rows: ResultRows
    find_touched: Callable[[], TouchedVertices] | None = None
    find_routes: Callable[[], ViewRoutes] | None = None

    def empty(self, field: str) -> NDArray[Any]:
        """A result of no rows, in its type; nothing is read for it."""
        base = self.base
        return base.empty[field] if isinstance(base, KeptBase) else base[field][:0]

    def count(self, field: str) -> int:
        """How many rows a result has; nothing is read for it."""
        return self.base.vertices if isinstance(self.base, KeptBase) else len(self.base[field])

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
        """False where the run was interrupted."""
        return self.differences.finished == len(self.steps)

    @property
    def seconds(self) -> float:
        """What all finished steps took."""
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
    def _touched(self) -> TouchedVertices:
        if self.find_touched is None:
            raise InputError(
                f"the run '{self.facts.name}' does not know the edges of its views",
                hint="run the program again",
            )
        return self.find_touched()

    def touched(self) -> TouchedVertices:
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
                hint="run.globals() has it, a row a view",
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
