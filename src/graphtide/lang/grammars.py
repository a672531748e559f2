"""What the languages with a grammar share: readers of texts, and where a text breaks off.

Lark works the tables of a parser out once (up to half a second); the cache keeps them, and a
process loads them on first use.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from threading import Lock
from typing import Any, cast

from lark import Lark, Token, UnexpectedInput, UnexpectedToken

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.model import limits
from graphtide.model.errors import LanguageError
from graphtide.model.machine import cache_folder_for

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Reader:
    """Reads the texts of one language, one at a time.

    The builder (or the layout) that the parser calls knows the text by its `source`; one of them
    serves all texts, so that threads take turns. `explain` makes the error for a text that the
    parser gave up on, begun with one of the grammar's starts.
    """

    parser: Lark
    builder: Any
    explain: Callable[[UnexpectedInput, Source, str], LanguageError]
    _turn: Lock = field(default_factory=Lock)

    def read(self, source: Source, start: str) -> Any:
        """What the parser makes of a text; LanguageError where it gives up, or is asked too much.

        The parser itself goes to any depth. Nobody behind it does.
        """
        _check_words(source)
        with self._turn:
            self.builder.source = source
            try:
                tree = self.parser.parse(source.text, start=start)
            except UnexpectedInput as failure:
                raise self.explain(failure, source, start) from None
            except _LongTokenError as long:
                begin = long.token.start_pos or 0
                raise _too_long(begin, begin + len(long.token), long.most, source) from None
        _check_depth(tree, source)
        return tree


def _check_words(source: Source) -> None:
    """Refuse what a lexer or `explain` takes too long for: they try a word at each character."""
    text = source.text
    if len(text) > limits.CHARACTERS:
        raise language_error(
            f"this text has {len(text):,} characters, and {limits.CHARACTERS:,} are taken",
            Span(source, limits.CHARACTERS, limits.CHARACTERS + 1),
            "split it; rows belong in files, and long lists in a property of the edges",
        )
    words = _WORD.finditer(text) if len(text) > limits.WORD else ()
    for word in words:
        if word.end() - word.start() > limits.WORD:
            raise _too_long(*word.span(), limits.WORD, source)


class _LongTokenError(Exception):
    """A token that is longer than its limit."""

    def __init__(self, token: Token, most: int) -> None:
        super().__init__()
        self.token, self.most = token, most


def _at_most(most: int) -> Callable[[Token], Token]:
    def checked(token: Token) -> Token:
        if len(token) > most:
            raise _LongTokenError(token, most)
        return token

    return checked


_CHECKED = {
    **dict.fromkeys(("INT", "FLOAT", "SIGNED"), _at_most(limits.DIGITS)),
    **dict.fromkeys(("STRING", "QUOTED", "IRI", "MAP"), _at_most(limits.WORD)),
}
"""What looks at the tokens of a kind, in all grammars."""


def _too_long(start: int, end: int, most: int, source: Source) -> LanguageError:
    return language_error(
        f"this has {end - start:,} characters, and {most:,} are taken",
        Span(source, start, end),
        "shorten it" if most == limits.DIGITS else "shorten it, or close a quote before it",
    )


def _check_depth(tree: object, source: Source) -> None:
    deep = limits.nested_deeper(tree)
    if deep is None:
        return
    span = getattr(deep, "span", None)
    if span is None and hasattr(deep, "meta") and not deep.meta.empty:
        span = Span(source, deep.meta.start_pos, deep.meta.end_pos)
    raise language_error(
        f"this is nested more than {limits.DEPTH} deep",
        span or Span(source, 0, len(source.text)),
        "chains of `and` or `or` need no parentheses; give parts of the rest a name of their own",
    )


def parser_of(language: str, **settings: Any) -> Lark:
    grammar = files(f"graphtide.lang.{language}").joinpath("grammar.lark").read_text("utf-8")
    tables = _tables_file(language, grammar)
    settings |= {"parser": "lalr", "maybe_placeholders": True, "lexer_callbacks": _CHECKED}
    return Lark(grammar, cache=tables, **settings)


def _tables_file(language: str, grammar: str) -> str:
    """Where the tables of a grammar are kept; lark makes them anew where they do not fit."""
    digest = hashlib.sha256(grammar.encode()).hexdigest()[:16]
    return str(cache_folder_for("grammars") / f"{language}-{digest}.lark")


class Callbacks:
    """A builder as the parser wants it: each method takes the list of what its rule keeps.

    The parser's own way of spreading that list costs a quarter of the time of a parse.
    """

    def __init__(self, builder: object) -> None:
        for name in dir(builder):
            method = getattr(builder, name, None)
            if callable(method) and not name.startswith("_"):
                setattr(self, name, _spread(method))


def _spread(method: Callable[..., object]) -> Callable[[list[object]], object]:
    return lambda parts: method(*parts)


def broken_place(failure: UnexpectedInput, source: Source, word: re.Pattern[str]) -> Span:
    """What could not be read, up to the end of its word; the end of the text where that lacks."""
    position = cast("int | None", failure.pos_in_stream)
    ended = isinstance(failure, UnexpectedToken) and failure.token.type == "$END"
    if ended or position is None or position >= len(source.text):
        end = len(source.text.rstrip())
        return Span(source, end, end)
    matched = word.match(source.text, position)
    return Span(source, position, matched.end() if matched else position + 1)


def expected_there(failure: UnexpectedInput) -> Collection[str]:
    if isinstance(failure, UnexpectedToken):
        return cast("set[str] | None", failure.accepts) or failure.expected
    return cast("set[str] | None", getattr(failure, "allowed", None)) or ()


Known = Callable[[Source, Span, Collection[str]], "LanguageError | None"]
"""What knows some mistakes: the error for a place and what was expected there, or None."""


@dataclass(frozen=True)
class Slip:
    """A mistake that is known by the text before a place, the word at it, and what was expected.

    `what` and `hint` may name the `{word}`, and groups of `before` by their numbers.
    """

    what: str
    hint: str
    before: str = ""
    at: str = ""
    needs: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    def __call__(
        self, source: Source, place: Span, expected: Collection[str]
    ) -> LanguageError | None:
        if not set(self.needs) <= set(expected) or set(self.lacks) & set(expected):
            return None
        flags = re.IGNORECASE | re.DOTALL
        if self.at and not re.fullmatch(self.at, place.text, flags):
            return None
        before = re.search(rf"(?:{self.before})\Z", source.text[: place.start], flags)
        if before is None:
            return None
        groups = before.groups()
        what, hint = (said.format(*groups, word=place.text) for said in (self.what, self.hint))
        return language_error(what, place, hint)


def foreign_signs(language: str, signs: Mapping[str, str], *, behind: bool = False) -> Known:
    """Signs and words of other languages; with `behind`, the word before the place as well."""

    def known(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
        # `=` was read as a sign, so `=<` fails at its second character.
        spans = [place, Span(source, max(0, place.start - 1), place.start + 1)]
        before = re.search(r"([^\W\d]\w*)\s*$", source.text[: place.start]) if behind else None
        spans += [Span(source, *before.span(1))] if before else []
        for span in spans:
            if span.text.lower() in signs:
                what = f"`{span.text}` is not {language}"
                return language_error(what, span, signs[span.text.lower()])
        return None

    return known


def not_expected(place: Span) -> str:
    """What is wrong at a place, where nobody knows better."""
    if place.text:
        shown = place.text if re.match("'.", place.text) else f"'{place.text}'"
        return f"{shown} is not expected here"
    return "the text ends too early" if place.source.text.strip() else "there is nothing to read"


def listed_kinds(
    expected: Iterable[str], kinds: Mapping[str, str], *, most: int, others: bool = True
) -> str:
    """What could stand there, in words; kinds of things before keywords.

    Terminals that `kinds` does not name are keywords, which `others` lists too; "" is left out.
    """
    named = {kinds.get(item, f"`{item.strip('_').lower()}`" if others else "") for item in expected}
    ordered = sorted(named - {""}, key=lambda kind: (others and kind.startswith("`"), kind))
    return ", ".join(ordered[:most]) + (", ..." if len(ordered) > most else "")
