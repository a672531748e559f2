"""Functions of texts, as Python computes them: once for all records with the same arguments.

A handler of the machine gets whole rows. For each column to be made it looks at the distinct
arguments alone, calls the function for those that it has not seen, and remembers what it found: by
code, in an array, where the only argument that differs is one text, and in a dictionary otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from graphtide.engine.dataflow.machine import Handler, Int64, Machine
from graphtide.engine.dataflow.texts import Texts
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Compute, Schema
from graphtide.plan.dataflow_expressions import Column, Constant, Operation
from graphtide.plan.dataflow_types import NULL_WORD
from graphtide.plan.dataflow_typing import TEXT_FUNCTIONS

_PREFIX_BYTES = 7
_UNKNOWN = NULL_WORD + 1


@lru_cache(maxsize=256)
def _like(pattern: str) -> re.Pattern[str]:
    """A pattern of SQL: % stands for any text, _ for any character."""
    parts = {"%": ".*", "_": "."}
    return re.compile("".join(parts.get(sign, re.escape(sign)) for sign in pattern), re.DOTALL)


@lru_cache(maxsize=256)
def regular(pattern: str) -> re.Pattern[str]:
    """A regular expression; an error where it is none."""
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


class _Made:
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
        """The column for rows of words."""
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
        """The same where one text is all that differs."""
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
        """The word that the function gives for the words of its columns."""
        given, at = [], iter(words)
        for place, constant, is_text in zip(
            self._places, self._constants, self._is_text, strict=True
        ):
            word = next(at) if place is not None else None
            if word == NULL_WORD or (place is None and constant is None):
                return NULL_WORD
            told = constant if word is None else self._texts.text(word) if is_text else word
            given.append(told)
        value = self._function(*given)
        return self._texts.code(value) if self._makes_text else int(value)


def compute_handler(machine: Machine, node: Compute, schema: Schema, texts: Texts) -> Handler:
    """A handler that puts computed columns behind those of a record."""
    made = [_Made(operation, schema, texts) for _, operation in node.columns]

    def handle(operator: int, position: int) -> None:
        rows = machine.take(machine.field(operator, layout.OP_PORT), position)
        machine.set_field(operator, layout.OP_IN, machine.field(operator, layout.OP_IN) + len(rows))
        columns = [item.of(rows) for item in made]
        machine.send(operator, np.column_stack([rows[:, :-2], *columns, rows[:, -2:]]), position)

    return handle
