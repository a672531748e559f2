"""The values of a loop: ranges with both ends included, and lists."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.axis import Axis, DateAxis, NumberAxis, TimeAxis, count_while
from graphtide.lang.gvdl.calendar import Step, is_whole_days, step_of
from graphtide.lang.gvdl.literals import read_date
from graphtide.lang.gvdl.scope import Scope, describe, value_of
from graphtide.plan.predicates import Value


@dataclass(frozen=True)
class LoopValues:
    """The values of a loop, counted but not yet listed."""

    count: int
    listed: tuple[Value, ...] = ()
    axis: Axis | None = None

    def __iter__(self) -> Iterator[Value]:
        if self.axis is None:
            yield from self.listed
        else:
            for index in range(self.count):
                yield self.axis.boundary(index, 0)


def loop_values(node: tree.Range | tree.ValueList, scope: Scope) -> LoopValues:
    """The values that a loop goes through, in order. A range without values is an error."""
    if isinstance(node, tree.ValueList):
        listed = tuple(_constant(value, scope) for value in node.values)
        return LoopValues(len(listed), listed)
    start, stop = _constant(node.start, scope), _constant(node.stop, scope)
    axis = _range_axis(start, stop, node, scope)
    count = _count(axis, stop, node)
    if count == 0:
        hint = "both ends are included; count down with a negative step"
        raise language_error("this range has no values", node.span, hint)
    return LoopValues(count, axis=axis)


def _constant(node: tree.Operand, scope: Scope) -> Value:
    value = value_of(node, scope)
    if value is None:
        hint = "a loop goes over constants or variables of the loops around it; quote strings"
        raise language_error("a property has no one value here", node.span, hint)
    return value


def _range_axis(start: Value, stop: Value, node: tree.Range, scope: Scope) -> Axis:
    if describe(start) != describe(stop):
        what = f"a range from {describe(start)} to {describe(stop)}"
        raise language_error(what, node.span, "let both ends be of one kind")
    match start:
        case dt.datetime():
            return TimeAxis(start, _time_step(node), Step(), scope.zone)
        case dt.date():
            return DateAxis(start, _date_step(node), Step())
        case int() | float() if not isinstance(start, bool):
            return NumberAxis(start, _number_step(node), 0)
        case _:
            hint = "list the values instead: for s in ('CA', 'NY')"
            if isinstance(start, str) and read_date(start):
                hint = f"write dates without quotes: {start}..{stop}"
            raise language_error(f"there is no range of {describe(start)}s", node.span, hint)


def _number_step(node: tree.Range) -> int | float:
    if node.step is None:
        return 1
    value = node.step.value if isinstance(node.step, tree.Literal) else None
    if not isinstance(value, int | float) or isinstance(value, bool) or value == 0:
        raise language_error("a range of numbers steps by a number", node.step.span, "step 5")
    return value


def _date_step(node: tree.Range) -> Step:
    if node.step is None:
        return Step(days=1)
    if isinstance(node.step, tree.Duration) and is_whole_days(node.step.unit):
        return _step(node.step)
    raise language_error("a range of dates steps by dates", node.step.span, "step 1 month")


def _time_step(node: tree.Range) -> Step:
    if node.step is None:
        raise language_error("a range of timestamps needs a step", node.span, "step 1 hour")
    if isinstance(node.step, tree.Duration):
        return _step(node.step)
    raise language_error("a range of timestamps steps by a time", node.step.span, "step 1 hour")


def _step(node: tree.Duration) -> Step:
    if node.count == 0:
        raise language_error("a step of 0 never ends", node.span)
    return step_of(node.count, node.unit)


def _count(axis: Axis, stop: Value, node: tree.Range) -> int:
    size = node.step.value if isinstance(node.step, tree.Literal) else None
    size = node.step.count if isinstance(node.step, tree.Duration) else size
    if isinstance(size, int | float) and size < 0:
        return count_while(lambda index: axis.boundary(index, 0) >= stop)  # type: ignore[operator]
    return count_while(lambda index: axis.boundary(index, 0) <= stop)  # type: ignore[operator]
