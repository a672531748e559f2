"""Binds a program to a graph: its properties and parameters, in the form that kernels take."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.edge_data import CODED
from graphtide.engine.growing import GrowingArray
from graphtide.engine.inputs import Program, target_slabs
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.vertex_data import VALUE_TYPES, VertexData
from graphtide.kernels.blocks import Block
from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType
from graphtide.plan.program_reads import edge_properties, text_constants, vertex_properties
from graphtide.plan.programs import ParameterKind, VertexProgram

FIELD_TYPES = {ValueType.INT: np.int64, ValueType.FLOAT: np.float64, ValueType.BOOL: np.bool_}
_PARAMETERS: dict[ParameterKind, Any] = {
    ParameterKind.VERTEX: np.int64,
    ParameterKind.VERTICES: np.bool_,
    ParameterKind.PAIRS: np.int64,
    ParameterKind.INT: np.int64,
    ParameterKind.FLOAT: np.float64,
    ParameterKind.BOOL: np.bool_,
    ParameterKind.TEXT: np.int64,
    ParameterKind.DATE: np.int64,
    ParameterKind.TIMESTAMP: np.int64,
}


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
            parameters.append(_PARAMETERS[item.kind](value))
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
        types = [_PARAMETERS[item.kind] for item in program.parameters]
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
