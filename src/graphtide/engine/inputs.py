"""What a program reads beside the graph: bound to arrays in one block, and found there by kernels.

Edge properties come first, then parameters, then an array for each vertex property, then the code
of each text that the program itself names: codes depend on the data, and the text of a kernel must
not. Behind all of these stand the slabs in which messages look for the vertex at the other end.
`KernelInputs` and `TupleInputs` write where each is found; `GrowingParameters` and `read_block` put
the arrays there, in the same order.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.graph_data import CODED, VALUE_TYPES, VertexData
from graphtide.engine.growing import GrowingArray
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.blocks import Block
from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType
from graphtide.plan.program_reads import edge_properties, reads, text_constants, vertex_properties
from graphtide.plan.programs import Direction, ParameterKind, VertexProgram
from graphtide.plan.walks import WalkProgram


def _kernel_type(kind: Any) -> str:
    return "np.bool_" if kind is np.bool_ else f"np.{kind.__name__}"


KERNEL_TYPES = {type_: _kernel_type(kind) for type_, kind in VALUE_TYPES.items()}
"""The types of values as the text of kernels names them."""

PARAMETER_TYPES: dict[ParameterKind, Any] = dict.fromkeys(ParameterKind, np.int64)
PARAMETER_TYPES |= {
    ParameterKind.FLOAT: np.float64,
    ParameterKind.BOOL: np.bool_,
    ParameterKind.VERTICES: np.bool_,
}

Program = VertexProgram | WalkProgram


@dataclass(frozen=True)
class KernelInputs:
    """The inputs of a vertex program by name; `block` is what kernels call the block."""

    program: VertexProgram
    block: str = "read"

    def edge_property(self, name: str, block: str | None = None) -> str:
        """The values of an edge property; another block may hold these alone."""
        wanted = edge_properties(self.program)
        return self._array(list(wanted).index(name), KERNEL_TYPES[wanted[name]], block)

    def parameter(self, name: str) -> str:
        """The value of a parameter, or its mask where it is a set of vertices."""
        types = input_types(self.program)
        at = [item.name for item in self.program.parameters].index(name)
        array = self._array(len(edge_properties(self.program)) + at, types[at][0])
        return array if types[at][1] else f"{array}[0]"

    def vertex_property(self, name: str, vertex: str) -> str:
        """A property of the vertex that a text gives the number of."""
        wanted = vertex_properties(self.program)
        at = self._behind(self.program.parameters) + list(wanted).index(name)
        return f"{self._array(at, KERNEL_TYPES[wanted[name].type])}[{vertex}]"

    def text(self, value: str) -> str:
        before = self._behind(self.program.parameters, vertex_properties(self.program))
        at = before + text_constants(self.program).index(value)
        return f"{self._array(at, KERNEL_TYPES[ValueType.TEXT])}[0]"

    def target(self) -> str:
        """The number of the vertex that `edge` leads to, from the slabs that know it.

        Where messages go both ways it is the end that is not the source; the source, at a loop.
        """
        first = self._behind(input_types(self.program))
        ends = [
            f"{self._array(at + 1, 'np.int32')}[{self._array(at, 'np.int32')}[edge]]"
            for at in range(first, first + 2 * len(target_slabs(self.program)), 2)
        ]
        return f"{' ^ '.join(ends)} ^ source" if len(ends) == 2 else "".join(ends)

    def _behind(self, *before: Sized) -> int:
        return len(edge_properties(self.program)) + sum(map(len, before))

    def _array(self, at: int, type_: str, block: str | None = None) -> str:
        return f"array_at({block or self.block}, {at}, {type_})"


@dataclass(frozen=True)
class TupleInputs:
    """Inputs in a tuple, `parameters`, for kernels that are written for one program anyway."""

    program: Program

    def parameter(self, name: str) -> str:
        """The value of a parameter, or its mask where it is a set of vertices."""
        names = [item.name for item in self.program.parameters]
        return f"parameters[{names.index(name)}]"

    def vertex_property(self, name: str, vertex: str) -> str:
        """A property of the vertex that a text gives the number of."""
        place = len(self.program.parameters) + list(vertex_properties(self.program)).index(name)
        return f"parameters[{place}][{vertex}]"

    def text(self, value: str) -> str:
        before = len(self.program.parameters) + len(vertex_properties(self.program))
        return f"parameters[{before + text_constants(self.program).index(value)}]"

    def taken_from(self, words: str, first: str, before: int) -> list[str]:
        """How each is found in a block, behind so many other arrays."""
        return [
            f"array_at({words}, {first} + {at}, {type_}){'' if whole else '[0]'}, "
            for at, (type_, whole) in enumerate(input_types(self.program), before)
        ]


def input_types(program: Program) -> list[tuple[str, bool]]:
    """The type of each input behind the edge properties, and whether it is an array as a whole."""
    types = [
        (_kernel_type(PARAMETER_TYPES[item.kind]), item.kind is ParameterKind.VERTICES)
        for item in program.parameters
    ]
    types += [(KERNEL_TYPES[item.type], True) for item in vertex_properties(program).values()]
    types += [(KERNEL_TYPES[ValueType.TEXT], False)] * len(text_constants(program))
    return types


def target_slabs(program: VertexProgram) -> tuple[str, ...]:
    """The slabs in which messages look for v; none where they do not look at v."""
    if not reads(program.traverse).target_properties:
        return ()
    ways = {
        Direction.OUT: ("out",),
        Direction.IN: ("into",),
        Direction.BOTH: ("out", "into"),
    }
    return ways[program.direction]


FIELD_TYPES = {ValueType.INT: np.int64, ValueType.FLOAT: np.float64, ValueType.BOOL: np.bool_}


class Vertices(Protocol):
    """The part of a graph that parameters are bound to: its vertices and their properties."""

    @property
    def vertices(self) -> int:
        """How many there are."""

    @property
    def vertex_data(self) -> VertexData:
        """Their properties."""


def edge_arrays(graph: ResidentGraph, program: VertexProgram) -> tuple[NDArray[Any], ...]:
    """The edge properties that a program reads, in the order in which its kernels expect them."""
    wanted = edge_properties(program)
    return tuple(edge_array(graph, name, type_) for name, type_ in wanted.items())


def target_arrays(graph: ResidentGraph, program: VertexProgram) -> tuple[NDArray[Any], ...]:
    """The way to the vertex that an edge leads to, where messages read a property of it.

    That is the slot of an edge, and the neighbour that stands there, in each direction that
    messages go.
    """
    arrays: tuple[NDArray[Any], ...] = ()
    for slabs in target_slabs(program):
        side = getattr(graph.adjacency, slabs)
        arrays += side.slot, side.neighbour
    return arrays


def kernel_parameters(
    graph: Vertices, program: Program, values: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Parameters as kernels take them: numbers of NumPy's types, a mask for a set of vertices."""
    parameters: list[Any] = []
    for item, value in zip(program.parameters, values, strict=True):
        if isinstance(value, np.ndarray):
            parameters.append(value)
        elif item.kind is ParameterKind.VERTICES:
            mask = np.zeros(graph.vertices, np.bool_)
            mask[list(value)] = True
            parameters.append(mask)
        elif isinstance(value, str):
            parameters.append(np.int64(graph.vertex_data.code(value)))
        else:
            parameters.append(PARAMETER_TYPES[item.kind](value))
    return tuple(parameters)


