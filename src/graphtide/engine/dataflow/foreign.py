"""Operators that Python carries out: functions on rows or columns, and reducers of groups.

The machine stops before such an operator with its input waiting; a handler takes the input, calls
the function, and hands the result back. A function that fails is reported with the record it
failed on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphtide.engine.dataflow.machine import Handler, Int64, Machine
from graphtide.engine.dataflow.records import decode, encode, records
from graphtide.engine.dataflow.texts import Texts
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import GraphtideError, InputError
from graphtide.plan.dataflow import Foreign, Schema
from graphtide.plan.dataflow_types import NULL_WORD

Function = Callable[..., Any]


@dataclass(frozen=True)
class Rounds:
    """How the position of a scope is divided into the rounds of its loops."""

    width: int
    depths: int
    depth: int

    def rounds(self, position: int) -> tuple[int, ...]:
        """The rounds of the loops around, outermost first."""
        mask = (1 << self.width) - 1
        return tuple(
            position >> (self.width * (self.depths - depth)) & mask
            for depth in range(1, self.depth + 1)
        )


def foreign_handler(
    machine: Machine,
    node: Foreign,
    function: Function,
    schemas: tuple[Schema, Schema],
    texts: Texts,
    times: Rounds,
) -> Handler:
    """A handler for a function on records; schemas are those of its input and its output."""
    given, made = schemas

    def handle(operator: int, position: int) -> None:
        rows = machine.take(machine.field(operator, layout.OP_PORT), position)
        machine.set_field(operator, layout.OP_IN, machine.field(operator, layout.OP_IN) + len(rows))
        if node.kind == "columns":
            result = _on_columns(function, rows, given, made, texts)
        elif node.kind == "inspect":
            _inspect(function, rows, given, texts, times.rounds(position))
            result = rows
        else:
            result = _on_rows(node.kind, function, rows, given, made, texts)
        machine.send(operator, result, position)

    return handle


def _on_rows(
    kind: str, function: Function, rows: Int64, given: Schema, made: Schema, texts: Texts
) -> Int64:
    """One call a record: a new record, a truth, or any number of records."""
    listed = records(rows, given, texts)
    if kind == "filter":
        chosen = [bool(call(function, *record)) for record in listed]
        return rows[np.array(chosen, np.bool_)]
    results, counts = [], []
    for record in listed:
        new = _listed(function, *record) if kind == "flat_map" else [call(function, *record)]
        results += [item if isinstance(item, tuple) else (item,) for item in new]
        counts.append(len(new))
    return _with_times(encode(results, made, texts), np.repeat(rows, counts, axis=0))


def _on_columns(
    function: Function, rows: Int64, given: Schema, made: Schema, texts: Texts
) -> Int64:
    """One call for all records, column by column."""
    found = call(function, *decode(rows, given, texts))
    columns = found if isinstance(found, tuple) else (found,)
    if len(columns) != len(made) or any(len(column) != len(rows) for column in columns):
        raise InputError(
            f"{_name(function)} returned other columns than it declared",
            hint=f"return {len(made)} arrays with one value a record",
        )
    named = {name: column for (name, _), column in zip(made, columns, strict=True)}
    return _with_times(encode(named, made, texts), rows)


def _inspect(
    function: Function, rows: Int64, given: Schema, texts: Texts, rounds: tuple[int, ...]
) -> None:
    for record, version, diff in zip(
        records(rows, given, texts), rows[:, -2].tolist(), rows[:, -1].tolist(), strict=True
    ):
        call(function, record, (version, *rounds) if rounds else version, diff)


def _with_times(words: Int64, rows: Int64) -> Int64:
    words[:, -2:] = rows[:, -2:]
    return words


def reduce_handler(
    machine: Machine, function: Function, schemas: tuple[Schema, Schema, Schema], texts: Texts
) -> Handler:
    """A handler for a reducer; schemas are those of the key, of the values and of the results."""
    key, values, made = schemas

    def handle(operator: int, position: int) -> None:
        groups = machine.read_list(layout.GROUPS, len(key) + 1)
        asked = _by_texts(machine.read_list(layout.ASKED, len(values) + 2), values, texts)
        keys = records(groups[:, : len(key)], key, texts)
        members = records(asked[:, 1:-1], values, texts)
        bounds = np.searchsorted(asked[:, 0], np.arange(len(groups) + 1)).tolist()
        times = asked[:, -1].tolist()
        answers: list[Int64] = []
        for group, found in enumerate(keys):
            records_of = list(
                zip(
                    members[bounds[group] : bounds[group + 1]],
                    times[bounds[group] : bounds[group + 1]],
                    strict=True,
                )
            )
            if records_of:
                results = _results(_listed(function, found, records_of))
                answers.append(_answer(group, encode(results, made, texts)))
        rows = np.concatenate(answers) if answers else np.empty((0, len(made) + 2), np.int64)
        machine.set_field(operator, layout.OP_ANSWER, machine.store(rows.reshape(-1).tolist()))
        machine.set_field(operator, layout.OP_ANSWERS, len(rows))

    return handle


def _by_texts(asked: Int64, values: Schema, texts: Texts) -> Int64:
    """The members of groups in the order of their texts, whose codes tell how old they are."""
    columns = [at for at, (_, kind) in enumerate(values, 1) if kind.kind == "str"]
    if not columns:
        return asked
    order = asked[:, :-1].copy()
    for column in columns:
        there = order[:, column] != NULL_WORD
        order[there, column] = texts.labels()[order[there, column]]
    return asked[np.lexsort(order.T[::-1])]


def _listed(function: Function, *arguments: Any) -> list[Any]:
    """The records that a function returns or, being a generator, makes one by one."""
    found = call(function, *arguments)
    if not isinstance(found, Iterable):
        raise InputError(
            f"{_name(function)} returned {_shown(found)}, which is no list of records",
            hint="return a list of tuples, and [] for none",
        )
    try:
        return list(found)
    except Exception as error:
        raise _failed(function, arguments, error) from error


def _results(found: Iterable[Any]) -> Sequence[tuple[Any, ...]]:
    return [item if isinstance(item, tuple) else (item,) for item in found]


def _answer(group: int, words: Int64) -> Int64:
    """Rows of group, values and multiplicity, distinct and ascending."""
    distinct, counts = np.unique(words[:, :-2], axis=0, return_counts=True)
    rows = np.empty((len(distinct), distinct.shape[1] + 2), np.int64)
    rows[:, 0] = group
    rows[:, 1:-1] = distinct
    rows[:, -1] = counts
    return rows


def call(function: Function, *arguments: Any) -> Any:
    """Call a user's function; what it raises is told with what it was given."""
    try:
        return function(*arguments)
    except GraphtideError:
        raise
    except Exception as error:
        raise _failed(function, arguments, error) from error


def _failed(function: Function, arguments: tuple[Any, ...], error: Exception) -> InputError:
    shown = ", ".join(_shown(argument) for argument in arguments)
    return InputError(
        f"{_name(function)} failed with {type(error).__name__}: {error}",
        where=f"{_name(function)}({shown})",
        hint="a function of a dataflow must work for every record it is given",
    )


def _shown(argument: Any) -> str:
    text = repr(argument)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _name(function: Function) -> str:
    return getattr(function, "__name__", type(function).__name__)
