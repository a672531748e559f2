"""The meaning of a dataflow: every collection from the inputs as they are, in plain Python.

Verification compares the machine with this, and so do tests after every batch. There are no
differences, no times and no order of operators here: a collection is asked for, asks for its
sources, and is remembered for the round it belongs to. Every operator is defined on whole
collections, as dictionaries of records and multiplicities: slow, and short enough to be seen to be
right. A loop goes on until no variable changes and no record is still to enter.

An expression is evaluated one record at a time. An operation on None is None, but for those that
ask about nulls or know truths of three values.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from graphtide.engine.dataflow.columns import Texts, decimal_of, encode_column
from graphtide.engine.dataflow.python_operators import FUNCTIONS
from graphtide.kernels.dataflow.numbers import LIMBS, first_limb, limb_part
from graphtide.model.errors import GraphtideError
from graphtide.plan import dataflow as nodes
from graphtide.plan.dataflow_expressions import FLOAT, Column, ColumnType, Constant, Expression

_NAN = math.nan
_EXACT = Context(prec=60)
_DAY, _MICROSECOND = datetime.timedelta(days=1), datetime.timedelta(microseconds=1)


def plain(value: Any, kind: ColumnType) -> Any:
    """A value as the records of a column hold it: ints of 64 bits, one zero, one NaN.

    The one NaN is one object, so that a record with it is a key like any other.
    """
    if value is None:
        return None
    match kind.kind:
        case "int":
            return wrapped(int(value))
        case "float":
            return _NAN if value != value else float(value) + 0.0
        case "bool":
            return bool(value)
        case "str":
            return str(value)
        case "decimal":
            return Decimal(value).quantize(Decimal(1).scaleb(-kind.scale), context=_EXACT)
    return value


def wrapped(number: int) -> int:
    """An int as 64 bits hold it."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def rank(value: Any) -> Any:
    """The key by which values are compared: nulls come first; NaN equals itself and comes last."""
    if value is None:
        return (0,)
    return (2,) if value != value else (1, value)


def one_nan(record: tuple[Any, ...]) -> tuple[Any, ...]:
    """A record whose NaNs are the one object that all others have, so that it equals its like."""
    return tuple(_NAN if item != item else item for item in record)


def exact_sum(values: Sequence[Any]) -> Any:
    """A sum of ints, or one of floats that is exact and rounded once."""
    if not any(isinstance(item, float) for item in values):
        return sum(values)
    beyond = {item for item in values if not math.isfinite(item)}
    if beyond:
        return beyond.pop() if len(beyond) == 1 else _NAN
    whole = sum(map(Fraction, values), Fraction())
    try:
        return float(whole)
    except OverflowError:
        return math.inf if whole > 0 else -math.inf


def number(value: Any) -> float:
    """A number as a float; a decimal as its digits, and the point moved."""
    if isinstance(value, Decimal):
        digits = -int(value.as_tuple().exponent)
        return float(int(value.scaleb(digits, _EXACT))) / float(10**digits)
    return float(value)


def _shifted(one: Any, other: Any, sign: int) -> Any:
    """A moment and so many days or microseconds, or the distance of two moments."""
    if isinstance(one, int):
        one, other = other, one
    unit = _MICROSECOND if isinstance(one, datetime.datetime) else _DAY
    return (one - other) // unit if isinstance(other, datetime.date) else one + sign * other * unit


def _is_moment(*values: Any) -> bool:
    return any(isinstance(value, datetime.date) for value in values)


def _and(one: Any, other: Any) -> Any:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _or(one: Any, other: Any) -> Any:
    if one is True or other is True:
        return True
    return None if one is None or other is None else False


def _part(place: int) -> Callable[[float], int]:
    return lambda value: int(limb_part(_float_word(value), place))


def _float_word(value: float) -> Any:
    return encode_column("", FLOAT, np.array([value]), Texts())[0]


