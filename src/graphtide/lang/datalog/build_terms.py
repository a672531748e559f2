"""Terms and bodies of rules, as the parser meets them.

A call in a body is an atom unless its name is that of a function or test; a call within a term must
be a function.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from lark import Token

from graphtide.lang.datalog import tree
from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.model.errors import LanguageError
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
