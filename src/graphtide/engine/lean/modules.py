"""What kernels are given on a lean graph: rows, room to work in, and what the program reads.

A program with a form in lanes has the kernels of `templates.ranges`, which read compressed rows as
they are. Any other has those of `templates.plain_ranges`, for which slabs stand for the rows: 24
bytes a vertex, and 4 an edge where messages go against the edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import FIELD_TYPES, GrowingParameters, read_block
from graphtide.engine.code import LEAN, LEAN_PLAIN, ProgramCode
from graphtide.engine.lanes.runs import lane_work
from graphtide.engine.lean.parts import MOST_PARTS, Room
from graphtide.engine.lean.rounds import Module
from graphtide.engine.synchronous.arrays import empty_work
from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.engine.synchronous.row_layout import row_layout
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.adjacency import Adjacency, Slabs
from graphtide.kernels.graph.compressed import CompressedRows, LeanGraph
from graphtide.kernels.lanes.records import LaneContext, LaneRows
from graphtide.kernels.synchronous.records import Context, Rows
from graphtide.model.errors import InputError
from graphtide.plan.program_reads import edge_properties, reads
from graphtide.plan.programs import VertexProgram

_LINE = 8
"""Words of a line of the cache: what parts write is that far from one another."""


def edge_columns(lean: LeanGraph, program: VertexProgram) -> tuple[NDArray[Any], ...]:
    """The edge properties that a program reads, each in the type it reads it as."""
    columns: list[NDArray[Any]] = []
    for name, type_ in edge_properties(program).items():
        if name not in lean.columns or type_ not in FIELD_TYPES:
            known = ", ".join(lean.columns) or "none"
            raise InputError(f"the edges have no property '{name}'", hint=f"they have: {known}")
        columns.append(lean.columns[name].astype(FIELD_TYPES[type_], copy=False))
    return tuple(columns)


def module_of(
    code: ProgramCode, lean: LeanGraph, named: dict[str, Any], parameters: GrowingParameters
) -> Module:
    """The kernels of a program and all that they are given."""
    make = _in_lanes if code.why_not_lanes is None else _plain
    return make(code, lean, named, parameters)


def _in_lanes(
    code: ProgramCode, lean: LeanGraph, named: dict[str, Any], parameters: GrowingParameters
) -> Module:
    program, columns = code.plan, edge_columns(lean, code.plan)
    work = lane_work(program, lean.vertices, 1)
    room = Room(0, max(_LINE, len(program.accumulators)))
    if synchronous_facts(program).hoisted:
        sums = np.empty(MOST_PARTS * room.step)
        work = work._replace(sums=Rows(sums, sums.view(np.int64)))
    properties = Block(columns).words
    out_degree, in_degree = _degrees(lean, program)
    context = LaneContext(
        graph=Adjacency(_no_slabs(), _no_slabs()),
        into=_rows(lean.into, properties),
        out=_rows(lean.out, properties),
        in_degree=in_degree,
        out_degree=out_degree,
        read=read_block(columns, parameters).words,
        edges=lean.edges,
    )
    return Module(code.module(LEAN), context, work, room)


def _plain(
    code: ProgramCode, lean: LeanGraph, named: dict[str, Any], parameters: GrowingParameters
) -> Module:
    program, layout = code.plan, row_layout(code.plan, plain=True)
    facts = synchronous_facts(program)
    width, sums = layout.state_width.value(named), layout.sums_width.value(named)
    step = max(_LINE, width)
    work = empty_work(
        lean.vertices, (width, sums), len(program.accumulators) if facts.hoisted else 0
    )
    states = np.zeros(lean.vertices * width + MOST_PARTS * step)
    work = work._replace(states=Rows(states, states.view(np.int64)))
    numbers = np.arange(lean.edges if facts.backward else 0, dtype=lean.into.edge.dtype)
    graph = Adjacency(
        _slabs(lean.out._replace(edge=numbers)),
        _slabs(lean.into),
    )
    read = read_block(edge_columns(lean, program), parameters).words
    context = Context(graph, read, np.zeros(3, np.int64))
    return Module(code.module(LEAN_PLAIN), context, work, Room(lean.vertices * width, step))


def _rows(rows: CompressedRows, properties: NDArray[np.int64]) -> LaneRows:
    start, stop = rows.offsets[:-1], rows.offsets[1:]
    return LaneRows(start, stop, rows.neighbour, rows.edge, np.empty(0, np.uint8), properties)


def _slabs(rows: CompressedRows) -> Slabs:
    start, live = rows.offsets[:-1].astype(np.int64), np.diff(rows.offsets).astype(np.int32)
    return Slabs(start, live, live, live, rows.neighbour, rows.edge, np.empty(0, np.int32))


def _no_slabs() -> Slabs:
    none = np.empty(0, np.int32)
    return Slabs(np.empty(0, np.int64), none, none, none, none, none, none)


def _degrees(lean: LeanGraph, program: VertexProgram) -> tuple[Any, Any]:
    """How many edges leave each vertex, and how many enter it, where the program asks."""
    bodies = program.initialize, program.traverse, program.update
    facts = {
        fact for body in bodies for fact in reads(body).source_facts | reads(body).target_facts
    }
    none = np.empty(0, np.int64)
    out = np.diff(lean.out.offsets).astype(np.int64) if facts & {"out_degree", "degree"} else none
    into = np.diff(lean.into.offsets).astype(np.int64) if facts & {"in_degree", "degree"} else none
    return out, into
