"""Facts of searches that are kept by histories, and their Bloom filters, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.kernels.histories.records import FILTER_FACTS, FIRST, RECOMPUTED, SIZE, USED, Filters

BITS = 10
"""The bits of a filter for each difference that it was made for."""

SPARE = 2
"""A filter is made for what is dropped now and one part in so many more."""

_LEAST = 64


class FilterTable:
    """The arrays of `Filters`; `view` is what kernels take, anew after every change."""

    def __init__(self) -> None:
        self._bits = GrowingArray(np.zeros(0, np.uint64))
        self._facts = GrowingArray(np.zeros(0, np.int64))

    @property
    def view(self) -> Filters:
        """The arrays as they are now."""
        return Filters(self._bits.room, self._facts.room)

    @property
    def nbytes(self) -> int:
        """All memory that they take, used or not."""
        return self._bits.room.nbytes + self._facts.room.nbytes

    def begin(self, number: int) -> None:
        """Facts for a search that begins."""
        self._facts.resize(max(self._facts.length, (number + 1) * FILTER_FACTS))
        self._of(number)[:] = 0

    def renew(self, number: int) -> None:
        """The same for one that begins anew: only what it has recomputed is still counted."""
        recomputed = self.fact(number, RECOMPUTED)
        self.begin(number)
        self._of(number)[RECOMPUTED] = recomputed

    def fact(self, number: int, which: int) -> int:
        """One of the facts of a search."""
        return int(self._of(number)[which])

    def make(self, number: int, dropped: int) -> None:
        """A filter for a search that drops so many differences now."""
        size = BITS * (dropped + dropped // SPARE + _LEAST)
        words = -(-size // 64)
        facts = self._of(number)
        facts[FIRST], facts[SIZE], facts[USED] = self._bits.length, 64 * words, 0
        room = np.zeros(self._bits.length + words, np.uint64)
        room[: self._bits.length] = self._bits.view
        self._bits = GrowingArray(room)

    def is_full(self, number: int) -> bool:
        """Whether more went into a filter than it was made for."""
        return self.fact(number, USED) * BITS > self.fact(number, SIZE)

    def sweep(self, numbers: list[int]) -> None:
        """Keep the filters of some searches alone."""
        parts, first = [], 0
        for number in numbers:
            facts = self._of(number)
            words = int(facts[SIZE]) // 64
            parts.append(self._bits.view[facts[FIRST] : facts[FIRST] + words])
            facts[FIRST] = first
            first += words
        self._bits = GrowingArray(np.concatenate([*parts, np.zeros(0, np.uint64)]))

    def _of(self, number: int) -> NDArray[Any]:
        return self._facts.view[number * FILTER_FACTS : (number + 1) * FILTER_FACTS]
