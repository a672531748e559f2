"""Syntax and schema to a typed predicate of the plan: what names mean, and that types compare.

A bare name that is a loop variable in scope is the variable, even where the graph has a
property of that name; in backticks, or behind `src.` or `dst.`, it is the property. Properties
are found by their exact name, or else by the only name that differs in case alone.

After this, every property exists and both sides of every comparison have types that compare.
Only numbers mix (int with float); a string that meets a date or a timestamp is read as one,
and a date that meets a timestamp is its midnight in the time zone. Everything else of unequal
type is an error at the literal, never a silent conversion.
"""

from __future__ import annotations

import datetime as dt
import operator as operators
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

from graphtide.lang.diagnostics import Span, language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.calendar import (
    is_whole_days,
    localise,
    move_date,
    move_time,
    step_of,
    write_time,
)
from graphtide.lang.gvdl.literals import read_date, read_timestamp
from graphtide.model.errors import LanguageError
from graphtide.model.limits import DEPTH
from graphtide.model.schema import ENDS, GraphSchema, PropertyType, closest
from graphtide.plan import predicates as plan
from graphtide.plan.predicates import Constant, Operator, Owner, PropertyRef, Value

_HOLE = re.compile(r"\{([^\W\d]\w*)\}")
_LISTED = 12
_VERTEX_NUMBER = {"_vertex": PropertyType.INT}
_EDGE_NUMBER = {"_edge": PropertyType.INT}
_ENDS = {"src": "src", "source": "src", "dst": "dst", "target": "dst"}


@dataclass(frozen=True)
class PredicateScope:
    """The names that a predicate may use, and the time zone its timestamps are in.

    With `vertex_only`, a bare name is a property of a vertex, to be found on `src`.
    """

    edge: Mapping[str, PropertyType]
    vertex: Mapping[str, PropertyType]
    zone: ZoneInfo
    variables: Mapping[str, Value] = field(default_factory=dict)
    vertex_only: bool = False
    ends: tuple[str, str] = ENDS

    @classmethod
    def of(cls, schema: GraphSchema, timezone: str = "UTC") -> PredicateScope:
        """The scope of a graph's predicates, outside of any loop."""
        edge, vertex = schema.edge_properties(), schema.vertex_properties()
        return cls(edge, vertex, find_zone(timezone), ends=schema.ends)

    def bind(self, variable: str, value: Value) -> PredicateScope:
        return replace(self, variables={**self.variables, variable: value})


def find_zone(name: str, span: Span | None = None) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise language_error(
            f"unknown time zone '{name}'", span, "use a name such as UTC or Europe/Berlin"
        ) from None


def find_property(node: tree.PropertyName, scope: PredicateScope) -> PropertyRef:
    owner = _owner(node, scope)
    name = node.name if node.quoted else fill_holes(node.name, scope, {}, node.span)
    known = scope.edge if owner == "edge" else scope.vertex
    numbers = _EDGE_NUMBER if owner == "edge" else _VERTEX_NUMBER
    if name in known:
        return PropertyRef(owner, name, known[name])
    if name in numbers:
        return PropertyRef(owner, name, numbers[name])
    same = [item for item in known if item.lower() == name.lower()]
    if len(same) == 1:
        return PropertyRef(owner, same[0], known[same[0]])
    raise _unknown_property(node, name, owner, scope)


def _owner(node: tree.PropertyName, scope: PredicateScope) -> Owner:
    if not scope.vertex_only:
        return node.owner
    if node.owner == "edge":
        return "src"
    raise language_error(
        f"'{node.owner}.' has no meaning for a vertex",
        node.span,
        f"write `{node.name}`: bare names are the vertex's own properties here",
    )


def _unknown_property(
    node: tree.PropertyName, name: str, owner: Owner, scope: PredicateScope
) -> LanguageError:
    known, other = (scope.edge, scope.vertex) if owner == "edge" else (scope.vertex, scope.edge)
    of = "edges have" if owner == "edge" else "vertices have"
    near = closest(name, known)
    if node.span is not None and node.span.text.endswith('"'):
        hint = f"double quotes are for names; strings take single quotes: '{name}'"
    elif owner == "edge" and (end := _end(name, scope)) is not None:
        hint = f"write `{end}.id` for the id of that end, or a property of it: `{end}.NAME`"
    elif name in other and not scope.vertex_only:
        hint = f"write `src.{name}` or `dst.{name}`" if owner == "edge" else f"write `{name}`"
    else:
        listed = sorted(known)
        names = ", ".join(listed[:_LISTED]) + (", ..." if len(listed) > _LISTED else "")
        hint = (f"did you mean `{near}`? " if near else "") + f"{of} {names}"
    return language_error(f"{of} no property '{name}'", node.span, hint)


