"""Grouped graphs as Python asks for them, brought to one form: a statement of GVDL.

What GVDL can say in one section of vertices and one of edges can be said here. Several sections,
and `between`, are written as GVDL: `session.execute("create view ...")`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import replace as with_fields

from graphtide.lang.gvdl.parse import parse_aggregates, parse_groupings
from graphtide.lang.gvdl.requests import written_predicate
from graphtide.lang.gvdl.sections import AggregateCall, Alternatives, Grouping, Section, Term
from graphtide.lang.gvdl.statements import CreateGrouped
from graphtide.lang.gvdl.tree import View
from graphtide.model.errors import InputError

TermText = str | Mapping[str, str]
Groupings = TermText | Iterable[TermText | Iterable[TermText]]
Aggregates = str | Iterable[str] | Mapping[str, str]


@dataclass(frozen=True)
class Asked:
    """What is asked of the vertices or of the edges."""

    where: str | None
    aggregates: Aggregates
    by: Groupings = ()

    def section(self) -> Section:
        """The section that GVDL would have."""
        where = None if self.where is None else written_predicate(self.where)
        groupings, calls = written_groupings(self.by), written_aggregates(self.aggregates)
        return Section(None, where, groupings, calls)


def grouped_statement(
    name: str, base: str, vertices: Asked, edges: Asked, *, replace: bool
) -> CreateGrouped:
    """The statement that makes a grouped graph of one section of vertices and one of edges."""
    return CreateGrouped(name, (vertices.section(),), (edges.section(),), base, replace)


def written_groupings(by: Groupings) -> tuple[Grouping, ...]:
    """What stands behind `group by`, from text, a list, or a list of lists."""
    if isinstance(by, str):
        return parse_groupings(by)
    if isinstance(by, Mapping):
        return (_grouping([by]),)
    terms = _listed(by)
    if terms and all(_is_list(term) for term in terms):
        return tuple(_grouping(_listed(term)) for term in terms)
    return (_grouping(terms),) if terms else ()


def written_aggregates(aggregates: Aggregates) -> tuple[AggregateCall, ...]:
    """Aggregates from text, a list of texts, or a dict of texts by name."""
    if isinstance(aggregates, str):
        return parse_aggregates(aggregates)
    if isinstance(aggregates, Mapping):
        return tuple(_named(name, text) for name, text in aggregates.items())
    return tuple(call for text in _listed(aggregates) for call in parse_aggregates(_text(text)))


def _grouping(terms: Iterable[object]) -> Grouping:
    return Grouping(tuple(map(_term, terms)))


def _term(item: object) -> Term:
    if not isinstance(item, Mapping):
        return written_predicate(item)
    if not item:
        raise _unusable(item)
    return Alternatives(
        tuple(View(written_predicate(text), name=str(name)) for name, text in item.items())
    )


def _named(name: object, text: object) -> AggregateCall:
    calls = parse_aggregates(_text(text))
    if len(calls) != 1 or not isinstance(name, str):
        raise InputError(
            f"{name!r} names {len(calls)} aggregates", hint='name each: {"mean": "avg(age)"}'
        )
    return with_fields(calls[0], name=name)


def _text(item: object) -> str:
    if isinstance(item, str):
        return item
    raise InputError(
        f"an aggregate is GVDL text, not a {type(item).__name__}",
        hint='["count(*)", "avg(age)"], or by name: {"mean": "avg(age)"}',
    )


def _is_list(item: object) -> bool:
    return isinstance(item, Iterable) and not isinstance(item, str | Mapping)


def _listed(items: object) -> list[object]:
    if isinstance(items, Iterable) and not isinstance(items, str | Mapping):
        return list(items)
    raise _unusable(items)


def _unusable(item: object) -> InputError:
    return InputError(
        f"{item!r} does not say what to group by",
        hint='give properties and conditions: by=["city", "age > 30"], or GVDL: by="city, state"',
    )
