"""From the parser's reductions to views and generators: one method for each rule."""

# Each method is the rule of its name in grammar.lark, which is its documentation.
# ruff: noqa: D102

from __future__ import annotations

from typing import Any, NamedTuple, cast

from lark import Token

from graphtide.lang.diagnostics import Span, language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.build_predicates import PredicateBuilder
from graphtide.lang.gvdl.literals import read_name, read_string

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
