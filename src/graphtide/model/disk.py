"""Errors of the disk as errors of ours.

Every function that writes does so inside `disk_errors`. It turns a full disk, a quota or a folder
without permission into an error that names what was being written and what to do.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from graphtide.model.errors import FullDiskError, StoreError

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_ROOM_TEXTS = tuple(os.strerror(number) for number in sorted(_NO_ROOM))


@contextlib.contextmanager
def disk_errors(what: str, where: Path, hint: str | None = None) -> Iterator[None]:
    """Let errors of the system leave the block as `what` cannot be written, with the reason."""
    try:
        yield
    except OSError as error:
        raise disk_error(error, what, where, hint) from None


def disk_error(error: OSError, what: str, where: Path, hint: str | None = None) -> StoreError:
    """The error of ours for one that the system raised while `what` was being written."""
    reason = reason_of(error)
    if is_full(error):
        return FullDiskError(
            f"{what} cannot be written: {reason}",
            where=str(where),
            hint=hint or "make room and try again; what was stored before is as it was",
        )
    return StoreError(
        f"{what} cannot be written: {reason}",
        where=str(where),
        hint=hint or "name a folder that you may write to",
    )


def is_full(error: OSError) -> bool:
    """True if there was no room: on the disk, within a quota or a limit."""
    return error.errno in _NO_ROOM


def tells_of_full_disk(text: str) -> str | None:
    """What the system says of a disk without room, if the text of a foreign error holds it."""
    return next((sign for sign in _NO_ROOM_TEXTS if sign in text), None)


def reason_of(error: OSError) -> str:
    """What the system says, in its own words: libraries wrap these in words of theirs."""
    return os.strerror(error.errno) if error.errno else str(error)
