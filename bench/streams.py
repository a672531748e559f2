"""A graph with a tenth of its edges held back, and the batches that it then meets.

A batch inserts edges that are not there and deletes edges that are, drawn at random. Batches
follow one another and nothing is undone, so that systems that cannot undo meet the same versions
as we do. Edges are named by number, in the order in which they were given; where a graph is not
directed, its edge n is the two arcs n and n + `edges`, and both come and go together.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench import data
from bench.rmat import rmat

Int32 = NDArray[np.int32]
HEAVIEST = 10


@dataclass(frozen=True)
class Batch:
    """Arcs that come in and arcs that go out."""

    inserted: Int32
    deleted: Int32


@dataclass(frozen=True)
class Input:
    """The arcs of a graph, and which of its edges are there at first."""

    name: str
    vertices: int
    src: Int32
    dst: Int32
    weight: Int32
    arcs_an_edge: int
    loaded: Int32
    held: Int32

    @property
    def edges(self) -> int:
        """How many edges there are, loaded or not."""
        return len(self.src) // self.arcs_an_edge

    @property
    def source(self) -> int:
        """The vertex with the most out-arcs."""
        return int(np.bincount(self.src).argmax())

    def arcs(self, edges: Int32) -> Int32:
        """The arcs of edges."""
        turns = [edges + turn * self.edges for turn in range(self.arcs_an_edge)]
        return np.concatenate(turns).astype(np.int32)


@dataclass(frozen=True)
class Size:
    """How many edges a batch inserts and deletes, and how many such batches are timed."""

    insert: int
    delete: int
    rounds: int

    def __str__(self) -> str:
        return f"{self.insert:,}+{self.delete:,}"


def rmat_input(scale: int) -> Input:
    """An RMAT graph of that scale, directed, with parallel edges."""
    src, dst = rmat(scale)
    return with_held_back(f"RMAT {scale}", 1 << scale, src, dst, directed=True)


def real_input(name: str, *, directed: bool) -> Input | None:
    """A real graph by the name of its file, vertices numbered as they sort; None without it."""
    path = data.find(f"{name}.txt.gz")
    if path is None:
        return None
    with gzip.open(path, "rt") as file:
        words = np.loadtxt(file, dtype=np.int64, comments="#", usecols=(0, 1))
    ids, numbers = np.unique(words, return_inverse=True)
    src, dst = numbers.reshape(-1, 2).T.astype(np.int32)
    return with_held_back(name, len(ids), src, dst, directed=directed)


def with_held_back(name: str, vertices: int, src: Int32, dst: Int32, *, directed: bool) -> Input:
    """Weights of 1 to 10 and a tenth of the edges held back, all at random."""
    random = np.random.default_rng(2)
    weight = random.integers(1, HEAVIEST + 1, len(src)).astype(np.int32)
    held, loaded = np.split(random.permutation(len(src)).astype(np.int32), [len(src) // 10])
    if not directed:
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
        weight = np.concatenate([weight, weight])
    return Input(name, vertices, src, dst, weight, 1 if directed else 2, loaded, held)


def batches(given: Input, sizes: tuple[Size, ...], extra: int = 2) -> Iterator[list[Batch]]:
    """For each size, its batches and `extra` before them to warm up."""
    random = np.random.default_rng(3)
    state = replace(given, loaded=given.loaded.copy(), held=given.held.copy())
    for size in sizes:
        if size.delete:
            yield [_exchange(state, size, random) for _ in range(size.rounds + extra)]
        else:
            found, state = _insertions(state, size.insert, size.rounds + extra)
            yield found


def _exchange(state: Input, size: Size, random: np.random.Generator) -> Batch:
    """As many in as out; changes the two lists in place."""
    count = min(size.insert, len(state.held), len(state.loaded))
    into = random.choice(len(state.held), count, replace=False)
    out = random.choice(len(state.loaded), count, replace=False)
    inserted, deleted = state.held[into], state.loaded[out]
    state.held[into], state.loaded[out] = deleted, inserted
    return Batch(state.arcs(inserted), state.arcs(deleted))


def _insertions(state: Input, count: int, rounds: int) -> tuple[list[Batch], Input]:
    nothing = np.empty(0, np.int32)
    taken, held = np.split(state.held, [count * rounds])
    found = [Batch(state.arcs(part), nothing) for part in np.split(taken, len(taken) // count)]
    return found, replace(state, held=held, loaded=np.concatenate([state.loaded, taken]))