def _end(name: str, scope: PredicateScope) -> str | None:
    """The end of an edge that a name means, in our words or in the user's."""
    own = dict(zip(scope.ends, ENDS, strict=True))
    return own.get(name, _ENDS.get(name.lower()))


def value_of(node: tree.Operand, scope: PredicateScope) -> Value | None:
    """The constant that an operand stands for; None if it is a property."""
    match node:
        case tree.Literal():
            return _literal(node, scope)
        case tree.Variable(name):
            return _variable(name, node.span, scope)
        case tree.PropertyName(name, "edge", False) if name in scope.variables:
            return scope.variables[name]
        case tree.PropertyName():
            return None
        case tree.Shifted(base, count, unit):
            return _shift(_variable(base.name, base.span, scope), count, unit, node, scope)


def _literal(node: tree.Literal, scope: PredicateScope) -> Value:
    if node.value is None:
        hint = "nothing equals null; write `... is null` or `... is not null`"
        raise language_error("null cannot be compared", node.span, hint)
    if isinstance(node.value, dt.datetime):
        return moment_of(node.value, scope, node.span)
    return node.value


def moment_of(local: dt.datetime, scope: PredicateScope, span: Span | None) -> dt.datetime:
    """The moment in UTC of a time that may have no offset."""
    try:
        return localise(local, scope.zone)
    except OverflowError:
        raise language_error("in UTC this leaves the years 1 to 9999", span) from None


def _variable(name: str, span: Span | None, scope: PredicateScope) -> Value:
    if name in scope.variables:
        return scope.variables[name]
    known = ", ".join(scope.variables)
    hint = f"the loops around it have {known}" if known else "it stands in no loop"
    raise language_error(f"there is no loop variable '{name}'", span, hint)


def _shift(
    value: Value, count: int, unit: tree.Unit | None, node: tree.Shifted, scope: PredicateScope
) -> Value:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        if unit is None and number:
            return value + count  # type: ignore[operator]
        if unit is not None and isinstance(value, dt.datetime):
            return move_time(value, step_of(count, unit), scope.zone)
        if unit is not None and isinstance(value, dt.date) and is_whole_days(unit):
            return move_date(value, step_of(count, unit))
    except OverflowError:
        raise language_error("this moves it too far to be written", node.span) from None
    raise language_error(
        f"{describe(value)} cannot be moved like this",
        node.span,
        "add a whole number to a number, or `1 month` to a date or a timestamp",
    )


def describe(value: Value) -> str:
    match value:
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case dt.datetime():
            return "a timestamp"
        case dt.date():
            return "a date"


