"""Seconds as a line over a size, learned one observation at a time; old ones fade.

Least squares with weights that fall by a factor with every observation. Neither the base nor the
slope is ever negative. Where a fit would make the base so, or where all sizes are alike and say
nothing of the slope, a run of no size is taken to last as long as the model was told beforehand.
"""

from __future__ import annotations

import math

FADE = 0.9
"""What an observation is worth after the next one: the last ten make the line."""

_ALIKE = 1e-9


class LinearModel:
    """`predict` is NaN until something was observed; never negative, never falling with size.

    `of_no_size` is what a run of no size takes, where what was seen does not tell.
    """

    def __init__(self, of_no_size: float = 0.0) -> None:
        self.observations = 0
        self.base = self.slope = math.nan
        self._of_no_size = of_no_size
        self._weight = self._size = self._time = 0.0
        self._squares = self._products = 0.0

    def observe(self, size: float, seconds: float) -> None:
        """Learn from one run."""
        self.observations += 1
        self._weight = FADE * self._weight + 1.0
        self._size = FADE * self._size + size
        self._time = FADE * self._time + seconds
        self._squares = FADE * self._squares + size * size
        self._products = FADE * self._products + size * seconds
        self._fit()

    def predict(self, size: float) -> float:
        """Seconds that a run of this size is expected to take."""
        return self.base + self.slope * size

    def _fit(self) -> None:
        size, time = self._size / self._weight, self._time / self._weight
        spread = self._squares / self._weight - size * size
        if spread > _ALIKE * size * size:
            slope = (self._products / self._weight - size * time) / spread
            self.slope = max(0.0, slope)
            self.base = time - self.slope * size
            if self.base >= 0.0:
                return
        self.base = min(self._of_no_size, time) if size else time
        self.slope = (time - self.base) / size if size else 0.0
