"""The states of a stored graph: its base, and what every append since has made of it.

A base is two tables. An append adds rows behind them, which are parts of the same tables, and
beside them files of its own: the numbers of the edges that it deletes, and whole rows in place of
those that it changes. So vertices and edges keep their numbers, a deleted edge keeps its row, and
each state since the base can be read: it is the base and what the appends up to it have written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphtide.store.seal import facts_of


@dataclass(frozen=True)
class GraphState:
    """One state of a graph; `number` counts what has made it, from the load on: appends, and merges
    that number edges anew.

    `numbers` counts the edge numbers that are taken, those of `deleted` edges included; `rows` are
    those that the append wrote beside the base, in so many `files`.
    """

    identity: str
    number: int
    generation: str
    vertices: int
    numbers: int
    deleted: int = 0
    rows: int = 0
    files: int = 0

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return self.numbers - self.deleted


def states_to_json(states: Sequence[GraphState]) -> list[dict[str, Any]]:
    """As a manifest holds them."""
    return [vars(state) for state in states]


def states_from_json(manifest: dict[str, Any]) -> tuple[GraphState, ...]:
    """The states that a manifest lists; the base alone where nothing was appended."""
    listed = manifest.get("states")
    if listed is not None:
        return tuple(map(state_from, listed))
    known = {name: manifest[name] for name in ("identity", "generation", "vertices")}
    return (state_from({**known, "number": 0, "numbers": manifest["edges"]}),)


def state_from(data: dict[str, Any]) -> GraphState:
    """A state as a manifest or a history holds it; ValueError where no graph can be in it."""
    state = facts_of(GraphState, data)
    counts = state.number, state.vertices, state.deleted, state.edges, state.rows, state.files
    if min(counts) < 0:
        raise ValueError(f"a state with {min(counts)} of something")
    return state


def append_file(number: int) -> str:
    """The name of the file that the append of that number wrote in a folder."""
    return f"append-{number:06d}.parquet"
