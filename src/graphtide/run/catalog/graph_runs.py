"""A program run once, from scratch, on a whole stored graph: over its lean graph or in memory.

A lean graph is mapped from disk, takes a third of the memory, and is shared by all threads. It is
made of the tables of the graph when it is first needed, and kept beside it. It belongs to one state
of the graph and holds the edge properties that programs have asked for so far. Where the graph has
gone on, or a program reads another property, it is made anew; and so it is where its files are
damaged, since the graph has all that is in it.

Slabs in memory are what programs of every kind run on. Which of the two is taken is decided here,
in one place, and told with the reason. The answer is the same.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.lean.runs import LeanRun
from graphtide.engine.lean.workers import Workers
from graphtide.kernels.graph.adjacency import LeanGraph
from graphtide.model.column_types import NUMPY_TYPES
from graphtide.model.errors import DamagedError, InputError
from graphtide.model.machine import usable_cores
from graphtide.run.collection.facts import warn_unused
from graphtide.run.collection.stored_graph import check_columns, load_vertices, load_whole
from graphtide.run.collection.stored_vertices import StoredVertices
from graphtide.run.live.computation import CompiledProgram
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.edge_rows import property_column
from graphtide.run.live.named_graph import NamedGraph
from graphtide.run.live.programs import Compiled, vertex_parameters
from graphtide.run.routes import ProgramResults, answer_in_memory
from graphtide.store.catalog import Catalog
from graphtide.store.commit import remove
from graphtide.store.graph import StoredGraph
from graphtide.store.lean import EdgeBlock, lean_facts, read_lean_graph, write_lean_graph
from graphtide.store.tables import edge_batches

_log = logging.getLogger("graphtide")


class LeanGraphLoad(NamedTuple):
    """A lean graph, whether it had to be made, and what was wrong with the one before if it was."""

    lean: LeanGraph
    made: bool
    damage: str = ""


def lean_graph_of(catalog: Catalog, stored: StoredGraph, columns: Sequence[str]) -> LeanGraphLoad:
    """The lean graph of a state of a graph, with these edge properties at least."""
    folder, damage = catalog.lean_folder(stored.name), ""
    known: list[str] | None = None
    try:
        known = _columns_there(catalog, stored)
        if known is not None and set(columns) <= set(known):
            return LeanGraphLoad(read_lean_graph(folder), made=False)
    except DamagedError as error:
        damage = error.what
        _log.warning("%s; it is made again from the graph '%s'", damage, stored.name)
        remove(folder, f"the lean graph of '{stored.name}'")
    _make(catalog, stored, list(dict.fromkeys([*(known or ()), *columns])))
    return LeanGraphLoad(read_lean_graph(folder), made=True, damage=damage)


def _make(catalog: Catalog, stored: StoredGraph, columns: list[str]) -> None:
    types = _types_of(stored)
    write_lean_graph(
        catalog.lean_folder(stored.name),
        stored.vertices,
        stored.edges,
        _blocks(stored, columns),
        {name: types[name] for name in columns},
        {"identity": stored.identity},
        directed=stored.directed,
    )


def is_there(catalog: Catalog, stored: StoredGraph, columns: Sequence[str]) -> bool:
    """Whether there is a lean graph with these properties; a damaged one counts, and is mended."""
    try:
        known = _columns_there(catalog, stored)
    except DamagedError:
        return True
    return known is not None and set(columns) <= set(known)


def _columns_there(catalog: Catalog, stored: StoredGraph) -> list[str] | None:
    """The properties that the lean graph of this state has; None where there is none."""
    facts = lean_facts(catalog.lean_folder(stored.name))
    names = ("identity", "vertices", "edges")
    if facts is None or any(facts.get(name) != getattr(stored, name) for name in names):
        return None
    types, there = _types_of(stored), facts.get("columns")
    if not isinstance(there, dict) or any(
        name not in types or np.dtype(types[name]).str != type_ for name, type_ in there.items()
    ):
        return None
    return list(there)


def _types_of(stored: StoredGraph) -> dict[str, Any]:
    """The edge properties that a lean graph of this one can hold."""
    kinds = {item.name: item.type for item in stored.schema.edge}
    return {name: NUMPY_TYPES[kind] for name, kind in kinds.items() if kind in NUMPY_TYPES}


def _blocks(stored: StoredGraph, columns: list[str]) -> Iterator[EdgeBlock]:
    for table in edge_batches(stored, ["_src", "_dst", *columns]):
        src, dst = (_ends(table.column(name)) for name in ("_src", "_dst"))
        yield EdgeBlock(src, dst, {name: _values(stored, table, name) for name in columns})


def _ends(column: pa.ChunkedArray) -> NDArray[np.int32]:
    numbers: NDArray[np.int32] = column.to_numpy().astype(np.int32, copy=False)
    return numbers


def _values(stored: StoredGraph, table: pa.Table, name: str) -> NDArray[Any]:
    """A property of some edges; a missing number with a fraction is NaN."""
    column = table.column(name)
    if column.null_count and not pa.types.is_floating(column.type):
        raise InputError(
            f"the edge property '{name}' of the graph '{stored.name}' is missing in "
            f"{column.null_count:,} edges, and a program reads it",
            hint="give every edge a value",
        )
    return property_column(column, name, f"the graph '{stored.name}'")


LEAN_EDGES = 4_000_000
"""A lean graph is made of a graph of this many edges. A smaller one is in memory in a second or
two, and nothing is written."""


def check_graph_run(on: str | None, lean: bool | None, name: str | None, *, resume: bool) -> None:
    """InputError for words that do not go together."""
    if on not in (None, "shards"):
        raise InputError(
            f"on cannot be {on!r} for a whole graph",
            hint="use 'shards', or leave it out; sub-plans on Spark need a collection of views",
        )
    given = {"lean": lean is not None} if on else {"name": name is not None, "resume": resume}
    for word in (word for word, there in given.items() if there):
        raise InputError(
            f"`{word}` goes {'without' if on else 'only with'} on='shards'",
            hint="tasks hold shards of the graph" if on else "no other run of a graph is stored",
        )


def run_on_graph(
    catalog: Catalog,
    stored: StoredGraph,
    compiled: Compiled,
    workers: int | None = None,
    lean: bool | None = None,
) -> ProgramResults:
    """Run a program from scratch; without a word on `lean`, over whatever suits the graph."""
    unfit = why_not_lean(compiled, stored)
    if lean and unfit is not None:
        raise InputError(
            f"{compiled.bound} cannot run over a lean graph: {unfit}", hint="leave out `lean`"
        )
    reason = "asked for" if lean is False and unfit is None else unfit
    small = lean is None and unfit is None and stored.edges < LEAN_EDGES
    if small and not is_there(catalog, stored, list(compiled.needed.properties)):
        reason = f"a lean graph is made from {LEAN_EDGES:,} edges on, and there is none yet"
    if reason is None:
        return _over_lean_graph(catalog, stored, compiled, workers or usable_cores())
    if workers not in (None, 1):
        what = "lean=True shares the work" if unfit is None else "only a lean graph is shared"
        warn_unused(
            f"workers={workers}: one of them works, on the graph in memory ({reason}); {what}"
        )
    began = perf_counter()
    known = load_whole(stored, compiled.needed)
    read = f"read in {perf_counter() - began:.3g} s, "
    over = f"over the graph in memory: {reason}"
    return answer_in_memory(compiled, known, _stored(known), over, read)


def why_not_lean(compiled: Compiled, stored: StoredGraph) -> str | None:
    """Why a program cannot run over a lean graph; None if it can."""
    if not isinstance(compiled, CompiledProgram):
        return "it is no vertex program"
    if compiled.bound.program.pairs is not None:
        return "its results are those of pairs"
    kinds = {item.name: item.type for item in stored.schema.edge}
    for name in compiled.needed.properties:
        if name in kinds and kinds[name] not in NUMPY_TYPES:
            return f"it reads the edge property '{name}', which holds no numbers"
        if name not in kinds:
            return f"it reads the edge property '{name}', which no table has"
    return None


def _over_lean_graph(
    catalog: Catalog, stored: StoredGraph, compiled: Compiled, count: int
) -> ProgramResults:
    assert isinstance(compiled, CompiledProgram)
    needed, began = compiled.needed, perf_counter()
    check_columns(stored, needed)
    known = load_vertices(stored, needed)
    needed.check_vertices(known)
    parameters = vertex_parameters(compiled.bound, known.ids)
    lean, made, damage = lean_graph_of(catalog, stored, list(needed.properties))
    _check_edges(lean, needed, known)
    ready = perf_counter()
    settles = compiled.choice.mode == "fixpoint"
    run = LeanRun(
        lean, compiled.bound.program, parameters, known.resident.vertex_data, settles=settles
    )
    with Workers(count) as workers:
        worked = thread_time()
        values = run.values(workers)
        alone = thread_time() - worked - workers.seconds[0]
    ended = perf_counter()
    verb = "made and read" if made else "read"
    mended = (f"it was made again from the graph: {damage}",) if damage else ()
    how = (
        f"over the lean graph: {lean.bytes / max(1, lean.edges):.3g} bytes an edge, mapped from "
        f"{catalog.lean_folder(stored.name)}",
        f"{verb} in {ready - began:.3g} s, run in {ended - ready:.3g} s by {count} "
        f"thread{'s' * (count != 1)}: {run.way}"
        + (f", {run.iterations:,} iterations" if run.iterations else ""),
        *mended,
    )
    processor = alone, *workers.seconds
    ids = _stored(known)
    return ProgramResults(compiled, values, len(ids), ids, None, how, ended - ready, processor)


def _check_edges(lean: LeanGraph, needed: Conditions, known: NamedGraph) -> None:
    """Refuse edges with values that the program cannot take."""

    def text(edge: int) -> str:
        source = int(np.searchsorted(lean.out.offsets, edge, side="right")) - 1
        ends = [known.ids[source], known.ids[int(lean.out.neighbour[edge])]]
        values = [column[edge].item() for column in lean.columns.values()]
        return f"({', '.join(map(repr, [*ends, *values]))})"

    needed.check_rows({name: lean.columns[name] for name in needed.properties}, text)


def _stored(known: NamedGraph) -> StoredVertices:
    assert isinstance(known.ids, StoredVertices)
    return known.ids
