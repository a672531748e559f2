"""A lean graph on disk: compressed rows of both directions, in files that are mapped into memory.

It is a store like others: one generation, whose manifest lists every file with size and checksum,
made current in one step. What is in it follows from the edges alone, whoever gives them: `write`
takes them in blocks and never holds all of them (`lean_sorting`), `read` maps the files.

    out-offsets  out-targets  in-offsets  in-sources  in-edges  column-0 ...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.compressed import CompressedRows, LeanGraph, offset_type
from graphtide.model.disk import disk_errors
from graphtide.model.edge_numbers import number_type
from graphtide.model.errors import DamagedError, InputError
from graphtide.store.commit import begin, find_pointer, open_committed
from graphtide.store.files import Damage, are_offsets, within
from graphtide.store.generation import MANIFEST, Generation
from graphtide.store.lean_sorting import Block, column_name, sort_edges
from graphtide.store.mapped import mapped_array
from graphtide.store.seal import well_formed

MOST_VERTICES = 1 << 31
_REMEDY = "run a program on the graph: its lean graph is made again then"


def write_lean_graph(
    folder: Path,
    vertices: int,
    edges: int,
    blocks: Iterable[Block],
    types: Mapping[str, Any] | None = None,
    facts: Mapping[str, Any] | None = None,
    *,
    directed: bool = True,
) -> None:
    """Sort edges into a lean graph, in place of one that may be there; all of it or nothing.

    `types` are those of the columns that blocks have, `facts` what the manifest is to say besides.
    Loops that are not `directed` are in the rows by source alone. Needs room on disk for about 32
    bytes an edge meanwhile, and for 13 in the end.
    """
    if vertices > MOST_VERTICES:
        raise InputError(f"{vertices:,} vertices are too many", hint=f"at most {MOST_VERTICES:,}")
    named = {name: np.dtype(type_) for name, type_ in (types or {}).items()}
    with begin(folder, replace=True, what="the lean graph") as commit:
        with disk_errors(commit.what, folder):
            back = sort_edges(commit.path, vertices, edges, named, blocks, directed=directed)
        _check_count(commit.path, edges)
        columns = {name: type_.str for name, type_ in named.items()}
        sizes = {"vertices": vertices, "edges": edges, "back": back, "columns": columns}
        commit.finish({"kind": "lean graph", **sizes, **(facts or {})})


def lean_facts(folder: Path) -> Mapping[str, Any] | None:
    """What the manifest of a lean graph says; None where there is none."""
    return None if find_pointer(folder) is None else _opened(folder).manifest


def read_lean_graph(folder: Path) -> LeanGraph:
    """Map a lean graph into memory, after its files have been compared with what was written.

    Kernels look at no bounds, so all numbers in it are looked at first: O(edges), a third of the
    time that their checksums take.
    """
    generation = _opened(folder)
    with well_formed("the lean graph", generation.path):
        lean = _mapped(generation)
        for rows in (lean.out, lean.into):
            if not (
                are_offsets(rows.offsets, len(rows.neighbour))
                and within(rows.neighbour, lean.vertices)
                and within(rows.edge, lean.edges)
            ):
                raise ValueError("an edge of what is not there")
        truths = (item for item in lean.columns.values() if item.dtype == np.bool_)
        if not all(within(item.view(np.uint8), 2) for item in truths):
            raise ValueError("a value that is neither true nor false")
    return lean


def _mapped(generation: Generation) -> LeanGraph:
    manifest = generation.manifest
    vertices, edges, types = (manifest[name] for name in ("vertices", "edges", "columns"))
    back = manifest.get("back", edges)
    if not type(vertices) is type(edges) is type(back) is int:
        raise TypeError(f"{vertices!r:.40} vertices, {edges!r:.40} edges")

    def mapped(name: str, type_: Any, count: int) -> NDArray[Any]:
        items = mapped_array(generation.file(f"{name}.bin"), type_)
        if len(items) != count:
            path = generation.path / f"{name}.bin"
            raise generation.damaged(Damage(path, f"has {len(items):,} items, not {count:,}"))
        return items

    offsets, numbers = offset_type(edges), number_type(edges)
    out = CompressedRows(
        mapped("out-offsets", offsets, vertices + 1),
        mapped("out-targets", np.int32, edges),
        np.empty(0, numbers),
    )
    into = CompressedRows(
        mapped("in-offsets", offsets, vertices + 1),
        mapped("in-sources", np.int32, back),
        mapped("in-edges", numbers, back),
    )
    columns = {
        name: mapped(column_name(at), type_, edges)
        for at, (name, type_) in enumerate(types.items())
    }
    return LeanGraph(vertices, out, into, columns)


def _opened(folder: Path) -> Generation:
    generation = open_committed(folder, "the lean graph").with_remedy(_REMEDY)
    if generation.manifest.get("kind") != "lean graph":
        raise DamagedError(
            "this is no lean graph", where=str(generation.path / MANIFEST), hint=_REMEDY
        )
    return generation


def _check_count(path: Path, edges: int) -> None:
    count = (path / "out-targets.bin").stat().st_size // 4
    if count != edges:
        raise InputError(f"there are {count:,} edges in blocks, and {edges:,} were announced")
