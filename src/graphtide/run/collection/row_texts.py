"""Rows of results by text: a vertex that a user names on a command line or in an address.

An id is known by what tables show of it. Where several labels have an id, its label stands before
it: `Person:17`.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.live.result_rows import PairRows, ResultRows, VertexRows
from graphtide.run.live.vertex_hints import vertex_hint


def typed_id(ids: pa.Array, text: str) -> Any:
    """The id that a text stands for, in the type of some ids."""
    if pa.types.is_string(ids.type):
        return text
    try:
        return pa.scalar(text).cast(ids.type).as_py()
    except pa.ArrowException:
        problem = f"'{text}' is not the id of a vertex: ids are of type {ids.type}"
        raise InputError(problem, hint=vertex_hint(ids, 0)) from None


def vertex_number(rows: VertexRows, text: str) -> int:
    """The number of the vertex that a text names; InputError if there is none."""
    columns = rows.columns()
    if "label" in columns:
        label, colon, rest = text.partition(":")
        if colon and pc.any(pc.equal(columns["label"], label)).as_py():
            return rows.number((label, typed_id(columns["id"], rest)))
        return rows.number(typed_id(columns["id"], text))
    ids = columns["id"]
    if pa.types.is_nested(ids.type) or pa.types.is_string(ids.type):
        return _shown_as(rows, ids, text)
    return rows.number(typed_id(ids, text))


def vertex_texts(rows: VertexRows, numbers: NDArray[Any]) -> list[str]:
    """Some vertices as `vertex_number` finds them again."""
    columns = rows.columns(numbers)
    texts = [str(item) for item in columns["id"].to_pylist()]
    if "label" not in columns:
        return texts
    return [
        f"{label}:{text}" for label, text in zip(columns["label"].to_pylist(), texts, strict=True)
    ]


def row_number(rows: ResultRows, text: str, to: str | None = None) -> int:
    """The number of a vertex, or of the pair of `text` and `to`."""
    if not isinstance(rows, PairRows):
        if to is not None:
            raise InputError("results are those of single vertices", hint="name one vertex")
        return vertex_number(rows.vertices, text)
    if to is None:
        raise InputError("results are those of pairs of vertices", hint="name both ends")
    ends = [vertex_number(rows.vertices, item) for item in (text, to)]
    named = rows.vertices.listed(_array(ends))
    return rows.number((named[0], named[1]))


def _array(numbers: list[int]) -> NDArray[Any]:
    import numpy as np

    return np.array(numbers, np.int64)


def _shown_as(rows: VertexRows, ids: pa.Array, text: str) -> int:
    """A vertex by what tables show of its id: ids of several types are shown as texts."""
    if pa.types.is_string(ids.type):
        found = pc.index(ids, text).as_py()
    else:
        found = next((at for at, item in enumerate(ids.to_pylist()) if str(item) == text), -1)
    return int(found) if found >= 0 else rows.number(text)
