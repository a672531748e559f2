"""Syntax trees by table: what all nodes share, and the rows that build them while the parser reads.

A builder has an attribute for each rule of a grammar. Most are rows: `node(Show, what=lower,
name=text)` makes a node of the parts that the rule keeps, in order, and `clause("workers", int)` an
option of the statement around it. Rules that check something or put parts together are methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lark import Token

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.model.errors import LanguageError


@dataclass(frozen=True, kw_only=True)
class Node:
    """Base of all nodes: the place in the text, which takes no part in comparisons."""

    span: Span | None = field(default=None, compare=False, repr=False)


class Option(NamedTuple):
    """One trailing clause: which field of the node it sets, to what, and where it stands."""

    field: str
    value: Any
    span: Span | None


class Builder:
    """Builds the tree of one text at a time; `source` is the text being read."""

    source = Source("")

    def around(self, *parts: object) -> Span | None:
        """The span from the first to the last of some tokens and nodes, given in text order."""
        first = next((span for part in parts if (span := self._span(part))), None)
        if first is None or len(parts) == 1:
            return first
        last = next(span for part in reversed(parts) if (span := self._span(part)))
        return Span(self.source, first.start, last.end)

    def _span(self, part: object) -> Span | None:
        if isinstance(part, Token):
            return Span(self.source, part.start_pos or 0, part.end_pos or 0)
        if isinstance(part, Node | Option):
            return part.span
        if isinstance(part, Span):
            return part
        return self.around(*part) if isinstance(part, tuple) else None

    def refusal(self, what: str, place: object, hint: str | None = None) -> LanguageError:
        """The error for what is written at a token or node."""
        return language_error(what, self.around(place), hint)


Rule = Callable[..., Any]


def node(kind: Callable[..., Any], *, place: str = "", **fields: Any) -> Rule:
    """A rule that makes a node; `fields` convert the parts that it keeps, in their order.

    A field that is no function is a constant. The converter `many` takes all parts that are left;
    else those are options, which set further fields. `_` is a part without a field. The node stands
    where the parts named in `place` are, or all of them.
    """
    constants = {name: value for name, value in fields.items() if not callable(value)}
    converters = [(name, value) for name, value in fields.items() if callable(value)]
    count, takes_rest = len(converters), any(value is many for _, value in converters)
    places = [at for at, (name, _) in enumerate(converters) if name in place.split()]

    def build(builder: Builder, *parts: Any) -> Any:
        values = dict(constants)
        for at, (name, convert) in enumerate(converters):
            values[name] = parts[at:] if convert is many else convert(parts[at])
        values.pop("_", None)
        if not takes_rest:
            values.update(collect_options(parts[count:]))
            parts = parts[:count]
        spanned = [parts[at] for at in places] if places else parts
        return kind(**values, span=builder.around(*spanned))

    return build


def clause(field: str, convert: Callable[..., Any] | None = None, *, value: Any = True) -> Rule:
    """A rule that sets a field of the node around it: to what it converts, or else to `value`."""

    def build(builder: Builder, *parts: Any) -> Option:
        set_to = value if convert is None else convert(*parts)
        return Option(field, set_to, builder.around(*parts))

    return build


def many(*parts: Any) -> tuple[Any, ...]:
    """All parts that are left; as a rule of its own, a list of them."""
    return parts


def listed(_: Builder, *parts: Any) -> tuple[Any, ...]:
    """A rule that is a list of its parts."""
    return parts


def same(_: Builder, part: Any, *__: Any) -> Any:
    """A rule that is its first part."""
    return part


def keep(part: Any) -> Any:
    """The part as it is."""
    return part


def text(word: Token | None) -> str | None:
    """The characters of a word, or None where it was left out."""
    return None if word is None else str(word)


def lower(word: Token) -> str:
    """A keyword, which may be written in any case."""
    return word.lower()


def collect_options(options: Iterable[Option]) -> dict[str, Any]:
    """The clauses as keyword arguments of a node; the same one twice is an error."""
    collected: dict[str, Any] = {}
    for option in options:
        if option.field in collected:
            name = option.field.replace("_", " ")
            raise language_error(f"{name} is given twice", option.span, "leave one of them out")
        collected[option.field] = option.value
    return collected
