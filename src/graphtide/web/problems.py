"""Errors of ours as the page shows them."""

from __future__ import annotations

from typing import Any

from graphtide.model.errors import GraphtideError


def problem_of(error: BaseException) -> dict[str, Any]:
    """An error as a Problem; one that is not ours says what happened, and shows no traceback."""
    if isinstance(error, GraphtideError):
        return {"what": error.what, "where": error.where, "hint": error.hint}
    return {
        "what": f"something went wrong here: {type(error).__name__}",
        "where": None,
        "hint": "please report it with what you did; do the same in Python to see more",
    }
