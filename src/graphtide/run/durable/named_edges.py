"""The edges that the rows of a batch name, by number: those that go, or get other values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.run.durable.shape import Shape
from graphtide.run.live.batches import NOTHING, edge_numbers, read_delete
from graphtide.run.live.entering import bring_in, take_out
from graphtide.run.live.named_edges import found_by_texts
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.turns import changing, uninterrupted

Numbers = NDArray[np.int64]


def numbers_of(graph: MemoryGraph, what: str, given: Any) -> Numbers:
    """The numbers of the edges that rows name, each another one; the graph stays as it is."""
    known = graph._known
    given = found_by_texts(known, what, given)
    numbers = edge_numbers(what, given)
    if numbers is not None:
        return numbers
    named = read_delete(known, given, what)
    with uninterrupted(), changing(graph._turns):
        done = bring_in(known, NOTHING, named)
        try:
            return graph._outside(done.delta.deleted).astype(np.int64)
        finally:
            take_out(known, done)


def check_match(shape: Shape, match: tuple[str, ...]) -> None:
    """Refuse what is no property of edges."""
    for name in match:
        if name not in shape.edge_types:
            known = ", ".join(shape.edge_types) or "none"
            raise InputError(
                f"match names '{name}', which is no property of edges",
                hint=name_hint(name, shape.edge_types, f"they have: {known}"),
            )
