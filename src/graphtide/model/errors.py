"""The errors users see. Each says what is wrong, where, and what to do about it.

Nothing of Spark's, Arrow's or the parser's reaches a user as it is: the layer that meets a
foreign exception turns it into one of these. Notebooks and pytest show the lines of the user's that
led to an error, and none of ours.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

from graphtide.model.progress import told_file

_PACKAGE = __name__.split(".", maxsplit=1)[0]
_FOLDER = str(Path(__file__).resolve().parents[1])
HIDES_FROM_PYTEST = True
"""Whether frames of this package are left out of what pytest shows; its own tests want them."""

_SHELLS = "IPython", "ipykernel", "runpy", "pluggy", "_pytest"


class GraphtideError(Exception):
    """Base of all errors raised on purpose: catch it to catch them all."""

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint
        _hide_from_pytest()

    def _render_traceback_(self) -> list[str]:
        """What IPython and notebooks print: the lines of the user's, then the error itself.

        IPython asks the error for it, so that nothing has to be installed there.
        """
        lines = [
            f"{told_file(frame.filename)}, line {frame.lineno}: {frame.line or '...'}"
            for frame in traceback.extract_tb(self.__traceback__)
            if not _is_internal(frame.filename)
        ]
        return [*lines, "", *f"{type(self).__name__}: {self}".splitlines()]

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  at: {self.where}")
        if self.hint:
            lines.append(f"  try: {self.hint}")
        return "\n".join(lines)


class SetupError(GraphtideError):
    """The machine lacks something: Java, memory, a package."""


class InputError(GraphtideError):
    """Data or arguments that cannot be used as they are."""


class LanguageError(GraphtideError):
    """A statement that does not parse or does not mean anything, with the place in its text.

    `place` has the characters that are meant, from and up to, if a text was parsed.
    """

    place: tuple[int, int] | None = None


class StoreError(GraphtideError):
    """A store that is missing, locked, damaged or already there."""


class NotFoundError(StoreError):
    """No graph, view or collection of that name."""


class ExistsError(StoreError):
    """The name is taken."""


class LockedError(StoreError):
    """Another process is writing to the same name."""


class DamagedError(StoreError):
    """Stored files that are not as they were written: lost, cut short, or changed since."""


class FullDiskError(StoreError):
    """No room to write: the disk is full, or a quota or a limit on file sizes is reached."""


class UnusableError(GraphtideError):
    """A graph in memory that was stopped in the middle of a change and cannot tell what it holds.

    It refuses every call from then on; what is on disk is whole.
    """


class LimitError(GraphtideError):
    """A request so large that it is more likely a slip than a wish."""


class DifferenceError(GraphtideError):
    """Results that are not those of a run from scratch: a mistake of ours, never of the user's."""


class UnseenVertexWarning(RuntimeWarning):
    """A query names a vertex that is not in the graph, yet or because it is misspelled."""


class UnusedOptionWarning(RuntimeWarning):
    """An option that a run was given changes nothing there; the text says why, and what would."""


def warn_user(text: str, category: type[Warning]) -> None:
    """Issue a warning at the last line on the stack that is not ours."""
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").startswith("graphtide."):
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    warnings.warn(text, category, stacklevel=level)


MEMORY_ENDED = MemoryError, SystemError
"""What Python raises where memory ends; the latter where machine code forgot to say why it stopped.
"""


def _is_internal(file: str) -> bool:
    """Whether a frame belongs to this package, or to the shell that runs the user's code."""
    if file.startswith((_FOLDER, "<frozen ")):
        return True
    return any(part in _SHELLS for part in Path(file).parts)


def _hide_from_pytest() -> None:
    """Have pytest leave out the frames of this package where an error of ours goes through them.

    pytest asks each frame, by a name in its module, whether it is to be shown.
    """
    if not HIDES_FROM_PYTEST or "pytest" not in sys.modules:
        return
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if str(frame.f_globals.get("__name__")).split(".")[0] == _PACKAGE:
            frame.f_globals.setdefault("__tracebackhide__", _is_ours)
        frame = frame.f_back


def _is_ours(raised: Any) -> bool:
    return isinstance(raised.value, GraphtideError)
