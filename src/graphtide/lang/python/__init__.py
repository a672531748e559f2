"""Programs written in Python: vertex and walk programs as classes, dataflows as functions.

`program` reads a class from its source into a plan of `graphtide.plan.programs` or
`graphtide.plan.walks`; the class is never run. Most of what is here is what such a class is written
with, and `unparse` writes a plan as a class again. `dataflow_program` makes a function over
collections a program. The reference for users is docs/reference/programs.md, and
docs/reference/walks.md for walks.
"""

from graphtide.lang.python.dataflow_program import BoundDataflow, DataflowProgram, dataflow_program
from graphtide.lang.python.declarations import (
    And,
    Columns,
    Count,
    Date,
    Global,
    Matches,
    Max,
    Min,
    Or,
    Pairs,
    Product,
    Property,
    State,
    Sum,
    Timestamp,
    Vertex,
    VertexProperty,
    Vertices,
    distinct,
    inf,
)
from graphtide.lang.python.program import AnyProgram, Program, program, read_program
from graphtide.lang.python.unparse import unparse

__all__ = [
    "And",
    "AnyProgram",
    "BoundDataflow",
    "Columns",
    "Count",
    "DataflowProgram",
    "Date",
    "Global",
    "Matches",
    "Max",
    "Min",
    "Or",
    "Pairs",
    "Product",
    "Program",
    "Property",
    "State",
    "Sum",
    "Timestamp",
    "Vertex",
    "VertexProperty",
    "Vertices",
    "dataflow_program",
    "distinct",
    "inf",
    "program",
    "read_program",
    "unparse",
]
