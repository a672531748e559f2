"""Expressions as steps over columns of words: nulls, decimals and dates become steps on ints.

A value that may be null is guarded: a step is taken as if it were there, and the result chosen
where it is. Truths of three values are chosen the same way. Decimals are ints times a power of ten;
where two meet, the coarser one is multiplied. What has no word, because a decimal grew too large or
an int that may be null came to be the word that stands for no value, is a *fault*: a column of its
own says for which records. A fault in the branch that `where` does not take, or behind a condition
that a record does not pass, is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphtide.engine.dataflow.steps import Steps, constant_word
from graphtide.kernels.dataflow import programs as codes
from graphtide.plan.dataflow_expressions import (
    Column,
    Constant,
    Expression,
    Operation,
    expression_type,
)
from graphtide.plan.dataflow_types import FLOAT, NULL_WORD, ColumnType, common

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
    "bits": codes.BIT_LENGTH,
    "year": codes.YEAR,
    "month": codes.MONTH,
    "day": codes.DAY,
    "limb": codes.LIMB,
    "part 0": codes.PART_0,
    "part 1": codes.PART_1,
    "part 2": codes.PART_2,
}
_FLOATS = {
    "+": codes.FLOAT_ADD,
    "-": codes.FLOAT_SUBTRACT,
    "*": codes.FLOAT_MULTIPLY,
    "/": codes.FLOAT_DIVIDE,
    "neg": codes.FLOAT_NEGATE,
}
_OVERFLOWS = {
    codes.ADD: codes.OVERFLOW_ADD,
    codes.SUBTRACT: codes.OVERFLOW_SUBTRACT,
    codes.MULTIPLY: codes.OVERFLOW_MULTIPLY,
}
_MICROSECONDS_A_DAY = 86_400_000_000
_ALIGNED = ("+", "-", "min", "max", "==", "!=", "<", "<=")


class Writer(Steps):
    """Writes expressions as steps; what is the same is written once."""

    def write(self, expression: Expression) -> int:
        """The register that holds an expression."""
        match expression:
            case Column():
                return self._places[expression.name]
            case Constant():
                return self.constant(constant_word(expression, self.encode))
            case Operation():
                return self._operation(expression)

    def truth(self, expression: Expression) -> int:
        """The register that holds whether a condition is true: 0 where it is unknown, too."""
        register = self.write(expression)
        if expression_type(expression, self.columns).nullable:
            return self.step(codes.EQUAL, register, self.constant(1))
        return register

    def _operation(self, expression: Operation) -> int:
        types = [expression_type(operand, self.columns) for operand in expression.operands]
        match expression.name:
            case "where":
                return self._where(expression, types)
            case "coalesce":
                return self._coalesce(expression, types)
            case "and" | "or" if types[0].nullable or types[1].nullable:
                return self._truths(expression)
        registers = [self.write(operand) for operand in expression.operands]
        match expression.name:
            case "is null":
                return self._is_null(registers[0]) if types[0].nullable else self.constant(0)
            case "word" | "there":
                return registers[0]
            case "or null":
                self._reserve(registers[0], types[0])
                return registers[0]
        made = expression_type(expression, self.columns)
        return self._strict(expression.name, registers, types, made)

    def _strict(
        self, name: str, registers: list[int], types: list[ColumnType], made: ColumnType
    ) -> int:
        """An operation on values that are there, guarded where they may be null."""
        missing = self.any_of(
            [
                self._is_null(register)
                for register, given in zip(registers, types, strict=True)
                if given.nullable
            ]
        )
        faults, self.faults = self.faults, []
        found = self._plain(name, registers, types, made)
        if missing >= 0:
            self.faults = self._unless(missing, self.faults)
            found = self.step(codes.CHOOSE, missing, self.constant(NULL_WORD), found)
        self.faults = [*faults, *self.faults]
        return found

    def _plain(
        self, name: str, registers: list[int], types: list[ColumnType], made: ColumnType
    ) -> int:
        if name in ("int", "float", "date"):
            found = self._as(registers[0], types[0].plain, made.plain)
            if made.nullable:
                self._reserve(found, made.plain)
            return found
        wanted = _meeting(name, types)
        if wanted is not None:
            registers = [
                self._as(register, given.plain, wanted)
                for register, given in zip(registers, types, strict=True)
            ]
        floats = name == "/" or (wanted == FLOAT)
        code = (_FLOATS if floats and name in _FLOATS else _WORDS)[name]
        found = self.step(code, *registers)
        whole = made.kind == "decimal" or (made.nullable and made.kind != "float")
        if whole and code in _OVERFLOWS:
            self.faults.append(self.step(_OVERFLOWS[code], *registers))
        return found

    def _as(self, register: int, given: ColumnType, wanted: ColumnType) -> int:
        """A value of one type as another; null stays null."""
        if given.kind == wanted.kind and given.scale == wanted.scale:
            if wanted.nullable:
                self._reserve(register, given)
            return register
        if given.kind == "null":
            return register
        if given.nullable:
            missing = self._is_null(register)
            faults, self.faults = self.faults, []
            found = self._as(register, given.plain, wanted.plain)
            self.faults = [*faults, *self._unless(missing, self.faults)]
            return self.step(codes.CHOOSE, missing, self.constant(NULL_WORD), found)
        power = self.constant(10 ** abs(wanted.scale - given.scale))
        match given.kind, wanted.kind:
            case "int", "float":
                return self.step(codes.TO_FLOAT, register)
            case "decimal", "float":
                number = self.step(codes.TO_FLOAT, register)
                return self.step(codes.FLOAT_DIVIDE, number, self.step(codes.TO_FLOAT, power))
            case "float", "int":
                return self.step(codes.TO_INT, register)
            case (("int" | "decimal"), "decimal"):
                self.faults.append(self.step(codes.OVERFLOW_MULTIPLY, register, power))
                return self.step(codes.MULTIPLY, register, power)
            case "decimal", "int":
                return self._without_fraction(register, power)
            case "timestamp", "date":
                return self.step(codes.FLOOR_DIVIDE, register, self.constant(_MICROSECONDS_A_DAY))
        return register

    def _without_fraction(self, register: int, power: int) -> int:
        """A decimal divided by its power of ten, towards 0."""
        zero = self.constant(0)
        size = self.step(codes.MOST, register, self.step(codes.NEGATE, register))
        whole = self.step(codes.FLOOR_DIVIDE, size, power)
        below = self.step(codes.LESS, register, zero)
        return self.step(codes.CHOOSE, below, self.step(codes.NEGATE, whole), whole)

    def _where(self, expression: Operation, types: list[ColumnType]) -> int:
        condition, *branches = expression.operands
        wanted = common(types[1], types[2])
        assert wanted is not None
        chosen = self.truth(condition)
        before = self.faults
        values, faults = [], []
        for branch, given in zip(branches, types[1:], strict=True):
            self.faults = []
            values.append(self._as(self.write(branch), given, wanted))
            faults.append(self.any_of(self.faults))
        self.faults = list(before)
        if max(faults) >= 0:
            zero = self.constant(0)
            one, other = (fault if fault >= 0 else zero for fault in faults)
            self.faults.append(self.step(codes.CHOOSE, chosen, one, other))
        return self.step(codes.CHOOSE, chosen, *values)

    def _coalesce(self, expression: Operation, types: list[ColumnType]) -> int:
        """The first value or, where it is null, the other, whose faults count there alone."""
        first, second = expression.operands
        made = expression_type(expression, self.columns)
        wanted = common(types[0], types[1])
        assert wanted is not None
        if not types[0].nullable:
            return self._as(self.write(first), types[0], made)
        one = self._as(self.write(first), types[0], wanted)
        missing = self._is_null(one)
        faults, self.faults = self.faults, []
        other = self._as(self.write(second), types[1], made)
        zero = self.constant(0)
        self.faults = [*faults, *(self.step(codes.CHOOSE, missing, f, zero) for f in self.faults)]
        return self.step(codes.CHOOSE, missing, other, one)

    def _truths(self, expression: Operation) -> int:
        """`and` and `or` of three values: what decides alone, then the unknown, then the rest."""
        registers = [self.write(operand) for operand in expression.operands]
        decisive = self.constant(0 if expression.name == "and" else 1)
        other = self.constant(1 if expression.name == "and" else 0)
        decided = self.any_of([self.step(codes.EQUAL, item, decisive) for item in registers])
        unknown = self.any_of([self._is_null(item) for item in registers])
        rest = self.step(codes.CHOOSE, unknown, self.constant(NULL_WORD), other)
        return self.step(codes.CHOOSE, decided, decisive, rest)

    def _is_null(self, register: int) -> int:
        return self.step(codes.EQUAL, register, self.constant(NULL_WORD))

    def _unless(self, missing: int, faults: Sequence[int]) -> list[int]:
        """Faults of records that have a value: what a null would come to does not matter."""
        zero = self.constant(0)
        return [self.step(codes.CHOOSE, missing, zero, fault) for fault in faults]

    def _reserve(self, register: int, given: ColumnType) -> None:
        """Note a fault where an int or a sum of decimals is the word that stands for no value."""
        if given.kind in ("int", "decimal") and not given.nullable:
            self.faults.append(self._is_null(register))


def _meeting(name: str, types: list[ColumnType]) -> ColumnType | None:
    """The type in which the operands of an operation meet; None where they stay as they are."""
    plain = [item.plain for item in types]
    if name == "/":
        return FLOAT
    if len(plain) == 2 and plain[0].kind != plain[1].kind and "float" in (p.kind for p in plain):
        return FLOAT if name in (*_ALIGNED, "*") else None
    if name in _ALIGNED and {item.kind for item in plain} <= {"int", "decimal"}:
        return common(plain[0], plain[1])
    if name in ("+", "-", "*", "min", "max") and plain[0] == FLOAT == plain[-1]:
        return FLOAT
    return FLOAT if name == "neg" and plain[0] == FLOAT else None
