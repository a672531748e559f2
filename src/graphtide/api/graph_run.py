"""The results of a program on a whole graph: what `run` of a graph returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.run.live.arrow_columns import named, plain_value, result_columns
from graphtide.run.live.match_tables import match_table, named_matches
from graphtide.run.live.result_rows import PairRows, ResultRows, VertexRows
from graphtide.run.routes import Route, routed
from graphtide.run.table import HasTable, Table
from graphtide.run.whole_graph import Answered


class GraphRun(HasTable):
    """The results of one run from scratch, in memory; they stay when the graph goes on."""

    _held = "run"

    def __init__(
        self,
        answered: Answered,
        route: Callable[[str, tuple[Any, ...]], Route | None] | None = None,
    ) -> None:
        self._answered = answered
        self._route = route
        ids, pairs = answered.ids, answered.pairs
        self._rows: ResultRows = ids if pairs is None else PairRows(ids, pairs)

    def __getstate__(self) -> dict[str, Any]:
        """A copy has the results, and not the graph that routes are found in."""
        return {**self.__dict__, "_route": None}

    @property
    def program(self) -> str:
        """The program with its parameters, as text."""
        return str(self._answered.compiled.bound)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the program's results of vertices, or of pairs."""
        return tuple(self._answered.compiled.fields)

    @property
    def seconds(self) -> float:
        """What the run took, without reading the graph."""
        return self._answered.seconds

    def workers(self) -> Table:
        """What the run took of processors, in seconds: a row `alone` and one for each thread.

        `alone` is what the asking thread did while no other had anything to do; threads share the
        rest. So the run waits for `alone` and the busiest of the threads.
        """
        alone, *shared = self._answered.processor
        names = ["alone", *(f"thread {at}" for at in range(1, len(shared) + 1))]
        return Table(pa.table({"worker": names, "processor": [alone, *shared]}))

    def __getitem__(self, field: str) -> Any:
        """The result of every vertex (or pair), in the order of `vertices()`.

        A result that names vertices holds their ids.
        A result of the whole graph is a number, or an array of them.
        """
        known = (*self.fields, *self._answered.compiled.globals)
        if field not in known:
            hint = name_hint(field, known, f"it has {', '.join(known)}")
            raise InputError(f"{self.program} has no result '{field}'", hint=hint)
        values = self._answered.values[field]
        if field in self.fields:
            vertices = self._named_by(field)
            return values if vertices is None else named(values, vertices)
        value = named(values, self._named_by(field))[0]
        return value if isinstance(value, np.ndarray) else plain_value(value)

    def _names(self) -> tuple[str, ...]:
        return self.fields

    def at(self, vertex: Any) -> dict[str, Any]:
        """The results of one vertex, by its id, or of one pair `(source, target)`."""
        number = self._rows.number(vertex)
        one = slice(number, number + 1)
        return {
            name: plain_value(named(self._answered.values[name][one], self._named_by(name))[0])
            for name in self.fields
        }

    def path(self, *ends: Any) -> Route | None:
        """The way along which a vertex got its value: `path(target)`, or `path(source, target)`.

        As `Live.path` has it, for as long as the graph is at the version of the run.
        """
        field = routed(self._answered.compiled)
        if self._route is None:
            raise InputError(
                "this run does not know the edges of its graph, so it has no routes",
                hint="graph.to_memory().run(program).path(target) of a stored graph",
            )
        return self._route(field, ends)

    def table(self) -> Table:
        """The results of every vertex with its `id`, or of every pair with `source`, `target`.

        Of a program that has results of the whole graph alone, those in one row.
        """
        columns = self._rows.columns() if self.fields else {}
        for name in self.fields or self._answered.compiled.globals:
            columns |= result_columns(name, self._answered.values[name], self._named_by(name))
        return Table(pa.table(columns))

    def _named_by(self, name: str) -> VertexRows | None:
        """The vertices that a result names; None where it names none."""
        return self._rows.vertices if name in self._answered.compiled.naming else None

    def matches(self, name: str | None = None) -> Table:
        """The rows that walks report under a name (the first, if none is given), in their order.

        Where the program has a `limit`, these are the first so many rows.
        """
        compiled = self._answered.compiled
        chosen = named_matches(compiled.bound.program.name, compiled.matches, name)
        plans = {item.name: item for item in compiled.match_plans}
        rows = sorted(self._answered.values[chosen].elements())
        return Table(match_table(plans[chosen], rows, self._answered.ids))

    def explain(self) -> str:
        """What was run, over which form of the graph and why, and what it took."""
        choice = self._answered.compiled.choice
        return "\n".join([f"{self.program} from scratch ({choice})", *self._answered.how])

    def __repr__(self) -> str:
        return f"<{self.program} on {self._answered.vertices:,} vertices, {self.seconds:.3g} s>"
