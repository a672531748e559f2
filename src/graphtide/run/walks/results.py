"""The results of a walk program as those of any program: a result of the whole graph is one row.

A graph and a run carry results as arrays by name, and changes as rows of them. A result of the
whole graph fits in if it is an array of one row, whose number is 0. Rows that walks report are told
beside (`matches`), since they have no number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Values, first_difference
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.walks.changes import WalkChanges
from graphtide.engine.walks.maintainer import SHARE, WalkMaintainer
from graphtide.engine.walks.matches import MatchRows
from graphtide.kernels.graph.flips import Delta


class WalkResults(Maintainer):
    """A maintainer of walks whose `fields` are those of vertices, then those of the whole graph."""

    def __init__(self, walks: WalkMaintainer) -> None:
        self._globals = tuple(item.name for item in walks.program.globals)
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

    def values(self, field: str | None = None) -> NDArray[Any]:
        """A result of every vertex, or the one row of a result of the whole graph."""
        name = field or self.fields[0]
        return one_row(self.walks.globals[name]) if self._whole(name) else self.walks.values(name)

    def start(self) -> None:
        """Run from scratch on the version that the graph is at; forgets what could be undone."""
        super().forget()
        self.walks.start()

    def scratch(self) -> dict[str, NDArray[Any]]:
        """The results of the version that the graph is at, apart from what is kept."""
        state, whole, _ = self.walks.scratch_results()
        return {**state, **{name: one_row(whole[name]) for name in self._globals}}

    def follow(self, delta: Delta) -> WalkChanges:
        """Follow a graph that has been flipped, and may have got vertices; says what changed."""
        found = self.walks.follow(delta)
        self.touched = self.walks.touched
        self._done.append(None)
        whole = {name: self._global_change(name, found) for name in self._globals}
        return WalkChanges({**found, **whole}, found.globals, found.matches)

    def _put_back(self, done: None) -> None:
        self.walks.undo()

    def forget(self) -> None:
        """Give up what could be undone, and its memory."""
        super().forget()
        self.walks.forget()

    def verify(self) -> None:
        """Compare with a compiled run from scratch, then with a plain one, reported rows included.

        AssertionError at the first difference.
        """
        kept, scratch = {name: self.values(name) for name in self.fields}, self.scratch()
        found = first_difference(kept, scratch, SHARE)
        if found is not None:
            name, row = found
            raise AssertionError(
                f"{name} of {row} is {kept[name][row]}, from scratch {scratch[name][row]}"
            )
        self.walks.verify()

    def _whole(self, name: str) -> bool:
        return name in self._globals

    def _global_change(self, name: str, found: WalkChanges) -> Change:
        change = found.globals.get(name)
        if change is None:
            now = self.values(name)
            return Change(np.empty(0, np.int32), now[:0], now[:0])
        return Change(np.zeros(1, np.int32), one_row(change.old), one_row(change.new))


def one_row(value: Any) -> NDArray[Any]:
    """A number, or an array of them, as the only row of an array."""
    return np.asarray(value)[None]


def plain_results(state: Values, whole: Mapping[str, Any]) -> Values:
    """What a plain run found, in the form of `WalkResults.scratch`."""
    return {**state, **{name: one_row(value) for name, value in whole.items()}}
