"""The parser's reductions to predicates, views and sections: one method per rule of the grammar.

Bottom up and in one pass: the parser calls these while it reads, so no second tree is built.
Arguments are what the rule keeps, in order; None stands for an optional part that was left out.
Only what the text alone tells is checked here (dates that are none, owners that are neither `src`
nor `dst`). Graphsurge's edge operand, `e = (6, 7)`, is written out at once in terms of `src.id` and
`dst.id`: pairs compare by the first id and then by the second, and nothing behind knows of pairs.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any, NamedTuple, cast

from lark import Token

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.calendar import unit_of
from graphtide.lang.gvdl.literals import read_date, read_name, read_string, read_timestamp
from graphtide.lang.gvdl.statements import CreateGrouped
from graphtide.lang.gvdl.tree import AggregateCall, Alternatives, Grouping, Section, Term
from graphtide.model.text import shortened
from graphtide.plan.predicates import Operator, Owner

EDGE = "e"
_STRICT = {Operator.LE: Operator.LT, Operator.GE: Operator.GT}


def compare_pairs(
    operator: Operator, ids: tuple[tree.Operand, tree.Operand], span: Span | None
) -> tree.Predicate:
    """`(src.id, dst.id) operator ids`."""
    src, dst = (tree.PropertyName("id", side, span=span) for side in ("src", "dst"))

    def test(sign: Operator, end: tree.PropertyName, value: tree.Operand) -> tree.Predicate:
        return tree.Compare(sign, end, value, span=span)

    if operator is Operator.NE:
        return tree.Or((test(operator, src, ids[0]), test(operator, dst, ids[1])), span=span)
    same = tree.And((test(Operator.EQ, src, ids[0]), test(operator, dst, ids[1])), span=span)
    if operator is Operator.EQ:
        return same
    return tree.Or((test(_STRICT.get(operator, operator), src, ids[0]), same), span=span)


# Each method is the rule of its name in grammar.lark, which is its documentation.


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


# Each method is the rule of its name in grammar.lark, which is its documentation.


OutageKind = tuple[Any, bool, Token | tree.PropertyName]
"""What is removed, whether in pairs, and the last word, or the property whose values go."""


class Option(NamedTuple):
    """One trailing clause: which field of the node it sets, to what, and where it stands."""

    field: str
    value: Any
    span: Span | None


def collect_options(options: tuple[Option, ...]) -> dict[str, Any]:
    """The clauses as keyword arguments of a node; the same one twice is an error."""
    given: dict[str, Any] = {}
    for option in options:
        if option.field in given:
            name = option.field.replace("_", " ")
            raise language_error(f"{name} is given twice", option.span, "leave one of them out")
        given[option.field] = option.value
    return given


class ViewBuilder(PredicateBuilder):
    """Builds view lists on top of predicates."""

    def option(self, field: str, value: Any, *parts: object) -> Option:
        """A clause that sets one field."""
        return Option(field, value, self.around(*parts))

    def items(self, *items: tree.Item) -> tuple[tree.Item, ...]:
        return items

    def group(self, items: tuple[tree.Item, ...]) -> tree.Group:
        return tree.Group(items, span=self.around(items))

    def product(self, *factors: tree.Item) -> tree.Product:
        return tree.Product(factors, span=self.around(factors))

    def view_name(self, word: Token) -> Token:
        return Token.new_borrow_pos("VIEW_NAME", read_name(word), word)

    def view(self, name: Token | None, predicate: tree.Predicate) -> tree.View:
        span = self.around(name or predicate)
        return tree.View(predicate, None if name is None else str(name), span=span)

    def loop(
        self, name: Token, values: tree.Range | tree.ValueList, body: tuple[tree.Item, ...]
    ) -> tree.Loop:
        return tree.Loop(str(name), values, body, span=self.around(name, values))

    def loop_body(self, body: tree.Item | tuple[tree.Item, ...]) -> tuple[tree.Item, ...]:
        return body if isinstance(body, tuple) else (body,)

    def range(
        self, start: tree.Operand, stop: tree.Operand, step: tree.Literal | tree.Duration | None
    ) -> tree.Range:
        return tree.Range(start, stop, step, span=self.around(start, stop, step))

    def value_list(self, *values: tree.Operand) -> tree.ValueList:
        return tree.ValueList(values, span=self.around(values))

    def amount(
        self, sign: Token | None, digits: Token, unit: Token | None
    ) -> tree.Literal | tree.Duration:
        number = self.number(sign, digits)
        singular = self.unit(unit)
        if singular is None:
            return number
        span = self.around(sign, digits, unit)
        if not isinstance(number.value, int):
            hint = "use a smaller unit: 90 minutes rather than 1.5 hours"
            raise language_error(f"{digits} {unit} is not a whole number of a unit", span, hint)
        return tree.Duration(number.value, singular, span=span)

    def one_unit(self, unit: Token) -> tree.Duration:
        return tree.Duration(1, cast(tree.Unit, self.unit(unit)), span=self.around(unit))

    def windows(self, kind: Token, over: tree.PropertyName, *options: Option) -> tree.Windows:
        given = collect_options(options)
        span = self.around(kind, over)
        if "width" not in given:
            hint = "say how wide a window is: `width 7 days`, or `width 10` for a number"
            raise language_error("these windows have no width", span, hint)
        name = cast(tree.WindowKind, kind.lower())
        return tree.Windows(name, over, span=span, **given)

    def window_from(self, value: tree.Operand) -> Option:
        return self.option("start", value, value)

    def window_until(self, value: tree.Operand) -> Option:
        return self.option("until", value, value)

    def window_width(self, value: tree.Literal | tree.Duration) -> Option:
        return self.option("width", value, value)

    def window_step(self, value: tree.Literal | tree.Duration) -> Option:
        return self.option("step", value, value)

    def window_timezone(self, word: Token) -> Option:
        return self.option("timezone", read_string(word), word)

    def drop_partial(self, word: Token) -> Option:
        return self.option("drop_partial", True, word)

    def drop_empty(self, word: Token) -> Option:
        return self.option("drop_empty", True, word)

    def named(self, word: Token) -> Option:
        return self.option("name", read_string(word), word)

    def combinations(
        self, word: Token, count: Token, items: tuple[tree.Item, ...], name: Option | None
    ) -> tree.Combinations:
        span = self.around(word, count)
        return tree.Combinations(int(count), items, name.value if name else None, span=span)

    def outages(
        self,
        word: Token,
        kind: OutageKind,
        where: tree.Predicate | None,
        name: Option | None,
    ) -> tree.Outages:
        what, pairs, last = kind
        of = last if isinstance(last, tree.PropertyName) else None
        span, named = self.around(word, last), name.value if name else None
        return tree.Outages(what, pairs, where, named, of, span=span)

    def each_edge(self, word: Token) -> OutageKind:
        return "edge", False, word

    def each_vertex(self, word: Token) -> OutageKind:
        return "vertex", False, word

    def each_value(self, _: Token, of: tree.PropertyName) -> OutageKind:
        return "value", False, of

    def each_pair_of_edges(self, _: Token, word: Token) -> OutageKind:
        return "edge", True, word

    def each_pair_of_vertices(self, _: Token, word: Token) -> OutageKind:
        return "vertex", True, word

    def each_pair_of_values(self, _: Token, __: Token, of: tree.PropertyName) -> OutageKind:
        return "value", True, of

    def only_amount(self, amount: tree.Literal | tree.Duration) -> tree.Literal | tree.Duration:
        return amount

    def only_property(self, found: tree.PropertyName) -> tree.PropertyName:
        return found

    def only_predicate(self, predicate: tree.Predicate) -> tree.Predicate:
        return predicate

    def only_views(
        self, within: tree.Predicate | None, items: tuple[tree.Item, ...]
    ) -> tree.ViewList:
        return tree.ViewList(items, within, span=self.around(items))


# Each method is the rule of its name in grammar.lark, which is its documentation.


Groupings = tuple[Grouping, ...] | None
Aggregates = tuple[AggregateCall, ...] | None


class _KindOfSection(NamedTuple):
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
        sections: tuple[_KindOfSection, ...],
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

    def sections(self, *found: _KindOfSection) -> tuple[_KindOfSection, ...]:
        return found

    def vertex_section(
        self,
        label: Token | None,
        where: tree.Predicate | None,
        groupings: Groupings,
        aggregates: Aggregates,
    ) -> _KindOfSection:
        span = self.around(label, where, groupings, aggregates)
        text = None if label is None else str(label)
        return _KindOfSection(
            "vertices", Section(text, where, groupings or (), aggregates or (), span=span)
        )

    def edge_section(
        self,
        label: Token | None,
        between: tuple[Token, Token] | None,
        where: tree.Predicate | None,
        groupings: Groupings,
        aggregates: Aggregates,
    ) -> _KindOfSection:
        span = self.around(label, between, where, groupings, aggregates)
        text = None if label is None else str(label)
        ends = None if between is None else (str(between[0]), str(between[1]))
        section = Section(text, where, groupings or (), aggregates or (), ends, span=span)
        return _KindOfSection("edges", section)

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
