"""The results of the empty version that tasks have written: read when somebody asks for them.

Those who sum up a view, or show a few of its vertices, never do. Types are known without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Values
from graphtide.run.collection.reading import numpy_column
from graphtide.store.parts_on_disk import PartsOnDisk
from graphtide.store.task_parts import base_table


class KeptBase(Mapping[str, NDArray[Any]]):
    """A column a field, a row a vertex; before any view is finished, no rows.

    `empty` has the fields without rows.
    """

    def __init__(self, empty: Values, parts: PartsOnDisk, vertices: int) -> None:
        self.empty = empty
        self.vertices = vertices
        self._parts = parts
        self._read: dict[str, NDArray[Any]] = {}

    def __getitem__(self, field: str) -> NDArray[Any]:
        if not len(self._parts):
            return self.empty[field]
        if field not in self._read:
            table, empty = base_table(self._parts, field), self.empty[field]
            values = np.empty((self.vertices, *empty.shape[1:]), empty.dtype)
            values[table.column("vertex").to_numpy()] = numpy_column(table.column("value"))
            self._read[field] = values
        return self._read[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self.empty)

    def __len__(self) -> int:
        return len(self.empty)
