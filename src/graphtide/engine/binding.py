"""What a program is bound to, in the form that kernels take: edge properties and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.engine.resident import ResidentGraph
from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType
from graphtide.plan.program_reads import edge_properties
from graphtide.plan.programs import ParameterKind, VertexProgram
from graphtide.plan.walks import WalkProgram

Program = VertexProgram | WalkProgram

FIELD_TYPES = {ValueType.INT: np.int64, ValueType.FLOAT: np.float64, ValueType.BOOL: np.bool_}
_PARAMETERS: dict[ParameterKind, Any] = {
    ParameterKind.VERTEX: np.int64,
    ParameterKind.VERTICES: np.bool_,
    ParameterKind.PAIRS: np.int64,
    ParameterKind.INT: np.int64,
    ParameterKind.FLOAT: np.float64,
    ParameterKind.BOOL: np.bool_,
}


def edge_arrays(graph: ResidentGraph, program: VertexProgram) -> tuple[NDArray[Any], ...]:
    """The edge properties that a program reads, in the order in which its kernels expect them."""
    wanted = edge_properties(program)
    return tuple(edge_array(graph, name, type_) for name, type_ in wanted.items())


def kernel_parameters(program: Program, values: tuple[Any, ...], vertices: int) -> tuple[Any, ...]:
    """Parameters as kernels take them: numbers of NumPy's types, a mask for a set of vertices."""
    found: list[Any] = []
    for item, value in zip(program.parameters, values, strict=True):
        if isinstance(value, np.ndarray):
            found.append(value)
        elif item.kind is ParameterKind.VERTICES:
            mask = np.zeros(vertices, np.bool_)
            mask[list(value)] = True
            found.append(mask)
        else:
            found.append(_PARAMETERS[item.kind](value))
    return tuple(found)


class GrowingParameters:
    """The parameters of a program on a graph that gets more vertices; they are in no set."""

    def __init__(self, program: Program, values: tuple[Any, ...], vertices: int) -> None:
        found = kernel_parameters(program, values, vertices)
        self._values = [
            GrowingArray(item.copy()) if isinstance(item, np.ndarray) else item for item in found
        ]

    @property
    def view(self) -> tuple[Any, ...]:
        """As kernels take them; to be taken anew after a change of size."""
        return tuple(item.view if isinstance(item, GrowingArray) else item for item in self._values)

    def resize(self, vertices: int) -> bool:
        """Have a truth value for so many vertices in each set; True where that is a change."""
        grown = [item for item in self._values if isinstance(item, GrowingArray)]
        changed = any(item.length != vertices for item in grown)
        for item in grown:
            item.resize(vertices)
        return changed


def parameter_arrays(program: Program, values: tuple[Any, ...]) -> tuple[NDArray[Any], ...]:
    """Parameters as arrays of the types that kernels expect in a block."""
    found = zip(program.parameters, values, strict=True)
    return tuple(np.atleast_1d(np.asarray(value, _PARAMETERS[item.kind])) for item, value in found)


def edge_array(graph: ResidentGraph, name: str, type_: ValueType) -> NDArray[Any]:
    """An edge property as a program takes it; refuses a name that the edges do not have."""
    if name not in graph.properties:
        known = ", ".join(graph.properties) or "none"
        raise InputError(f"the edges have no property '{name}'", hint=f"they have: {known}")
    return graph.column(name, FIELD_TYPES[type_])
