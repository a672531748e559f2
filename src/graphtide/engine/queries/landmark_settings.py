"""How many landmarks a graph has for its queries, and how they are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graphtide.model.errors import InputError

MOST_LANDMARKS = 256

Choice = Literal["degree", "far"]


@dataclass(frozen=True)
class Landmarks:
    """Bound paths by what they cost from and to `count` landmarks, kept current like any query.

    `choice` says which vertices these are: by `degree` those with most edges, as paper 001 chooses
    them; `far` takes them one by one, each as far as can be from those before it, which suits road
    networks. Landmarks never change an answer.
    """

    count: int = 10
    choice: Choice = "degree"

    def __post_init__(self) -> None:
        whole = isinstance(self.count, int) and not isinstance(self.count, bool)
        if not whole or not 1 <= self.count <= MOST_LANDMARKS:
            raise InputError(
                f"there cannot be {self.count!r} landmarks",
                hint=f"give a number from 1 to {MOST_LANDMARKS}; a graph without has None",
            )
        if self.choice not in ("degree", "far"):
            raise InputError(
                f"landmarks cannot be chosen by {self.choice!r}", hint="it is 'degree' or 'far'"
            )


def given_landmarks(given: object, *, by_histories: bool) -> Landmarks | None:
    """Landmarks as users give them: a number, `Landmarks`, or None."""
    if given is None:
        return None
    if by_histories:
        raise InputError(
            "queries that are kept by histories have no landmarks: they are never asked anew",
            hint="leave out queries=gt.queries.Histories(...), or landmarks",
        )
    return given if isinstance(given, Landmarks) else Landmarks(given)  # type: ignore[arg-type]
