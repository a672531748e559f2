"""Errors as the page shows them: ours as they are, any other without what led to it."""

from __future__ import annotations

from typing import Any

from graphtide.model.errors import (
    MEMORY_ENDED,
    ExistsError,
    GraphtideError,
    LimitError,
    LockedError,
    NotFoundError,
    StoreError,
)


class NotAllowedError(GraphtideError):
    """A change that the page was not opened for."""


def problem_of(error: BaseException) -> dict[str, Any]:
    """An error as a Problem; one that is not ours says what happened, and shows no traceback."""
    shown = _as_ours(error)
    return {"what": shown.what, "where": shown.where, "hint": shown.hint}


def status_of(error: BaseException) -> int:
    """The status of HTTP that says most about an error."""
    match error:
        case NotFoundError():
            return 404
        case NotAllowedError():
            return 403
        case ExistsError() | LockedError():
            return 409
        case GraphtideError() if not isinstance(error, StoreError):
            return 400
    return 500


def _as_ours(error: BaseException) -> GraphtideError:
    if isinstance(error, GraphtideError):
        return error
    if isinstance(error, MEMORY_ENDED):
        return LimitError("there is not enough memory for this", hint="ask for less at once")
    if isinstance(error, OSError) and error.strerror:
        return GraphtideError(error.strerror, where=error.filename and str(error.filename))
    return GraphtideError(
        f"something went wrong here: {type(error).__name__}",
        hint="please report it with what you did; graphtide open --debug prints more",
    )
