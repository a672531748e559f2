"""Dataflows as users write them: `from graphtide.dataflow import col`, or `gt.dataflow.col`.

`Dataflow` makes inputs; inputs and all that operators make of them are collections; `col` and the
functions beside it write expressions over columns. `program` makes a function over collections
one that is run over views and kept current on a graph. Ready-made graph computations are in
`graphtide.algorithms.dataflow`.
"""

from graphtide.lang.python import dataflow_program as program
from graphtide.plan.dataflow_expressions import decimal
from graphtide.plan.dataflow_terms import bits, col, least, most, where
from graphtide.run.dataflow.aggregates import count, count_distinct, maximum, mean, minimum, total
from graphtide.run.dataflow.collection import (
    Arrangement,
    Collection,
    Handle,
    Loop,
    Probe,
    VariableCollection,
)
from graphtide.run.dataflow.flow import Dataflow
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.dataflow.outputs import Output, OutputChanges

__all__ = [
    "Arrangement",
    "Collection",
    "Dataflow",
    "Handle",
    "InputCollection",
    "Loop",
    "Output",
    "OutputChanges",
    "Probe",
    "VariableCollection",
    "bits",
    "col",
    "count",
    "count_distinct",
    "decimal",
    "least",
    "maximum",
    "mean",
    "minimum",
    "most",
    "program",
    "total",
    "where",
]
