"""Texts as words: a dictionary of codes, labels that order the way texts do, and their functions.

Codes are given in the order in which texts come, and never change, since records hold them. What
texts are ordered by are labels: numbers with gaps between them. A new text gets one between those
of its neighbours; where there is no number left between them, all get labels anew. Only what looks
at labels while it runs depends on them, never what is kept.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
_ROOM = 1 << 60
"""Labels are below this, at either side of 0, when all are given anew: the rest is for the ends."""
_MOST = 1 << 62
_PART = 8
"""So large a part of all texts comes one by one; more of them are sorted in together."""


class Texts:
    """The dictionary of all texts of a machine: a code for each, never forgotten."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._texts: list[str] = []
        self._sorted: list[str] = []
        self._labels: Int64 = np.empty(0, np.int64)
        self._stride = _MOST

    def __len__(self) -> int:
        return len(self._texts)

    def code(self, text: str) -> int:
        """The code of a text, a new one where it is new."""
        code = self._codes.setdefault(text, len(self._texts))
        if code == len(self._texts):
            self._texts.append(str(text))  # NumPy's own kind of text would show in records
        return code

    def text(self, code: int) -> str:
        return self._texts[code]

    def labels(self) -> Int64:
        """A number for each code: they order the way the texts do. Good until a text comes."""
        known = len(self._sorted)
        fresh = self._texts[known:]
        if not fresh:
            return self._labels[:known]
        self._grow()
        if len(fresh) * _PART > known or not all(self._place(text) for text in fresh):
            self._label_all()
        return self._labels[: len(self._texts)]

    def _grow(self) -> None:
        if len(self._labels) < len(self._texts):
            grown = np.zeros(2 * len(self._texts), np.int64)
            grown[: len(self._labels)] = self._labels
            self._labels = grown

    def _place(self, text: str) -> bool:
        """Give one text a label between its neighbours; False where there is none."""
        place = bisect_left(self._sorted, text)
        low = self._label(place - 1) if place > 0 else None
        high = self._label(place) if place < len(self._sorted) else None
        if low is None or high is None:
            label = (high - self._stride) if low is None and high is not None else (low or 0)
            label += self._stride if high is None else 0
            if abs(label) >= _MOST:
                return False
        else:
            label = (low + high) // 2
            if label == low:
                return False
        self._sorted.insert(place, text)
        self._labels[self._codes[text]] = label
        return True

    def _label(self, place: int) -> int:
        return int(self._labels[self._codes[self._sorted[place]]])

    def _label_all(self) -> None:
        """Sort all texts and give them labels with equal gaps."""
        self._sorted = sorted(self._texts)
        self._stride = max(2 * _ROOM // (len(self._sorted) + 1), 1)
        codes = [self._codes[text] for text in self._sorted]
        self._labels[codes] = np.arange(len(codes), dtype=np.int64) * self._stride - _ROOM
