"""Results over versions as one fold: values of the first version, and changes step by step.

`CurrentResults` is the accumulator: it begins with the results of the empty version, `apply`
takes it down a step and `undo` back up. What a run from scratch finds is compared with it, and so
becomes differences from the parent like those of a maintainer. Rows that walks report are part of
it, as sets in which each row may be several times: a row has no number, so that a step's change is
the rows that appeared and those that disappeared.

`PartBuffer` collects the changes and records of finished steps until they become a part.
`Differences` reads them back, and a `Cursor` holds the results of one step and moves to another
over the steps between: up by old values, down by new ones. Views that follow each other in the plan
are therefore cheap to read one after the other, and any other view costs the differences that lie
between. A cursor that jumps keeps keyframes: copies of the results at some steps that it has
passed. The next jump goes on from the one above its target, and costs no more differences than lie
between two of them. Who reads step after step makes none.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes, Values, change_between
from graphtide.engine.walks.matches import Row, RowChange, comparable, row_change
from graphtide.optimize.strategy import Move
from graphtide.plan.walks import Matches
from graphtide.run.collection.steps import RunSteps
from graphtide.run.live.results import arrow_column, column_type
from graphtide.store.files import well_formed
from graphtide.store.parts import FinishedParts, Part, PartMaker

RowSet = Counter[Row]
Kinds = Sequence[Any]
"""The types of the columns."""


def rows_between(before: RowSet, after: RowSet) -> RowChange:
    """What appears and disappears on the way from one set to another. O(rows)."""
    counts = Counter(after)
    counts.subtract(before)
    return row_change((row, count) for row, count in counts.items() if count)


def apply_rows(rows: RowSet, change: RowChange) -> None:
    _add_and_remove(rows, change.appeared, change.disappeared)


def undo_rows(rows: RowSet, change: RowChange) -> None:
    """Go back to the version before."""
    _add_and_remove(rows, change.disappeared, change.appeared)


def _add_and_remove(rows: RowSet, come: Iterable[Row], gone: Iterable[Row]) -> None:
    rows.update(come)
    for row in gone:
        rows[row] -= 1
        if not rows[row]:
            del rows[row]


def rows_table(kinds: Kinds, steps: NDArray[np.int32], changes: Sequence[RowChange]) -> pa.Table:
    counted: list[tuple[int, int, Row]] = []
    for step, change in zip(steps.tolist(), changes, strict=True):
        counted += [(step, 1, row) for row in change.appeared]
        counted += [(step, -1, row) for row in change.disappeared]
    columns = {
        "step": pa.array([step for step, _, _ in counted], pa.int32()),
        "count": pa.array([count for _, count, _ in counted], pa.int64()),
    }
    for at, kind in enumerate(kinds):
        columns[str(at)] = pa.array([row[at] for _, _, row in counted], column_type(kind))
    return pa.table(columns)


class RowsField:
    """The differences of one kind of rows in one part."""

    def __init__(self, table: pa.Table) -> None:
        self._step = table.column("step").to_numpy()
        self._table = table

    def of(self, step: int) -> RowChange:
        start, stop = np.searchsorted(self._step, [step, step + 1])
        own = self._table.slice(int(start), int(stop - start))
        return row_change(counted_rows(own).items())


def counted_rows(table: pa.Table) -> RowSet:
    columns = [comparable(table.column(name).to_pylist()) for name in table.column_names[2:]]
    counts: RowSet = Counter()
    rows = zip(*columns, strict=True)
    for count, row in zip(table.column("count").to_pylist(), rows, strict=True):
        counts[row] += count
    return counts


class CurrentResults:
    """A value of every field for every vertex, and rows; owns its arrays and sets."""

    def __init__(self, values: Values) -> None:
        given: Mapping[str, Any] = values
        self.values: dict[str, Any] = {
            name: Counter(item) if isinstance(item, Counter) else np.array(item)
            for name, item in given.items()
        }

    def differences(self, values: Values) -> dict[str, Any]:
        """What differs in `values`, field by field. O(vertices)."""
        return {name: _difference(item, values[name]) for name, item in self.values.items()}

    def completed(self, changes: Changes, values: Callable[[], Values]) -> Changes:
        """The changes, with those of rows that the maintainer did not report."""
        missing = self.values.keys() - changes.keys()
        if not missing:
            return changes
        now = values()
        complete: dict[str, Any] = dict(changes)
        return complete | {name: _difference(self.values[name], now[name]) for name in missing}

    def no_differences(self) -> dict[str, Any]:
        """Changes that hold nothing, for every field."""
        none = np.empty(0, np.int32)
        return {
            name: RowChange() if isinstance(item, Counter) else Change(none, item[:0], item[:0])
            for name, item in self.values.items()
        }

    def apply(self, changes: Changes) -> None:
        """Go to the version that the changes lead to. O(changes)."""
        by_name: Mapping[str, Any] = changes
        for name, change in by_name.items():
            if isinstance(change, RowChange):
                apply_rows(self.values[name], change)
            else:
                self.values[name][change.vertices] = change.new

    def undo(self, changes: Changes) -> None:
        """Go back to the version before. O(changes)."""
        by_name: Mapping[str, Any] = changes
        for name, change in by_name.items():
            if isinstance(change, RowChange):
                undo_rows(self.values[name], change)
            else:
                self.values[name][change.vertices] = change.old


def _difference(before: Any, after: Any) -> Any:
    if isinstance(before, Counter):
        return rows_between(before, after)
    return change_between(before, after)


RECORD_SCHEMA = pa.schema(
    [
        ("step", pa.int32()),
        ("move", pa.int8()),
        ("seconds", pa.float64()),
        ("predicted_differential", pa.float64()),
        ("predicted_scratch", pa.float64()),
        ("touched", pa.int64()),
        ("changed", pa.int64()),
    ]
)

RecordRow = tuple[int, Move, float, float, float, int, int]
"""The facts of a step, in the order of the columns of the record."""


class PartBuffer:
    """Finished steps that are not kept yet. `rows` counts their differences."""

    def __init__(self, fields: tuple[str, ...], matches: tuple[Matches, ...] = ()) -> None:
        self._fields = fields
        self._matches = {item.name: [kind for _, kind in item.columns] for item in matches}
        self._clear()

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, row: RecordRow, changes: Changes) -> None:
        """Add a finished step. An interrupt leaves what was added before whole."""
        self.rows += row[-1]
        self._pieces.append(_Piece(row, None, changes))

    def add_stretch(
        self, columns: Sequence[NDArray[Any]], counts: NDArray[np.int64], changes: Changes
    ) -> None:
        """Add the steps of a stretch: columns of the record, changes, and how many each has."""
        self.rows += int(counts.sum())
        self._pieces.append(_Piece(columns, counts, changes))

    def take(self, made: PartMaker | None = None) -> Part:
        """All finished steps as a part with the facts of `made`; empties the buffer."""
        pieces = self._pieces
        record = _record(pieces)
        steps = record.column("step").to_numpy()
        differences = {name: _difference_table(steps, pieces, name) for name in self._fields}
        for name, kinds in self._matches.items():
            rows: list[Any] = [piece.changes[name] for piece in pieces]
            differences[name] = rows_table(kinds, steps, rows)
        self._clear()
        return Part(record, differences, made)

    def _clear(self) -> None:
        self._pieces: list[_Piece] = []
        self.rows = 0


class _Piece(NamedTuple):
    """A step, or a stretch of them: what the record says, and the changes."""

    told: RecordRow | Sequence[NDArray[Any]]
    counts: NDArray[np.int64] | None
    changes: Changes


def _runs(pieces: list[_Piece]) -> Iterator[tuple[bool, list[_Piece]]]:
    """Single steps grouped together; every stretch by itself."""
    for alone, run in groupby(pieces, lambda piece: piece.counts is None):
        if alone:
            yield alone, list(run)
        else:
            yield from ((alone, [piece]) for piece in run)


def _record(pieces: list[_Piece]) -> pa.Table:
    columns = zip(*(_columns(alone, run) for alone, run in _runs(pieces)), strict=True)
    filled = zip(RECORD_SCHEMA, map(np.concatenate, columns), strict=True)
    return pa.table([pa.array(column, field.type) for field, column in filled], RECORD_SCHEMA)


def _columns(alone: bool, run: list[_Piece]) -> Sequence[Any]:
    """Arrays in the order of the record. A table of each would take longer than its steps."""
    if not alone:
        return run[0].told
    return [np.array(column) for column in zip(*(piece.told for piece in run), strict=True)]


def _difference_table(steps: NDArray[np.int32], pieces: list[_Piece], name: str) -> pa.Table:
    """The rows of one field: step, vertex, old, new."""
    changes = [piece.changes[name] for piece in pieces]
    counts = np.concatenate(
        [
            [len(change)] if piece.counts is None else piece.counts
            for piece, change in zip(pieces, changes, strict=True)
        ]
    )
    joined: dict[str, Any] = {"step": pa.array(np.repeat(steps, counts))}
    joined["vertex"] = pa.array(np.concatenate([change.vertices for change in changes]))
    joined["old"] = arrow_column(np.concatenate([change.old for change in changes]))
    joined["new"] = arrow_column(np.concatenate([change.new for change in changes]))
    return pa.table(joined)


_PARTS_AT_HAND = 8
_CHANGE = "vertex", "old", "new"

_BETWEEN = 4
"""Differences between two keyframes, for each value: as many are applied in the time of 20 copies,
and all keyframes take up to a tenth of what the differences take.
"""


class RunDifferences:
    """The finished steps of a run, and what each of them changed.

    So many parts stay at hand, which those on disk are read for. Two do for whoever goes through
    all steps once.
    """

    def __init__(
        self, parts: FinishedParts, fields: tuple[str, ...], at_hand: int = _PARTS_AT_HAND
    ) -> None:
        self.parts = parts
        self.fields = fields
        self._at_hand = at_hand
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
        return np.array([self.parts.first_step(at) for at in range(len(self.parts))])

    def of(self, step: int) -> dict[str, Any]:
        part = int(np.searchsorted(self.first_steps, step, side="right")) - 1
        return {field: self._field(part, field).of(step) for field in self.fields}

    def of_vertex(self, field: str, vertex: int) -> Iterator[tuple[int, Any]]:
        """The steps that changed a vertex, each with its new value. Reads all differences."""
        for part in range(len(self.parts)):
            # What is at hand stays there: it is what somebody moves through.
            loaded = self._loaded.get((part, field)) or self._load(part, field)
            yield from loaded.of_vertex(vertex)

    def _field(self, part: int, field: str) -> Any:
        key = part, field
        if key not in self._loaded:
            self._loaded[key] = self._load(part, field)
            while len(self._loaded) > self._at_hand * len(self.fields):
                self._loaded.popitem(last=False)
        self._loaded.move_to_end(key)
        return self._loaded[key]

    def _load(self, part: int, field: str) -> Any:
        table = self.parts.differences(part, field)
        with well_formed(f"the result '{field}' of a run"):
            return RowsField(table) if "count" in table.column_names else _Field(table)


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

    def __init__(self, steps: RunSteps, differences: RunDifferences, base: Values) -> None:
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

    def __init__(self, steps: RunSteps, differences: RunDifferences, current: Values) -> None:
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
    """A column of results; one row per vertex where they are arrays."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_fixed_size_list(column.type):
        flat: NDArray[Any] = column.flatten().to_numpy(zero_copy_only=False)
        return flat.reshape(-1, column.type.list_size)
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return np.asarray(values)
