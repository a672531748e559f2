"""Syntax and schema to a typed predicate of the plan.

After this, every property exists and both sides of every comparison have types that compare.
Only numbers mix (int with float); a string that meets a date or a timestamp is read as one,
and a date that meets a timestamp is its midnight in the time zone. Everything else of unequal
type is an error at the literal, never a silent conversion.
"""

from __future__ import annotations

import datetime as dt
import operator as operators
import re

from graphtide.lang.diagnostics import Span, language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.literals import read_date, read_timestamp
from graphtide.lang.gvdl.scope import Scope, describe, find_property, moment_of, value_of
from graphtide.model.errors import LanguageError
from graphtide.model.limits import DEPTH
from graphtide.model.schema import GraphSchema, PropertyType
from graphtide.plan import predicates as plan
from graphtide.plan.predicates import Constant, Operator, PropertyRef, Value

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
    return resolve(node, Scope.of(schema, timezone))


def resolve(node: tree.Predicate, scope: Scope, depth: int = 0) -> plan.Predicate:
    """The predicate that a syntax tree means in a scope."""
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
            return _truth(_negate(resolve(term, scope, depth + 1), not value), negated)
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


def _truth(inner: plan.Predicate, negated: bool) -> plan.Predicate:
    return _negate(inner if isinstance(inner, plan.Always) else plan.IsTrue(inner), negated)


def _bare(node: tree.Operand, scope: Scope) -> plan.Predicate:
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


def _property(node: tree.Operand, scope: Scope) -> PropertyRef:
    if isinstance(node, tree.PropertyName) and value_of(node, scope) is None:
        return find_property(node, scope)
    hint = "put the property first: `year in (2000, 2001)`"
    raise language_error("a property is expected here", node.span, hint)


def _test(node: tree.Test, scope: Scope) -> plan.Predicate:
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
    operator: Operator, left: tree.Operand, right: tree.Operand, scope: Scope
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


def _other_property(ref: PropertyRef, node: tree.Operand, scope: Scope) -> PropertyRef:
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


def _listed(ref: PropertyRef, node: tree.Operand, scope: Scope) -> Constant:
    value = value_of(node, scope)
    if value is None:
        hint = "compare two properties with `=`, and join the comparisons with `or`"
        quoted = _in_quotes(ref, node)
        hint = f"{quoted}; or {hint}" if quoted else hint
        raise language_error("`in` takes constants only", node.span, hint)
    return constant_for(ref, value, node.span, scope)


def _like(
    ref: PropertyRef, operand: tree.Operand, pattern: tree.Operand, scope: Scope
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


def constant_for(ref: PropertyRef, value: Value, span: Span | None, scope: Scope) -> Constant:
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


def _time_constant(ref: PropertyRef, value: Value, span: Span | None, scope: Scope) -> Constant:
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
