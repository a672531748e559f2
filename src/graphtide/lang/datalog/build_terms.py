"""Terms and bodies of rules, as the parser meets them.

A call in a body is an atom unless its name is that of a function or test; a call within a term must
be a function.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from lark import Token

from graphtide.lang.datalog.tree import (
    Aggregate,
    Anonymous,
    Atom,
    Body,
    BodyLiteral,
    Call,
    Comparison,
    Disjunction,
    Literal,
    Negation,
    Record,
    Term,
    Test,
    Variable,
)
from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.model.errors import LanguageError

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

    def variable(self, name: Token) -> Term:
        """x"""
        if name == "nil":
            raise self.refusal(
                "`nil` is not taken", name, "records always have all their fields here"
            )
        return Variable(str(name), span=self.span(name))

    def anonymous(self, token: Token) -> Term:
        """_"""
        return Anonymous(span=self.span(token))

    def int_number(self, token: Token) -> Term:
        """12, 0xff"""
        value = int(token, 0) if token[:2] in ("0x", "0b") else int(token)
        if value > _MOST:
            raise self.refusal(f"{token} is beyond 64 bits", token, "write it as a float: 1.0")
        return Literal(value, span=self.span(token))

    def float_number(self, token: Token) -> Term:
        """1.5"""
        return Literal(float(token), span=self.span(token))

    def text(self, token: Token) -> Term:
        """ "david" """
        return Literal(self.unquoted(token), span=self.span(token))

    def binary(self, left: Term, operator: Token, right: Term) -> Term:
        """x + 1"""
        return Call(str(operator), (left, right), span=self.between(left.span, right.span))

    def minus(self, sign: Token, term: Term) -> Term:
        """-x"""
        span = self.between(self.span(sign), term.span)
        if isinstance(term, Literal) and not isinstance(term.value, str) and _positive(term.value):
            return Literal(-term.value, span=span)
        return Call("neg", (term,), span=span)

    def call(self, name: Token, arguments: tuple[Term, ...] | None) -> Term:
        """cat(x, y), or an atom"""
        return Call(str(name), arguments or (), span=self.span(name))

    def least_or_most(self, name: Token, *arguments: Term) -> Term:
        """min(x, y)"""
        return Call(str(name), arguments, span=self.span(name))

    def record(self, fields: tuple[Term, ...] | None) -> Term:
        """[x, y]"""
        given = fields or ()
        span = self.between(given[0].span, given[-1].span) if given else None
        return Record(given, span=span)

    def parentheses(self, term: Term) -> Term:
        """(x)"""
        return term

    def count(self, name: Token, body: Body) -> Term:
        """count : { edge(x, _) }"""
        return Aggregate("count", None, self._plain(body, name), span=self.span(name))

    def aggregate(self, name: Token, target: Term, body: Body) -> Term:
        """sum x : { age(_, x) }"""
        return Aggregate(str(name), target, self._plain(body, name), span=self.span(name))

    def _plain(self, body: Body, name: Token) -> Body:
        found = _alternatives(body)
        if len(found) > 1 or any(isinstance(item, Disjunction) for item in found[0]):
            raise self.refusal(
                "an aggregate is over one conjunction",
                name,
                "give the alternatives a relation of their own, and aggregate over that",
            )
        return found

    def one_atom(self, atom: Atom) -> Body:
        """sum x : age(_, x)"""
        return ((atom,),)

    def arguments(self, *terms: Term) -> tuple[Term, ...]:
        """x, y"""
        return terms

    # ---- bodies

    def atom(self, name: Token, arguments: tuple[Term, ...] | None) -> Atom:
        """edge(x, y)"""
        if name in FUNCTIONS or name in TESTS:
            raise self.refusal(f"{name} is a function, not a relation", name, "name it otherwise")
        return Atom(str(name), arguments or (), span=self.span(name))

    def call_literal(self, term: Term) -> BodyLiteral:
        """A call that stands alone in a body."""
        if isinstance(term, Variable) and term.name in ("true", "false"):
            hint = "leave it out" if term.name == "true" else "leave the rule out"
            raise self.refusal(f"`{term.name}` is not taken", term.span, hint)
        if not isinstance(term, Call) or (
            not term.function.isidentifier() and "?" not in term.function
        ):
            raise self.refusal("this says nothing that could hold", term.span, "compare it: x = 1")
        if term.function == "neg":
            hint = "write `!` before an atom: `!edge(x, y)`; compare a value: x = -y"
            raise self.refusal(
                "a minus gives a value, which neither holds nor fails", term.span, hint
            )
        if term.function in TESTS:
            return Test(term.function, term.arguments, span=term.span)
        if term.function in FUNCTIONS:
            raise self.refusal(
                f"{term.function} gives a value, which neither holds nor fails",
                term.span,
                f"compare it: x = {term.function}(...)",
            )
        return Atom(term.function, term.arguments, span=term.span)

    def comparison(self, left: Term, operator: Token, right: Term) -> Comparison:
        """x < y"""
        span = self.between(left.span, right.span)
        return Comparison(str(operator), left, right, span=span)

    def negation(self, sign: Token, literal: BodyLiteral) -> BodyLiteral:
        """!edge(x, y)"""
        if isinstance(literal, Atom | Test):
            return Negation(literal, span=self.between(self.span(sign), literal.span))
        raise self.refusal(
            "`!` stands before an atom, `contains` or `match`",
            sign,
            "turn the comparison round, or give the alternatives a rule of their own",
        )

    def group(self, body: Body) -> BodyLiteral:
        """(a(x); b(x))"""
        found = _alternatives(body)
        return Disjunction(found, span=found[0][0].span)

    def conjunction(self, *literals: BodyLiteral) -> Body:
        """a(x), b(x)"""
        flat: list[BodyLiteral] = []
        for item in literals:
            alone = isinstance(item, Disjunction) and len(item.body) == 1
            flat += item.body[0] if isinstance(item, Disjunction) and alone else [item]
        return (tuple(flat),)

    def disjunction(self, *parts: Body) -> Body:
        """a(x); b(x)"""
        return tuple(alternative for part in parts for alternative in _alternatives(part))


def _positive(value: float) -> bool:
    return value >= 0 and str(value)[0] != "-"


def _alternatives(body: Body | Sequence[BodyLiteral]) -> Body:
    """A body whose only literal is a body in parentheses is that body."""
    found = cast(Body, body)
    while len(found) == 1 and len(found[0]) == 1 and isinstance(found[0][0], Disjunction):
        found = found[0][0].body
    return found
