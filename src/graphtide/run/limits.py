"""What a graph in memory may keep beside its edges: to roll back, and for its queries.

A rollback goes back by a number of advances within a number of bytes, whichever is reached first.
Queries are kept within a budget of bytes, or by histories. Users say both in short forms, which are
read and checked here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from graphtide.model.errors import InputError
from graphtide.model.machine import bytes_in, in_words
from graphtide.model.text import counted

if TYPE_CHECKING:
    from graphtide.engine.histories.settings import Histories
    from graphtide.engine.queries.landmark_settings import Landmarks


_HINT = 'give a number of advances, a text such as "1 GB", gt.Undo(...), or None for no bound'


@dataclass(frozen=True)
class Undo:
    """What a graph keeps to roll back: the last `advances`, within so many `bytes`.

    Whichever is reached first; None is no bound. Bytes are a number, or a text such as "1 GB".
    """

    advances: int | None = 100
    bytes: int | str | None = "256 MB"

    def __post_init__(self) -> None:
        size = bytes_in(self.bytes) if isinstance(self.bytes, str) else self.bytes
        for given, number in ((self.advances, self.advances), (self.bytes, size)):
            if number is None and given is None:
                continue
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                raise InputError(f"undo cannot be {given!r}", hint=_HINT)
        object.__setattr__(self, "bytes", size)


UNBOUNDED = Undo(None, None)


def given_undo(given: Any) -> Undo:
    """Read the short forms: a number bounds advances, a text bounds bytes, None nothing."""
    if isinstance(given, Undo):
        return given
    if given is None:
        return UNBOUNDED
    return Undo(bytes=given) if isinstance(given, str) else Undo(advances=given)


class UndoBounds:
    """Says when the oldest advance must be forgotten, and afterwards why it was."""

    def __init__(self, undo: Undo) -> None:
        self.undo = undo
        self._why = ""

    def exceeded(self, advances: int, nbytes: int) -> bool:
        """True if this many advances, or this many bytes to undo them, are too many."""
        most = self.undo.bytes
        too_many = self.undo.advances is not None and advances > self.undo.advances
        if not too_many and not (isinstance(most, int) and advances and nbytes > most):
            return False
        kept = f"the last {counted(advances - 1, 'advance')}"
        if too_many:
            self._why = f"undo keeps {kept}" if self.undo.advances else "undo keeps none"
        else:
            assert isinstance(most, int)
            found = kept if advances > 1 else f"none, since the last one takes {in_words(nbytes)}"
            self._why = f"undo keeps {in_words(most)}, and so {found}"
        return True

    def clear(self) -> None:
        self._why = ""

    def refusal(self, hint: str | None = None) -> InputError:
        if not self._why:
            return InputError("there is no advance to roll back", hint=hint)
        return InputError(
            f"there is no advance left to roll back: {self._why}",
            hint="let it keep more: graph.set_undo(gt.Undo(advances=1000, bytes='2 GB'))",
        )


class QuerySettings(NamedTuple):
    """How many bytes queries may take (None is any number) with how much patience; or histories.

    And the landmarks that pairs without a state are asked by.
    """

    most: int | None = None
    patience: float = 1.0
    histories: Histories | None = None
    landmarks: Landmarks | None = None


def given_budget(given: Any, histories: Histories | None = None) -> int | None:
    """A number of bytes, of a number or a text such as "2 GB"; None is any number."""
    if given is None:
        return None
    if histories is not None:
        raise InputError(
            "queries that are kept by histories have no budget: they keep what they are told to",
            hint="leave out queries=gt.queries.Histories(...), and the budget chooses what is kept",
        )
    nbytes = bytes_in(given) if isinstance(given, str) else given
    if not isinstance(nbytes, int) or isinstance(nbytes, bool) or nbytes <= 0:
        raise InputError(
            f"a budget cannot be {given!r}",
            hint='give a number of bytes, a text such as "2 GB", or None for no limit',
        )
    return nbytes


def given_patience(given: Any) -> float:
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number or not 0 <= given < math.inf:
        raise InputError(f"patience cannot be {given!r}", hint="give a number from 0 on, such as 1")
    return float(given)
