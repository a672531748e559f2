"""Paths as programs of the machine: expressions become steps over columns, equal ones once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from graphtide.engine.dataflow.paths import Path
from graphtide.kernels.dataflow import programs as codes
from graphtide.kernels.dataflow.layout import REGISTERS
from graphtide.model.errors import LimitError
from graphtide.plan.dataflow import Schema
from graphtide.plan.dataflow_expressions import (
    BOOL,
    FLOAT,
    INT,
    TEXT,
    Column,
    ColumnType,
    Constant,
    Expression,
    Operation,
    expression_type,
)

Encode = Callable[[str], int]
"""Gives the dictionary code of a text."""

_WORDS = {
    "+": codes.ADD,
    "-": codes.SUBTRACT,
    "*": codes.MULTIPLY,
    "//": codes.FLOOR_DIVIDE,
    "%": codes.MODULO,
    "min": codes.LEAST,
    "max": codes.MOST,
    "==": codes.EQUAL,
    "!=": codes.NOT_EQUAL,
    "<": codes.LESS,
    "<=": codes.LESS_EQUAL,
    "and": codes.AND,
    "or": codes.OR,
    "not": codes.NOT,
    "neg": codes.NEGATE,
    "where": codes.CHOOSE,
    "bits": codes.BIT_LENGTH,
}
_FLOATS = {
    "+": codes.FLOAT_ADD,
    "-": codes.FLOAT_SUBTRACT,
    "*": codes.FLOAT_MULTIPLY,
    "/": codes.FLOAT_DIVIDE,
    "neg": codes.FLOAT_NEGATE,
}


def path_program(path: Path, schema: Schema, encode: Encode, round_limit: int) -> list[int]:
    """The words of a program for a path from records of this schema.

    A delay beyond the limit of rounds is that limit, which the machine refuses.
    """
    writer = _Writer(schema, encode)
    outputs = [writer.write(expression) for _, expression in path.columns]
    passing = writer.all_of(path.conditions)
    weight = writer.product(path.weights)
    delay = writer.delay(path.delays, round_limit)
    flat = [word for step in writer.steps for word in step]
    return [len(writer.steps), len(outputs), passing, weight, delay, *flat, *outputs]


def is_plain(path: Path, schema: Schema) -> bool:
    """True where a path hands records on exactly as they are."""
    same = tuple((name, Column(name)) for name, _ in schema)
    whole = tuple(expression for _, expression in path.columns)
    return (
        whole == tuple(expression for _, expression in same)
        and not path.conditions
        and not path.weights
        and not path.delays
        and path.sign == 1
        and path.add == 0
    )


class _Writer:
    """Steps of a program, and the registers that hold what has been computed."""

    def __init__(self, schema: Schema, encode: Encode) -> None:
        self.columns: Mapping[str, ColumnType] = dict(schema)
        self.encode = encode
        self.steps: list[tuple[int, int, int, int, int]] = []
        self._places = {name: number for number, (name, _) in enumerate(schema)}
        self._known: dict[tuple[int, ...], int] = {}
        # Behind the record stand its version, position and diff.
        self._next = len(schema) + 3

    def write(self, expression: Expression) -> int:
        """The register that holds an expression."""
        match expression:
            case Column():
                return self._places[expression.name]
            case Constant():
                return self.step(codes.CONSTANT, self._word(expression))
            case Operation():
                return self._operation(expression)

    def all_of(self, conditions: tuple[Expression, ...]) -> int:
        """The register that holds whether all conditions are true; -1 for none."""
        found = -1
        for condition in conditions:
            register = self.write(condition)
            found = register if found < 0 else self.step(codes.AND, found, register)
        return found

    def product(self, weights: tuple[Expression, ...]) -> int:
        """The register that holds the product of all weights; -1 for none."""
        found = -1
        for weight in weights:
            register = self.write(weight)
            found = register if found < 0 else self.step(codes.MULTIPLY, found, register)
        return found

    def delay(self, delays: tuple[tuple[Expression, int], ...], round_limit: int) -> int:
        """The register that holds what is added to the position; -1 for nothing."""
        found = -1
        for delay, unit in delays:
            one = self.step(codes.CONSTANT, unit)
            zero = self.step(codes.CONSTANT, 0)
            limit = self.step(codes.CONSTANT, round_limit)
            register = self.step(codes.MOST, self.write(delay), zero)
            register = self.step(codes.LEAST, register, limit)
            register = self.step(codes.MULTIPLY, register, one)
            found = register if found < 0 else self.step(codes.ADD, found, register)
        return found

    def step(self, code: int, left: int, right: int = 0, third: int = 0) -> int:
        """Append a step, unless the same was taken before; the register of its result."""
        key = (code, left, right, third)
        if key not in self._known:
            if self._next >= REGISTERS:
                raise LimitError(
                    f"An expression of the dataflow needs more than {REGISTERS} columns at once",
                    hint="consolidate or arrange in between, so that it is computed in two steps",
                )
            self.steps.append((code, self._next, left, right, third))
            self._known[key] = self._next
            self._next += 1
        return self._known[key]

    def _word(self, item: Constant) -> int:
        if item.type is TEXT:
            return self.encode(str(item.value))
        if item.type is FLOAT:
            return int(codes.word_of(np.float64(item.value)))
        return int(item.value)

    def _operation(self, expression: Operation) -> int:
        types = [expression_type(operand, self.columns) for operand in expression.operands]
        if expression.name in ("int", "float"):
            return self._convert(expression, types[0])
        registers = [self.write(operand) for operand in expression.operands]
        mixed = FLOAT in types and INT in types
        if expression.name == "/" or mixed:
            registers = [
                self.step(codes.TO_FLOAT, register) if item is INT else register
                for register, item in zip(registers, types, strict=True)
            ]
        floats = expression.name == "/" or FLOAT in types
        table = _FLOATS if floats and expression.name in _FLOATS else _WORDS
        return self.step(table[expression.name], *registers)

    def _convert(self, expression: Operation, given: ColumnType) -> int:
        register = self.write(expression.operands[0])
        if expression.name == "float" and given is INT:
            return self.step(codes.TO_FLOAT, register)
        if expression.name == "int" and given is FLOAT:
            return self.step(codes.TO_INT, register)
        assert given in (INT, FLOAT, BOOL)
        return register
