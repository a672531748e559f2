"""Paths as programs of the machine: expressions become steps over columns, equal ones once.

A value that may be null is guarded: a step is taken as if the value were there, and the result is
chosen where it is. Truths of three values are chosen the same way. Decimals are ints times a power
of ten; where two meet, the coarser one is multiplied.

A result that has no word, because a decimal grew too large or an int that may be null came to be
the word that stands for null, is a *fault*: a column of its own says for which records. A fault in
the branch that `where` does not take, or behind a condition that a record does not pass, is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from graphtide.engine.dataflow.columns import decimal_word
from graphtide.engine.dataflow.paths import LINEAR, LinearPath
from graphtide.kernels.dataflow import programs as codes
from graphtide.kernels.dataflow.layout import REGISTERS
from graphtide.model.errors import LimitError
from graphtide.plan.dataflow import (
    DataflowPlan,
    Filter,
    Leave,
    Map,
    Negate,
    Schema,
    Variable,
    sources_of,
)
from graphtide.plan.dataflow_expressions import (
    FLOAT,
    INT,
    NULL_WORD,
    Column,
    ColumnType,
    Constant,
    Expression,
    Operation,
    common,
    expression_type,
)

Encode = Callable[[str], int]
"""Gives the dictionary code of a text."""


def constant_word(item: Constant, encode: Encode) -> int:
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


class ExpressionWriter:
    """Writes expressions as steps over the columns of a record; what is the same is written once.

    `faults` are the registers that say which records what was written has no word for.
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

    def write(self, expression: Expression) -> int:
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


__all__ = ["Encode", "doubtful", "is_plain", "path_program", "sums_of", "sums_program"]


def path_program(path: LinearPath, schema: Schema, encode: Encode, round_limit: int) -> list[int]:
    """The words of a program for a path from records of this schema.

    A delay beyond the limit of rounds is that limit, which the machine refuses.
    """
    writer = ExpressionWriter(schema, encode)
    passing, faults = _conditions(writer, path.conditions)
    outputs = [writer.write(expression) for _, expression in path.columns]
    weight = _product(writer, path.weights)
    delay = _delay(writer, path.delays, round_limit)
    faults += _faults(writer, passing)
    fault = writer.any_of(faults)
    head = [len(writer.steps), len(outputs), passing, weight, delay, fault, 0]
    return [*head, *_flat(writer), *outputs]


def sums_program(paths: Sequence[LinearPath], schema: Schema, encode: Encode) -> list[int]:
    writer = ExpressionWriter(schema, encode)
    passing, faults = _conditions(writer, paths[0].conditions)
    outputs = [writer.write(expression) for _, expression in paths[0].columns[:-1]]
    sums = [
        word
        for path in paths
        for word in (_constant(path.columns[-1][1]), _product(writer, path.weights))
    ]
    faults += _faults(writer, passing)
    fault = writer.any_of(faults)
    head = [len(writer.steps), len(outputs), passing, -1, -1, fault, len(paths)]
    return [*head, *_flat(writer), *outputs, *sums]


def sums_of(path: LinearPath) -> LinearPath | None:
    """What all paths have in common that one program can add up, or None for other paths.

    Their last column is a constant, the tag of a sum; they may differ in it and in their weights.
    """
    if not path.columns or path.delays or path.last_round is not None:
        return None
    tag = path.columns[-1][1]
    if not isinstance(tag, Constant) or tag.type != INT:
        return None
    return replace(path, columns=path.columns[:-1], weights=(), through=())


def _constant(tag: Expression) -> int:
    assert isinstance(tag, Constant)
    assert isinstance(tag.value, int)
    return tag.value


def _flat(writer: ExpressionWriter) -> list[int]:
    return [word for step in writer.steps for word in step]


def doubtful(plan: DataflowPlan, encode: Encode) -> set[int]:
    """Collections from which records are taken away, and numbers computed that may be too large.

    What is there and what is taken away come along edges of their own, and both would fault: such a
    collection has to be consolidated first. Costs a sort of what passes.
    """
    found = set()
    for node in plan.nodes:
        if isinstance(node, Map):
            expressions = [expression for _, expression in node.columns]
        elif isinstance(node, Filter):
            expressions = [node.predicate]
        else:
            continue
        if _is_taken_from(plan, node.source) and any(
            _may_fault(expression, plan.schemas[node.source], encode) for expression in expressions
        ):
            found.add(node.source)
    return found


def _may_fault(expression: Expression, schema: Schema, encode: Encode) -> bool:
    writer = ExpressionWriter(schema, encode)
    writer.write(expression)
    return bool(writer.faults)


def _is_taken_from(plan: DataflowPlan, start: int) -> bool:
    """True where a way to a collection takes records away and adds nothing up behind that.

    Out of a loop comes what a variable was at first, and that it is that no more.
    """
    waiting, seen = [(start, False)], set[tuple[int, bool]]()
    while waiting:
        number, leaves = waiting.pop()
        node = plan.nodes[number]
        if isinstance(node, Negate) or (leaves and isinstance(node, Variable)):
            return True
        if (number, leaves) not in seen and isinstance(node, LINEAR):
            seen.add((number, leaves))
            before = [
                *sources_of(node),
                *([plan.definitions[number]] if number in plan.definitions else []),
            ]
            waiting += [(source, leaves or isinstance(node, Leave)) for source in before]
    return False


def is_plain(path: LinearPath, schema: Schema) -> bool:
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


def _conditions(
    writer: ExpressionWriter, conditions: tuple[Expression, ...]
) -> tuple[int, list[int]]:
    """The register that holds whether all conditions are true, -1 for none, and their faults.

    A fault of a condition counts for the records that pass those before it.
    """
    found = -1
    faults: list[int] = []
    for condition in conditions:
        register = writer.truth(condition)
        faults += _faults(writer, found)
        found = register if found < 0 else writer.step(codes.AND, found, register)
    return found, faults


def _faults(writer: ExpressionWriter, passing: int) -> list[int]:
    """The faults of what was written since the last call, for records that pass."""
    fault = writer.any_of(writer.faults)
    writer.faults = []
    if fault < 0:
        return []
    return [fault if passing < 0 else writer.step(codes.AND, passing, fault)]


def _product(writer: ExpressionWriter, weights: tuple[Expression, ...]) -> int:
    """The register that holds the product of all weights; -1 for none."""
    product = -1
    for weight in weights:
        register = writer.write(weight)
        product = register if product < 0 else writer.step(codes.MULTIPLY, product, register)
    return product


def _delay(
    writer: ExpressionWriter, delays: tuple[tuple[Expression, int], ...], round_limit: int
) -> int:
    """The register that holds what is added to the position; -1 for nothing."""
    found = -1
    for delay, unit in delays:
        one, zero, limit = (writer.constant(word) for word in (unit, 0, round_limit))
        register = writer.step(codes.MOST, writer.write(delay), zero)
        register = writer.step(codes.LEAST, register, limit)
        register = writer.step(codes.MULTIPLY, register, one)
        found = register if found < 0 else writer.step(codes.ADD, found, register)
    return found
