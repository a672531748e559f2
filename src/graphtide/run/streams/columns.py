"""Which column of a stream each column of edges is read from, and what else the stream says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphtide.model.errors import InputError
from graphtide.model.schema import closest, name_hint
from graphtide.run.durable.shape import Shape
from graphtide.run.streams.operations import CHANGE_TYPE, FEED_COLUMNS


@dataclass(frozen=True)
class StreamColumns:
    """`read` has the column of the stream by that of edges; `match` are properties that tell
    parallel edges apart where a row takes one away or changes one.
    """

    read: Mapping[str, str]
    operation: str | None
    match: tuple[str, ...]

    @property
    def is_feed(self) -> bool:
        """Whether the stream is a change feed of Delta."""
        return self.operation == CHANGE_TYPE


class ColumnChoice(NamedTuple):
    """What a user says of the columns of a stream: `columns` has that of the stream by that of
    edges, None where they are called alike.
    """

    columns: Mapping[str, str] | None = None
    operation: str | None = None
    match: tuple[str, ...] | None = None


def stream_columns(there: Sequence[str], shape: Shape, choice: ColumnChoice) -> StreamColumns:
    """The columns of a stream for a graph of that shape; InputError where they do not fit."""
    columns, operation, match = choice
    if operation is None and CHANGE_TYPE in there:
        operation = CHANGE_TYPE
    if operation is not None:
        _check_there(operation, there, "`operation`")
    besides = FEED_COLUMNS if operation == CHANGE_TYPE else (operation,)
    read = _named_alike(there, besides, shape) if columns is None else dict(columns)
    for name, column in read.items():
        _check_edge_column(name, shape)
        _check_there(column, there, "`columns`")
    _check_all_there(read, shape)
    return StreamColumns(read, operation, _matched(match, read, shape, operation))


def _named_alike(
    there: Sequence[str], besides: tuple[str | None, ...], shape: Shape
) -> dict[str, str]:
    known = (shape.src, shape.dst, *shape.edge_types)
    unknown = [name for name in there if name not in besides and name not in known]
    if unknown:
        near = closest(unknown[0], known)
        raise InputError(
            f"the stream has a column '{unknown[0]}', which edges do not have",
            hint=(f"did you mean `{near}`? " if near else "")
            + f"edges have {', '.join(known)}: select these, or say which column is which: "
            f"columns={{'{shape.src}': ..., '{shape.dst}': ...}}",
        )
    return {name: name for name in there if name not in besides}


def _check_edge_column(name: str, shape: Shape) -> None:
    known = (shape.src, shape.dst, *shape.edge_types)
    if name not in known:
        raise InputError(
            f"`columns` has '{name}', which edges do not have",
            hint=name_hint(name, known, f"edges have {', '.join(known)}"),
        )


def _check_there(column: str, there: Sequence[str], what: str) -> None:
    if column not in there:
        raise InputError(
            f"{what} names the column '{column}', which the stream does not have",
            hint=name_hint(column, there, f"it has {', '.join(there)}"),
        )


def _check_all_there(read: Mapping[str, str], shape: Shape) -> None:
    needed = (shape.src, shape.dst, *(name for name, _ in shape.numbers))
    lacking = [name for name in needed if name not in read]
    if lacking:
        raise InputError(
            f"the stream has no column for '{lacking[0]}' of edges",
            hint=f"name it: columns={{'{lacking[0]}': '...'}}, or add it to the stream",
        )


def _matched(
    match: tuple[str, ...] | None, read: Mapping[str, str], shape: Shape, operation: str | None
) -> tuple[str, ...]:
    """A change feed gives the whole row as it was; other streams only what they are said to."""
    properties = [name for name in read if name not in (shape.src, shape.dst)]
    if match is None:
        return tuple(properties) if operation == CHANGE_TYPE else ()
    for name in match:
        if name not in properties:
            raise InputError(
                f"`match` names '{name}', which is no property that the stream gives",
                hint=f"it gives {', '.join(properties) or 'none'}",
            )
    return match
