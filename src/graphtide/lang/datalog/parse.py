"""Datalog text to syntax tree: one builder method for each rule of `grammar.lark`.

A call in a body is an atom unless its name is that of a function or test; a call within a term must
be a function. Only what the text alone tells is checked here; `mistakes` explains texts that do not
parse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from lark import Token

from graphtide.lang.datalog import tree
from graphtide.lang.datalog.mistakes import explain_failure
from graphtide.lang.datalog.tree import Atom, ProgramText
from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import Callbacks, Reader, parser_of
from graphtide.model.errors import InputError, LanguageError
from graphtide.model.limits import LITERALS

FUNCTIONS = ("cat", "substr", "strlen", "to_number", "to_string", "to_float", "min", "max")
TESTS = ("contains", "match")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_MOST = 1 << 63


class TermBuilder:
    """Terms and bodies; `source` is the text being read."""

    source: Source

    def span(self, first: Token, last: Token | None = None) -> Span:
        """From one token to the end of another."""
        end = first if last is None else last
        return Span(self.source, first.start_pos or 0, (end.start_pos or 0) + len(end))

    def between(self, first: Span | None, last: Token | Span | None) -> Span | None:
        """From the start of a span to the end of what comes last."""
        if first is None:
            return None
        end = self.span(last) if isinstance(last, Token) else last
        return Span(self.source, first.start, first.end if end is None else end.end)

    def refusal(self, what: str, place: Token | Span | None, hint: str) -> LanguageError:
        """The error for what is written at a token."""
        span = self.span(place) if isinstance(place, Token) else place
        return language_error(what, span, hint)

    def unquoted(self, token: Token) -> str:
        """The characters of a text in quotes."""
        return re.sub(r"\\(.)", lambda found: self._escaped(found, token), token[1:-1])

    def _escaped(self, found: re.Match[str], token: Token) -> str:
        if found[1] not in _ESCAPES:
            raise self.refusal(f"`{found[0]}` is no character", token, r"write \\, \", \n or \t")
        return _ESCAPES[found[1]]

    # ---- terms

    def variable(self, name: Token) -> tree.Term:
        """x"""
        if name == "nil":
            raise self.refusal(
                "`nil` is not taken", name, "records always have all their fields here"
            )
        return tree.Variable(str(name), span=self.span(name))

    def anonymous(self, token: Token) -> tree.Term:
        """_"""
        return tree.Anonymous(span=self.span(token))

    def int_number(self, token: Token) -> tree.Term:
        """12, 0xff"""
        value = int(token, 0) if token[:2] in ("0x", "0b") else int(token)
        if value > _MOST:
            raise self.refusal(f"{token} is beyond 64 bits", token, "write it as a float: 1.0")
        return tree.Literal(value, span=self.span(token))

    def float_number(self, token: Token) -> tree.Term:
        """1.5"""
        return tree.Literal(float(token), span=self.span(token))

    def text(self, token: Token) -> tree.Term:
        """ "david" """
        return tree.Literal(self.unquoted(token), span=self.span(token))

    def binary(self, left: tree.Term, operator: Token, right: tree.Term) -> tree.Term:
        """x + 1"""
        return tree.Call(str(operator), (left, right), span=self.between(left.span, right.span))

    def minus(self, sign: Token, term: tree.Term) -> tree.Term:
        """-x"""
        span = self.between(self.span(sign), term.span)
        if (
            isinstance(term, tree.Literal)
            and not isinstance(term.value, str)
            and _positive(term.value)
        ):
            return tree.Literal(-term.value, span=span)
        return tree.Call("neg", (term,), span=span)

    def call(self, name: Token, arguments: tuple[tree.Term, ...] | None) -> tree.Term:
        """cat(x, y), or an atom"""
        return tree.Call(str(name), arguments or (), span=self.span(name))

    def least_or_most(self, name: Token, *arguments: tree.Term) -> tree.Term:
        """min(x, y)"""
        return tree.Call(str(name), arguments, span=self.span(name))

    def record(self, fields: tuple[tree.Term, ...] | None) -> tree.Term:
        """[x, y]"""
        given = fields or ()
        span = self.between(given[0].span, given[-1].span) if given else None
        return tree.Record(given, span=span)

    def parentheses(self, term: tree.Term) -> tree.Term:
        """(x)"""
        return term

    def count(self, name: Token, body: tree.Body) -> tree.Term:
        """count : { edge(x, _) }"""
        return tree.Aggregate("count", None, self._plain(body, name), span=self.span(name))

    def aggregate(self, name: Token, target: tree.Term, body: tree.Body) -> tree.Term:
        """sum x : { age(_, x) }"""
        return tree.Aggregate(str(name), target, self._plain(body, name), span=self.span(name))

    def _plain(self, body: tree.Body, name: Token) -> tree.Body:
        alternatives = _alternatives(body)
        if len(alternatives) > 1 or any(
            isinstance(item, tree.Disjunction) for item in alternatives[0]
        ):
            raise self.refusal(
                "an aggregate is over one conjunction",
                name,
                "give the alternatives a relation of their own, and aggregate over that",
            )
        return alternatives

    def one_atom(self, atom: tree.Atom) -> tree.Body:
        """sum x : age(_, x)"""
        return ((atom,),)

    def arguments(self, *terms: tree.Term) -> tuple[tree.Term, ...]:
        """x, y"""
        return terms

    # ---- bodies

    def atom(self, name: Token, arguments: tuple[tree.Term, ...] | None) -> tree.Atom:
        """edge(x, y)"""
        if name in FUNCTIONS or name in TESTS:
            raise self.refusal(f"{name} is a function, not a relation", name, "name it otherwise")
        return tree.Atom(str(name), arguments or (), span=self.span(name))

    def call_literal(self, term: tree.Term) -> tree.BodyLiteral:
        """A call that stands alone in a body."""
        if isinstance(term, tree.Variable) and term.name in ("true", "false"):
            hint = "leave it out" if term.name == "true" else "leave the rule out"
            raise self.refusal(f"`{term.name}` is not taken", term.span, hint)
        if not isinstance(term, tree.Call) or (
            not term.function.isidentifier() and "?" not in term.function
        ):
            raise self.refusal("this says nothing that could hold", term.span, "compare it: x = 1")
        if term.function == "neg":
            hint = "write `!` before an atom: `!edge(x, y)`; compare a value: x = -y"
            raise self.refusal(
                "a minus gives a value, which neither holds nor fails", term.span, hint
            )
        if term.function in TESTS:
            return tree.Test(term.function, term.arguments, span=term.span)
        if term.function in FUNCTIONS:
            raise self.refusal(
                f"{term.function} gives a value, which neither holds nor fails",
                term.span,
                f"compare it: x = {term.function}(...)",
            )
        return tree.Atom(term.function, term.arguments, span=term.span)

    def comparison(self, left: tree.Term, operator: Token, right: tree.Term) -> tree.Comparison:
        """x < y"""
        span = self.between(left.span, right.span)
        return tree.Comparison(str(operator), left, right, span=span)

    def negation(self, sign: Token, literal: tree.BodyLiteral) -> tree.BodyLiteral:
        """!edge(x, y)"""
        if isinstance(literal, tree.Atom | tree.Test):
            return tree.Negation(literal, span=self.between(self.span(sign), literal.span))
        raise self.refusal(
            "`!` stands before an atom, `contains` or `match`",
            sign,
            "turn the comparison round, or give the alternatives a rule of their own",
        )

    def group(self, body: tree.Body) -> tree.BodyLiteral:
        """(a(x); b(x))"""
        alternatives = _alternatives(body)
        return tree.Disjunction(alternatives, span=alternatives[0][0].span)

    def conjunction(self, *literals: tree.BodyLiteral) -> tree.Body:
        """a(x), b(x)"""
        flat: list[tree.BodyLiteral] = []
        for item in literals:
            alone = isinstance(item, tree.Disjunction) and len(item.body) == 1
            flat += item.body[0] if isinstance(item, tree.Disjunction) and alone else [item]
        if len(flat) > LITERALS:
            raise self.refusal(
                f"this body has {len(flat):,} literals, and {LITERALS} are taken",
                flat[LITERALS].span,
                "give some of them a relation of their own, or write values as facts",
            )
        return (tuple(flat),)

    def disjunction(self, *parts: tree.Body) -> tree.Body:
        """a(x); b(x)"""
        return tuple(alternative for part in parts for alternative in _alternatives(part))


def _positive(value: float) -> bool:
    return value >= 0 and str(value)[0] != "-"


def _alternatives(body: tree.Body | Sequence[tree.BodyLiteral]) -> tree.Body:
    """A body whose only literal is a body in parentheses is that body."""
    alternatives = cast(tree.Body, body)
    while (
        len(alternatives) == 1
        and len(alternatives[0]) == 1
        and isinstance(alternatives[0][0], tree.Disjunction)
    ):
        alternatives = alternatives[0][0].body
    return alternatives


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


class ProgramBuilder(TermBuilder):
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


def parse_datalog(text: str, name: str | None = None) -> ProgramText:
    """What a text says; `name` is that of its file. LanguageError where it is no program."""
    return cast(ProgramText, _parsed(text, name, "program"))


def parse_goal(text: str) -> Atom:
    """One atom, as a query asks it: `?- tc("david", x).`, with or without the signs around it."""
    return cast(Atom, _parsed(text, None, "only_goal"))


def _parsed(text: str, name: str | None, start: str) -> Any:
    if not isinstance(text, str):
        raise InputError(f"a Datalog program cannot be {text!r}", hint="give its text")
    return _reader().read(Source(text.replace("\r\n", "\n"), name), start)


@cache
def _reader() -> Reader:
    builder, starts = ProgramBuilder(), ["program", "only_goal"]
    parser = parser_of("datalog", start=starts, transformer=Callbacks(builder))
    return Reader(parser, builder, explain_failure)
