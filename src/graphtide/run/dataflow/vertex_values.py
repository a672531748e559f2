"""What a dataflow says of each vertex, put together from the rows that it puts out.

A row takes a value away from a vertex or gives it one. Kept true: a vertex has one value, or none
where the program has a value for those; anything else is a mistake of the program, and is told with
the vertex. After an error the values are not to be used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import differs
from graphtide.engine.dataflow.reading import add_up
from graphtide.engine.dataflow.records import decode
from graphtide.engine.dataflow.texts import Texts
from graphtide.engine.growing import GrowingArray
from graphtide.lang.python.dataflow_program import DataflowProgram
from graphtide.model.errors import InputError
from graphtide.plan.dataflow_expressions import ColumnType

Int64 = NDArray[np.int64]
DTYPES = {"int": np.int64, "float": np.float64, "bool": np.bool_}


class VertexValues:
    """A value for each vertex; `values` is not a copy."""

    def __init__(self, program: DataflowProgram) -> None:
        self._program = program
        self._type = ColumnType(program.result.type.value)
        self._values = GrowingArray(np.empty(0, DTYPES[program.result.type.value]))
        self._there = GrowingArray(np.empty(0, np.bool_))

    @property
    def values(self) -> NDArray[Any]:
        """Those of all vertices."""
        return self._values.view

    def resize(self, vertices: int) -> None:
        """More vertices, none of which has a value yet, or fewer."""
        before = self._there.length
        for array in (self._values, self._there):
            array.resize(vertices)
        self._there.view[before:] = False
        self._values.view[before:] = self._program.result.missing or 0

    def take(self, rows: Int64) -> Int64:
        """Take up rows of vertex, value, version and diff; the vertices that they are about."""
        return self.apply(np.delete(rows, -2, axis=1))

    def apply(self, rows: Int64) -> Int64:
        """The same with rows of vertex, value and diff."""
        changed = add_up(rows)
        vertices, diffs = changed[:, 0], changed[:, -1]
        self._check_vertices(vertices)
        gone, come = changed[diffs < 0], changed[diffs > 0]
        self._check_gone(gone)
        self._there.view[gone[:, 0]] = False
        self._values.view[gone[:, 0]] = self._program.result.missing or 0
        self._check_come(come)
        self._there.view[come[:, 0]] = True
        self._values.view[come[:, 0]] = self._decoded(come)
        return np.unique(vertices)

    def check_all(self) -> None:
        """Refuse a vertex without a value where every one must have one."""
        if self._program.result.missing is None and not self._there.view.all():
            vertex = int(np.argmin(self._there.view))
            raise InputError(
                f"{self._program.name} gives no {self._program.result.name} to vertex {vertex}",
                where="vertices are numbered by their places in results",
                hint="give the program a value for such vertices with `missing=`, or let it take "
                "all `vertices` as its second argument",
            )

    def _decoded(self, rows: Int64) -> NDArray[Any]:
        return decode(rows[:, 1:2], (("value", self._type),), Texts())[0]

    def _check_vertices(self, vertices: Int64) -> None:
        wrong = (vertices < 0) | (vertices >= self._there.length)
        if wrong.any():
            raise InputError(
                f"{self._program.name} gives a value to {int(vertices[wrong][0])}, "
                f"and there are {self._there.length:,} vertices, from 0 on",
                hint="the first column of its result is the vertex",
            )

    def _check_gone(self, gone: Int64) -> None:
        vertices = gone[:, 0]
        same = ~differs(self._values.view[vertices], self._decoded(gone))
        right = self._there.view[vertices] & same & (gone[:, -1] == -1)
        if not right.all():
            self._refuse(vertices[~right])

    def _check_come(self, come: Int64) -> None:
        vertices = come[:, 0]
        twice = np.flatnonzero(vertices[1:] == vertices[:-1])
        wrong = self._there.view[vertices] | (come[:, -1] != 1)
        if len(twice):
            self._refuse(vertices[twice])
        if wrong.any():
            self._refuse(vertices[wrong])

    def _refuse(self, vertices: Int64) -> None:
        raise InputError(
            f"{self._program.name} gives vertex {int(vertices[0])} several values at once",
            where="vertices are numbered by their places in results",
            hint="its result has one record a vertex: end with min, max, count or distinct",
        )
