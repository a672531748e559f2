"""A program run once, from scratch, on all edges that a graph in memory has now.

What such a run answers is the same for graphs in memory and for stored ones, over a lean graph too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from graphtide.model.errors import InputError
from graphtide.run.collection.prepare import PreparedProgram
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.programs import Compiled, checked_parameters, pair_numbers
from graphtide.run.live.result_rows import Pairs, ResultRows


@dataclass(frozen=True)
class Answered:
    """The results of a program on a graph, and how they were found.

    `values` are arrays, and counters of the rows of matches. `processor` is the time that the run
    took of processors: what the asking thread did while no other had anything to do, and then the
    share of each thread in what they did together.
    """

    compiled: Compiled
    values: Mapping[str, Any]
    vertices: int
    ids: ResultRows
    pairs: Pairs | None
    how: tuple[str, ...]
    seconds: float
    processor: tuple[float, ...]


def answer_in_memory(
    compiled: Compiled, known: KnownEdges, ids: ResultRows, over: str, read: str = ""
) -> Answered:
    """Run a program over the slabs of a graph, by this thread; the graph stays as it is.

    `over` says what the run goes over, and `read` how long it took to have that.
    """
    parameters = checked_parameters(compiled, known)
    prepared = PreparedProgram(compiled, known.resident, parameters, known.ids)
    began, worked = perf_counter(), thread_time()
    values: dict[str, Any] = {
        name: value if name in compiled.matches else np.asarray(value)
        for name, value in prepared.scratch().items()
    }
    seconds, processor = perf_counter() - began, thread_time() - worked
    how = over, f"{read}run in {seconds:.3g} s by 1 thread"
    pairs = pair_numbers(compiled.bound, parameters)
    vertices = known.resident.vertices
    return Answered(compiled, values, vertices, ids, pairs, how, seconds, (processor,))


def refuse_without_versions(**given: bool) -> None:
    """InputError for the first of the words that were given and say something of versions alone."""
    for word in (word for word, there in given.items() if there):
        raise InputError(
            f"`{word}` is for several versions, and this run has one: the graph as it is",
            hint="give them, or ask a collection of views: graph.collection(...).run(program)",
        )
