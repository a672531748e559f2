"""What the parser meets becomes a tree: one method for each rule of the grammar."""

from __future__ import annotations

from typing import Any

from lark import Token

from graphtide.lang.datalog.build_terms import TermBuilder
from graphtide.lang.datalog.tree import (
    Atom,
    Attribute,
    Body,
    Directive,
    ProgramText,
    Query,
    RecordDeclaration,
    RelationDeclaration,
    Rule,
    Statement,
    Subsumption,
    TypeDeclaration,
)

_QUALIFIERS = {
    "btree": "it says how Soufflé stores the relation; leave it out",
    "btree_delete": "it says how Soufflé stores the relation; leave it out",
    "brie": "it says how Soufflé stores the relation; leave it out",
    "eqrel": "write the rules of an equivalence: r(x, y) :- r(y, x). r(x, z) :- r(x, y), r(y, z).",
    "inline": "leave it out: a relation that nothing reads twice is not stored twice",
    "no_inline": "leave it out: nothing is inlined",
    "magic": "leave it out: what is asked for with known arguments is found by them anyway",
    "no_magic": "leave it out, and give `magic=False` where the program is made",
    "overridable": "components are not taken; leave it out",
    "override": "components are not taken; leave it out",
    "choice-domain": "every fact that a rule derives stays; leave it out",
    "input": "write `.input` as a statement of its own",
    "output": "write `.output` as a statement of its own",
    "printsize": "write `.printsize` as a statement of its own",
}


class Builder(TermBuilder):
    """Statements; terms and bodies are those of `TermBuilder`."""

    def program(self, *statements: Statement) -> ProgramText:
        """A whole text."""
        return ProgramText(statements)

    def only_goal(self, atom: Atom, _: Token | None) -> Atom:
        """A goal alone."""
        return atom

    def names(self, *names: Token) -> tuple[Token, ...]:
        """a, b"""
        return names

    def attributes(self, *attributes: Attribute) -> tuple[Attribute, ...]:
        """x: number, y: symbol"""
        return attributes

    def attribute(self, name: Token, kind: Token) -> Attribute:
        """x: number"""
        return Attribute(str(name), str(kind), span=self.span(name, kind))

    def declaration(
        self,
        keyword: Token,
        names: tuple[Token, ...],
        attributes: tuple[Attribute, ...] | None,
        *qualifiers: Token,
    ) -> RelationDeclaration:
        """.decl a(x: number)"""
        for item in qualifiers:
            raise self.refusal(f"`{item}` is not taken here", item, _QUALIFIERS[str(item)])
        span = self.span(keyword, names[-1])
        return RelationDeclaration(tuple(map(str, names)), attributes or (), span=span)

    def subtype(self, keyword: Token, name: Token, base: Token) -> TypeDeclaration:
        """.type city <: symbol"""
        return TypeDeclaration(str(name), (str(base),), span=self.span(keyword, base))

    def union_type(self, keyword: Token, name: Token, *bases: Token) -> TypeDeclaration:
        """.type place = city | country"""
        span = self.span(keyword, bases[-1])
        return TypeDeclaration(str(name), tuple(map(str, bases)), span=span)

    def record_type(
        self, keyword: Token, name: Token, fields: tuple[Attribute, ...] | None
    ) -> RecordDeclaration:
        """.type id = [counter: number, node: number]"""
        return RecordDeclaration(str(name), fields or (), span=self.span(keyword, name))

    def old_symbol_type(self, keyword: Token, name: Token) -> TypeDeclaration:
        """.type city, .symbol_type city"""
        return TypeDeclaration(str(name), ("symbol",), span=self.span(keyword, name))

    def old_number_type(self, keyword: Token, name: Token) -> TypeDeclaration:
        """.number_type age"""
        return TypeDeclaration(str(name), ("number",), span=self.span(keyword, name))

    def directive(
        self, keyword: Token, names: tuple[Token, ...], settings: tuple[Any, ...] | None
    ) -> Directive:
        """.input edge(filename="edges.tsv")"""
        span = self.span(keyword, names[-1])
        return Directive(str(keyword)[1:], tuple(map(str, names)), settings or (), span=span)

    def settings(self, *settings: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """a=b, c="d" """
        return settings

    def setting(self, name: Token, value: Token) -> tuple[str, str]:
        """delimiter=" " """
        return str(name), self.unquoted(value) if value.type == "STRING" else str(value)

    def heads(self, *atoms: Atom) -> tuple[Atom, ...]:
        """a(x), b(x)"""
        return atoms

    def fact(self, heads: tuple[Atom, ...], _: Token) -> Rule:
        """edge(1, 2)."""
        return Rule(heads, span=heads[0].span)

    def rule(
        self, heads: tuple[Atom, ...], body: Body, end: Token, order: tuple[int, ...] | None
    ) -> Rule:
        """tc(x, y) :- edge(x, y)."""
        return Rule(heads, body, order, span=self.between(heads[0].span, end))

    def subsumption(self, dominated: Atom, other: Atom, body: Body, end: Token) -> Subsumption:
        """d(x, a) <= d(x, b) :- b <= a."""
        return Subsumption(dominated, other, body, span=self.between(dominated.span, end))

    def query(self, atom: Atom, _: Token) -> Query:
        """?- tc(1, x)."""
        return Query(atom, span=atom.span)

    def plan(self, keyword: Token, orders: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
        """.plan 0:(2, 1)"""
        if len(set(orders)) > 1:
            raise self.refusal(
                "a rule has one order of its atoms, whichever of them has changed",
                keyword,
                "give one order: .plan 0:(2, 1)",
            )
        return orders[0]

    def orders(self, *orders: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """0:(1, 2), 1:(2, 1)"""
        return orders

    def order(self, _: Token, *places: Token | None) -> tuple[int, ...]:
        """0:(1, 2)"""
        return tuple(int(place) for place in places if place is not None)
