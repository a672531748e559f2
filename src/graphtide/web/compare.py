"""Two runs side by side: the results of a view of one, and of a view of the other, by vertex."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.errors import InputError
from graphtide.web.json_values import Options, asked
from graphtide.web.shelf import Shelf

_OTHER = "other_"
Truths = Any
"""An array of truth values."""


def compare(shelf: Shelf, options: Options) -> pa.Table:
    """The vertices of both views with both results; with `differs`, those whose results differ.

    A vertex that only one of them has is there, too: what it lacks is missing.
    """
    (one, keys), (other, other_keys) = (
        _results(shelf, asked(options, run), asked(options, view))
        for run, view in (("run", "view"), ("other", "other_view"))
    )
    if keys != other_keys:
        raise InputError(
            "the results of one are those of vertices, the results of the other those of pairs",
            hint="compare runs of one kind",
        )
    one, other = _by_key(one, other, keys)
    fields = [name for name in one.column_names if name not in keys]
    columns = {name: one.column(name) for name in one.column_names}
    columns |= {
        _free(_OTHER + name, columns): other.column(name)
        for name in other.column_names
        if name not in keys
    }
    if options.get("differs") != "1":
        return pa.table(columns)
    common = [name for name in fields if name in other.column_names]
    return pa.table(columns).filter(_differ(one, other, common))


ROUTES = {"compare": compare}


def _results(shelf: Shelf, name: str, view: str) -> tuple[pa.Table, list[str]]:
    """The results of a view, and the columns that tell its rows apart."""
    opened = shelf.opened("run", name)
    with opened.lock:
        return opened.thing.table(view).to_arrow(), shelf.key_columns(opened.thing)


def _by_key(one: pa.Table, other: pa.Table, keys: list[str]) -> tuple[pa.Table, pa.Table]:
    """Both with a row for each key that one of them has, in the order of the first."""
    if one.select(keys).equals(other.select(keys)):
        return one, other
    if any(one.column(key).type != other.column(key).type for key in keys):
        one, other = (_with_texts(table, keys) for table in (one, other))
    left, right = (_one_key(table, keys) for table in (one, other))
    further = pc.invert(pc.is_in(right, value_set=left))
    place = pc.index_in(left, value_set=right)
    more = other.filter(further)
    matched = pa.concat_tables([other.take(place), more])
    missing = pa.table(
        {
            name: more.column(name) if name in keys else pa.nulls(len(more), one.column(name).type)
            for name in one.column_names
        }
    )
    return pa.concat_tables([one, missing]), matched


def _one_key(table: pa.Table, keys: list[str]) -> pa.Array:
    if len(keys) == 1:
        return table.column(keys[0]).combine_chunks()
    texts = [pc.cast(table.column(key), pa.string()) for key in keys]
    return pc.binary_join_element_wise(*texts, "\0").combine_chunks()


def _with_texts(table: pa.Table, keys: list[str]) -> pa.Table:
    for key in keys:
        at = table.column_names.index(key)
        table = table.set_column(at, key, pc.cast(table.column(key), pa.string()))
    return table


def _differ(one: pa.Table, other: pa.Table, names: list[str]) -> Truths:
    """Of each row, whether one of the results that both have is not the same."""
    differs = pa.chunked_array([pa.repeat(pa.scalar(not names), len(one))])
    for name in names:
        differs = pc.or_(differs, _unlike(one.column(name), other.column(name)))
    return differs


def _unlike(left: pa.ChunkedArray, right: pa.ChunkedArray) -> Truths:
    """Where two columns differ: what is missing, or no number, equals its like."""
    numbers = all(
        pa.types.is_integer(side.type) or pa.types.is_floating(side.type) for side in (left, right)
    )
    if not numbers and (left.type != right.type or pa.types.is_nested(left.type)):
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        return pa.chunked_array([pa.array([str(a) != str(b) for a, b in pairs], pa.bool_())])
    unlike = pc.fill_null(pc.not_equal(left, right), False)
    if pa.types.is_floating(left.type) and pa.types.is_floating(right.type):
        both = pc.and_(pc.is_nan(left), pc.is_nan(right))
        unlike = pc.and_(unlike, pc.invert(pc.fill_null(both, False)))
    return pc.or_(unlike, pc.xor(pc.is_null(left), pc.is_null(right)))


def _free(name: str, taken: dict[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name
