"""The changes of an advance, as users hold them: a table that is made on first use.

An advance of one edge takes microseconds, a table many times that, and most users never look
at it. Before the graph advances, changes that a user still holds copy the values that will be
overwritten. Before it rolls back, which may give the numbers of vertices to others, they become
tables.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.changes import Change
from graphtide.engine.changes import Changes as EngineChanges
from graphtide.engine.walks.matches import CutChange
from graphtide.model.cells import VALUES
from graphtide.model.errors import InputError
from graphtide.plan.walks import Matches
from graphtide.run.live.arrow_columns import named, plain_value, result_columns
from graphtide.run.live.maintained import Maintained
from graphtide.run.live.match_tables import match_table
from graphtide.run.live.result_rows import LiveRows, VertexRows
from graphtide.run.table import Table
from graphtide.run.turns import Turns


class _Read(NamedTuple):
    """Rows that changed, then those that came; and both values of each field."""

    rows: NDArray[Any]
    changed: int
    columns: dict[str, tuple[NDArray[Any], NDArray[Any]]]


class Changes(Table):
    """The rows that an advance changed, with old and new results: a table made on first use."""

    _read: _Read | None = None
    _table: pa.Table | None = None
    _style = VALUES
    _globals: dict[str, tuple[Any, Any]] | None = None

    def __init__(
        self,
        kept: Maintained,
        rows: LiveRows,
        turns: Turns,
        matches: tuple[Matches, ...] = (),
        naming: tuple[str, ...] = (),
    ) -> None:
        self._kept: Maintained | None = kept
        self._told = kept.changes
        self._fields = kept.fields
        self._rows = rows
        self._match_plans = matches
        self._naming = naming
        self._came = rows.since(kept.before)
        self._turns = turns

    @cached_property
    def _changes(self) -> EngineChanges:
        """Changes of vertices or pairs, without those of the whole graph and of rows."""
        if self._told.keys() <= set(self._fields):
            return self._told
        return {name: change for name, change in self._told.items() if name in self._fields}

    @property
    def is_current(self) -> bool:
        """Whether the graph is still at the version that these changes led to."""
        return self._kept is not None

    @property
    def globals(self) -> dict[str, tuple[Any, Any]]:
        """The results of the whole graph that changed: the old value and the new one, by name."""
        with self._turns.lock:
            if self._globals is None:
                moved = getattr(self._told, "globals", {})
                self._globals = {
                    name: (self._whole(name, change.old), self._whole(name, change.new))
                    for name, change in moved.items()
                }
            return dict(self._globals)

    def appeared(self, name: str | None = None) -> Table:
        """The rows that walks report and did not report before; under the first name if none.

        Where the program has a `limit`, these are rows that `live.matches` shows and did not show.
        """
        return Table(self._rows_of(name)[0])

    def disappeared(self, name: str | None = None) -> Table:
        """The rows that walks reported before and report no more, or that no limit lets through."""
        return Table(self._rows_of(name)[1])

    def to_arrow(self) -> pa.Table:
        """The changes as a table."""
        with self._turns.lock:
            if self._table is None:
                self._turns.check()
                self._table = self._made()
            return self._table

    def delivered(self) -> pa.Table:
        """The changes as one table, whatever the program tells: vertices, or else rows, or else
        results of the whole graph.
        """
        if self._fields:
            return self.to_arrow()
        if self._match_plans:
            both_tables = zip(("appeared", "disappeared"), self._rows_of(None), strict=True)
            rows = [
                part.add_column(0, "change", pa.array([name] * part.num_rows, pa.string()))
                for name, part in both_tables
            ]
            return pa.concat_tables(rows, promote_options="default")
        names = list(self.globals)
        both = list(zip(*self.globals.values(), strict=True)) or [(), ()]
        old, new = ([self._told_whole(item) for item in side] for side in both)
        return pa.table({"name": pa.array(names, pa.string()), "old": old, "new": new})

    def _told_whole(self, value: Any) -> Any:
        """A result of the whole graph beside others in one column: all are texts where some are
        ids, and ids are texts.
        """
        plain = plain_value(value)
        texts = self._naming and not pa.types.is_integer(self._id_type)
        return str(plain) if texts and plain is not None else plain

    @property
    def _id_type(self) -> pa.DataType:
        return self._rows.vertices.columns(np.empty(0, np.int64))["id"].type

    def _whole(self, name: str, value: Any) -> Any:
        """A result of the whole graph; a vertex that it names by its id."""
        if name not in self._naming:
            return value
        one = named(np.asarray(value)[None], self._rows.vertices)[0]
        return one if isinstance(one, np.ndarray) else plain_value(one)

    def _named_by(self, name: str) -> VertexRows | None:
        return self._rows.vertices if name in self._naming else None

    @property
    def held(self) -> int:
        """How many rows it holds in memory, with all that it tells; makes no table."""
        moved = getattr(self._told, "matches", {}).values()
        rows = sum(len(item.appeared) + len(item.disappeared) for item in moved)
        return sum(map(len, self._told.values())) + len(self._came) + rows

    def keep(self, *, forward: bool) -> None:
        """Read what will not be there any more in the next version, or in the one before."""
        for name, change in getattr(self._told, "matches", {}).items():
            if not forward or isinstance(change, CutChange):
                self._rows_of(name)
        if not forward:
            _ = self.globals
        if self._table is None:
            if not forward:
                self._table = self._made()
            elif self._read is None and (len(self._came) or len(self._changes) != 1):
                self._read = self._values()
        self._kept = None

    def __len__(self) -> int:
        if len(self._changes) == 1:
            (change,) = self._changes.values()
            return len(change) + len(self._came) - self._told_twice(change)
        return int(self.to_arrow().num_rows)

    def _rows_of(self, name: str | None) -> tuple[pa.Table, pa.Table]:
        """What appeared and what disappeared; made once, when ids are those of the version."""
        with self._turns.lock:
            plans = {item.name: item for item in self._match_plans}
            wanted = next(iter(plans), None) if name is None else name
            if wanted not in plans:
                known = ", ".join(plans)
                raise InputError(
                    "there are no matches" + ("" if name is None else f" named '{name}'"),
                    hint=f"there is {known}" if known else "declare some: gt.Matches(...)",
                )
            if wanted not in self._match_tables:
                change = getattr(self._told, "matches", {}).get(wanted)
                both = ((), ()) if change is None else (change.appeared, change.disappeared)
                one, other = (match_table(plans[wanted], rows, self._rows) for rows in both)
                self._match_tables[wanted] = one, other
            return self._match_tables[wanted]

    @cached_property
    def _match_tables(self) -> dict[str, tuple[pa.Table, pa.Table]]:
        return {}

    def _told_twice(self, change: Change) -> int:
        """How many vertices that came are among the changed, too."""
        if not len(self._came):
            return 0
        return int((change.vertices >= self._came[0]).sum())

    def _made(self) -> pa.Table:
        read = self._read or self._values()
        columns: dict[str, Any] = self._rows.columns(read.rows)
        missing = np.arange(len(read.rows)) >= read.changed
        for name, (old, new) in read.columns.items():
            suffix = "" if len(read.columns) == 1 else f"_{name}"
            columns |= result_columns(f"old{suffix}", old, self._named_by(name), missing)
            columns |= result_columns(f"new{suffix}", new, self._named_by(name))
        return pa.table(columns)

    def _values(self) -> _Read:
        """Changed rows in their order, then the new ones; one field's are known without looking."""
        if self._kept is None:
            (name,), (change,) = self._changes, self._changes.values()
            order = np.argsort(change.vertices, kind="stable")
            values = change.old[order], change.new[order]
            return _Read(change.vertices[order].astype(np.int64), len(change), {name: values})
        moved = [change.vertices for change in self._changes.values()]
        changed = np.unique(np.concatenate([*moved, np.empty(0, np.int32)]).astype(np.int64))
        if len(self._came):
            changed = changed[changed < self._came[0]]
        rows = np.concatenate([changed, np.array(self._came, np.int64)])
        columns = {}
        for name in self._kept.fields:
            new = self._kept.values(name)[rows]
            old = new.copy()
            if name in self._changes:
                _put_old(old, changed, self._changes[name])
            columns[name] = old, new
        return _Read(rows, len(changed), columns)


def _put_old(old: NDArray[Any], changed: NDArray[Any], change: Change) -> None:
    places = np.searchsorted(changed, change.vertices)
    there = places < len(changed)
    there[there] &= changed[places[there]] == change.vertices[there]
    old[places[there]] = change.old[there]
