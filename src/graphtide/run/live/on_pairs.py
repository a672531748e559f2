"""Programs on pairs of vertices: one state for each distinct source, of which targets are taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Values
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.pairs import PairsMaintainer
from graphtide.plan.program_values import BoundProgram, BoundWalk

Parameters = tuple[Any, ...]


def place_of_pairs(bound: BoundProgram | BoundWalk) -> int | None:
    """Where the pairs stand among the parameters; None where there are none."""
    pairs = bound.program.pairs
    return None if pairs is None else bound.program.parameters.index(pairs)


def source_count(bound: BoundProgram | BoundWalk) -> int:
    """How many distinct sources the pairs of a program have; none where it has no pairs."""
    if bound.program.pairs is None:
        return 0
    pairs: Any = bound.value(bound.program.pairs.name)
    return len({source for source, _ in pairs})


def state_a_source(
    make: Callable[[Parameters], Maintainer],
    parameters: Parameters,
    place: int,
    fields: tuple[str, ...],
) -> PairsMaintainer:
    """A maintainer of pairs out of one for each source, whose number stands for the pairs."""

    def made(source: int) -> Maintainer:
        return make((*parameters[:place], source, *parameters[place + 1 :]))

    return PairsMaintainer(made, parameters[place], fields)


def plain_on_pairs(
    run: Callable[[Parameters], Values], parameters: Parameters, place: int
) -> Values:
    """One run from each source, of which the targets are taken."""
    pairs = parameters[place]
    results: dict[str, NDArray[Any]] = {}
    for source in dict.fromkeys(source for source, _ in pairs):
        rows = np.array([at for at, pair in enumerate(pairs) if pair[0] == source])
        targets = np.array([pairs[at][1] for at in rows])
        found = run((*parameters[:place], source, *parameters[place + 1 :]))
        for name, column in found.items():
            if name not in results:
                results[name] = np.empty((len(pairs), *column.shape[1:]), column.dtype)
            results[name][rows] = column[targets]
    return results