class GrowingParameters:
    """The inputs of a program on a graph that gets more vertices; these are in no set.

    Parameters first, then vertex properties, then codes of texts (`engine.inputs`).
    """

    def __init__(self, graph: Vertices, program: Program, values: tuple[Any, ...]) -> None:
        self._graph = graph
        self._properties = tuple(vertex_properties(program).values())
        self._vertices = graph.vertices
        given = graph.vertex_data
        self._texts = tuple(np.int64(given.code(text)) for text in text_constants(program))
        types = [PARAMETER_TYPES[item.kind] for item in program.parameters]
        types += [VALUE_TYPES[item.type] for item in self._properties]
        self._types = [*types, *([np.int64] * len(self._texts))]
        parameters = kernel_parameters(graph, program, values)
        self._values = [
            GrowingArray(item.copy()) if isinstance(item, np.ndarray) else item
            for item in parameters
        ]

    @property
    def given(self) -> tuple[Any, ...]:
        """The parameters alone, as another maintainer of the same program takes them."""
        return tuple(item.view if isinstance(item, GrowingArray) else item for item in self._values)

    @property
    def view(self) -> tuple[Any, ...]:
        """As kernels take them; to be taken anew after a change of size."""
        properties = map(self._graph.vertex_data.array, self._properties)
        return (*self.given, *properties, *self._texts)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All of `view` as arrays of the types that kernels expect in a block."""
        typed = zip(self._types, self.view, strict=True)
        return tuple(np.atleast_1d(np.asarray(value, type_)) for type_, value in typed)

    def resize(self, vertices: int) -> bool:
        """Have a truth value for so many vertices in each set; True where that is a change.

        Properties grow with the graph.
        """
        grown = [item for item in self._values if isinstance(item, GrowingArray)]
        changed = any(item.length != vertices for item in grown)
        changed |= bool(self._properties) and self._vertices != vertices
        self._vertices = vertices
        for item in grown:
            item.resize(vertices)
        return changed


def read_block(
    properties: tuple[NDArray[Any], ...],
    parameters: GrowingParameters,
    slabs: tuple[NDArray[Any], ...] = (),
) -> Block:
    """All that a program reads beside the graph, in the order of `engine.inputs`.

    Kernels that all programs share are given it as one array of words, whatever is in it.
    """
    return Block(properties, parameters.arrays, slabs)


def edge_array(graph: ResidentGraph, name: str, type_: ValueType) -> NDArray[Any]:
    """An edge property as a program takes it; refuses a name that the edges do not have."""
    if type_ in CODED:
        return graph.coded(name, type_)
    if name not in graph.properties:
        known = ", ".join(graph.properties) or "none"
        raise InputError(f"the edges have no property '{name}'", hint=f"they have: {known}")
    return graph.column(name, FIELD_TYPES[type_])


def plain_edge_array(graph: ResidentGraph, name: str, type_: ValueType) -> NDArray[Any]:
    """What `edge_array` gives, by another way, to check results by; texts as Python's, or None."""
    if type_ in CODED:
        return graph.by_inside(graph.edge_data.plain(name, type_, 0, graph.edges))
    return graph.column(name, FIELD_TYPES[type_])
