"""From the parser's reductions to predicate nodes: one method for each rule of the grammar.

Bottom up and in one pass: the parser calls these while it reads, so no second tree is built.
Arguments are what the rule keeps, in order; None stands for an optional part left out.
Only what can be told from the text alone is checked here (dates that are none, owners that are
neither `src` nor `dst`).
"""

# Each method is the rule of its name in grammar.lark, which is its documentation.
# ruff: noqa: D102

from __future__ import annotations

import math

from lark import Token

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.calendar import unit_of
from graphtide.lang.gvdl.edge_operand import EDGE, compare_pairs
from graphtide.lang.gvdl.literals import read_date, read_name, read_string, read_timestamp
from graphtide.model.wording import shortened
from graphtide.plan.predicates import Operator, Owner

_OPERATORS = {
    "=": Operator.EQ,
    "==": Operator.EQ,
    "<>": Operator.NE,
    "!=": Operator.NE,
    "≠": Operator.NE,
    "<": Operator.LT,
    "<=": Operator.LE,
    "≤": Operator.LE,
    ">": Operator.GT,
    ">=": Operator.GE,
    "≥": Operator.GE,
}
_OWNERS: dict[str, Owner] = {"src": "src", "u": "src", "dst": "dst", "v": "dst", "edge": "edge"}


