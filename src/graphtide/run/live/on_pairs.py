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


def source_count(bound: BoundProgram | BoundWalk) -> int:
    """How many distinct sources the pairs of a program have; none where it has no pairs."""
    if bound.program.pairs is None:
        return 0
    pairs: Any = bound.value(bound.program.pairs.name)
    return len({source for source, _ in pairs})


def state_a_source(
    bound: BoundProgram | BoundWalk,
    make: Callable[[Parameters], Maintainer],
    parameters: Parameters,
) -> Maintainer:
    """A maintainer of pairs out of one for each source, whose number stands for the pairs.

    Where a program has no pairs, just the one that is made of its parameters.
    """
    if bound.program.pairs is None:
        return make(parameters)
    place = bound.program.parameters.index(bound.program.pairs)

    def made(source: int) -> Maintainer:
        return make((*parameters[:place], source, *parameters[place + 1 :]))

    return PairsMaintainer(made, parameters[place], bound.fields)


def run_a_source(
    bound: BoundProgram | BoundWalk, run: Callable[[Parameters], Values], parameters: Parameters
) -> Values:
    """One run from each source, of which the targets are taken; just one without pairs."""
    if bound.program.pairs is None:
        return run(parameters)
    place = bound.program.parameters.index(bound.program.pairs)
    pairs = parameters[place]
    results: dict[str, NDArray[Any]] = {}
    for source in dict.fromkeys(source for source, _ in pairs):
        rows = np.array([at for at, pair in enumerate(pairs) if pair[0] == source])
        targets = np.array([pairs[at][1] for at in rows])
        values = run((*parameters[:place], source, *parameters[place + 1 :]))
        for name, column in values.items():
            if name not in results:
                results[name] = np.empty((len(pairs), *column.shape[1:]), column.dtype)
            results[name][rows] = column[targets]
    return results
