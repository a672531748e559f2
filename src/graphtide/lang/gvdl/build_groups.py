"""From the parser's reductions to the sections of a grouped graph: one method for each rule."""

# Each method is the rule of its name in grammar.lark, which is its documentation.
# ruff: noqa: D102

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from lark import Token

from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.build_views import ViewBuilder
from graphtide.lang.gvdl.literals import read_string
from graphtide.lang.gvdl.sections import AggregateCall, Alternatives, Grouping, Section, Term
from graphtide.lang.gvdl.statements import CreateGrouped

Groupings = tuple[Grouping, ...] | None
Aggregates = tuple[AggregateCall, ...] | None


class _Kept(NamedTuple):
    """A section and what it is of."""

    kind: str
    section: Section


class GroupBuilder(ViewBuilder):
    """Builds statements that make a grouped graph, on top of views."""

    def create_grouped(
        self,
        replace: bool | None,
        name: Token,
        base: Token | None,
        sections: tuple[_Kept, ...],
        path: Token | None,
    ) -> CreateGrouped:
        return CreateGrouped(
            str(name),
            tuple(item.section for item in sections if item.kind == "vertices"),
            tuple(item.section for item in sections if item.kind == "edges"),
            None if base is None else str(base),
            bool(replace),
            None if path is None else read_string(path),
            span=self.around(name),
        )

    def sections(self, *found: _Kept) -> tuple[_Kept, ...]:
        return found

    def vertex_section(
        self,
        label: Token | None,
        where: tree.Predicate | None,
        groupings: Groupings,
        aggregates: Aggregates,
    ) -> _Kept:
        span = self.around(label, where, groupings, aggregates)
        text = None if label is None else str(label)
        return _Kept("vertices", Section(text, where, groupings or (), aggregates or (), span=span))

    def edge_section(
        self,
        label: Token | None,
        between: tuple[Token, Token] | None,
        where: tree.Predicate | None,
        groupings: Groupings,
        aggregates: Aggregates,
    ) -> _Kept:
        span = self.around(label, between, where, groupings, aggregates)
        text = None if label is None else str(label)
        ends = None if between is None else (str(between[0]), str(between[1]))
        section = Section(text, where, groupings or (), aggregates or (), ends, span=span)
        return _Kept("edges", section)

    def between_sections(self, src: Token, dst: Token) -> tuple[Token, Token]:
        return src, dst

    def groupings(self, *found: Grouping) -> tuple[Grouping, ...]:
        return found

    def only_groupings(self, found: tuple[Grouping, ...]) -> tuple[Grouping, ...]:
        return found

    def bare_grouping(self, *properties: tree.PropertyName) -> tuple[Grouping, ...]:
        return (Grouping(properties, span=self.around(properties)),)

    def grouping(self, *terms: tree.Predicate | tree.View) -> Grouping:
        """Conditions in brackets that stand side by side are alternatives of each other."""
        parts: list[Term] = []
        for is_view, run in groupby(terms, lambda term: isinstance(term, tree.View)):
            if is_view:
                views = tuple(term for term in run if isinstance(term, tree.View))
                parts.append(Alternatives(views, span=self.around(views)))
            else:
                parts.extend(term for term in run if not isinstance(term, tree.View))
        return Grouping(tuple(parts), span=self.around(terms))

    def aggregates(self, *calls: AggregateCall) -> tuple[AggregateCall, ...]:
        return calls

    def only_aggregates(self, calls: tuple[AggregateCall, ...]) -> tuple[AggregateCall, ...]:
        return calls

    def aggregate(
        self, function: Token, operand: tree.PropertyName | None, name: Token | None
    ) -> AggregateCall:
        span = self.around(function, operand, name)
        return AggregateCall(
            function.lower(), operand, None if name is None else str(name), span=span
        )

    def named_aggregate(
        self, name: Token, function: Token, operand: tree.PropertyName | None
    ) -> AggregateCall:
        span = self.around(name, function, operand)
        return AggregateCall(function.lower(), operand, str(name), span=span)

    def everything(self) -> None:
        return None
