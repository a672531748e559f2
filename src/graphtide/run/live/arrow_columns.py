"""Results as users see them: columns of Arrow, and vertices that results name by their ids.

Engines name a vertex by its number, and runs keep results so. The number becomes the user's own id
here and nowhere else, when somebody looks: in tables (`result_columns`) and in arrays (`named`).
Nobody is named by a number that no vertex has, which becomes a null, or None.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.run.live.result_rows import VertexRows


def arrow_column(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Results as Arrow: arrays of a fixed size where a field is an array."""
    if values.ndim == 1:
        return pa.array(values, mask=missing)
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return _arrays_of(flat, values.shape[1], missing)


def result_columns(
    name: str,
    values: NDArray[Any],
    vertices: VertexRows | None,
    missing: NDArray[np.bool_] | None = None,
) -> dict[str, pa.Array]:
    """A result as a column; of one that names some `vertices`, their ids.

    Where ids need a label there is a second column with the labels: `component_label`.
    """
    if vertices is None:
        return {name: arrow_column(values, missing)}
    numbers, there = _numbers(values, vertices)
    if missing is not None and values.ndim == 1:
        there &= ~missing
    every = 2 * len(numbers) >= len(vertices)
    known = vertices.columns(None if every else numbers[there])
    places = numbers if every else np.cumsum(there) - 1
    taken = pa.array(places, mask=~there)
    columns = {}
    for what, ids in known.items():
        column = ids.take(taken)
        if values.ndim > 1:
            column = _arrays_of(column, values.shape[1], missing)
        columns[name if what == "id" else f"{name}_{what}"] = column
    return columns


def named(values: NDArray[Any], vertices: VertexRows | None) -> NDArray[Any]:
    """A copy of a result; of one that names some `vertices`, their ids.

    An array of whole numbers where ids are such and each names a vertex, or else of objects.
    """
    if vertices is None:
        return values.copy()
    numbers, there = _numbers(values, vertices)
    none = vertices.columns(numbers[:0])
    if there.all() and len(none) == 1 and pa.types.is_integer(none["id"].type):
        ids = vertices.columns(numbers)["id"]
        whole: NDArray[Any] = ids.to_numpy(zero_copy_only=False)
        return whole.reshape(values.shape)
    objects = np.full(len(numbers), None, object)
    different, places = np.unique(numbers[there], return_inverse=True)
    objects[there] = np.fromiter(vertices.listed(different), object, len(different))[places]
    return objects.reshape(values.shape)


def plain_value(value: Any) -> Any:
    """One result as Python has it: a number, a list, or an id."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _numbers(
    values: NDArray[Any], vertices: VertexRows
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The numbers of vertices one behind the other, and which of them are those of a vertex."""
    numbers = np.ascontiguousarray(values).reshape(-1).astype(np.int64)
    return numbers, (numbers >= 0) & (numbers < len(vertices))


def _arrays_of(flat: pa.Array, size: int, missing: NDArray[np.bool_] | None) -> pa.Array:
    mask = None if missing is None else pa.array(missing)
    return pa.FixedSizeListArray.from_arrays(flat, size, mask=mask)
