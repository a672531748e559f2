"""Statements to plans: named predicates of views, and the groups of a grouped graph.

Every predicate is complete: it holds what the base view asks, what the collection shares (`within`)
and what the view itself asks, so that it can be evaluated on the graph. This module cannot know
whether a window is empty: it returns the names of the windows that the caller must drop if they
are.

Alternatives of a grouping are multiplied out: `([young: ...], [old: ...], city)` is a grouping by
city of the young and one of the old. A section that groups by nothing leaves every vertex by
itself, with its properties; one of edges makes one edge of all edges between two groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from graphtide.lang.diagnostics import Span, language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.facts import GraphFacts, remembered_facts
from graphtide.lang.gvdl.generate import Generated, Ground, check_limit, count_views, generate_views
from graphtide.lang.gvdl.resolve import PredicateScope, find_property, resolve
from graphtide.lang.gvdl.statements import CreateCollection, CreateGrouped, CreateView
from graphtide.lang.gvdl.tree import AggregateCall, Alternatives, Grouping, Section, Term
from graphtide.lang.gvdl.unparse import unparse
from graphtide.lang.gvdl.windows import outside_windows
from graphtide.model.schema import GraphSchema, PropertyType, closest, name_hint
from graphtide.plan import grouping as plan
from graphtide.plan.grouping import AggregateFunction, GroupAggregate
from graphtide.plan.predicates import (
    ANY_EDGE,
    EVERYTHING,
    NamedPredicate,
    Predicate,
    PropertyRef,
    Unviewed,
    conjunction,
)


@dataclass(frozen=True)
class LoweredViews:
    """The views of a collection in the order written, and which to drop if they are empty.

    `unviewed` says why edges may be in none of them.
    """

    views: tuple[NamedPredicate, ...]
    drop_empty: frozenset[str] = frozenset()
    unviewed: Unviewed = ANY_EDGE


def lower_view(
    statement: CreateView,
    schema: GraphSchema,
    *,
    base: Predicate = EVERYTHING,
    timezone: str = "UTC",
) -> NamedPredicate:
    """The view that a statement creates, as a predicate over the graph."""
    predicate = resolve(statement.predicate, PredicateScope.of(schema, timezone))
    return NamedPredicate(statement.name, conjunction(base, predicate))


def lower_views(
    written: CreateCollection | tree.ViewList | Sequence[tree.Item],
    schema: GraphSchema,
    facts: GraphFacts,
    *,
    base: Predicate = EVERYTHING,
    timezone: str = "UTC",
) -> LoweredViews:
    """The views of a collection, as predicates over the graph.

    `base` is the predicate of the view that the collection stands on, `timezone` the graph's.
    Nothing is built if there would be too many views.
    """
    if not isinstance(written, CreateCollection | tree.ViewList):
        written = tree.ViewList(tuple(written))
    scope = PredicateScope.of(schema, timezone)
    if written.within is not None:
        base = conjunction(base, resolve(written.within, scope))
    ground = Ground(remembered_facts(facts), base)
    check_limit(count_views(written.items, scope, ground), written.span)
    views = generate_views(written.items, scope, ground)
    _check_view_names(views, written.span)
    return LoweredViews(
        tuple(
            NamedPredicate(
                str(view.name), conjunction(base, view.predicate), view.removed, bool(view.windows)
            )
            for view in views
        ),
        frozenset(str(view.name) for view in views if view.drop_empty),
        Unviewed(base, outside_windows([item for view in views for item in view.windows])),
    )


def _check_view_names(found: Sequence[Generated], span: Span | None) -> None:
    if not found:
        raise language_error("this collection has no views", span, "write at least one `[...]`")
    seen: set[str | None] = set()
    for view in found:
        if view.name in seen:
            raise language_error(
                f"two views are called '{view.name}'",
                view.span,
                "name each apart: in a loop with its variable, as in `[upto-{y}: ...]`; "
                "windows and removals take `named '...'`",
            )
        seen.add(view.name)


# Words of other languages for the same.
_WORDS = {"mean": "avg", "average": "avg", "minimum": "min", "maximum": "max", "total": "sum"}
_NUMBERS_ONLY = (AggregateFunction.SUM, AggregateFunction.AVG)


def lower_aggregate(call: AggregateCall, scope: PredicateScope) -> GroupAggregate:
    """The aggregate that a call means; named `count`, `avg_age` where it has no name."""
    function = _function(call)
    if call.operand is None:
        if function is not AggregateFunction.COUNT:
            hint = f"name a property: `{function}(age)`; `count(*)` counts"
            raise language_error(f"{function} needs a property", call.span, hint)
        return GroupAggregate(function, None, call.name or "count")
    ref = group_property(call.operand, scope)
    _check_type(function, ref, call)
    owner = "" if scope.vertex_only or ref.owner == "edge" else f"{ref.owner}_"
    return GroupAggregate(function, ref, call.name or f"{function}_{owner}{ref.name}")


def group_property(node: tree.PropertyName, scope: PredicateScope) -> PropertyRef:
    """The property that is grouped by or aggregated; numbers that Graphtide gave are none."""
    ref = find_property(node, scope)
    if ref.name in ("_edge", "_vertex"):
        hint = "group by an id or a property, which the data have"
        raise language_error(f"{ref.name} is a number of Graphtide's own", node.span, hint)
    return ref


def _function(call: AggregateCall) -> AggregateFunction:
    try:
        return AggregateFunction(call.function)
    except ValueError:
        known = [item.value for item in AggregateFunction]
        near = _WORDS.get(call.function) or closest(call.function, known)
        hint = f"did you mean `{near}`? " if near else ""
        hint += f"there are {', '.join(known)}"
        raise language_error(f"there is no aggregate '{call.function}'", call.span, hint) from None


def _check_type(function: AggregateFunction, ref: PropertyRef, call: AggregateCall) -> None:
    if function in _NUMBERS_ONLY and not ref.type.is_number:
        hint = f"`count({ref.name})` counts its values"
        hint += "" if ref.type is PropertyType.BOOL else f", `min({ref.name})` is the first of them"
        what = f"{ref.name} is {ref.type}, and {function} is for numbers"
        raise language_error(what, call.span, hint)
    if function in (AggregateFunction.MIN, AggregateFunction.MAX) and ref.type is PropertyType.BOOL:
        hint = f"`count({ref.name})` counts its values; group by it to tell them apart"
        raise language_error(f"{ref.name} is bool and has no order", call.span, hint)


_MOST_GROUPINGS = 1_000
_CONDITION = "group"

# A term is a key, or the alternatives that it stands for, each with its name.
_Choice = plan.Key | tuple[str, Predicate]


def lower_groups(
    statement: CreateGrouped,
    schema: GraphSchema,
    *,
    base: Predicate = EVERYTHING,
    timezone: str = "UTC",
) -> plan.GroupPlan:
    """The plan that a statement means on a graph; `base` is the view it stands on."""
    scope = PredicateScope.of(schema, timezone)
    labels = _labels(statement.vertices)
    written = statement.vertices or (Section(span=statement.span),)
    on_vertices = replace(scope, vertex_only=True)
    vertices = [_section(section, on_vertices, _itself(schema)) for section in written]
    vertices = _qualified(vertices)
    written_edges = statement.edges or (Section(span=statement.span),)
    edges = [
        _between(_section(section, scope, plan.RowGrouping()), section, labels, base)
        for section in written_edges
    ]
    return plan.GroupPlan(
        plan.GroupTable(tuple(vertices), _checked_names(vertices, written)),
        plan.GroupTable(tuple(edges), _checked_names(edges, written_edges)),
        named_keys=sum(max(1, len(section.groupings)) for section in written) > 1,
    )


def _section(section: Section, scope: PredicateScope, alone: plan.RowGrouping) -> plan.GroupSection:
    where = EVERYTHING if section.where is None else resolve(section.where, scope)
    groupings = [item for one in section.groupings for item in _multiplied(one, scope)]
    _check_different(groupings, section)
    return plan.GroupSection(
        where,
        tuple(groupings) or (alone,),
        tuple(lower_aggregate(call, scope) for call in section.aggregates),
        section.label,
    )


def _itself(schema: GraphSchema) -> plan.RowGrouping:
    """A vertex by itself: it keeps its properties, and is called by its id."""
    properties = [PropertyRef("src", item.name, item.type) for item in schema.vertex]
    known = schema.vertex_properties()
    own = [name for name in ("label", "id") if name in known]
    naming = own if len(schema.vertex_labels) > 1 else ["id"]
    labels = [PropertyRef("src", "label", known["label"])] if schema.vertex_labels else []
    return plan.RowGrouping(
        tuple(_key(item) for item in (*labels, *properties)),
        naming=tuple(_key(PropertyRef("src", name, known[name])) for name in naming),
    )


def _multiplied(node: Grouping, scope: PredicateScope) -> list[plan.RowGrouping]:
    choices = [_choices(term, scope) for term in node.terms]
    if prod(map(len, choices)) > _MOST_GROUPINGS:
        hint = "group by a property rather than by conditions"
        what = f"these alternatives make more than {_MOST_GROUPINGS:,} groupings"
        raise language_error(what, node.span, hint)
    return [_grouping(chosen) for chosen in product(*choices)]


def _choices(term: Term, scope: PredicateScope) -> list[_Choice]:
    match term:
        case Alternatives(views):
            return [_condition(view.predicate, view.name, scope) for view in views]
        case tree.PropertyName():
            return [_key(group_property(term, scope), vertex=scope.vertex_only)]
        case _:
            return [_condition(term, None, scope)]


def _condition(
    node: tree.Predicate, name: str | None, scope: PredicateScope
) -> tuple[str, Predicate]:
    return name or unparse(node), resolve(node, scope)


def _grouping(chosen: Iterable[_Choice]) -> plan.RowGrouping:
    parts = list(chosen)
    keys = tuple(part for part in parts if isinstance(part, plan.Key))
    conditions = [part for part in parts if not isinstance(part, plan.Key)]
    names = [name for name, _ in conditions]
    return plan.RowGrouping(
        tuple(dict.fromkeys(keys)),
        conjunction(*(predicate for _, predicate in conditions)),
        ", ".join(names) if names else None,
        tuple(dict.fromkeys(keys)),
    )


def _key(ref: PropertyRef, *, vertex: bool = True) -> plan.Key:
    prefix = "" if vertex or ref.owner == "edge" else f"{ref.owner}_"
    return plan.Key(ref, prefix + ref.name)


def _qualified(sections: Sequence[plan.GroupSection]) -> list[plan.GroupSection]:
    """Sections of which each says which it is, if there are several."""
    if len(sections) == 1:
        return list(sections)
    return [
        replace(section, qualifier=section.label or f"#{place + 1}")
        for place, section in enumerate(sections)
    ]


def _labels(sections: Sequence[Section]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, section in enumerate(sections):
        if section.label in places:
            what = f"two sections of vertices are called '{section.label}'"
            raise language_error(what, section.span, "give each a name of its own behind `as`")
        if section.label is not None:
            places[section.label] = place
    return places


def _between(
    lowered: plan.GroupSection, written: Section, labels: dict[str, int], base: Predicate
) -> plan.GroupSection:
    where = conjunction(base, lowered.where)
    if written.between is None:
        return replace(lowered, where=where)
    src, dst = (_place(label, labels, written.span) for label in written.between)
    return replace(lowered, where=where, between=(src, dst))


def _place(label: str, labels: dict[str, int], span: Span | None) -> int:
    if label in labels:
        return labels[label]
    hint = name_hint(label, labels, "name one with `vertices as NAME ...`")
    raise language_error(f"no section of vertices is called '{label}'", span, hint)


def _check_different(groupings: Sequence[plan.RowGrouping], section: Section) -> None:
    seen = set()
    for item in groupings:
        same = (item.condition_name, item.keys)
        if same in seen:
            what = f"a grouping is there twice: {item}"
            raise language_error(what, section.span, "leave one out, or name its conditions apart")
        seen.add(same)


def _checked_names(lowered: Sequence[plan.GroupSection], written: Sequence[Section]) -> str | None:
    """The name of the property for conditions, if there are any, once all names are their own."""
    keys = _key_names(lowered, written)
    types: dict[str, object] = {}
    for section, source in zip(lowered, written, strict=True):
        here: set[str] = set()
        for item, call in zip(section.aggregates, source.aggregates, strict=True):
            name = item.name.lower()
            if name in keys or name in here:
                whose = "a property that is grouped by or kept" if name in keys else "another one"
                what = f"this aggregate has the name of {whose}: '{item.name}'"
                raise language_error(what, call.span, f"name it: `{_called(item)} as ...`")
            if types.setdefault(name, item.type) != item.type:
                what = f"'{item.name}' is {item.type} here and {types[name]} in another section"
                raise language_error(what, call.span, f"name it: `{_called(item)} as ...`")
            here.add(name)
    conditions = (item.condition_name for one in lowered for item in one.groupings)
    if all(name is None for name in conditions):
        return None
    free = _CONDITION
    while free in keys or free in types:
        free += "_"
    return free


def _key_names(
    lowered: Sequence[plan.GroupSection], written: Sequence[Section]
) -> dict[str, PropertyRef]:
    """The properties of the result that groups are made by; `src.city` is `src_city` there."""
    items: dict[str, PropertyRef] = {}
    for place, section in enumerate(lowered):
        for key in (key for grouping in section.groupings for key in grouping.keys):
            if items.setdefault(key.name.lower(), key.item) != key.item:
                what = f"two properties that are grouped by would be called '{key.name}'"
                raise language_error(what, written[place].span, "group by one of them")
    return items


def _called(item: plan.GroupAggregate) -> str:
    return f"{item.function}({'*' if item.item is None else item.item.name})"
