"""Items of a view list to views: plain views, loops, windows, products, removals.

`count_views` multiplies numbers before any view is built, so that a slip in a generator that asks
for millions of views is refused at once.

An item that is removed takes away the edges of which its predicate is true; an edge of which it is
unknown stays. So a removal is `not (p is true)`, not `not p`. Single edges, vertices or values are
removed too, and pairs of them (N-1 and N-2 contingencies): an edge by its number, a vertex by its
number on either end, a value with all edges that have it. So every view is the whole graph but one
or two cut points, whatever ids and properties look like.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from graphtide.lang.diagnostics import Span, language_error, render_span
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.calendar import (
    Axis,
    DateAxis,
    NumberAxis,
    TimeAxis,
    TimeStep,
    count_while,
    is_whole_days,
    step_of,
)
from graphtide.lang.gvdl.facts import GraphFacts, NamedEdge, NamedVertex
from graphtide.lang.gvdl.literals import read_date
from graphtide.lang.gvdl.resolve import (
    PredicateScope,
    describe,
    fill_holes,
    find_property,
    resolve,
    value_of,
    write_value,
)
from graphtide.lang.gvdl.windows import WindowList, list_windows
from graphtide.model.errors import LimitError
from graphtide.model.schema import PropertyType
from graphtide.plan import predicates as plan
from graphtide.plan.predicates import Constant, Operator, Owner, PropertyRef, Value


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


def loop_values(node: tree.Range | tree.ValueList, scope: PredicateScope) -> LoopValues:
    """The values that a loop goes through, in order. A range without values is an error."""
    if isinstance(node, tree.ValueList):
        listed = tuple(_constant(value, scope) for value in node.values)
        return LoopValues(len(listed), listed)
    start, stop = _constant(node.start, scope), _constant(node.stop, scope)
    axis = _range_axis(start, stop, node, scope)
    count = _count_values(axis, stop, node)
    if count == 0:
        hint = "both ends are included; count down with a negative step"
        raise language_error("this range has no values", node.span, hint)
    return LoopValues(count, axis=axis)


def _constant(node: tree.Operand, scope: PredicateScope) -> Value:
    value = value_of(node, scope)
    if value is None:
        hint = "a loop goes over constants or variables of the loops around it; quote strings"
        raise language_error("a property has no one value here", node.span, hint)
    return value


def _range_axis(start: Value, stop: Value, node: tree.Range, scope: PredicateScope) -> Axis:
    if describe(start) != describe(stop):
        what = f"a range from {describe(start)} to {describe(stop)}"
        raise language_error(what, node.span, "let both ends be of one kind")
    match start:
        case dt.datetime():
            return TimeAxis(start, _time_step(node), TimeStep(), scope.zone)
        case dt.date():
            return DateAxis(start, _date_step(node), TimeStep())
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


def _date_step(node: tree.Range) -> TimeStep:
    if node.step is None:
        return TimeStep(days=1)
    if isinstance(node.step, tree.Duration) and is_whole_days(node.step.unit):
        return _step(node.step)
    raise language_error("a range of dates steps by dates", node.step.span, "step 1 month")


def _time_step(node: tree.Range) -> TimeStep:
    if node.step is None:
        raise language_error("a range of timestamps needs a step", node.span, "step 1 hour")
    if isinstance(node.step, tree.Duration):
        return _step(node.step)
    raise language_error("a range of timestamps steps by a time", node.step.span, "step 1 hour")


def _step(node: tree.Duration) -> TimeStep:
    if node.count == 0:
        raise language_error("a step of 0 never ends", node.span)
    return step_of(node.count, node.unit)


def _count_values(axis: Axis, stop: Value, node: tree.Range) -> int:
    size = node.step.value if isinstance(node.step, tree.Literal) else None
    size = node.step.count if isinstance(node.step, tree.Duration) else size
    if isinstance(size, int | float) and size < 0:
        return count_while(lambda index: axis.boundary(index, 0) >= stop)  # type: ignore[operator]
    return count_while(lambda index: axis.boundary(index, 0) <= stop)  # type: ignore[operator]


class Removal(NamedTuple):
    """Something to take away: what it is called, and which edges stay without it.

    `vertex` is its number, if it is a vertex.
    """

    name: str
    stays: plan.Predicate
    vertex: int | None = None


def list_removals(
    node: tree.Outages, scope: PredicateScope, facts: GraphFacts, base: plan.Predicate, limit: int
) -> list[Removal]:
    """The single edges or vertices that a generator removes, by number, or the values, ascending.

    Edges are those of the base that satisfy the condition, values are those that these edges have;
    vertices are all of the graph's.
    """
    if node.what == "value":
        removals = _values(node, scope, facts, base, limit)
    elif node.what == "edge":
        wanted = resolve(node.where, scope) if node.where is not None else plan.EVERYTHING
        removals = _edges(facts.edges(plan.conjunction(base, wanted), limit))
    else:
        inner = replace(scope, vertex_only=True)
        wanted = resolve(node.where, inner) if node.where is not None else plan.EVERYTHING
        removals = _vertices(facts.vertices(wanted, limit))
    needed = 2 if node.pairs else 1
    if len(removals) < needed:
        plural = {"edge": "edges", "vertex": "vertices", "value": "values"}[node.what]
        few = f"{len(removals) or 'no'} {node.what if len(removals) == 1 else plural} to remove"
        hint = f"a condition that holds for {needed} or more {plural}"
        verb = "is" if len(removals) == 1 else "are"
        raise language_error(f"there {verb} {few}", node.span, hint)
    return removals


def _edges(facts: Sequence[NamedEdge]) -> list[Removal]:
    names = _apart([(f"{fact.src}-{fact.dst}", fact.edge) for fact in facts])
    stays = (_is_not("edge", "_edge", fact.edge) for fact in facts)
    return list(map(Removal, names, stays))


def _vertices(facts: Sequence[NamedVertex]) -> list[Removal]:
    names = _apart([(fact.id, fact.vertex) for fact in facts])
    stays = (
        plan.And((_is_not("src", "_vertex", fact.vertex), _is_not("dst", "_vertex", fact.vertex)))
        for fact in facts
    )
    return list(map(Removal, names, stays, (fact.vertex for fact in facts)))


def _values(
    node: tree.Outages, scope: PredicateScope, facts: GraphFacts, base: plan.Predicate, limit: int
) -> list[Removal]:
    """An edge whose value is missing stays in all views: it has none that is removed."""
    assert node.property is not None
    ref = find_property(node.property, scope)
    wanted = resolve(node.where, scope) if node.where is not None else plan.EVERYTHING
    return [
        Removal(
            write_value(value, scope.zone),
            plan.Not(plan.IsTrue(plan.Comparison(Operator.EQ, ref, Constant(value, ref.type)))),
        )
        for value in facts.values(ref, plan.conjunction(base, wanted), limit)
    ]


def _apart(named: Sequence[tuple[str, int]]) -> list[str]:
    """The names, with the number behind those that several share."""
    shared = Counter(name for name, _ in named)
    return [f"{name}#{number}" if shared[name] > 1 else name for name, number in named]


def _is_not(owner: Owner, name: str, number: int) -> plan.Comparison:
    ref = PropertyRef(owner, name, PropertyType.INT)
    return plan.Comparison(Operator.NE, ref, Constant(number, PropertyType.INT))


MAX_VIEWS = 100_000


class Generated(NamedTuple):
    """A view without what all views share; nameless if it is to be named by its place."""

    name: str | None
    predicate: plan.Predicate
    span: Span | None
    drop_empty: bool = False
    removed: tuple[int, ...] = ()
    windows: tuple[WindowList, ...] = ()


@dataclass(frozen=True)
class Ground:
    """What views are made of: the facts of a graph, and the predicate that all views share."""

    facts: GraphFacts
    base: plan.Predicate


def generate_views(
    items: Sequence[tree.Item], scope: PredicateScope, ground: Ground
) -> list[Generated]:
    """All views of a list, in order; those without a name are named by their place in it."""
    views = [view for item in items for view in generate_item(item, scope, ground)]
    return [
        view if view.name is not None else view._replace(name=f"view-{place}")
        for place, view in enumerate(views, start=1)
    ]


def generate_item(node: tree.Item, scope: PredicateScope, ground: Ground) -> Iterator[Generated]:
    match node:
        case tree.View():
            yield _view(node, scope)
        case tree.Loop(variable, values, body):
            for value in loop_values(values, scope):
                inner = scope.bind(variable, value)
                for item in body:
                    yield from generate_item(item, inner, ground)
        case tree.Group(items):
            yield from generate_views(items, scope, ground)
        case tree.Windows():
            windows = list_windows(node, scope, ground.facts, ground.base)
            for view in windows.views():
                named = view.name, view.predicate
                yield Generated(*named, node.span, node.drop_empty, windows=(windows,))
        case tree.Product():
            yield from _product(node, scope, ground)
        case tree.Combinations():
            yield from _combinations(node, scope, ground)
        case tree.Outages():
            yield from _outages(node, scope, ground)


def _view(node: tree.View, scope: PredicateScope) -> Generated:
    name = node.name
    if name is not None:
        name = fill_holes(name, scope, {}, node.span)
    elif scope.variables:
        bound = scope.variables.items()
        name = ", ".join(f"{item}={write_value(value, scope.zone)}" for item, value in bound)
    return Generated(name, resolve(node.predicate, scope), node.span)


def _product(node: tree.Product, scope: PredicateScope, ground: Ground) -> Iterator[Generated]:
    factors = [generate_views((factor,), scope, ground) for factor in node.factors]
    for parts in itertools.product(*factors):
        yield Generated(
            " * ".join(str(part.name) for part in parts),
            plan.conjunction(*(part.predicate for part in parts)),
            parts[0].span,
            any(part.drop_empty for part in parts),
            tuple(sorted({vertex for part in parts for vertex in part.removed})),
            tuple(windows for part in parts for windows in part.windows),
        )


def _combinations(
    node: tree.Combinations, scope: PredicateScope, ground: Ground
) -> Iterator[Generated]:
    parts = generate_views(node.items, scope, ground)
    for part in parts:
        if part.drop_empty:
            hint = "leave `drop empty` out: removing nothing is a view too"
            raise language_error("an empty item can be removed as well", part.span, hint)
    removals = [Removal(str(part.name), plan.Not(plan.IsTrue(part.predicate))) for part in parts]
    for place, chosen in enumerate(itertools.combinations(removals, node.count), start=1):
        yield _removed(node, place, chosen, scope)


def _outages(node: tree.Outages, scope: PredicateScope, ground: Ground) -> Iterator[Generated]:
    removals = list_removals(node, scope, ground.facts, ground.base, MAX_VIEWS)
    size = 2 if node.pairs else 1
    for place, chosen in enumerate(itertools.combinations(removals, size), start=1):
        yield _removed(node, place, chosen, scope)


def _removed(
    node: tree.Combinations | tree.Outages,
    place: int,
    chosen: Sequence[Removal],
    scope: PredicateScope,
) -> Generated:
    names = ", ".join(item.name for item in chosen)
    if node.name is None:
        name = f"without {names}"
    else:
        holes = {"names": names, "index": str(place)}
        name = fill_holes(node.name, scope, holes, node.span)
    stays = plan.conjunction(*(item.stays for item in chosen))
    removed = tuple(sorted(item.vertex for item in chosen if item.vertex is not None))
    return Generated(name, stays, node.span, removed=removed)


def count_views(items: Sequence[tree.Item], scope: PredicateScope, ground: Ground) -> int:
    total = 0
    for item in items:
        count = _count_item(item, scope, ground)
        check_limit(count, item.span)
        total += count
    return total


def check_limit(count: int, span: Span | None, *, more_to_come: bool = False) -> None:
    if count > MAX_VIEWS:
        makes = "makes at least" if more_to_come else "makes"
        raise LimitError(
            f"this {makes} {count:,} views; the limit is {MAX_VIEWS:,}",
            where=render_span(span) if span else None,
            hint="narrow the range, widen the step, or make several collections",
        )


def _count_item(node: tree.Item, scope: PredicateScope, ground: Ground) -> int:
    match node:
        case tree.View():
            return 1
        case tree.Loop():
            return _count_loop(node, scope, ground)
        case tree.Group(items):
            return count_views(items, scope, ground)
        case tree.Windows():
            return list_windows(node, scope, ground.facts, ground.base).count
        case tree.Product(factors):
            return math.prod(_count_item(factor, scope, ground) for factor in factors)
        case tree.Combinations():
            return _count_combinations(node, scope, ground)
        case tree.Outages():
            removals = list_removals(node, scope, ground.facts, ground.base, MAX_VIEWS)
            return math.comb(len(removals), 2) if node.pairs else len(removals)


def _count_loop(node: tree.Loop, scope: PredicateScope, ground: Ground) -> int:
    values = loop_values(node.values, scope)
    check_limit(values.count, node.span)
    total = 0
    for value in values:
        inner = scope.bind(node.variable, value)
        each = sum(_count_item(item, inner, ground) for item in node.body)
        if all(map(_is_steady, node.body)):
            return values.count * each
        total += each
        check_limit(total, node.span, more_to_come=True)
    return total


def _is_steady(node: tree.Item) -> bool:
    """Whether the number of views is the same for all values of the loops around."""
    match node:
        case tree.View():
            return True
        case tree.Loop(_, values, body):
            parts = (
                values.values
                if isinstance(values, tree.ValueList)
                else (
                    values.start,
                    values.stop,
                )
            )
            literal = all(isinstance(part, tree.Literal) for part in parts)
            steady = isinstance(values, tree.ValueList) or literal
            return steady and all(map(_is_steady, body))
        case tree.Group(items) | tree.Product(items) | tree.Combinations(_, items):
            return all(map(_is_steady, items))
        case _:
            return False


def _count_combinations(node: tree.Combinations, scope: PredicateScope, ground: Ground) -> int:
    size = count_views(node.items, scope, ground)
    if not 1 <= node.count <= size:
        hint = f"choose 1 to {size}"
        raise language_error(f"{node.count} of {size} cannot be removed", node.span, hint)
    return math.comb(size, node.count)
