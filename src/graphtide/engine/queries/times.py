"""What following batches takes: of all searches together, and of each.

A batch is followed by one compiled call for all searches that keep their entries, so that none of
them is timed alone. What such a call takes is shared by the edges that searches looked at, over all
batches in which any did; a search that is computed anew is timed alone. What is left belongs to no
search: batches that concern none, and asking whom a batch concerns.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class BatchTimes:
    """How many batches were `followed`, the `seconds` of all, and those `shared` by looks."""

    followed: int = 0
    seconds: float = 0.0
    shared: float = 0.0
    _since: dict[int, int] = field(default_factory=dict)

    def begin(self, number: int) -> None:
        """A search comes."""
        self._since[number] = self.followed

    def end(self, number: int) -> None:
        """A search goes."""
        self._since.pop(number, None)

    def add(self, seconds: float) -> None:
        """A batch has been followed."""
        self.followed += 1
        self.seconds += seconds

    @property
    def mean(self) -> float:
        """Seconds of a batch, of all searches together."""
        return self.seconds / max(self.followed, 1)

    def of(self, number: int, share: float, alone: float = 0.0) -> float:
        """Seconds of a batch since a search came that are its own, in the mean.

        It has a `share` of all looks, and took so many seconds `alone`.
        """
        return (self.shared * share + alone) / max(self.followed - self._since[number], 1)
