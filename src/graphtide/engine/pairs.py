"""The maintainer of programs on pairs of vertices: one from each source, looked at at the targets.

Pairs with the same source share one maintainer; which kind it is, and so the mode, is the business
of whoever makes them. All follow one graph. Results are one a pair, in the order of the pairs, and
so are changes: what happens elsewhere in the graph is nobody's business but theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Changes, change_between
from graphtide.engine.maintainer import Maintainer
from graphtide.kernels.graph.flips import Delta

Values = Mapping[str, NDArray[Any]]


class PairsMaintainer(Maintainer):
    """A program from the source of every pair; values are of pairs."""

    def __init__(
        self,
        make: Callable[[int], Maintainer],
        pairs: Sequence[tuple[int, int]],
        fields: Sequence[str],
    ) -> None:
        places: dict[int, list[int]] = {}
        for at, (source, _) in enumerate(pairs):
            places.setdefault(source, []).append(at)
        self.parts = [make(source) for source in places]
        super().__init__(self.parts[0].graph, tuple(fields))
        self._count = len(pairs)
        self._places = [np.array(own, np.int64) for own in places.values()]
        self._targets = [np.array([pairs[at][1] for at in own]) for own in places.values()]
        self._values: dict[str, NDArray[Any]] = {}

    @property
    def kernels(self) -> Any:
        """The compiled module of the program, the same for every source."""
        return self.parts[0].kernels

    def values(self, field: str | None = None) -> NDArray[Any]:
        """A state field of every pair's target."""
        return self._values[field or self.fields[0]]

    def start(self) -> None:
        """Run from scratch, from every source. Forgets what could be undone."""
        super().forget()
        for part in self.parts:
            part.start()
        self._values = self._current()

    def scratch(self) -> Values:
        """The results of the version that the graph is at, apart from the state."""
        return self._gathered(part.scratch() for part in self.parts)

    def follow(self, delta: Delta) -> Changes:
        """Follow a graph that has been flipped already, for every source or for none."""
        followed: list[Maintainer] = []
        try:
            for part in self.parts:
                part.follow(delta)
                followed.append(part)
        except BaseException:
            for part in followed:
                part.undo()
            raise
        self.touched = sum(part.touched for part in self.parts)
        before, self._values = self._values, self._current()
        self._done.append(None)
        return {name: change_between(before[name], after) for name, after in self._values.items()}

    def _put_back(self, done: None) -> None:
        for part in self.parts:
            part.undo()
        self._values = self._current()

    @property
    def undo_bytes(self) -> int:
        """The memory of what could be undone."""
        return sum(part.undo_bytes for part in self.parts)

    def forget(self, keep: int = 0) -> None:
        """Give up what could be undone, and its memory, but for the last so many advances."""
        super().forget(keep)
        for part in self.parts:
            part.forget(keep)

    def verify(self) -> None:
        """Compare with runs from scratch; AssertionError at the first difference."""
        for part in self.parts:
            part.verify()

    def _current(self) -> dict[str, NDArray[Any]]:
        return self._gathered(
            {name: part.values(name) for name in self.fields} for part in self.parts
        )

    def _gathered(self, found: Iterable[Values]) -> dict[str, NDArray[Any]]:
        """The results of the targets, in the order of the pairs. O(pairs)."""
        gathered: dict[str, NDArray[Any]] = {}
        for places, targets, values in zip(self._places, self._targets, found, strict=True):
            for name in self.fields:
                column = values[name]
                if name not in gathered:
                    gathered[name] = np.empty((self._count, *column.shape[1:]), column.dtype)
                gathered[name][places] = column[targets]
        return gathered