_WITH_NULLS: dict[str, Callable[..., Any]] = {
    "and": _and,
    "or": _or,
    "is null": lambda a: a is None,
    "coalesce": lambda a, b: b if a is None else a,
    "where": lambda a, b, c: b if a else c,
    "or null": lambda a: a,
    "there": lambda a: a,
}
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: _shifted(a, b, 1) if _is_moment(a, b) else a + b,
    "-": lambda a, b: _shifted(a, b, -1) if _is_moment(a, b) else a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "/": lambda a, b: float(np.float64(number(a)) / np.float64(number(b))),
    "min": lambda a, b: a if rank(a) <= rank(b) else b,
    "max": lambda a, b: a if rank(a) >= rank(b) else b,
    "==": lambda a, b: rank(a) == rank(b),
    "!=": lambda a, b: rank(a) != rank(b),
    "<": lambda a, b: rank(a) < rank(b),
    "<=": lambda a, b: rank(a) <= rank(b),
    "not": lambda a: not a,
    "neg": lambda a: -a,
    "int": lambda a: int(a) if not isinstance(a, float) or -(2**63) <= a < 2**63 else 0,
    "float": number,
    "bits": lambda a: max(a, 0).bit_length(),
    "year": lambda a: a.year,
    "month": lambda a: a.month,
    "day": lambda a: a.day,
    "date": lambda a: a.date() if isinstance(a, datetime.datetime) else a,
    "limb": lambda a: int(first_limb(_float_word(a))),
    "part 0": _part(0),
    "part 1": _part(1),
    "part 2": _part(2),
    **FUNCTIONS,
}


def value_of(expression: Expression, row: Mapping[str, Any]) -> Any:
    if isinstance(expression, Column):
        return row[expression.name]
    if isinstance(expression, Constant):
        return plain(expression.value, expression.type)
    operands = [value_of(operand, row) for operand in expression.operands]
    if expression.name in _WITH_NULLS:
        return _WITH_NULLS[expression.name](*_alike(expression.name, operands))
    if any(operand is None for operand in operands):
        return None
    if expression.name == "word":
        return _word(operands[0])
    with np.errstate(all="ignore"):
        value = _OPERATIONS[expression.name](*_alike(expression.name, operands))
    if type(value) is int:
        return wrapped(value)
    return plain(value, FLOAT) if isinstance(value, float) else value


def _alike(name: str, operands: list[Any]) -> list[Any]:
    first = 1 if name == "where" else 0
    if not any(isinstance(item, float) for item in operands[first:]):
        return operands
    numbers = [number(i) if type(i) in (int, Decimal) else i for i in operands[first:]]
    return [*operands[:first], *numbers]


def _word(value: Any) -> int:
    """The word that a value stands in, of what is added up as ints."""
    if isinstance(value, Decimal):
        return int(value.scaleb(-int(value.as_tuple().exponent), _EXACT))
    return int(value)


Record = tuple[Any, ...]
Records = dict[Record, int]

_DTYPES: dict[str, Any] = {"int": np.int64, "float": np.float64, "bool": np.bool_}
_UNITS = {"date": "D", "timestamp": "us"}
_LIMB_BITS, _SMALLEST_BITS = 32, 1074


def defined(
    plan: nodes.DataflowPlan,
    number: int,
    given: Sequence[Records],
    functions: Sequence[Any],
) -> Records:
    node = plan.nodes[number]
    sources = nodes.sources_of(node)
    names = [[name for name, _ in plan.schemas[source]] for source in sources]
    result: Records = {}
    match node:
        case nodes.Join():
            _join(plan, node, given, result)
        case nodes.Reduce():
            _reduce(plan, number, node, given[0], functions, result)
        case nodes.Concat():
            for part in given:
                for record, count in part.items():
                    _add(result, record, count)
        case _:
            for record, count in given[0].items():
                for new, times in _each(plan, number, record, names[0], functions):
                    _add(result, new, count * times)
    whole = {record: wrapped(count) for record, count in result.items()}
    return {record: count for record, count in whole.items() if count}


def _each(
    plan: nodes.DataflowPlan,
    number: int,
    record: Record,
    names: list[str],
    functions: Sequence[Any],
) -> list[tuple[Record, int]]:
    row = dict(zip(names, record, strict=True))
    node = plan.nodes[number]
    match node:
        case nodes.Map():
            mapped = tuple(value_of(item, row) for _, item in node.columns)
            return [(_typed(mapped, plan.schemas[number]), 1)]
        case nodes.Filter():
            return [(record, 1)] if value_of(node.predicate, row) else []
        case nodes.Negate():
            return [(record, -1)]
        case nodes.Weigh():
            rest = tuple(value for name, value in row.items() if name != node.column)
            return [(rest, row[node.column])]
        case nodes.Compute():
            return [((*record, *(value_of(item, row) for _, item in node.columns)), 1)]
        case nodes.Foreign():
            made = _foreign(plan, node, record, functions[node.function])
            return [(_typed(item, plan.schemas[number]), 1) for item in made]
    return [(record, 1)]


