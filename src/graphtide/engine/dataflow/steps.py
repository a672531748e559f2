"""The steps of a program over columns of words, and the registers that hold what they compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from graphtide.engine.dataflow.columns import decimal_word
from graphtide.kernels.dataflow import programs as codes
from graphtide.kernels.dataflow.layout import REGISTERS
from graphtide.model.errors import LimitError
from graphtide.plan.dataflow import Schema
from graphtide.plan.dataflow_expressions import Constant
from graphtide.plan.dataflow_types import NULL_WORD, ColumnType

Encode = Callable[[str], int]
"""Gives the dictionary code of a text."""


class Steps:
    """Steps over the columns of a record; a step that was taken before is not taken again.

    `faults` are the registers that tell which records what was written has no word for.
    """

    def __init__(self, schema: Schema, encode: Encode) -> None:
        self.columns: Mapping[str, ColumnType] = dict(schema)
        self.encode = encode
        self.steps: list[tuple[int, int, int, int, int]] = []
        self.faults: list[int] = []
        self._places = {name: number for number, (name, _) in enumerate(schema)}
        self._known: dict[tuple[int, ...], int] = {}
        # Behind the record stand its version, position and diff.
        self._next = len(schema) + 3
        self._check_room(self._next)

    def constant(self, word: int) -> int:
        """The register that holds a word."""
        return self.step(codes.CONSTANT, word)

    def step(self, code: int, left: int, right: int = 0, third: int = 0) -> int:
        """Append a step, unless the same was taken before; the register of its result."""
        key = (code, left, right, third)
        if key not in self._known:
            self._check_room(self._next + 1)
            self.steps.append((code, self._next, left, right, third))
            self._known[key] = self._next
            self._next += 1
        return self._known[key]

    def _check_room(self, registers: int) -> None:
        """Refuse more columns than a chunk has room for."""
        if registers > REGISTERS:
            raise LimitError(
                f"An expression of the dataflow needs more than {REGISTERS} columns at once",
                hint="consolidate or arrange in between, so that it is computed in two steps",
            )

    def any_of(self, registers: Sequence[int]) -> int:
        """The register that holds whether one of these is not 0; -1 for none."""
        either = -1
        for register in registers:
            either = register if either < 0 else self.step(codes.OR, either, register)
        return either


def constant_word(item: Constant, encode: Encode) -> int:
    """The word of a constant."""
    if item.value is None:
        return NULL_WORD
    match item.type.kind:
        case "str":
            return encode(str(item.value))
        case "float":
            return int(codes.word_of(np.float64(float(item.value))))  # type: ignore[arg-type]
        case "decimal":
            return decimal_word("constant", item.type, item.value)
        case "date":
            return int(np.datetime64(item.value, "D").astype(np.int64))  # type: ignore[call-overload]
        case "timestamp":
            return int(np.datetime64(item.value, "us").astype(np.int64))  # type: ignore[call-overload]
    return int(item.value)  # type: ignore[arg-type]
