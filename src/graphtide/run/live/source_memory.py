"""What the states of a program on pairs take: one for each distinct source."""

from __future__ import annotations

from graphtide.model.errors import LimitError
from graphtide.model.memory import MEMORY_SETTING, available_bytes, in_words
from graphtide.run.live.programs import Compiled

FIXPOINT_BYTES = 48
"""A vertex of a selecting program: value, parent, level, marks, and a share of the undo log."""

SOURCE_BYTES = 32_000
"""A source beside its vertices: the least room of the undo log."""


def bytes_a_source(compiled: Compiled, vertices: int) -> int:
    """About what the state of one source takes."""
    return SOURCE_BYTES + (compiled.history_bytes or FIXPOINT_BYTES) * vertices


def check_sources(compiled: Compiled, vertices: int) -> None:
    """LimitError if pairs that are kept current have more states than fit.

    They cannot be kept in pieces: an advance has to bring every state along.
    """
    sources, there = compiled.sources, available_bytes()
    needed = sources * bytes_a_source(compiled, vertices)
    if sources and needed > there:
        raise LimitError(
            f"keeping {compiled.bound.program.name} current from {sources:,} sources needs about "
            f"{in_words(needed)} of memory, and {in_words(there)} are available",
            hint="maintain fewer sources, or run over versions: graph.run and collection.run go "
            f"in pieces by themselves; {MEMORY_SETTING}=16G allows more",
        )
