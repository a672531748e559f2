"""How the queries of a graph are kept, as users say it: within a budget, or by histories."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from graphtide.model.errors import InputError
from graphtide.model.memory import bytes_in

if TYPE_CHECKING:
    from graphtide.engine.histories.settings import Histories
    from graphtide.engine.queries.landmark_settings import Landmarks


class KeptBy(NamedTuple):
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
    """A number from 0 on."""
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number or not 0 <= given < math.inf:
        raise InputError(f"patience cannot be {given!r}", hint="give a number from 0 on, such as 1")
    return float(given)