def fill_holes(
    text: str, scope: PredicateScope, extra: Mapping[str, str], span: Span | None
) -> str:
    if "{" not in text:
        return text

    def fill(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in extra:
            return extra[name]
        if name in scope.variables:
            return write_value(scope.variables[name], scope.zone)
        known = [f"{{{item}}}" for item in (*extra, *scope.variables)]
        hint = f"known here: {', '.join(known)}" if known else "there is nothing to fill in here"
        raise language_error(f"nothing is called {match.group()} here", span, hint)

    return _HOLE.sub(fill, text)


def write_value(value: Value, zone: ZoneInfo) -> str:
    """A value as it stands in the name of a view."""
    match value:
        case bool():
            return "true" if value else "false"
        case dt.datetime():
            return write_time(value, zone)
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return str(value)


_FLIPPED = {
    Operator.EQ: Operator.EQ,
    Operator.NE: Operator.NE,
    Operator.LT: Operator.GT,
    Operator.LE: Operator.GE,
    Operator.GT: Operator.LT,
    Operator.GE: Operator.LE,
}
_EVALUATE = {
    Operator.EQ: operators.eq,
    Operator.NE: operators.ne,
    Operator.LT: operators.lt,
    Operator.LE: operators.le,
    Operator.GT: operators.gt,
    Operator.GE: operators.ge,
}
_STRAY_ESCAPE = re.compile(r"(?:\\[%_\\]|[^\\])*\\(?![%_\\])")
LARGEST_INT = 2**63 - 1


def resolve_predicate(
    node: tree.Predicate, schema: GraphSchema, *, timezone: str = "UTC"
) -> plan.Predicate:
    """The predicate that a syntax tree means on a graph of that schema.

    `timezone` is the one that timestamps without an offset are in.
    """
    return resolve(node, PredicateScope.of(schema, timezone))


def resolve(node: tree.Predicate, scope: PredicateScope, depth: int = 0) -> plan.Predicate:
    if depth > DEPTH:
        hint = "chains of `and` or `or` need no parentheses"
        raise language_error(f"this is nested more than {DEPTH} deep", node.span, hint)
    match node:
        case tree.And(terms):
            return plan.conjunction(*(resolve(term, scope, depth + 1) for term in terms))
        case tree.Or(terms):
            return plan.disjunction(*(resolve(term, scope, depth + 1) for term in terms))
        case tree.Not(term):
            return _negate(resolve(term, scope, depth + 1), True)
        case tree.TruthTest(term, value, negated):
            inner = _negate(resolve(term, scope, depth + 1), not value)
            return _negate(inner if isinstance(inner, plan.Always) else plan.IsTrue(inner), negated)
        case tree.Literal() | tree.PropertyName() | tree.Variable() | tree.Shifted():
            return _bare(node, scope)
        case _:
            return _test(node, scope)


def _negate(predicate: plan.Predicate, negated: bool) -> plan.Predicate:
    if not negated:
        return predicate
    if isinstance(predicate, plan.Always):
        return plan.Always(not predicate.value)
    return plan.Not(predicate)


def _bare(node: tree.Operand, scope: PredicateScope) -> plan.Predicate:
    value = value_of(node, scope)
    if isinstance(value, bool):
        return plan.Always(value)
    if value is not None:
        hint = "compare it with something"
        raise language_error(f"{describe(value)} is not a condition", node.span, hint)
    ref = _property(node, scope)
    if ref.type == PropertyType.BOOL:
        return plan.Comparison(Operator.EQ, ref, Constant(True, PropertyType.BOOL))
    hint = f"compare it: `{ref} = ...`, or `{ref} is not null`"
    raise language_error(f"{ref} is {ref.type}, not a condition", node.span, hint)


def _property(node: tree.Operand, scope: PredicateScope) -> PropertyRef:
    if isinstance(node, tree.PropertyName) and value_of(node, scope) is None:
        return find_property(node, scope)
    hint = "put the property first: `year in (2000, 2001)`"
    raise language_error("a property is expected here", node.span, hint)


def _test(node: tree.Test, scope: PredicateScope) -> plan.Predicate:
    match node:
        case tree.Compare(operator, left, right):
            return compare(operator, left, right, scope)
        case tree.Between(operand, low, high, negated):
            ends = (
                compare(Operator.GE, operand, low, scope),
                compare(Operator.LE, operand, high, scope),
            )
            return _negate(plan.conjunction(*ends), negated)
        case tree.InList(operand, values, negated):
            ref = _property(operand, scope)
            constants = dict.fromkeys(_listed(ref, value, scope) for value in values)
            return _negate(plan.InSet(ref, tuple(constants)), negated)
        case tree.NullTest(operand, negated):
            return _negate(plan.IsNull(_property(operand, scope)), negated)
        case tree.LikeTest(operand, pattern, negated):
            return _negate(_like(_property(operand, scope), operand, pattern, scope), negated)


def compare(
    operator: Operator, left: tree.Operand, right: tree.Operand, scope: PredicateScope
) -> plan.Predicate:
    """A comparison with the property on its left; of two constants, its outcome."""
    first, second = value_of(left, scope), value_of(right, scope)
    if first is not None and second is not None:
        return plan.Always(_evaluate(operator, first, second, right.span))
    if first is not None:
        return compare(_FLIPPED[operator], right, left, scope)
    ref = _property(left, scope)
    if ref.type == PropertyType.BOOL and operator not in (Operator.EQ, Operator.NE):
        hint = "use `=` or `<>`, or the property by itself"
        raise language_error(f"{ref} is bool and has no order", left.span, hint)
    if second is not None:
        return plan.Comparison(operator, ref, constant_for(ref, second, right.span, scope))
    other = _other_property(ref, right, scope)
    if ref.type != other.type and not (ref.type.is_number and other.type.is_number):
        what = f"{ref} is {ref.type} and {other} is {other.type}: they do not compare"
        raise language_error(what, right.span)
    return plan.Comparison(operator, ref, other)


def _other_property(ref: PropertyRef, node: tree.Operand, scope: PredicateScope) -> PropertyRef:
    """The property on the other side; an unknown one may be a text without quotes."""
    try:
        return _property(node, scope)
    except LanguageError as error:
        quoted = _in_quotes(ref, node)
        error.hint = f"{quoted}; {error.hint}" if quoted else error.hint
        raise


def _in_quotes(ref: PropertyRef, node: tree.Operand) -> str | None:
    """What to do about a bare word where a text could stand; None if it is none."""
    if not isinstance(node, tree.PropertyName) or node.quoted or node.owner != "edge":
        return None
    written = ref.type == PropertyType.STRING or ref.type.is_time
    return f"a text takes single quotes: '{node.name}'" if written else None


def _evaluate(operator: Operator, first: Value, second: Value, span: Span | None) -> bool:
    if describe(first) != describe(second):
        raise language_error(f"{describe(first)} does not compare with {describe(second)}", span)
    return bool(_EVALUATE[operator](first, second))


def _listed(ref: PropertyRef, node: tree.Operand, scope: PredicateScope) -> Constant:
    value = value_of(node, scope)
    if value is None:
        hint = "compare two properties with `=`, and join the comparisons with `or`"
        quoted = _in_quotes(ref, node)
        hint = f"{quoted}; or {hint}" if quoted else hint
        raise language_error("`in` takes constants only", node.span, hint)
    return constant_for(ref, value, node.span, scope)


def _like(
    ref: PropertyRef, operand: tree.Operand, pattern: tree.Operand, scope: PredicateScope
) -> plan.Like:
    if ref.type != PropertyType.STRING:
        raise language_error(f"{ref} is {ref.type}; `like` is for strings", operand.span)
    text = value_of(pattern, scope)
    if not isinstance(text, str):
        hint = "write it as a string: 'CA%'"
        raise language_error("the pattern of `like` must be a string", pattern.span, hint)
    if _STRAY_ESCAPE.match(text):
        hint = "a backslash escapes %, _ or itself: write \\\\ for a plain one"
        raise language_error(
            "this pattern has a backslash that escapes nothing", pattern.span, hint
        )
    return plan.Like(ref, text)


def constant_for(
    ref: PropertyRef, value: Value, span: Span | None, scope: PredicateScope
) -> Constant:
    """A value as the constant that a property is compared with; an error if it cannot be."""
    match ref.type, value:
        case PropertyType.BOOL, bool():
            return Constant(value, PropertyType.BOOL)
        case ((PropertyType.INT | PropertyType.FLOAT), bool()):
            raise _mismatch(ref, value, span)
        case ((PropertyType.INT | PropertyType.FLOAT), int()):
            return Constant(_in_range(value, span), PropertyType.INT)
        case ((PropertyType.INT | PropertyType.FLOAT), float()):
            return Constant(value, PropertyType.FLOAT)
        case PropertyType.STRING, str():
            return Constant(value, PropertyType.STRING)
        case ((PropertyType.DATE | PropertyType.TIMESTAMP), _):
            return _time_constant(ref, value, span, scope)
        case _:
            raise _mismatch(ref, value, span)


def _in_range(value: int, span: Span | None) -> int:
    if -LARGEST_INT - 1 <= value <= LARGEST_INT:
        return value
    raise language_error(f"{value} does not fit in 64 bits", span, f"the largest is {LARGEST_INT}")


def _time_constant(
    ref: PropertyRef, value: Value, span: Span | None, scope: PredicateScope
) -> Constant:
    if isinstance(value, str):
        read = read_date(value) if ref.type == PropertyType.DATE else read_timestamp(value)
        if read is None:
            example = "2020-01-31" if ref.type == PropertyType.DATE else "2020-01-31 10:00:00"
            what = f"{ref} is {ref.type}, and '{value}' is not one"
            raise language_error(what, span, f"write it as '{example}'")
        value = read
    if ref.type == PropertyType.TIMESTAMP and isinstance(value, dt.date):
        if not isinstance(value, dt.datetime):
            value = dt.datetime.combine(value, dt.time())
        return Constant(moment_of(value, scope, span), PropertyType.TIMESTAMP)
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return Constant(value, PropertyType.DATE)
    raise _mismatch(ref, value, span)


def _mismatch(ref: PropertyRef, value: Value, span: Span | None) -> LanguageError:
    hints = {
        PropertyType.STRING: "put it in single quotes",
        PropertyType.INT: "write a number, without quotes",
        PropertyType.FLOAT: "write a number, without quotes",
        PropertyType.BOOL: "use true or false",
        PropertyType.DATE: "write date '2020-01-31'",
        PropertyType.TIMESTAMP: "write timestamp '2020-01-31 10:00:00'",
    }
    what = f"{ref} is {ref.type} and does not compare with {describe(value)}"
    return language_error(what, span, hints[ref.type])
