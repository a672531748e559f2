"""Labels of edges as codes: the values of a property that is a text or a whole number.

Programs do not read texts of edges, so that a graph keeps them in a table for views; queries need
them at hand for every edge. Each property that a query names gets a column of codes by inside
number, made once and kept from then on; a code stands for the same label throughout. A label that
no edge has had goes with the last query that names it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, LacksRoomError
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.queries.stepping import NO_LABEL
from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.plan.regular_paths import Label
from graphtide.run.live.edge_rows import ROW_NUMBER
from graphtide.run.views.inserted_columns import without_numbers

Int32 = NDArray[np.int32]
_AT_ONCE = 1 << 16
"""This many labels are made values of Python at a time."""

_FEW = 64
"""Up to this many labels, looking them up one by one is faster than as a column."""

_IN_DICT = 150
"""What a label takes besides its own bytes: its code, and its place in a dict that has doubled."""


@dataclass
class _Named:
    """What a label takes in memory, and how many searches name it."""

    nbytes: int
    searches: int = 0


class EdgeLabels:
    """Codes of labels by property; `kept` is the table that views read, as it is now."""

    def __init__(self, graph: ResidentGraph, kept: Callable[[], pa.Table]) -> None:
        self._graph = graph
        self._budget = Budget()
        self._kept = kept
        self._codes: dict[str, dict[Label, int]] = {}
        self._only_named: dict[tuple[str, Label], _Named] = {}
        """Labels that searches name and no edge has had yet."""
        self._given_back = 0
        """How many codes have gone: no other label gets one of these."""
        self._columns: dict[str, Int32] = {}
        self._in_dicts = 0

    @property
    def nbytes(self) -> int:
        """The memory of all columns of codes, and of the labels that codes stand for."""
        return sum(column.nbytes for column in self._columns.values()) + self._in_dicts

    def take_from(self, budget: Budget) -> None:
        """Let another budget grant the columns from now on, those that are there as well."""
        budget.take(self.nbytes)
        self._budget = budget

    def name(self, name: str, labels: Sequence[Label]) -> tuple[int, ...]:
        """The codes of labels of a property for a search, on edges or not, until `forget`."""
        known = self._codes.setdefault(name, {})
        fresh = [label for label in labels if label not in known]
        self._take(fresh)
        for label in fresh:
            known[label] = len(known) + self._given_back + 1
            self._only_named[name, label] = _Named(_size(label))
        for label in labels:
            if (name, label) in self._only_named:
                self._only_named[name, label].searches += 1
        return tuple(known[label] for label in labels)

    def forget(self, name: str, labels: Sequence[Label]) -> None:
        """A search names labels no more: those that no other does, and no edge had, go."""
        for label in labels:
            named = self._only_named.get((name, label))
            if named is not None:
                named.searches -= 1
                if not named.searches:
                    del self._only_named[name, label], self._codes[name][label]
                    self._given_back += 1
                    self._in_dicts -= named.nbytes
                    self._budget.give(named.nbytes)

    def column(self, name: str) -> Int32:
        """The codes of all edges, with the room that the graph has for edges."""
        room = len(self._graph.adjacency.out.slot)
        known = self._columns.get(name)
        if known is None:
            known = self._read(name, self._budget.array(room, np.int32, 0))
        elif len(known) < room:
            larger = self._budget.array(room, np.int32, 0)
            larger[: len(known)] = known
            self._budget.give(known.nbytes)
            known = larger
        self._columns[name] = known
        return known

    def _read(self, name: str, column: Int32) -> Int32:
        """Fill in a column; it is given back where the budget does not allow for its labels."""
        try:
            for first in range(0, self._graph.edges, _AT_ONCE):
                edges = np.arange(first, min(first + _AT_ONCE, self._graph.edges))
                column[edges] = self._coded(name, edges)
        except BaseException:
            self._budget.give(column.nbytes)
            raise
        return column

    def refresh(self, edges: Int32) -> None:
        """Read the labels of edges that have come; their numbers may have been others' before."""
        for name in self._columns:
            self.column(name)[edges] = self._coded(name, edges)

    def check(self, name: str, labels: Sequence[Label]) -> None:
        """Refuse a property that edges do not have, that holds no labels, or never any of these."""
        kept = self._kept()
        known = list(dict.fromkeys([*without_numbers(self._graph.dtypes), *kept.column_names]))
        if name not in known:
            names = ", ".join(known) or "none"
            hint = name_hint(name, known, f"they have: {names}")
            raise InputError(f"the edges have no property '{name}' to be their label", hint=hint)
        kind = kept.schema.field(name).type if name in kept.column_names else None
        whole = self._graph.dtypes[name].kind == "i" if kind is None else pa.types.is_integer(kind)
        if not whole and not (kind is not None and _is_text(kind)):
            raise InputError(
                f"the property '{name}' cannot be the label of edges",
                hint="a label is a text or a whole number",
            )
        _check_kind(name, labels, int if whole else str)

    def values(self, name: str, edges: NDArray[Any]) -> list[Label | None]:
        """The labels of edges, as they were given."""
        kept = self._kept()
        if name not in kept.column_names:
            plain: list[Label | None] = self._graph.properties[name][edges].tolist()
            return plain
        rows = self._graph.properties[ROW_NUMBER][edges]
        if len(rows) <= _FEW:
            column = kept.column(name)
            return [column[row].as_py() for row in rows.tolist()]
        taken: list[Label | None] = kept.column(name).take(pa.array(rows)).to_pylist()
        return taken

    def _coded(self, name: str, edges: NDArray[Any]) -> list[int]:
        """The codes of edges; new labels get one where the budget allows for them."""
        known, labels = self._codes.setdefault(name, {}), self.values(name, edges)
        before, first = len(known), self._given_back + 1
        codes = [
            NO_LABEL if label is None else known.setdefault(label, first + len(known))
            for label in labels
        ]
        fresh = list(islice(reversed(known), len(known) - before))
        try:
            self._take(fresh)
        except LacksRoomError:
            for label in fresh:
                del known[label]
            raise
        if self._only_named:
            for had in set(labels):
                self._only_named.pop((name, had), None)  # type: ignore[arg-type]
        return codes

    def _take(self, labels: Sequence[Label]) -> None:
        nbytes = sum(map(_size, labels))
        self._budget.take(nbytes)
        self._in_dicts += nbytes


def _size(label: Label) -> int:
    """What a label takes with its code."""
    return sys.getsizeof(label) + _IN_DICT


def _check_kind(name: str, labels: Sequence[Label], held: type) -> None:
    """Refuse a label that no value of a property can be: a text among numbers, or the reverse."""
    other = next((label for label in labels if not isinstance(label, held)), None)
    if other is None:
        return
    if held is int:
        hint = "write the number without quotes, such as 7, or name another property: label="
        raise InputError(
            f"the labels '{name}' are whole numbers, and {other!r} is a text", hint=hint
        )
    hint = f"write it in quotes: '{other}', or name another property: label="
    raise InputError(f"the labels '{name}' are texts, and {other!r} is a number", hint=hint)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