def _foreign(
    plan: nodes.DataflowPlan, node: nodes.Foreign, record: Record, function: Any
) -> list[Record]:
    if node.kind == "inspect":
        return [record]
    if node.kind == "filter":
        return [record] if function(*record) else []
    if node.kind == "columns":
        kinds = [kind for _, kind in plan.schemas[node.source]]
        columns = function(*(_array(v, k) for v, k in zip(record, kinds, strict=True)))
        listed = columns if isinstance(columns, tuple) else (columns,)
        return [tuple(np.asarray(column).tolist()[0] for column in listed)]
    results = function(*record) if node.kind == "flat_map" else [function(*record)]
    return [item if isinstance(item, tuple) else (item,) for item in results]


def _array(value: Any, kind: ColumnType) -> Any:
    if kind.nullable or kind.kind not in (*_DTYPES, *_UNITS):
        array = np.empty(1, object)
        array[0] = value
        return array
    return np.array([value], _DTYPES.get(kind.kind) or f"datetime64[{_UNITS[kind.kind]}]")


def _typed(record: Record, schema: nodes.Schema) -> Record:
    return tuple(plain(value, kind) for value, (_, kind) in zip(record, schema, strict=True))


def _add(found: Records, record: Record, count: int) -> None:
    found[record] = found.get(record, 0) + count


def _join(
    plan: nodes.DataflowPlan, node: nodes.Join, given: Sequence[Records], found: Records
) -> None:
    key = plan.key_of(node.left)
    by_key: dict[Record, list[tuple[Record, int]]] = {}
    for record, count in given[1].items():
        by_key.setdefault(record[:key], []).append((record[key:], count))
    for record, count in given[0].items():
        for rest, times in by_key.get(record[:key], []):
            _add(found, record + rest, count * times)


def _reduce(
    plan: nodes.DataflowPlan,
    number: int,
    node: nodes.Reduce,
    given: Records,
    functions: Sequence[Any],
    found: Records,
) -> None:
    key = plan.key_of(node.source)
    groups: dict[Record, list[tuple[Record, int]]] = {}
    for record in sorted(given, key=lambda record: [rank(value) for value in record]):
        groups.setdefault(record[:key], []).append((record[key:], given[record]))
    schema = plan.schemas[number][key:]
    for name, members in groups.items():
        for result, count in _results(node, schema, name, members, functions):
            _add(found, name + _typed(result, schema), count)


def _results(
    node: nodes.Reduce,
    schema: nodes.Schema,
    key: Record,
    members: list[tuple[Record, int]],
    functions: Sequence[Any],
) -> list[tuple[Record, int]]:
    """What a reducer makes of a group: records of this schema, without the key."""
    total = wrapped(sum(count for _, count in members))
    match node.reducer:
        case "threshold":
            return [((), 1)] if total >= node.argument else []
        case "sums":
            sums = {tag: count for (tag,), count in members}
            values = [_made_of(kind, tag, sums) for kind, tag in node.outputs]
            whole = tuple(
                decimal_of(item, kind.scale) if kind.kind == "decimal" else item
                for item, (_, kind) in zip(values, schema, strict=True)
            )
            return [(whole, 1)] if sums.get(0, 0) else []
        case "function":
            results = functions[node.argument](key, members)
            return [(item if isinstance(item, tuple) else (item,), 1) for item in results]
    ordered = members if node.reducer in ("min", "first") else members[::-1]
    ends: list[tuple[Record, int]] = []
    left = node.argument
    for record, count in ordered:
        if count > 0 and left > 0:
            ends.append((record, min(count, left)))
            left -= count
    return ends


def _made_of(kind: str, tag: int, sums: dict[int, int]) -> Any:
    """What an output is, given sums of weights by tag."""
    if kind == "plain":
        return sums.get(tag, 0)
    if kind == "whole":
        return sums.get(tag, 0) + (sums.get(tag + 1, 0) << 32)
    upward, downward, unknown = (sums.get(tag + LIMBS + place, 0) for place in range(3))
    infinities = {*([upward > 0] if upward else []), *([downward < 0] if downward else [])}
    if unknown or len(infinities) == 2:
        return float("nan")
    if infinities:
        return float("inf") if infinities == {True} else float("-inf")
    whole = sum(sums.get(tag + limb, 0) << (_LIMB_BITS * limb) for limb in range(LIMBS))
    try:
        return float(Fraction(whole, 1 << _SMALLEST_BITS))
    except OverflowError:
        return float("inf") if whole > 0 else float("-inf")


@dataclass
class Frame:
    """One round of one loop, or the outside of all, with the collections that are known there.

    `inner` are all rounds of the loops in it.
    """

    loop: int
    outer: Frame | None = None
    round: int = 0
    variables: dict[int, Records] = field(default_factory=dict)
    known: dict[int, Records] = field(default_factory=dict)
    inner: dict[int, list[Frame]] = field(default_factory=dict)

    def rounds(self) -> tuple[int, ...]:
        """The rounds of all loops around, outermost first."""
        return () if self.outer is None else (*self.outer.rounds(), self.round)


