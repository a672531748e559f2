"""From a program and its parameters to a maintainer that is ready to start.

`compiled_program` binds a program of any kind and chooses its mode; `begin_maintained` checks the
edges of a graph and the parameters, and makes the maintainer. Parameters that name vertices by
their ids become numbers here. `check_sources` refuses pairs whose states would not fit in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import chain
from typing import Any, Protocol, runtime_checkable

import numpy as np

from graphtide.lang.datalog.program import BoundRules, RuleProgram
from graphtide.lang.python import AnyProgram, BoundDataflow, DataflowProgram, Program
from graphtide.model.errors import InputError, LimitError
from graphtide.model.machine import MEMORY_SETTING, available_bytes, in_words
from graphtide.model.schema import closest
from graphtide.plan.program_reads import both_ways, walks_both_ways
from graphtide.plan.program_values import VERTEX_COUNT, BoundProgram, BoundWalk, moment_number
from graphtide.plan.programs import ParameterKind
from graphtide.run.dataflow.computations import (
    CompiledDataflow,
    CompiledRules,
    compiled_dataflow,
    compiled_rules,
)
from graphtide.run.live.computation import (
    CompiledProgram,
    Mode,
    SumSettings,
    compiled_vertex_program,
)
from graphtide.run.live.named_graph import NamedGraph
from graphtide.run.live.results import Pairs
from graphtide.run.live.versions import MaintainedProgram
from graphtide.run.live.vertex_ids import Int32, VertexIds, id_column
from graphtide.run.walks.compiled import CompiledWalk, compiled_walk

Bound = BoundProgram | BoundWalk | BoundDataflow | BoundRules
"""A computation with its parameters: a vertex or walk program, a dataflow, or rules."""


Compiled = CompiledProgram | CompiledWalk | CompiledDataflow | CompiledRules
"""A program that is ready for any graph."""


@runtime_checkable
class OnGraphs(Protocol):
    """What can be run over graphs, and is more than a program: `gt.datalog(...)`."""

    @property
    def on_graphs(self) -> RuleProgram:
        """The program that runs over graphs."""


def compiled_program(program: AnyProgram, mode: Mode, *, directed: bool = True) -> Compiled:
    """Bind a program and choose its mode; InputError if that cannot be.

    Whoever runs it on an undirected graph says so here, and gets the program that goes both ways.
    """
    bound = bound_program(program)
    if not directed:
        bound = undirected_program(bound)
    if isinstance(bound, BoundDataflow):
        return compiled_dataflow(bound, mode)
    if isinstance(bound, BoundRules):
        return compiled_rules(bound, mode)
    if isinstance(bound, BoundWalk):
        return compiled_walk(bound, mode)
    return compiled_vertex_program(bound, mode)


def undirected_program(bound: Bound) -> Bound:
    """The same computation where edges go both ways.

    Dataflows and rules stay as they are: they are fed edges both ways.
    """
    if isinstance(bound, BoundProgram):
        return BoundProgram(both_ways(bound.program), bound.values)
    if isinstance(bound, BoundWalk):
        return BoundWalk(walks_both_ways(bound.program), bound.values)
    return bound


def checked_parameters(
    compiled: Compiled, known: NamedGraph, edges: Int32 | None = None
) -> tuple[Any, ...]:
    """The program's parameters with vertices by number; refuses edges that it cannot take.

    Of the live edges, unless others are given. Who reads no property takes all, unseen.
    """
    needed = compiled.needed
    if not known.resident.directed:
        assert compiled.bound == undirected_program(compiled.bound), "it goes one way"
    if edges is None:
        edges = known.resident.live_edges() if needed.properties else np.empty(0, np.int32)
    needed.check_columns(known.resident.properties, known.edge_columns.types)
    known.check_edges(needed, edges)
    needed.check_hidden(known.vertex_columns.table.column_names)
    needed.check_vertices(known)
    return vertex_parameters(compiled.bound, known.ids)


def begin_maintained(
    known: NamedGraph, compiled: Compiled, knobs: SumSettings
) -> tuple[MaintainedProgram, Pairs | None]:
    """A maintainer of the program, its edges and parameters checked, and its pairs by number."""
    resident = known.resident
    parameters = checked_parameters(compiled, known)
    maintainer = compiled.maintainer(resident, parameters, knobs)
    vertices = 1 + max(_named(compiled.bound, parameters), default=-1)
    maintained = MaintainedProgram(
        maintainer, compiled.choice, compiled.needed, compiled.fields, compiled.globals, vertices
    )
    if not isinstance(compiled.bound, BoundDataflow) and compiled.bound.is_sized:
        bound = compiled.bound
        maintained.of_size = lambda: compiled.maintainer(
            resident, vertex_parameters(bound, known.ids), knobs
        )
    return maintained, pair_numbers(compiled.bound, parameters)


def pair_numbers(bound: Bound, parameters: tuple[Any, ...]) -> Pairs | None:
    """The pairs among the parameters, with vertices by number; None where there are none."""
    for item, value in zip(bound.program.parameters, parameters, strict=True):
        if item.kind is ParameterKind.PAIRS:
            pairs: Pairs = value
            return pairs
    return None


def vertex_parameters(bound: Bound, ids: VertexIds) -> tuple[Any, ...]:
    """The values of parameters, with vertices by their numbers, and how many there are."""
    parameters: list[Any] = []
    for item, (_, value) in zip(bound.program.parameters, bound.values, strict=True):
        if value is VERTEX_COUNT:
            parameters.append(len(ids))
        elif item.kind is ParameterKind.VERTEX:
            parameters.append(_numbers(bound, item.name, [value], ids)[0])
        elif item.kind is ParameterKind.VERTICES:
            assert isinstance(value, tuple)
            parameters.append(tuple(_numbers(bound, item.name, list(value), ids)))
        elif item.kind is ParameterKind.PAIRS:
            assert isinstance(value, tuple)
            ends = (
                _numbers(bound, item.name, list(side), ids) for side in zip(*value, strict=True)
            )
            parameters.append(tuple(zip(*ends, strict=True)))
        elif item.kind in (ParameterKind.DATE, ParameterKind.TIMESTAMP):
            assert isinstance(value, date)
            parameters.append(moment_number(value))
        else:
            parameters.append(value)
    return tuple(parameters)


def named_vertices(bound: Bound, ids: VertexIds) -> Iterator[int]:
    return _named(bound, vertex_parameters(bound, ids))


def _named(bound: Bound, parameters: tuple[Any, ...]) -> Iterator[int]:
    for item, value in zip(bound.program.parameters, parameters, strict=True):
        if item.kind is ParameterKind.VERTEX:
            yield value
        elif item.kind is ParameterKind.VERTICES:
            yield from value
        elif item.kind is ParameterKind.PAIRS:
            yield from chain.from_iterable(value)


def _numbers(bound: Bound, name: str, given: list[Any], ids: VertexIds) -> list[int]:
    numbers: list[int] = ids.numbers(id_column(given, f"'{name}'")).tolist()
    unknown = [item for item, number in zip(given, numbers, strict=True) if number < 0]
    if unknown:
        raise InputError(
            f"{bound.program.name}: '{name}' names a vertex that is not there: {unknown[0]!r}",
            hint=ids.hint(unknown[0]),
        )
    return numbers


def bound_program(program: AnyProgram) -> Bound:
    """The program with its parameters; InputError if it lacks some, or cannot be run."""
    if isinstance(program, BoundProgram | BoundWalk | BoundDataflow | BoundRules):
        return program
    if isinstance(program, Program | DataflowProgram | RuleProgram):
        return bound_program(program())
    if isinstance(program, OnGraphs):
        return bound_program(program.on_graphs)
    raise InputError(f"{program!r} is no program", hint=_program_hint(program))


def _program_hint(given: object) -> str:
    from graphtide import algorithms

    near = closest(given, algorithms.__all__) if isinstance(given, str) else None
    if near:
        return f"did you mean graphtide.algorithms.{near}?"
    return (
        "decorate a class with @gt.program or a function with @gt.dataflow.program(...), "
        "or use one of graphtide.algorithms"
    )


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
