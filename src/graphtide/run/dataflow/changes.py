"""What an output has changed by, as users hold it: a list of records, made when somebody looks.

The machine puts down numbers: the words of a record, its version and its diff. To add them up and
order them is cheap, to make records of Python's of them is most of what a small batch costs, and
many only count them or hand them on as columns. So both wait until they are asked for. Nothing
that they need ever changes: the codes of texts are never given anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.few import FEW, add_up_few
from graphtide.engine.dataflow.reading import add_up
from graphtide.engine.dataflow.records import decode, records
from graphtide.engine.dataflow.texts import Texts
from graphtide.plan.dataflow import Schema
from graphtide.run.dataflow.times import Time

Change = tuple[tuple[Any, ...], Time, int]
"""A record, the version at which its multiplicity changed, and by how much."""


class Changes(Sequence[Change]):
    """Records with the version and the diff of each, in the order of versions.

    It reads as a list of tuples does. `columns()`, `versions` and `diffs` are the same as arrays,
    which cost no objects of Python's for numbers.
    """

    def __init__(
        self,
        parts: list[NDArray[np.int64]],
        schema: Schema,
        texts: Texts,
        time: Callable[[int], Time],
    ) -> None:
        self._parts = parts
        self._schema = schema
        self._texts = texts
        self._time = time

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of all records, by name."""
        arrays = decode(self._rows, self._schema, self._texts)
        return {name: array for (name, _), array in zip(self._schema, arrays, strict=True)}

    @property
    def versions(self) -> list[Time]:
        """The version at which each change took place."""
        return [self._time(word) for word in self._rows[:, -2].tolist()]

    @property
    def diffs(self) -> NDArray[np.int64]:
        """By how much the multiplicity of each record changed."""
        return self._rows[:, -1].copy()

    def __len__(self) -> int:
        return len(self._rows) if self._parts else 0

    def __iter__(self) -> Iterator[Change]:
        return iter(self._listed)

    def __getitem__(self, key: Any) -> Any:
        return self._listed[key]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Changes):
            other = other._listed
        return self._listed == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Sequence[Change]) -> list[Change]:
        return [*self, *other]

    def __radd__(self, other: Sequence[Change]) -> list[Change]:
        return [*other, *self]

    def __repr__(self) -> str:
        return repr(self._listed)

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """Rows of words, version and diff, added up, in the order of versions and then of words."""
        parts = self._parts or [np.empty((0, len(self._schema) + 2), np.int64)]
        if sum(map(len, parts)) <= FEW:
            few = add_up_few(parts)
            if few is not None:  # The general way says what is beyond 64 bits.
                return few
        rows = add_up(np.concatenate(parts))
        return rows[np.argsort(rows[:, -2], kind="stable")]

    @cached_property
    def _listed(self) -> list[Change]:
        """All changes as tuples."""
        rows = records(self._rows, self._schema, self._texts)
        return list(zip(rows, self.versions, self._rows[:, -1].tolist(), strict=True))
