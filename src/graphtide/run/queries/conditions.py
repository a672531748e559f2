"""What edges must satisfy so that queries can be kept current: costs that are never negative."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.plan.expressions import ValueType
from graphtide.run.live.conditions import Fault
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.views.inserted_columns import without_numbers

Columns = Mapping[str, NDArray[Any]]


class QueryConditions:
    """Of all queries of a graph; `weights` are the properties that they read as costs."""

    program = "a query"

    def __init__(self, weights: Iterable[str]) -> None:
        self.properties = dict.fromkeys(weights, ValueType.FLOAT)

    def check_columns(self, columns: Columns) -> None:
        """Refuse a graph whose edges lack a property, or have no numbers in it."""
        known = without_numbers(columns)
        for name in self.properties:
            if name not in known:
                names = ", ".join(known) or "none"
                hint = name_hint(name, known, f"they have: {names}")
                raise InputError(f"the edges have no numbers '{name}' to be their cost", hint=hint)
            if known[name].dtype.kind not in "if":
                raise InputError(
                    f"the property '{name}' cannot be the cost of edges", hint="give numbers"
                )

    def check_rows(self, columns: Columns, text: Callable[[int], str]) -> None:
        """Refuse edges with a cost that is negative or missing; `text` tells a row."""
        for fault in self.faults(columns):
            raise fault.error(text)

    def faults(self, columns: Columns) -> Iterator[Fault]:
        """What is wrong with edges of which some have such a cost."""
        for name in self.properties:
            bad = ~(columns[name] >= 0)
            if bad.any():
                yield Fault(
                    bad,
                    f"a query takes the edge property '{name}' for a cost, and it is negative or "
                    "missing",
                    "give every edge a number from 0 on, or leave these edges out",
                )

    def refuses_bare(self) -> str | None:
        """Vertices can be any."""
        return None

    def check_vertices(self, known: KnownEdges, first: int = 0) -> None:
        """Vertices can be any."""

    def reads_vertices(self, names: Iterable[str]) -> bool:
        """Queries read no properties of vertices."""
        return False
