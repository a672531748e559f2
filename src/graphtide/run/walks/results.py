"""The results of a walk program as those of any program: a result of the whole graph is one row.

A graph and a run carry results as arrays by name, and changes as rows of them. A result of the
whole graph fits in if it is an array of one row, whose number is 0. Rows that walks report have no
number: they are sets, told beside (`matches`) and, for runs, among values and changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, first_difference
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.walks.maintainer import SHARE, WalkMaintainer
from graphtide.engine.walks.matches import GlobalChange, MatchRows, RowChange, WalkChanges
from graphtide.engine.walks.plain import PlainResults
from graphtide.kernels.graph.flips import Delta


class WalkResults(Maintainer):
    """A maintainer of walks whose `fields` are those of vertices, then those of the whole graph."""

    def __init__(self, walks: WalkMaintainer) -> None:
        self._globals = tuple(item.name for item in walks.program.globals)
        self._rows = tuple(item.name for item in walks.program.matches)
        super().__init__(walks.graph, (*walks.fields, *self._globals))
        self.walks = walks

    @property
    def kernels(self) -> Any:
        """The compiled module of the program."""
        return self.walks.kernels

    @property
    def matches(self) -> Mapping[str, MatchRows]:
        """The rows that walks report, by name."""
        return self.walks.matches

    def values(self, field: str | None = None) -> Any:
        """A result of every vertex, the one row of one of the whole graph, or a set of rows."""
        name = field or self.fields[0]
        if name in self._rows:
            return shown_rows(self.matches[name])
        return one_row(self.walks.globals[name]) if self._whole(name) else self.walks.values(name)

    def start(self) -> None:
        """Run from scratch on the version that the graph is at; forgets what could be undone."""
        super().forget()
        self.walks.start()

    def scratch(self) -> dict[str, Any]:
        """The results of the version that the graph is at, apart from what is kept."""
        state, whole, matches = self.walks.scratch_results()
        rows = {name: shown_rows(matches[name]) for name in self._rows}
        return {**state, **{name: one_row(whole[name]) for name in self._globals}, **rows}

    def follow(self, delta: Delta) -> WalkChanges:
        """Follow a graph that has been flipped, and may have got vertices; says what changed.

        Rows that a limit cuts, before or after, are not among it: which ones are shown depends on
        those that are not.
        """
        cut = self._cut()
        changes = self.walks.follow(delta)
        self.touched = self.walks.touched
        self._done.append(None)
        rows: dict[str, Any] = {}
        if self._rows:
            cut |= self._cut()
            told = (name for name in self._rows if name not in cut)
            rows = {name: changes.matches.get(name, RowChange()) for name in told}
        whole = changes.globals
        if not rows and not self._globals:
            return changes
        return WalkChanges(
            lambda: {**changes.told(), **self._whole_changes(whole), **rows}, whole, changes.matches
        )

    def _cut(self) -> set[str]:
        """The kinds of rows that a limit cuts now."""
        if not self._rows:
            return set()
        return {name for name, rows in self.matches.items() if rows.cut}

    def _whole_changes(self, moved: Mapping[str, GlobalChange]) -> dict[str, Change]:
        return {name: self._global_change(name, moved.get(name)) for name in self._globals}

    def _put_back(self, done: None) -> None:
        self.walks.undo()

    @property
    def undo_bytes(self) -> int:
        """The memory of what could be undone."""
        return self.walks.undo_bytes

    def forget(self, keep: int = 0) -> None:
        """Give up what could be undone, and its memory, but for the last so many advances."""
        super().forget(keep)
        self.walks.forget(keep)

    def verify(self) -> None:
        """Compare with a compiled run from scratch, then with a plain one, reported rows included.

        AssertionError at the first difference.
        """
        kept, scratch = {name: self.values(name) for name in self.fields}, self.scratch()
        difference = first_difference(kept, scratch, SHARE)
        if difference is not None:
            name, row = difference
            raise AssertionError(
                f"{name} of {row} is {kept[name][row]}, from scratch {scratch[name][row]}"
            )
        self.walks.verify()

    def _whole(self, name: str) -> bool:
        return name in self._globals

    def _global_change(self, name: str, change: GlobalChange | None) -> Change:
        if change is None:
            now = self.values(name)
            return Change(np.empty(0, np.int32), now[:0], now[:0])
        return Change(np.zeros(1, np.int32), one_row(change.old), one_row(change.new))


def one_row(value: Any) -> NDArray[Any]:
    """A number, or an array of them, as the only row of an array."""
    return np.asarray(value)[None]


def shown_rows(rows: MatchRows) -> Any:
    """The rows that a limit lets through, as a set in which each may be several times."""
    return Counter(rows.rows()) if rows.cut else Counter(rows.kept)


def plain_results(found: PlainResults, limits: Mapping[str, Any]) -> dict[str, Any]:
    """What a plain run found, in the form of `WalkResults.scratch`."""
    whole = {name: one_row(value) for name, value in found.globals.items()}
    rows = {name: Counter(sorted(all_)[: limits[name]]) for name, all_ in found.matches.items()}
    return {**found.state, **whole, **rows}
