"""Syntax trees by table: what all nodes share, rows that build them, templates that write them.

A builder has an attribute for each rule of a grammar. Most are rows: `node(Show, what=lower,
name=text)` makes a node of the parts that the rule keeps, in order, and `clause("workers", int)` an
option of the statement around it. Rules that check something or put parts together are methods.
Text comes back by templates, one for each kind of node: `"refresh {what} {name}"`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Union

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
    return parts


def same(_: Builder, part: Any, *__: Any) -> Any:
    return part


def keep(part: Any) -> Any:
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


class Writer:
    """Writes trees as text by `forms`: what is written for each kind of node.

    A form is a function of the node, or a template. There, `{name}` is a field, `{name:path}`
    a field that is written like those called `path`, `{:question}` something of the node.
    `< on {base}>` is left out where its field has its default. `fields` says how fields of a name
    are written; all others are written by what they hold.
    """

    def __init__(
        self,
        forms: Mapping[type, str | Callable[[Any], str]],
        fields: Mapping[str, Callable[[Any], str]],
    ) -> None:
        self._fields = fields
        self._forms = {
            kind: _pieces(form) if isinstance(form, str) else form for kind, form in forms.items()
        }

    def write(self, value: Any) -> str:
        """A node as text; a list of them with commas between."""
        if isinstance(value, tuple):
            return ", ".join(map(self.write, value))
        form = self._forms.get(type(value), str)
        return self._filled(form, value) if isinstance(form, list) else form(value)

    def fill(self, template: str, value: Node) -> str:
        return self._filled(_pieces(template), value)

    def _filled(self, pieces: list[_Piece], value: Node) -> str:
        text = ""
        for piece in pieces:
            if isinstance(piece, str):
                text += piece
            elif isinstance(piece, list):
                text += "" if _is_left_out(piece, value) else self._filled(piece, value)
            else:
                part = getattr(value, piece.field) if piece.field else value
                text += self._fields.get(piece.writer, self.write)(part)
        return text


class _Field(NamedTuple):
    field: str
    writer: str


_Piece = Union[str, _Field, "list[_Piece]"]
_TOKENS = re.compile(r"\{(\w*):?(\w*)\}|[<>]|[^<>{]+")


def _pieces(template: str) -> list[_Piece]:
    """A template as texts, fields and, where it has groups that may be left out, lists of these."""
    groups: list[list[_Piece]] = [[]]
    for token in _TOKENS.finditer(template):
        if token[0] == "<":
            groups.append([])
        elif token[0] == ">":
            group = groups.pop()
            groups[-1].append(group)
        elif token[0][0] == "{":
            groups[-1].append(_Field(token[1], token[2] or token[1]))
        else:
            groups[-1].append(token[0])
    return groups[0]


def _is_left_out(group: list[_Piece], value: Node) -> bool:
    defaults = {item.name: item.default for item in fields(value)}
    named = [piece.field for piece in group if isinstance(piece, _Field)]
    return all(getattr(value, name) == defaults[name] for name in named)