class Meaning:
    """One dataflow at one version; `given` are its inputs and imports by their number.

    A loop that is not at rest after `most_rounds` is an error.
    """

    def __init__(
        self,
        plan: nodes.DataflowPlan,
        functions: Sequence[Any],
        given: Mapping[int, Records],
        most_rounds: int,
    ) -> None:
        self.plan = plan
        self.functions = functions
        self.given = given
        self.most_rounds = most_rounds
        self.outside = Frame(0)

    def value(self, number: int) -> Records:
        return self._value(number, self.outside)

    def frames(self) -> Iterator[Frame]:
        """Every round of every loop, all collections evaluated; loops before what is around."""
        self._complete(self.outside)
        yield from _within(self.outside)

    def _complete(self, frame: Frame) -> None:
        """Evaluate all of one round, whether something uses it or not."""
        for loop, scope in enumerate(self.plan.scopes):
            if loop != 0 and scope.parent == frame.loop:
                self._last_round(loop, frame)
        for number, loop in enumerate(self.plan.scope_of):
            if loop == frame.loop:
                self._value(number, frame)

    def _value(self, number: int, frame: Frame) -> Records:
        while frame.loop != self.plan.scope_of[number]:
            assert frame.outer is not None
            frame = frame.outer
        if number not in frame.known:
            frame.known[number] = self._evaluated(number, frame)
        return frame.known[number]

    def _evaluated(self, number: int, frame: Frame) -> Records:
        node = self.plan.nodes[number]
        match node:
            case nodes.Input() | nodes.Import():
                return self.given.get(number, {})
            case nodes.Variable():
                if frame.round > 0:
                    return frame.variables[number]
                return {} if node.initial is None else self._value(node.initial, frame)
            case nodes.Leave():
                end = self._last_round(self.plan.scope_of[node.source], frame)
                return self._value(node.source, end)
            case nodes.Enter() if node.delay is not None:
                entered = self._value(node.source, frame).items()
                return {r: n for r, n in entered if self._enters(number, r) <= frame.round}
        given = [self._value(source, frame) for source in nodes.sources_of(node)]
        return defined(self.plan, number, given, self.functions)

    def _enters(self, number: int, record: Any) -> int:
        """The round in which a record enters a loop."""
        node = self.plan.nodes[number]
        assert isinstance(node, nodes.Enter)
        assert node.delay is not None
        names = [name for name, _ in self.plan.schemas[number]]
        return max(int(value_of(node.delay, dict(zip(names, record, strict=True)))), 0)

    def _last_round(self, loop: int, outer: Frame) -> Frame:
        if loop not in outer.inner:
            rounds = outer.inner[loop] = [Frame(loop, outer)]
            while (following := self._following(rounds[-1])) is not None:
                if following.round > self.most_rounds:
                    raise GraphtideError(
                        f"By its definition, loop {self.plan.scopes[loop].name} of "
                        f"{self.plan.name} is not at rest in round {self.most_rounds}",
                        hint="the machine was: this is a mistake in Graphtide, please report it",
                    )
                rounds.append(following)
        return outer.inner[loop][-1]

    def _following(self, frame: Frame) -> Frame | None:
        """The next round in which a loop differs from this one; None where there is none."""
        self._complete(frame)
        variables = {
            number: self._next(number, frame)
            for number in self.plan.definitions
            if self.plan.scope_of[number] == frame.loop
        }
        if any(frame.known[number] != value for number, value in variables.items()):
            return Frame(frame.loop, frame.outer, frame.round + 1, variables)
        entering = [later for later in self._entering(frame) if later > frame.round]
        if not entering:
            return None
        return Frame(frame.loop, frame.outer, min(entering), variables)

    def _next(self, variable: int, frame: Frame) -> Records:
        if frame.round >= self.plan.rounds.get(variable, frame.round + 1):
            return self._value(variable, frame)
        return self._value(self.plan.definitions[variable], frame)

    def _entering(self, frame: Frame) -> Iterator[int]:
        for number, node in enumerate(self.plan.nodes):
            if (
                isinstance(node, nodes.Enter)
                and node.delay
                and self.plan.scope_of[number] == frame.loop
            ):
                for record in self._value(node.source, frame):
                    yield self._enters(number, record)


def _within(frame: Frame) -> Iterator[Frame]:
    for rounds in frame.inner.values():
        for inner in rounds:
            yield from _within(inner)
    yield frame
