"""Datalog text to syntax tree: a row or method of one builder for each rule of `grammar.lark`.

A call in a body is an atom unless its name is that of a function or test; a call within a term must
be a function. Only what the text alone tells is checked here; `mistakes` explains texts that do not
parse.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, cast

from lark import Token

from graphtide.lang.datalog import tree
from graphtide.lang.datalog.mistakes import explain_failure
from graphtide.lang.datalog.tree import Atom, ProgramText
from graphtide.lang.diagnostics import Source
from graphtide.lang.grammars import Callbacks, Reader, parser_of
from graphtide.lang.trees import Builder, keep, listed, many, node, same
from graphtide.model.errors import InputError
from graphtide.model.limits import LITERALS

FUNCTIONS = ("cat", "substr", "strlen", "to_number", "to_string", "to_float", "min", "max")
TESTS = ("contains", "match")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_MOST = 1 << 63
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


def _texts(words: tuple[Token, ...]) -> tuple[str, ...]:
    return tuple(map(str, words))


def _some(parts: tuple[Any, ...] | None) -> tuple[Any, ...]:
    return parts or ()


class ProgramBuilder(Builder):
    """Each attribute is the rule of its name in grammar.lark, which is its documentation."""

    # ---- terms

    names = attributes = settings = arguments = heads = orders = listed
    only_goal = parentheses = same
    anonymous = node(tree.Anonymous, _=keep)
    float_number = node(tree.Literal, value=float)
    binary = node(
        lambda left, operator, right, span: tree.Call(operator, (left, right), span=span),
        left=keep,
        operator=str,
        right=keep,
    )
    call = node(tree.Call, function=str, arguments=_some, place="function")
    least_or_most = node(tree.Call, function=str, arguments=many, place="function")

    def unquoted(self, token: Token) -> str:
        def character(escape: re.Match[str]) -> str:
            if escape[1] not in _ESCAPES:
                hint = r"write \\, \", \n or \t"
                raise self.refusal(f"`{escape[0]}` is no character", token, hint)
            return _ESCAPES[escape[1]]

        return re.sub(r"\\(.)", character, token[1:-1])

    def variable(self, name: Token) -> tree.Term:
        if name == "nil":
            hint = "records always have all their fields here"
            raise self.refusal("`nil` is not taken", name, hint)
        return tree.Variable(str(name), span=self.around(name))

    def int_number(self, token: Token) -> tree.Term:
        value = int(token, 0) if token[:2] in ("0x", "0b") else int(token)
        if value > _MOST:
            raise self.refusal(f"{token} is beyond 64 bits", token, "write it as a float: 1.0")
        return tree.Literal(value, span=self.around(token))

    def text(self, token: Token) -> tree.Term:
        return tree.Literal(self.unquoted(token), span=self.around(token))

    def minus(self, sign: Token, term: tree.Term) -> tree.Term:
        span = self.around(sign, term)
        value = term.value if isinstance(term, tree.Literal) else ""
        if not isinstance(value, str) and value >= 0 and str(value)[0] != "-":
            return tree.Literal(-value, span=span)
        return tree.Call("neg", (term,), span=span)

    def record(self, fields: tuple[tree.Term, ...] | None) -> tree.Term:
        return tree.Record(fields or (), span=self.around(fields or ()))

    def count(self, name: Token, body: tree.Body) -> tree.Term:
        return self.aggregate(name, None, body)

    def aggregate(self, name: Token, target: tree.Term | None, body: tree.Body) -> tree.Term:
        alternatives = _alternatives(body)
        if len(alternatives) > 1 or any(
            isinstance(item, tree.Disjunction) for item in alternatives[0]
        ):
            raise self.refusal(
                "an aggregate is over one conjunction",
                name,
                "give the alternatives a relation of their own, and aggregate over that",
            )
        return tree.Aggregate(str(name), target, alternatives, span=self.around(name))

    # ---- bodies

    comparison = node(tree.Comparison, left=keep, operator=str, right=keep)

    def one_atom(self, atom: tree.Atom) -> tree.Body:
        return ((atom,),)

    def atom(self, name: Token, arguments: tuple[tree.Term, ...] | None) -> tree.Atom:
        if name in FUNCTIONS or name in TESTS:
            raise self.refusal(f"{name} is a function, not a relation", name, "name it otherwise")
        return tree.Atom(str(name), arguments or (), span=self.around(name))

    def call_literal(self, term: tree.Term) -> tree.BodyLiteral:
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

    def negation(self, sign: Token, literal: tree.BodyLiteral) -> tree.BodyLiteral:
        if isinstance(literal, tree.Atom | tree.Test):
            return tree.Negation(literal, span=self.around(sign, literal))
        raise self.refusal(
            "`!` stands before an atom, `contains` or `match`",
            sign,
            "turn the comparison round, or give the alternatives a rule of their own",
        )

    def group(self, body: tree.Body) -> tree.BodyLiteral:
        alternatives = _alternatives(body)
        return tree.Disjunction(alternatives, span=alternatives[0][0].span)

    def conjunction(self, *literals: tree.BodyLiteral) -> tree.Body:
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
        return tuple(alternative for part in parts for alternative in _alternatives(part))

    # ---- statements

    program = node(lambda statements, span: tree.ProgramText(statements), statements=many)
    attribute = node(tree.Attribute, name=str, type=str)
    subtype = node(tree.TypeDeclaration, _=keep, name=str, bases=lambda word: (str(word),))
    record_type = node(tree.RecordDeclaration, _=keep, name=str, fields=_some, place="_ name")
    old_symbol_type = node(tree.TypeDeclaration, _=keep, name=str, bases=("symbol",))
    old_number_type = node(tree.TypeDeclaration, _=keep, name=str, bases=("number",))
    query = node(tree.Query, atom=keep, _=keep, place="atom")

    def declaration(
        self,
        keyword: Token,
        names: tuple[Token, ...],
        attributes: tuple[tree.Attribute, ...] | None,
        *qualifiers: Token,
    ) -> tree.RelationDeclaration:
        for item in qualifiers:
            raise self.refusal(f"`{item}` is not taken here", item, _QUALIFIERS[str(item)])
        span = self.around(keyword, names)
        return tree.RelationDeclaration(_texts(names), attributes or (), span=span)

    def union_type(self, keyword: Token, name: Token, *bases: Token) -> tree.TypeDeclaration:
        return tree.TypeDeclaration(str(name), _texts(bases), span=self.around(keyword, bases))

    def directive(
        self, keyword: Token, names: tuple[Token, ...], settings: tuple[Any, ...] | None
    ) -> tree.Directive:
        span = self.around(keyword, names)
        return tree.Directive(str(keyword)[1:], _texts(names), settings or (), span=span)

    def setting(self, name: Token, value: Token) -> tuple[str, str]:
        return str(name), self.unquoted(value) if value.type == "STRING" else str(value)

    def fact(self, heads: tuple[tree.Atom, ...], _: Token) -> tree.Rule:
        return tree.Rule(heads, span=heads[0].span)

    def rule(
        self,
        heads: tuple[tree.Atom, ...],
        body: tree.Body,
        end: Token,
        order: tuple[int, ...] | None,
    ) -> tree.Rule:
        return tree.Rule(heads, body, order, span=self.around(heads[0], end))

    def subsumption(
        self, dominated: tree.Atom, other: tree.Atom, body: tree.Body, end: Token
    ) -> tree.Subsumption:
        return tree.Subsumption(dominated, other, body, span=self.around(dominated, end))

    def plan(self, keyword: Token, orders: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
        if len(set(orders)) > 1:
            raise self.refusal(
                "a rule has one order of its atoms, whichever of them has changed",
                keyword,
                "give one order: .plan 0:(2, 1)",
            )
        return orders[0]

    def order(self, _: Token, *places: Token | None) -> tuple[int, ...]:
        return tuple(int(place) for place in places if place is not None)


def _alternatives(body: tree.Body) -> tree.Body:
    """A body whose only literal is a body in parentheses is that body."""
    while len(body) == 1 and len(body[0]) == 1 and isinstance(body[0][0], tree.Disjunction):
        body = body[0][0].body
    return body


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
