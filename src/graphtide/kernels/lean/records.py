"""What the kernels of runs over a lean graph are told: which part is theirs, and which iteration."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A part of all vertices, or of a list of them: numbers `first` to `stop` - 1.

    `place` is where this part, and no other, has room of its own.
    """

    first: int
    stop: int
    everybody: bool
    place: int


class Told(NamedTuple):
    """The iteration that is run, and the share by which a float may move and count as unmoved."""

    iteration: int
    tolerance: float