class PredicateBuilder:
    """Builds predicates; `source` is the text being read."""

    source = Source("")

    def around(self, *parts: object) -> Span | None:
        """The span from the first to the last of some tokens and nodes, given in text order."""
        first = next((span for part in parts if (span := self._span(part))), None)
        if first is None or len(parts) == 1:
            return first
        last = next(span for part in reversed(parts) if (span := self._span(part)))
        return Span(self.source, first.start, last.end)

    def _span(self, part: object) -> Span | None:
        if isinstance(part, tree.Node):
            return part.span
        if isinstance(part, Token):
            return Span(self.source, part.start_pos or 0, part.end_pos or 0)
        return self.around(*part) if isinstance(part, tuple) else None

    def or_(self, *terms: tree.Predicate) -> tree.Predicate:
        return tree.Or(terms, span=self.around(terms[0], terms[-1]))

    def and_(self, *terms: tree.Predicate) -> tree.Predicate:
        return tree.And(terms, span=self.around(terms[0], terms[-1]))

    def not_(self, term: tree.Predicate) -> tree.Predicate:
        return tree.Not(term, span=term.span)

    def compare(self, left: tree.Operand, sign: Token, right: tree.Operand) -> tree.Predicate:
        return tree.Compare(_OPERATORS[sign], left, right, span=self.around(left, right))

    def compare_edge(
        self, left: tree.Operand, sign: Token, src: tree.Operand, dst: tree.Operand
    ) -> tree.Predicate:
        if left != tree.PropertyName(EDGE):
            raise language_error(
                "a pair compares with the edge only",
                self.around(left, dst),
                f"write `{EDGE} = (6, 7)` for the edges from 6 to 7, `... in (6, 7)` for a list",
            )
        return compare_pairs(_OPERATORS[sign], (src, dst), self.around(left, dst))

    def in_list(self, operand: tree.Operand, *values: tree.Operand) -> tree.Predicate:
        return tree.InList(operand, values, span=self.around(operand, values[-1]))

    def not_in_list(self, operand: tree.Operand, *values: tree.Operand) -> tree.Predicate:
        return tree.InList(operand, values, negated=True, span=self.around(operand, values[-1]))

    def between(self, *parts: tree.Operand) -> tree.Predicate:
        operand, low, high = parts
        return tree.Between(operand, low, high, span=self.around(operand, high))

    def not_between(self, *parts: tree.Operand) -> tree.Predicate:
        operand, low, high = parts
        return tree.Between(operand, low, high, negated=True, span=self.around(operand, high))

    def like(self, operand: tree.Operand, pattern: tree.Operand) -> tree.Predicate:
        return tree.LikeTest(operand, pattern, span=self.around(operand, pattern))

    def not_like(self, operand: tree.Operand, pattern: tree.Operand) -> tree.Predicate:
        span = self.around(operand, pattern)
        return tree.LikeTest(operand, pattern, negated=True, span=span)

    def is_null(self, term: tree.Predicate, _: Token) -> tree.Predicate:
        return self._null_test(term, negated=False)

    def is_not_null(self, term: tree.Predicate, _: Token) -> tree.Predicate:
        return self._null_test(term, negated=True)

    def _null_test(self, term: tree.Predicate, *, negated: bool) -> tree.Predicate:
        if isinstance(term, tree.PropertyName):
            return tree.NullTest(term, negated, span=term.span)
        raise language_error(
            "only a property can be null",
            term.span,
            "use `(...) is not true` for a condition that is false or unknown",
        )

    def is_true(self, term: tree.Predicate, _: Token) -> tree.Predicate:
        return tree.TruthTest(term, span=term.span)

    def is_not_true(self, term: tree.Predicate, _: Token) -> tree.Predicate:
        return tree.TruthTest(term, negated=True, span=term.span)

    def is_false(self, term: tree.Predicate, _: Token) -> tree.Predicate:
        return tree.TruthTest(term, value=False, span=term.span)

    def is_not_false(self, term: tree.Predicate, _: Token) -> tree.Predicate:
        return tree.TruthTest(term, value=False, negated=True, span=term.span)

    def property(self, first: Token, second: Token | None) -> tree.PropertyName:
        word = first if second is None else second
        return tree.PropertyName(
            read_name(word),
            "edge" if second is None else self._owner(first),
            quoted=word.type == "QUOTED",
            span=self.around(first, second),
        )

    def _owner(self, word: Token) -> Owner:
        owner = _OWNERS.get(word.lower())
        if owner is None:
            raise language_error(
                f"'{word}' is neither end of an edge",
                self.around(word),
                "put `src.` or `dst.` (also `u.`, `v.`) before a property of an endpoint, "
                "nothing before one of the edge; a name with a dot in it goes in backticks",
            )
        return owner

    def variable(self, word: Token) -> tree.Variable:
        return tree.Variable(word[1:], span=self.around(word))

    def shifted(
        self, base: tree.PropertyName | tree.Variable, sign: Token, count: Token, unit: Token | None
    ) -> tree.Shifted:
        moved = -int(count) if sign == "-" else int(count)
        span = self.around(base, count, unit)
        return tree.Shifted(base, moved, self.unit(unit), span=span)

    def unit(self, word: Token | None) -> tree.Unit | None:
        """The unit a token names, in the singular."""
        return None if word is None else unit_of(word)

    def number(self, sign: Token | None, digits: Token) -> tree.Literal:
        span = self.around(sign, digits)
        value = int(digits) if digits.type == "INT" else float(digits)
        if not math.isfinite(float(digits)):
            raise language_error(f"{shortened(digits, 40)} is too large a number", span)
        return tree.Literal(-value if sign == "-" else value, span=span)

    def string(self, word: Token) -> tree.Literal:
        return tree.Literal(read_string(word), span=self.around(word))

    def true(self, word: Token) -> tree.Literal:
        return tree.Literal(True, span=self.around(word))

    def false(self, word: Token) -> tree.Literal:
        return tree.Literal(False, span=self.around(word))

    def null(self, word: Token) -> tree.Literal:
        return tree.Literal(None, span=self.around(word))

    def date(self, word: Token) -> tree.Literal:
        value = read_date(read_string(word))
        if value is None:
            raise language_error(f"{word} is not a date", self.around(word), "date '2020-01-31'")
        return tree.Literal(value, span=self.around(word))

    def iso_date(self, word: Token) -> tree.Literal:
        value = read_date(word) or read_timestamp(word)
        if value is None:
            hint = "write 2020-01-31, or 2020-01-31T10:00"
            raise language_error(f"{word} is not a date", self.around(word), hint)
        return tree.Literal(value, span=self.around(word))

    def timestamp(self, word: Token) -> tree.Literal:
        value = read_timestamp(read_string(word))
        if value is None:
            raise language_error(
                f"{word} is not a timestamp",
                self.around(word),
                "timestamp '2020-01-31 10:00:00', with 'Z' or '+02:00' behind it for an offset",
            )
        return tree.Literal(value, span=self.around(word))
