"""What the parser meets becomes a tree: one method for each rule of the grammar."""

from __future__ import annotations

from typing import Any

from lark import Token

from graphtide.lang.datalog import tree
from graphtide.lang.datalog.build_terms import TermBuilder

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

    def program(self, *statements: tree.Statement) -> tree.ProgramText:
        """A whole text."""
        return tree.ProgramText(statements)

    def only_goal(self, atom: tree.Atom, _: Token | None) -> tree.Atom:
        """A goal alone."""
        return atom

    def names(self, *names: Token) -> tuple[Token, ...]:
        """a, b"""
        return names

    def attributes(self, *attributes: tree.Attribute) -> tuple[tree.Attribute, ...]:
        """x: number, y: symbol"""
        return attributes

    def attribute(self, name: Token, kind: Token) -> tree.Attribute:
        """x: number"""
        return tree.Attribute(str(name), str(kind), span=self.span(name, kind))

    def declaration(
        self,
        keyword: Token,
        names: tuple[Token, ...],
        attributes: tuple[tree.Attribute, ...] | None,
        *qualifiers: Token,
    ) -> tree.RelationDeclaration:
        """.decl a(x: number)"""
        for item in qualifiers:
            raise self.refusal(f"`{item}` is not taken here", item, _QUALIFIERS[str(item)])
        span = self.span(keyword, names[-1])
        return tree.RelationDeclaration(tuple(map(str, names)), attributes or (), span=span)

    def subtype(self, keyword: Token, name: Token, base: Token) -> tree.TypeDeclaration:
        """.type city <: symbol"""
        return tree.TypeDeclaration(str(name), (str(base),), span=self.span(keyword, base))

    def union_type(self, keyword: Token, name: Token, *bases: Token) -> tree.TypeDeclaration:
        """.type place = city | country"""
        span = self.span(keyword, bases[-1])
        return tree.TypeDeclaration(str(name), tuple(map(str, bases)), span=span)

    def record_type(
        self, keyword: Token, name: Token, fields: tuple[tree.Attribute, ...] | None
    ) -> tree.RecordDeclaration:
        """.type id = [counter: number, node: number]"""
        return tree.RecordDeclaration(str(name), fields or (), span=self.span(keyword, name))

    def old_symbol_type(self, keyword: Token, name: Token) -> tree.TypeDeclaration:
        """.type city, .symbol_type city"""
        return tree.TypeDeclaration(str(name), ("symbol",), span=self.span(keyword, name))

    def old_number_type(self, keyword: Token, name: Token) -> tree.TypeDeclaration:
        """.number_type age"""
        return tree.TypeDeclaration(str(name), ("number",), span=self.span(keyword, name))

    def directive(
        self, keyword: Token, names: tuple[Token, ...], settings: tuple[Any, ...] | None
    ) -> tree.Directive:
        """.input edge(filename="edges.tsv")"""
        span = self.span(keyword, names[-1])
        return tree.Directive(str(keyword)[1:], tuple(map(str, names)), settings or (), span=span)

    def settings(self, *settings: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """a=b, c="d" """
        return settings

    def setting(self, name: Token, value: Token) -> tuple[str, str]:
        """delimiter=" " """
        return str(name), self.unquoted(value) if value.type == "STRING" else str(value)

    def heads(self, *atoms: tree.Atom) -> tuple[tree.Atom, ...]:
        """a(x), b(x)"""
        return atoms

    def fact(self, heads: tuple[tree.Atom, ...], _: Token) -> tree.Rule:
        """edge(1, 2)."""
        return tree.Rule(heads, span=heads[0].span)

    def rule(
        self,
        heads: tuple[tree.Atom, ...],
        body: tree.Body,
        end: Token,
        order: tuple[int, ...] | None,
    ) -> tree.Rule:
        """tc(x, y) :- edge(x, y)."""
        return tree.Rule(heads, body, order, span=self.between(heads[0].span, end))

    def subsumption(
        self, dominated: tree.Atom, other: tree.Atom, body: tree.Body, end: Token
    ) -> tree.Subsumption:
        """d(x, a) <= d(x, b) :- b <= a."""
        return tree.Subsumption(dominated, other, body, span=self.between(dominated.span, end))

    def query(self, atom: tree.Atom, _: Token) -> tree.Query:
        """?- tc(1, x)."""
        return tree.Query(atom, span=atom.span)

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
