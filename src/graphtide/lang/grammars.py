"""What the languages with a grammar share: readers of texts, and where a text breaks off.

Lark works the tables of a parser out once (up to half a second); the cache keeps them, and a
process loads them on first use.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from importlib.resources import files
from threading import Lock
from typing import Any, cast

from lark import Lark, UnexpectedInput, UnexpectedToken

from graphtide.lang.diagnostics import Source, Span
from graphtide.model.cache import cache_folder_for
from graphtide.model.errors import LanguageError


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
        """What the parser makes of a text; LanguageError where it gives up."""
        with self._turn:
            self.builder.source = source
            try:
                return self.parser.parse(source.text, start=start)
            except UnexpectedInput as failure:
                raise self.explain(failure, source, start) from None


def parser_of(language: str, **settings: Any) -> Lark:
    """The parser of `lang/<language>/grammar.lark`."""
    grammar = files(f"graphtide.lang.{language}").joinpath("grammar.lark").read_text("utf-8")
    tables = _tables_file(language, grammar)
    return Lark(grammar, parser="lalr", maybe_placeholders=True, cache=tables, **settings)


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
    """The names of the tokens that could have stood there."""
    if isinstance(failure, UnexpectedToken):
        return cast("set[str] | None", failure.accepts) or failure.expected
    return cast("set[str] | None", getattr(failure, "allowed", None)) or ()
