"""Seconds as a line over a size, learned one observation at a time; old ones fade.

Least squares with weights that fall by a factor with every observation. Sizes that hardly vary
say nothing about the slope, so a weak observation of its own, no size in almost no time, always
takes part: between it and what was seen lies the steepest slope that fits, and the base is small.
"""

from __future__ import annotations

import math

FADE = 0.9
FAST_FADE = 0.2
_FLOOR = 2e-5
_ANCHOR = 0.05
_SEASONED = 2
_MOST_SURPRISES = 8


class LinearModel:
    """`predict` is NaN until something was observed; never negative, never falling with size."""

    def __init__(self) -> None:
        self.observations = 0
        self._weight = self._size = self._time = 0.0
        self._squares = self._products = 0.0
        self._base = self._slope = math.nan
        self._surprises = 0

    def observe(self, size: float, seconds: float) -> None:
        """Learn from one run.

        A time far above what is expected counts as less, for other work on the machine does that;
        the more of them come in a row, the more is believed. Nothing makes a run too fast: a time
        far below makes what was seen before fade at once.
        """
        fade = FAST_FADE if 2.0 * seconds < self.predict(size) else FADE
        seconds = self._believed(size, seconds)
        self.observations += 1
        self._weight = fade * self._weight + 1.0
        self._size = fade * self._size + size
        self._time = fade * self._time + seconds
        self._squares = fade * self._squares + size * size
        self._products = fade * self._products + size * seconds
        self._fit()

    def predict(self, size: float) -> float:
        """Seconds that a run of this size is expected to take."""
        return self._base + self._slope * float(size)

    @property
    def line(self) -> tuple[float, float]:
        """Seconds of a run of no size, and how many more for each of it."""
        return self._base, self._slope

    def predict_all(self, count: int, sizes: float) -> float:
        """Seconds that `count` runs are expected to take, whose sizes add up to `sizes`."""
        return self._base * count + self._slope * float(sizes)

    def _believed(self, size: float, seconds: float) -> float:
        if self.observations < _SEASONED:
            return seconds
        most = max(self.predict(size), _FLOOR) * 2.0 ** (self._surprises + 1)
        self._surprises = min(self._surprises + 1, _MOST_SURPRISES) if seconds > most else 0
        return min(seconds, most)

    def _fit(self) -> None:
        anchor = _ANCHOR * self._weight
        weight = self._weight + anchor
        floor = min(_FLOOR, self._time / self._weight)
        size, time = self._size / weight, (self._time + anchor * floor) / weight
        spread = self._squares / weight - size * size
        slope = (self._products / weight - size * time) / spread if spread > 0 else 0.0
        self._slope = max(0.0, slope)
        self._base = time - self._slope * size
        if self._base < 0:
            self._base, self._slope = 0.0, self._products / self._squares
