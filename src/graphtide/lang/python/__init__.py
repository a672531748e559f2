"""Vertex programs written as Python classes.

`program` reads a class from its source into a plan of `graphtide.plan.programs`; the class is
never run. Everything else here is what such a class is written with. `unparse` writes a plan as a
class again. The reference for users is docs/reference/programs.md.
"""

from graphtide.lang.python.declarations import (
    And,
    Count,
    Max,
    Min,
    Or,
    Product,
    Property,
    State,
    Sum,
    Vertex,
    Vertices,
    inf,
)
from graphtide.lang.python.program import AnyProgram, Program, program
from graphtide.lang.python.read import read_program
from graphtide.lang.python.unparse import unparse

__all__ = [
    "And",
    "AnyProgram",
    "Count",
    "Max",
    "Min",
    "Or",
    "Product",
    "Program",
    "Property",
    "State",
    "Sum",
    "Vertex",
    "Vertices",
    "inf",
    "program",
    "read_program",
    "unparse",
]
