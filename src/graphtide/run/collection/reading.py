"""From differences back to results: any version, reached along the plan.

A cursor holds the results of one step and moves to another over the steps between: up by old
values, down by new ones. Views that follow each other in the plan are therefore cheap to read one
after the other, and any other view costs the differences that lie between.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Values
from graphtide.run.collection.current import CurrentResults
from graphtide.run.collection.row_sets import RowsField
from graphtide.run.collection.steps import RunSteps
from graphtide.store.parts import KeptParts
from graphtide.store.seal import well_formed

_PARTS_AT_HAND = 8


class Differences:
    """The finished steps of a run, and what each of them changed."""

    def __init__(self, parts: KeptParts, fields: tuple[str, ...]) -> None:
        self.parts = parts
        self.fields = fields
        self._loaded: OrderedDict[tuple[int, str], Any] = OrderedDict()

    @cached_property
    def record(self) -> pa.Table | None:
        """The record of every finished step, in order."""
        return self.parts.record()

    @property
    def finished(self) -> int:
        """How many steps are finished: the first ones of the plan."""
        return 0 if self.record is None else int(self.record.num_rows)

    @cached_property
    def first_steps(self) -> NDArray[np.int64]:
        """The first step of every part."""
        return np.array([self.parts.first_step(at) for at in range(len(self.parts))])

    def of(self, step: int) -> dict[str, Any]:
        """What a finished step changed."""
        part = int(np.searchsorted(self.first_steps, step, side="right")) - 1
        return {field: self._field(part, field).of(step) for field in self.fields}

    def of_vertex(self, field: str, vertex: int) -> Iterator[tuple[int, Any]]:
        """The steps that changed a vertex, each with its new value. Reads all differences."""
        for part in range(len(self.parts)):
            yield from self._field(part, field).of_vertex(vertex)

    def _field(self, part: int, field: str) -> Any:
        key = part, field
        if key not in self._loaded:
            table = self.parts.differences(part, field)
            with well_formed(f"the result '{field}' of a run"):
                rows = "count" in table.column_names
                self._loaded[key] = RowsField(table) if rows else _Field(table)
            while len(self._loaded) > _PARTS_AT_HAND * len(self.fields):
                self._loaded.popitem(last=False)
        self._loaded.move_to_end(key)
        return self._loaded[key]


class _Field:
    """The differences of one field in one part, as arrays."""

    def __init__(self, table: pa.Table) -> None:
        self._step = table.column("step").to_numpy()
        self._vertex = table.column("vertex").to_numpy()
        self._old, self._new = (numpy_column(table.column(name)) for name in ("old", "new"))

    def of(self, step: int) -> Change:
        start, stop = np.searchsorted(self._step, [step, step + 1])
        return Change(self._vertex[start:stop], self._old[start:stop], self._new[start:stop])

    def of_vertex(self, vertex: int) -> Iterator[tuple[int, Any]]:
        at = np.flatnonzero(self._vertex == vertex)
        yield from zip(self._step[at].tolist(), self._new[at], strict=True)


class Cursor:
    """The results of one step at a time, beginning with the empty version."""

    def __init__(self, steps: RunSteps, differences: Differences, base: Values) -> None:
        self._steps = steps
        self._differences = differences
        self._current = CurrentResults(base)
        self._at = -1

    def values(self, step: int) -> Values:
        """The results of a finished step; they are overwritten by the next move."""
        up, down = self._steps.way(self._at, step)
        with well_formed("the differences of a run"):
            for passed in up:
                self._current.undo(self._differences.of(passed))
                self._at = int(self._steps.parent[passed])
            for passed in down:
                self._current.apply(self._differences.of(passed))
                self._at = passed
        return self._current.values


def numpy_column(column: pa.ChunkedArray | pa.Array) -> NDArray[Any]:
    """A column of results; a row a vertex where they are arrays."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_fixed_size_list(column.type):
        flat: NDArray[Any] = column.flatten().to_numpy(zero_copy_only=False)
        return flat.reshape(-1, column.type.list_size)
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return np.asarray(values)
