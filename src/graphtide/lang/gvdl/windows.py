"""Windows over a numeric or time property: which they are, exactly.

All windows are half-open, [start, end). With X the start, W the width and S the step,

    expanding   [X, X + W + i S)            S defaults to W
    sliding     [X + i S, X + i S + W)
    tumbling    [X + i W, X + (i + 1) W)

for i = 0, 1, 2, ... X defaults to the smallest value of the property over the edges concerned, for
times floored to the unit of the width. Y is where windows end, exclusive; it defaults to just past
the largest value. Sliding and tumbling windows go on while they start before Y, expanding ones
until the first that ends at or past Y. A window that ends past Y is partial: `drop partial` leaves
it out. Otherwise it is cut to [start, Y) if the user gave Y; if not, a cut would change nothing.
Windows without edges stay unless the caller drops them, which takes a look at the data.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.calendar import (
    Axis,
    DateAxis,
    NumberAxis,
    TimeAxis,
    TimeStep,
    count_below,
    floor_date,
    floor_time,
    is_whole_days,
    step_of,
)
from graphtide.lang.gvdl.facts import GraphFacts
from graphtide.lang.gvdl.resolve import (
    LARGEST_INT,
    PredicateScope,
    constant_for,
    fill_holes,
    find_property,
    find_zone,
    value_of,
    write_value,
)
from graphtide.model.schema import PropertyType
from graphtide.plan import predicates as plan
from graphtide.plan.predicates import Constant, Operator, PropertyRef, Value

_NAMES = {"tumbling": "{start}", "sliding": "{start}..{end}", "expanding": "until-{end}"}


@dataclass(frozen=True)
class WindowList:
    """The windows of one generator, counted but not yet built."""

    node: tree.Windows
    property: PropertyRef
    axis: Axis
    until: Value
    scope: PredicateScope
    count: int

    def views(self) -> Iterator[plan.NamedPredicate]:
        for index in range(self.count):
            start, end = self.bounds(index)
            yield plan.NamedPredicate(
                self._name(index, start, end), _inside(self.property, start, end)
            )

    def bounds(self, index: int) -> tuple[Value, Value]:
        """Start and end of a window, cut at Y where Y was given."""
        start = self.axis.boundary(0 if self.node.kind == "expanding" else index, 0)
        try:
            end = self.axis.boundary(index, 1)
        except OverflowError:
            return start, self.until
        cut = self.node.until is not None and end > self.until  # type: ignore[operator]
        return start, self.until if cut else end

    def is_partial(self, index: int) -> bool:
        try:
            return self.axis.boundary(index, 1) > self.until  # type: ignore[operator]
        except OverflowError:
            return True

    def _name(self, index: int, start: Value, end: Value) -> str:
        zone = self.scope.zone
        holes = {
            "start": write_value(start, zone),
            "end": write_value(end, zone),
            "index": str(index + 1),
        }
        template = self.node.name if self.node.name is not None else _NAMES[self.node.kind]
        return fill_holes(template, self.scope, holes, self.node.span)


def list_windows(
    node: tree.Windows, scope: PredicateScope, facts: GraphFacts, where: plan.Predicate
) -> WindowList:
    """The windows that a generator means over the edges that satisfy `where`.

    The data are asked only where the start or the end is not given.
    """
    ref = find_property(node.property, scope)
    scope = _in_timezone(node, ref, scope)
    _check_clauses(node, ref)
    start, until = _ends(node, ref, scope, facts, where)
    axis = _axis(node, ref, start, scope)
    if not start < until:  # type: ignore[operator]
        raise language_error(
            "there are no windows: the start is not before the end",
            (node.until or node.start or node).span,
            "let `from` be less than `until`, which is exclusive",
        )
    windows = WindowList(node, ref, axis, until, scope, 0)
    return replace(windows, count=_count(windows))


def outside_windows(found: Sequence[WindowList]) -> tuple[plan.NamedPredicate, ...]:
    """Why an edge may be in none of some windows: it has no value, or one that they do not reach.

    Reasons are in the words of users, and the first that holds is the one that counts.
    """
    reasons: list[plan.NamedPredicate] = []
    for ref in dict.fromkeys(item.property for item in found):
        lists = {id(item): item for item in found if item.property == ref}.values()
        bounds = [item.bounds(at) for item in lists for at in (0, item.count - 1)]
        start, end = min(low for low, _ in bounds), max(high for _, high in bounds)
        before = plan.Comparison(Operator.LT, ref, _constant(ref, start))
        reasons += [
            plan.NamedPredicate(f"{ref} is missing", plan.IsNull(ref)),
            plan.NamedPredicate(f"{ref} is before the first window", before),
            plan.NamedPredicate(f"{ref} is behind the last window", plan.Not(_before(ref, end))),
        ]
    return tuple(reasons)


def _count(windows: WindowList) -> int:
    if windows.node.kind == "expanding":
        count = count_below(windows.axis, 1, windows.until) + 1
    else:
        count = count_below(windows.axis, 0, windows.until)
    return min(count, _whole(windows)) if windows.node.drop_partial else count


def _whole(windows: WindowList) -> int:
    """How many windows are not partial: the first ones, because ends grow with the index."""
    count = count_below(windows.axis, 1, windows.until)
    return count if windows.is_partial(count) else count + 1


def _in_timezone(node: tree.Windows, ref: PropertyRef, scope: PredicateScope) -> PredicateScope:
    if node.timezone is None:
        return scope
    if ref.type != PropertyType.TIMESTAMP:
        hint = "leave `timezone` out: it is for timestamps"
        raise language_error(f"{ref} is {ref.type} and has no time zone", node.span, hint)
    return replace(scope, zone=find_zone(node.timezone, node.span))


def _check_clauses(node: tree.Windows, ref: PropertyRef) -> None:
    if not (ref.type.is_number or ref.type.is_time):
        what = f"{ref} is {ref.type}; windows go over numbers, dates and timestamps"
        hint = f"for a view of each value write: for v in ('a', 'b') [{{v}}: {ref} = v]"
        raise language_error(what, node.property.span or node.span, hint)
    if node.kind == "tumbling" and node.step is not None:
        hint = "leave `step` out, or use sliding windows"
        raise language_error("tumbling windows step by their width", node.step.span, hint)
    if node.kind == "sliding" and node.step is None:
        hint = "add `step ...`, or use tumbling windows"
        raise language_error("sliding windows need a step", node.span, hint)
    for amount in (node.width, node.step):
        if amount is not None:
            _check_amount(amount, ref)


def _check_amount(amount: tree.Literal | tree.Duration, ref: PropertyRef) -> None:
    if isinstance(amount, tree.Duration) != ref.type.is_time:
        example = (
            "`7 days`, `7d`, `12h` or `1 month`"
            if ref.type.is_time
            else "a plain number such as 10"
        )
        raise language_error(f"{ref} is {ref.type}: use {example} here", amount.span)
    size = amount.count if isinstance(amount, tree.Duration) else amount.value
    if not isinstance(size, int | float) or isinstance(size, bool) or size <= 0:
        raise language_error("width and step must be more than 0", amount.span)
    if ref.type == PropertyType.DATE and not _is_calendar(amount):
        hint = "use days, weeks, months or years"
        raise language_error(f"{ref} is date and knows no time of day", amount.span, hint)


def _is_calendar(amount: tree.Literal | tree.Duration) -> bool:
    return isinstance(amount, tree.Duration) and is_whole_days(amount.unit)


def _ends(
    node: tree.Windows,
    ref: PropertyRef,
    scope: PredicateScope,
    facts: GraphFacts,
    where: plan.Predicate,
) -> tuple[Value, Value]:
    start = _given(node.start, ref, scope)
    until = _given(node.until, ref, scope)
    if start is not None and until is not None:
        return start, until
    bounds = facts.bounds(ref, where)
    if bounds is None or not all(map(_is_finite, bounds)):
        what = f"no edge has a value of {ref} to begin or end with"
        raise language_error(
            what if bounds is None else f"{ref} is infinite at some edge, where no window ends",
            node.span,
            "give both `from` and `until`",
        )
    smallest, largest = map(_in_utc, bounds)
    if start is None:
        start = _floor(smallest, node.width, scope)
    return start, _past(largest, node) if until is None else until


def _given(node: tree.Operand | None, ref: PropertyRef, scope: PredicateScope) -> Value | None:
    if node is None:
        return None
    value = value_of(node, scope)
    if value is None:
        hint = "write a number, a date, a timestamp or a loop variable"
        raise language_error("windows begin and end at a constant", node.span, hint)
    return constant_for(ref, value, node.span, scope).value


def _is_finite(value: Value) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _in_utc(value: Value) -> Value:
    return value.astimezone(dt.UTC) if isinstance(value, dt.datetime) else value


def _floor(value: Value, width: tree.Literal | tree.Duration, scope: PredicateScope) -> Value:
    if not isinstance(width, tree.Duration):
        return value
    if isinstance(value, dt.datetime):
        return floor_time(value, width.unit, scope.zone)
    return floor_date(value, width.unit) if isinstance(value, dt.date) else value


def _past(value: Value, node: tree.Windows) -> Value:
    try:
        match value:
            case dt.datetime():
                return value + dt.timedelta(microseconds=1)
            case dt.date():
                return value + dt.timedelta(days=1)
            case float():
                return math.nextafter(value, math.inf)
            case int():
                return value + 1
    except OverflowError:
        pass
    raise language_error(
        "the largest value is the last that its type can hold", node.span, "give `until`"
    )


def _axis(node: tree.Windows, ref: PropertyRef, start: Value, scope: PredicateScope) -> Axis:
    width, step = node.width, node.step if node.step is not None else node.width
    if isinstance(start, dt.datetime):
        return TimeAxis(start, _step(step), _step(width), scope.zone)
    if isinstance(start, dt.date):
        return DateAxis(start, _step(step), _step(width))
    return NumberAxis(_number(start), _number(_value(step)), _number(_value(width)))


def _step(amount: tree.Literal | tree.Duration) -> TimeStep:
    return step_of(amount.count, amount.unit) if isinstance(amount, tree.Duration) else TimeStep()


def _value(amount: tree.Literal | tree.Duration) -> object:
    return amount.value if isinstance(amount, tree.Literal) else amount.count


def _number(value: object) -> int | float:
    return value if isinstance(value, int | float) else 0


def _inside(ref: PropertyRef, start: Value, end: Value) -> plan.Predicate:
    return plan.conjunction(
        plan.Comparison(Operator.GE, ref, _constant(ref, start)), _before(ref, end)
    )


def _before(ref: PropertyRef, end: Value) -> plan.Predicate:
    if isinstance(end, int) and end > LARGEST_INT:
        return plan.Comparison(Operator.LE, ref, Constant(LARGEST_INT, PropertyType.INT))
    return plan.Comparison(Operator.LT, ref, _constant(ref, end))


def _constant(ref: PropertyRef, value: Value) -> Constant:
    if ref.type.is_number:
        return Constant(value, PropertyType.INT if isinstance(value, int) else PropertyType.FLOAT)
    return Constant(value, ref.type)
