"""Where kernels find all that a program reads beside the graph: in one block of arrays, `read`.

Edge properties come first, then parameters, then an array for each vertex property, then the code
of each text that the program itself names: codes depend on the data, and the text of a kernel must
not. Behind all of these stand the slabs in which messages look for the vertex at the other end.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass

from graphtide.plan.expressions import ValueType
from graphtide.plan.program_reads import edge_properties, reads, text_constants, vertex_properties
from graphtide.plan.programs import Direction, ParameterKind, VertexProgram
from graphtide.plan.walks import WalkProgram

KERNEL_TYPES = {
    ValueType.INT: "np.int64",
    ValueType.FLOAT: "np.float64",
    ValueType.BOOL: "np.bool_",
    ValueType.TEXT: "np.int64",
    ValueType.DATE: "np.int64",
    ValueType.TIMESTAMP: "np.int64",
}
PARAMETER_TYPES = {
    ParameterKind.VERTEX: "np.int64",
    ParameterKind.VERTICES: "np.bool_",
    ParameterKind.PAIRS: "np.int64",
    ParameterKind.INT: "np.int64",
    ParameterKind.FLOAT: "np.float64",
    ParameterKind.BOOL: "np.bool_",
    ParameterKind.TEXT: "np.int64",
    ParameterKind.DATE: "np.int64",
    ParameterKind.TIMESTAMP: "np.int64",
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
        """The code of a text that the program names."""
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
        """The code of a text that the program names."""
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
        (PARAMETER_TYPES[item.kind], item.kind is ParameterKind.VERTICES)
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
