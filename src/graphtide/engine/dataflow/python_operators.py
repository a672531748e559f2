"""Operators that Python carries out: users' functions, reducers of groups, functions of texts.

The machine stops before such an operator with its input waiting; a handler takes the input, calls
the function, and sends the result. A function that fails is reported with the record it failed on.

Functions of texts are called once for each distinct combination of arguments; results are kept by
code, in an array, where one text is all that differs, and in a dictionary otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from graphtide.engine.dataflow.columns import Texts
from graphtide.engine.dataflow.machine import Handler, Int64, Machine
from graphtide.engine.dataflow.records import decode, encode, records
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import GraphtideError, InputError
from graphtide.plan.dataflow import Compute, Foreign, Schema
from graphtide.plan.dataflow_expressions import (
    NULL_WORD,
    TEXT_FUNCTIONS,
    Column,
    Constant,
    Operation,
)

Function = Callable[..., Any]


@dataclass(frozen=True)
class LoopPositions:
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
    times: LoopPositions,
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
    """The members of groups in the order of their texts: codes order by age."""
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
    """Call a user's function; an error names its arguments."""
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


_PREFIX_BYTES = 7
_UNKNOWN = NULL_WORD + 1


@lru_cache(maxsize=256)
def _like(pattern: str) -> re.Pattern[str]:
    """A pattern of SQL: % stands for any text, _ for any character."""
    parts = {"%": ".*", "_": "."}
    return re.compile("".join(parts.get(sign, re.escape(sign)) for sign in pattern), re.DOTALL)


@lru_cache(maxsize=256)
def regular(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InputError(f"{pattern!r} is not a regular expression: {error}") from None


def prefix(text: str) -> int:
    """A number of the first bytes of a text: as far as they go, it orders the way texts do."""
    first = text.encode("utf-8", "surrogatepass")[:_PREFIX_BYTES]
    return int.from_bytes(first.ljust(_PREFIX_BYTES, b"\0"), "big")


def _substr(text: str, first: int, length: int) -> str:
    start = max(first, 0)
    return text[start : max(first + length, start)]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "like": lambda text, pattern: _like(pattern).fullmatch(text) is not None,
    "contains": lambda text, part: part in text,
    "starts with": lambda text, part: text.startswith(part),
    "ends with": lambda text, part: text.endswith(part),
    "matches": lambda text, pattern: regular(pattern).fullmatch(text) is not None,
    "cat": lambda one, other: one + other,
    "substr": _substr,
    "length": len,
    "upper": str.upper,
    "lower": str.lower,
    "prefix": prefix,
    "text less": lambda one, other: one < other,
    "text less equal": lambda one, other: one <= other,
}


class _ComputedColumn:
    """One column to be made of others, with what is known of it."""

    def __init__(self, operation: Operation, schema: Schema, texts: Texts) -> None:
        self._texts = texts
        self._function = FUNCTIONS[operation.name]
        wanted, made = TEXT_FUNCTIONS[operation.name]
        self._is_text = [kind.kind == "str" for kind in wanted]
        self._makes_text = made.kind == "str"
        names = [name for name, _ in schema]
        self._places: list[int | None] = []
        self._constants: list[Any] = []
        for operand in operation.operands:
            place = names.index(operand.name) if isinstance(operand, Column) else None
            self._places.append(place)
            self._constants.append(operand.value if isinstance(operand, Constant) else None)
        self._columns = [place for place in self._places if place is not None]
        self._by_code: Int64 = np.empty(0, np.int64)
        self._by_words: dict[tuple[int, ...], int] = {}

    def of(self, rows: Int64) -> Int64:
        if not self._columns:
            return np.full(len(rows), self._called(()), np.int64)
        if len(self._columns) == 1 and self._is_text[self._places.index(self._columns[0])]:
            return self._of_codes(rows[:, self._columns[0]])
        distinct, which = np.unique(rows[:, self._columns], axis=0, return_inverse=True)
        known = self._by_words
        for words in map(tuple, distinct.tolist()):
            if words not in known:
                known[words] = self._called(words)
        results = np.array([known[words] for words in map(tuple, distinct.tolist())], np.int64)
        return results[which.reshape(-1)]

    def _of_codes(self, codes: Int64) -> Int64:
        """The column where the only argument that differs is one text."""
        if len(self._by_code) <= len(self._texts):
            grown = np.full(2 * len(self._texts) + 1, _UNKNOWN, np.int64)
            grown[: len(self._by_code)] = self._by_code
            self._by_code = grown
        there = codes >= 0
        for code in np.unique(codes[there]).tolist():
            if self._by_code[code] == _UNKNOWN:
                self._by_code[code] = self._called((code,))
        return np.where(there, self._by_code[np.where(there, codes, 0)], NULL_WORD)

    def _called(self, words: tuple[int, ...]) -> int:
        given, at = [], iter(words)
        for place, constant, is_text in zip(
            self._places, self._constants, self._is_text, strict=True
        ):
            word = next(at) if place is not None else None
            if word == NULL_WORD or (place is None and constant is None):
                return NULL_WORD
            value = constant if word is None else self._texts.text(word) if is_text else word
            given.append(value)
        value = self._function(*given)
        return self._texts.code(value) if self._makes_text else int(value)


def compute_handler(machine: Machine, node: Compute, schema: Schema, texts: Texts) -> Handler:
    """A handler that puts computed columns behind those of a record."""
    made = [_ComputedColumn(operation, schema, texts) for _, operation in node.columns]

    def handle(operator: int, position: int) -> None:
        rows = machine.take(machine.field(operator, layout.OP_PORT), position)
        machine.set_field(operator, layout.OP_IN, machine.field(operator, layout.OP_IN) + len(rows))
        columns = [item.of(rows) for item in made]
        machine.send(operator, np.column_stack([rows[:, :-2], *columns, rows[:, -2:]]), position)

    return handle
