"""How far a graph can be rolled back: by so many advances, within so many bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphtide.model.errors import InputError
from graphtide.model.memory import bytes_in, in_words
from graphtide.model.wording import counted

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
    """What users say in short: a number bounds the advances, a text the bytes, None neither."""
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
        """Whether so many advances, which so many bytes can undo, are too much."""
        kept, most = f"the last {counted(advances - 1, 'advance')}", self.undo.bytes
        if self.undo.advances is not None and advances > self.undo.advances:
            self._why = f"undo keeps {kept}" if self.undo.advances else "undo keeps none"
        elif isinstance(most, int) and advances and nbytes > most:
            found = kept if advances > 1 else f"none, since the last one takes {in_words(nbytes)}"
            self._why = f"undo keeps {in_words(most)}, and so {found}"
        else:
            return False
        return True

    def clear(self) -> None:
        """No advance so far was forgotten for these bounds."""
        self._why = ""

    def refusal(self, hint: str | None = None) -> InputError:
        """The error for whoever goes back where nothing is left."""
        if not self._why:
            return InputError("there is no advance to roll back", hint=hint)
        return InputError(
            f"there is no advance left to roll back: {self._why}",
            hint="let it keep more: graph.set_undo(gt.Undo(advances=1000, bytes='2 GB'))",
        )
