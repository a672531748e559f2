"""Aggregates as written to aggregates of the plan: which functions there are, and of what."""

from __future__ import annotations

from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.scope import Scope, find_property
from graphtide.lang.gvdl.sections import AggregateCall
from graphtide.model.schema import PropertyType, closest
from graphtide.plan.grouping import Aggregate, Function
from graphtide.plan.predicates import PropertyRef

# Words of other languages for the same.
_WORDS = {"mean": "avg", "average": "avg", "minimum": "min", "maximum": "max", "total": "sum"}
_NUMBERS_ONLY = (Function.SUM, Function.AVG)


def lower_aggregate(call: AggregateCall, scope: Scope) -> Aggregate:
    """The aggregate that a call means; named `count`, `avg_age` where it has no name."""
    function = _function(call)
    if call.operand is None:
        if function is not Function.COUNT:
            hint = f"name a property: `{function}(age)`; `count(*)` counts"
            raise language_error(f"{function} needs a property", call.span, hint)
        return Aggregate(function, None, call.name or "count")
    ref = group_property(call.operand, scope)
    _check_type(function, ref, call)
    owner = "" if scope.vertex_only or ref.owner == "edge" else f"{ref.owner}_"
    return Aggregate(function, ref, call.name or f"{function}_{owner}{ref.name}")


def group_property(node: tree.PropertyName, scope: Scope) -> PropertyRef:
    """The property that is grouped by or aggregated; numbers that Graphtide gave are none."""
    ref = find_property(node, scope)
    if ref.name in ("_edge", "_vertex"):
        hint = "group by an id or a property, which the data have"
        raise language_error(f"{ref.name} is a number of Graphtide's own", node.span, hint)
    return ref


def _function(call: AggregateCall) -> Function:
    try:
        return Function(call.function)
    except ValueError:
        known = [item.value for item in Function]
        near = _WORDS.get(call.function) or closest(call.function, known)
        hint = f"did you mean `{near}`? " if near else ""
        hint += f"there are {', '.join(known)}"
        raise language_error(f"there is no aggregate '{call.function}'", call.span, hint) from None


def _check_type(function: Function, ref: PropertyRef, call: AggregateCall) -> None:
    if function in _NUMBERS_ONLY and not ref.type.is_number:
        hint = f"`count({ref.name})` counts its values"
        hint += "" if ref.type is PropertyType.BOOL else f", `min({ref.name})` is the first of them"
        what = f"{ref.name} is {ref.type}, and {function} is for numbers"
        raise language_error(what, call.span, hint)
    if function in (Function.MIN, Function.MAX) and ref.type is PropertyType.BOOL:
        hint = f"`count({ref.name})` counts its values; group by it to tell them apart"
        raise language_error(f"{ref.name} is bool and has no order", call.span, hint)
