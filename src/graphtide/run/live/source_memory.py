"""What the states of a program on pairs take: one for each distinct source."""

from __future__ import annotations

from typing import Any

from graphtide.lang.python import BoundDataflow
from graphtide.model.errors import LimitError
from graphtide.model.memory import MEMORY_SETTING, available_bytes, in_words
from graphtide.run.live.chosen_program import ChosenProgram

FIXPOINT_BYTES = 48
"""A vertex of a selecting program: value, parent, level, marks, and a share of the undo log."""

HISTORY_ITERATIONS = 32
"""Iterations that are reckoned with where a program does not say how many it has."""

SOURCE_BYTES = 32_000
"""A source beside its vertices: the least room of the undo log."""


def count_sources(chosen: ChosenProgram) -> int:
    """How many states the pairs of a program need; none where it has no pairs."""
    bound = chosen.bound
    if isinstance(bound, BoundDataflow) or bound.program.pairs is None:
        return 0
    pairs: Any = bound.value(bound.program.pairs.name)
    return len({source for source, _ in pairs})


def bytes_a_source(chosen: ChosenProgram, vertices: int) -> int:
    """About what the state of one source takes."""
    bound = chosen.bound
    if isinstance(bound, BoundDataflow) or chosen.choice.mode == "fixpoint":
        return SOURCE_BYTES + FIXPOINT_BYTES * vertices
    iterations = bound.iterations or HISTORY_ITERATIONS
    row = 4 + 8 * sum(bound.size(item) or 1 for item in bound.program.sized)
    return SOURCE_BYTES + iterations * row * 3 // 2 * vertices


def check_sources(chosen: ChosenProgram, vertices: int) -> None:
    """LimitError if pairs that are kept current have more states than fit.

    They cannot be kept in pieces: an advance has to bring every state along.
    """
    sources, there = count_sources(chosen), available_bytes()
    needed = sources * bytes_a_source(chosen, vertices)
    if sources and needed > there:
        raise LimitError(
            f"keeping {chosen.bound.program.name} current from {sources:,} sources needs about "
            f"{in_words(needed)} of memory, and {in_words(there)} are available",
            hint="maintain fewer sources, or run over versions: graph.run and collection.run go "
            f"in pieces by themselves; {MEMORY_SETTING}=16G allows more",
        )
