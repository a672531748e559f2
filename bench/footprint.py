"""What a graph and its programs take: memory, and the wait for a first answer."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.data import ROOT
from bench.figures import Figure
from bench.maintained import PROGRAMS, maintainer_of, resident_graph
from bench.streams import Input
from bench.timing import wall_seconds_of

SECTION = "memory and start"


def memory(given: Input) -> list[Figure]:
    """Bytes of the graph an edge, of fixpoint state a vertex, of histories an entry."""
    graph = resident_graph(given)
    whole = array_bytes(graph, set())
    fixpoint, exact = (
        maintainer_of(PROGRAMS[0], graph, mode, given.source) for mode in ("fixpoint", "exact")
    )
    fixpoint.start()
    exact.start()
    state = array_bytes(fixpoint, _arrays_of(graph)) / given.vertices
    by_edge = array_bytes(graph, set(), at_least=graph.edges) / graph.edges
    weighted = f"weights as 64-bit floats; {by_edge:.3g} in arrays by edge, the rest by vertex"
    return [
        Figure(
            "graph with weights, both directions",
            whole / graph.edges,
            "at most",
            32,
            "bytes an edge",
            weighted,
            SECTION,
        ),
        Figure("fixpoint state", state, "at most", 40, "bytes a vertex", "BFS", SECTION),
        *_histories(exact),
    ]


def start_up(rounds: int) -> list[Figure]:
    """Seconds from the shell to a first answer, with a warm cache."""
    command = [sys.executable, "-m", "bench.first_answer"]

    def ask() -> None:
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)

    ask()
    seconds = statistics.median(wall_seconds_of(ask) for _ in range(rounds))
    name, note = "from the shell to a first answer", "warm cache, wall clock"
    return [Figure(name, seconds, "below", 2, "s", note, SECTION)]


def array_bytes(owner: object, apart: set[int], at_least: int = 0) -> int:
    """The bytes of all arrays that an object holds, each once, without those told apart.

    Of arrays with so many items, or more.
    """
    found = [array for array in _walk(owner, set(), set()) if array.size >= at_least]
    return sum(array.nbytes for array in found if id(array) not in apart)


def _arrays_of(owner: object) -> set[int]:
    return {id(array) for array in _walk(owner, set(), set())}


def _walk(item: Any, seen: set[int], kept: set[int]) -> Iterator[NDArray[Any]]:
    """The arrays behind an object's attributes, tuples and dicts; views as what they look at."""
    if id(item) in seen:
        return
    seen.add(id(item))
    if isinstance(item, np.ndarray):
        base = _owner(item)
        if id(base) not in kept:
            kept.add(id(base))
            yield base
    elif isinstance(item, dict):
        for part in item.values():
            yield from _walk(part, seen, kept)
    elif isinstance(item, (tuple, list)):
        for part in item:
            yield from _walk(part, seen, kept)
    elif type(item).__module__.startswith("graphtide.engine"):
        for name in (*getattr(type(item), "__slots__", ()), *getattr(item, "__dict__", ())):
            yield from _walk(getattr(item, name), seen, kept)


def _histories(exact: Any) -> list[Figure]:
    """An entry is a time, a value and where the next one is, side by side or apart."""
    kept = exact._state.histories
    apart = {id(_owner(part)): part.strides[0] for part in (kept.time, kept.value, kept.following)}
    entry = sum(apart.values())
    return [Figure("histories", entry, "at most", 16, "bytes an entry", "BFS", SECTION)]


def _owner(array: NDArray[Any]) -> Any:
    """The array that a view looks at in the end."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
