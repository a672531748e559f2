"""Where kernels find what a program is given besides edges: all in one tuple, `parameters`.

Parameters come first, then an array for each vertex property, then the code of each text that the
program itself names: codes depend on the data, and the text of a kernel must not.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.plan.expressions import ValueType
from graphtide.plan.program_reads import text_constants, vertex_properties
from graphtide.plan.programs import ParameterKind, VertexProgram
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


@dataclass(frozen=True)
class KernelInputs:
    """The inputs of a program by name; `tuple_name` is what kernels call the tuple."""

    program: VertexProgram | WalkProgram
    tuple_name: str = "parameters"

    def parameter(self, name: str) -> str:
        """The value of a parameter, or its mask where it is a set of vertices."""
        names = [item.name for item in self.program.parameters]
        return f"{self.tuple_name}[{names.index(name)}]"

    def vertex_property(self, name: str, vertex: str) -> str:
        """A property of the vertex that a text gives the number of."""
        place = len(self.program.parameters) + list(vertex_properties(self.program)).index(name)
        return f"{self.tuple_name}[{place}][{vertex}]"

    def text(self, value: str) -> str:
        """The code of a text that the program names."""
        before = len(self.program.parameters) + len(vertex_properties(self.program))
        return f"{self.tuple_name}[{before + text_constants(self.program).index(value)}]"

    def taken_from(self, words: str, first: str, before: int) -> list[str]:
        """How each is found in a block, behind so many other arrays."""
        program = self.program
        found = [
            (PARAMETER_TYPES[item.kind], item.kind is ParameterKind.VERTICES)
            for item in program.parameters
        ]
        found += [(KERNEL_TYPES[item.type], True) for item in vertex_properties(program).values()]
        found += [(KERNEL_TYPES[ValueType.TEXT], False)] * len(text_constants(program))
        return [
            f"array_at({words}, {first} + {at}, {type_}){'' if whole else '[0]'}, "
            for at, (type_, whole) in enumerate(found, before)
        ]
