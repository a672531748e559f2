"""From differences back to results: any version, reached along the plan.

A cursor holds the results of one step and moves to another over the steps between: up by old
values, down by new ones. Views that follow each other in the plan are therefore cheap to read one
after the other, and any other view costs the differences that lie between.

A cursor that jumps keeps keyframes: copies of the results at some steps that it has passed. The
next jump goes on from the one above its target, and costs no more differences than lie between two
of them. Who reads step after step makes none.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
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
_CHANGE = "vertex", "old", "new"

_BETWEEN = 4
"""Differences between two keyframes, for each value: as many are applied in the time of 20 copies,
and all keyframes take up to a tenth of what the differences take.
"""


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
    """The differences of one field in one part, as arrays: those of the table, without a copy."""

    def __init__(self, table: pa.Table) -> None:
        self._none = Change(*(numpy_column(table.column(name)[:0]) for name in _CHANGE))
        self._pieces = [
            (batch.column("step").to_numpy(), *(numpy_column(batch.column(at)) for at in _CHANGE))
            for batch in table.to_batches()
            if batch.num_rows
        ]
        self._first = np.array([piece[0][0] for piece in self._pieces], np.int64)
        self._last = np.array([piece[0][-1] for piece in self._pieces], np.int64)

    def of(self, step: int) -> Change:
        first = int(np.searchsorted(self._last, step))
        behind = int(np.searchsorted(self._first, step, side="right"))
        slices = []
        for steps, *arrays in self._pieces[first:behind]:
            # In the type of the array, which is not converted then.
            start, stop = np.searchsorted(steps, np.array([step, step + 1], steps.dtype))
            slices.append([array[start:stop] for array in arrays])
        if len(slices) == 1:
            return Change(*slices[0])
        return Change(*map(np.concatenate, zip(*slices, strict=True))) if slices else self._none

    def of_vertex(self, vertex: int) -> Iterator[tuple[int, Any]]:
        for steps, vertices, _, new in self._pieces:
            at = np.flatnonzero(vertices == vertex)
            yield from zip(steps[at].tolist(), new[at], strict=True)


class Cursor:
    """The results of one step at a time, beginning with the empty version."""

    def __init__(self, steps: RunSteps, differences: Differences, base: Values) -> None:
        self._steps = steps
        self._differences = differences
        self._base = base
        self._current = CurrentResults(base)
        self._at = -1

    @cached_property
    def _keyframes(self) -> Keyframes:
        return Keyframes(self._steps, self._differences, self._current.values)

    def values(self, step: int) -> Values:
        """The results of a finished step; they are overwritten by the next move."""
        up, down = self._steps.way(self._at, step)
        if len(up) + len(down) > 1 and self._keyframes.is_jump(up, down):
            self._jump(step, up, down)
        else:
            self._move(up, down)
        return self._current.values

    def _move(self, up: list[int], down: list[int], *, keep: bool = False) -> None:
        with well_formed("the differences of a run"):
            for passed in up:
                self._current.undo(self._differences.of(passed))
                self._at = int(self._steps.parent[passed])
            for passed in down:
                self._current.apply(self._differences.of(passed))
                self._at = passed
                if keep:
                    self._keyframes.pass_by(passed, self._current)

    def _jump(self, step: int, up: list[int], down: list[int]) -> None:
        """Go on from the keyframe above a step if that is nearer, and keep those on the way."""
        keyframes = self._keyframes
        above = keyframes.above(step)
        way = self._steps.way(above, step)[1]
        if keyframes.cost(way) < keyframes.cost(up) + keyframes.cost(down):
            self._current = CurrentResults(keyframes.values.get(above, self._base))
            self._at, up, down = above, [], way
        self._move(up, down, keep=True)


class Keyframes:
    """Copies of the results at some steps of a run. Of rows that walks report there are none."""

    def __init__(self, steps: RunSteps, differences: Differences, current: Values) -> None:
        given: Mapping[str, Any] = current
        record = differences.record
        assert record is not None
        self.values: dict[int, Values] = {}
        self._parent = steps.parent
        self._changed: NDArray[np.int64] = record.column("changed").to_numpy()
        sizes = [item.size for item in given.values() if isinstance(item, np.ndarray)]
        self._between = max(1, _BETWEEN * sum(sizes))
        self._most = 0
        if len(sizes) == len(given):
            self._most = int(self._changed.sum()) // self._between

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The steps at which there are to be keyframes, as many differences apart from another."""
        parents, since = self._parent.tolist(), self._changed.tolist()
        places = []
        for step in range(len(since)):
            if parents[step] >= 0:
                since[step] += since[parents[step]]
            if since[step] >= self._between:
                since[step] = 0
                places.append(step)
        return np.array(places[: self._most], np.int64)

    @cached_property
    def _are_places(self) -> NDArray[np.bool_]:
        places = np.zeros(len(self._changed), np.bool_)
        places[self.places] = True
        return places

    def cost(self, steps: list[int]) -> int:
        """The differences of some steps."""
        return int(self._changed[steps].sum())

    def is_jump(self, up: list[int], down: list[int]) -> bool:
        """Whether a way is so long that keyframes shorten it."""
        return self._most > 0 and self.cost(up) + self.cost(down) > self._between

    def above(self, step: int) -> int:
        """The next step on the way up that has a keyframe, or -1."""
        while step >= 0 and step not in self.values:
            step = int(self._parent[step])
        return step

    def pass_by(self, step: int, current: CurrentResults) -> None:
        """Keep the results at a step, if it is a place of a keyframe that is missing."""
        if self._are_places[step] and step not in self.values:
            self.values[step] = {name: item.copy() for name, item in current.values.items()}


def numpy_column(column: pa.ChunkedArray | pa.Array) -> NDArray[Any]:
    """A column of results; a row a vertex where they are arrays."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_fixed_size_list(column.type):
        flat: NDArray[Any] = column.flatten().to_numpy(zero_copy_only=False)
        return flat.reshape(-1, column.type.list_size)
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return np.asarray(values)
