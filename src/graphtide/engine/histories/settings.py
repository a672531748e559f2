"""How queries are kept by histories: the settings of paper 001, under its own names.

Vanilla differential computation keeps the messages of the join (`join_on_demand=False`). Join on
demand pulls them from neighbours instead. On top of it a share of the differences is dropped, and
recomputed where it is needed: `deterministic` keeps a record of each (Det-Drop), `probabilistic` a
Bloom filter of all (Prob-Drop).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from graphtide.model.errors import InputError

How = Literal["deterministic", "probabilistic"]
Policy = Literal["degree", "random"]


@dataclass(frozen=True)
class Histories:
    """Keep queries by the history of every vertex and state, as paper 001 does.

    `drop` is the share of differences that is dropped (None: none is, whatever the policy), and
    `how` that is remembered. The policy
    `random` draws each alike; `degree` drops all of vertices with fewer edges than the first of
    `degrees`, none of those with more than the second (None: the 80th percentile of the graph when
    its first query comes), and draws between them. Dropping never changes an answer.
    """

    join_on_demand: bool = True
    drop: float | None = None
    how: How = "deterministic"
    policy: Policy = "degree"
    degrees: tuple[int, int | None] = (2, None)
    seed: int = 0

    def __post_init__(self) -> None:
        _check_share(self.drop)
        _check_choice("how", self.how, ("deterministic", "probabilistic"))
        _check_choice("policy", self.policy, ("degree", "random"))
        _check_degrees(self.degrees)
        if not isinstance(self.join_on_demand, bool):
            raise InputError(
                f"join_on_demand cannot be {self.join_on_demand!r}", hint="give True or False"
            )
        if not _is_whole(self.seed) or not 0 <= self.seed < 2**31:
            raise InputError(f"seed cannot be {self.seed!r}", hint="give a number from 0 on")
        if self.drop is not None and not self.join_on_demand:
            raise InputError(
                "nothing can be dropped where the messages of the join are kept",
                hint="leave out join_on_demand=False, or drop",
            )


def checked_histories(given: object) -> Histories | None:
    """What a graph is told to keep its queries by; refuses anything else."""
    if given is None or isinstance(given, Histories):
        return given
    raise InputError(
        f"queries cannot be kept by {given!r}", hint="give gt.queries.Histories(...), or None"
    )


def _check_share(drop: object) -> None:
    if drop is None:
        return
    number = isinstance(drop, int | float) and not isinstance(drop, bool)
    if not number or not 0 <= drop <= 1:  # type: ignore[operator]
        raise InputError(f"drop cannot be {drop!r}", hint="give a share from 0 to 1, or None")


def _check_choice(name: str, given: object, known: tuple[str, ...]) -> None:
    if given not in known:
        raise InputError(f"{name} cannot be {given!r}", hint=f"it is one of: {', '.join(known)}")


def _check_degrees(given: Any) -> None:
    pair = isinstance(given, tuple) and len(given) == 2
    least: Any
    least, most = given if pair else (None, None)
    whole = _is_whole(least) and (most is None or _is_whole(most))
    if not pair or not whole or not 0 <= least <= (least if most is None else most):
        raise InputError(
            f"degrees cannot be {given!r}",
            hint="give the least and the most degree between which is drawn, such as (2, 20)",
        )


def _is_whole(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)
