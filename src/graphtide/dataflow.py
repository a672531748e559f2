"""Dataflows as users write them: `from graphtide.dataflow import col`, or `gt.dataflow.col`.

`Dataflow` makes inputs; inputs and all that operators make of them are collections; `col` and the
functions beside it write expressions over columns. `program` makes a function over collections
one that is run over views and kept current on a graph. Ready-made graph computations are in
`graphtide.algorithms.dataflow`.
"""

from graphtide.api.dataflow.arrangement import Arrangement
from graphtide.api.dataflow.collection import Collection
from graphtide.api.dataflow.flow import Dataflow
from graphtide.api.dataflow.handles import Handle
from graphtide.api.dataflow.inputs import InputCollection, Output
from graphtide.api.dataflow.loops import Loop, VariableCollection
from graphtide.api.dataflow.probes import Probe
from graphtide.api.dataflow.reductions import count, total
from graphtide.lang.python import dataflow_program as program
from graphtide.plan.dataflow_terms import bits, col, least, most, where

__all__ = [
    "Arrangement",
    "Collection",
    "Dataflow",
    "Handle",
    "InputCollection",
    "Loop",
    "Output",
    "Probe",
    "VariableCollection",
    "bits",
    "col",
    "count",
    "least",
    "most",
    "program",
    "total",
    "where",
]
