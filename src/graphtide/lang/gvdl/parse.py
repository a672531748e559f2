"""GVDL text to tree: the entry points for a script, and for parts of a statement by themselves.

The grammar is `grammar.lark`; `build` makes the nodes while the parser reads, and `mistakes` says
what a text that does not parse most likely meant.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import Callbacks, Reader, parser_of
from graphtide.lang.gvdl import statements, tree
from graphtide.lang.gvdl.build import ScriptBuilder
from graphtide.lang.gvdl.mistakes import explain_failure

_STARTS = (
    "script",
    "only_predicate",
    "only_views",
    "only_amount",
    "only_property",
    "only_groupings",
    "only_aggregates",
)


def parse_script(text: str, name: str | None = None) -> tuple[statements.Statement, ...]:
    """The statements of a script, in order; `name` is the file's, for errors."""
    return cast(tuple[statements.Statement, ...], _parse(Source(text, name), "script"))


def parse_statement(text: str) -> statements.Statement:
    """The one statement of a text; none or several are an error."""
    statements = parse_script(text)
    if len(statements) == 1:
        return statements[0]
    span = statements[1].span if statements else Span(Source(text), 0, len(text))
    raise language_error(
        f"one statement is expected here, not {len(statements)}", span, "run several as a script"
    )


def parse_predicate(text: str) -> tree.Predicate:
    """A predicate by itself: `year > 2010 and src.state = 'CA'`."""
    return cast(tree.Predicate, _parse(Source(text), "only_predicate"))


def parse_views(text: str) -> tree.ViewList:
    return cast(tree.ViewList, _parse(Source(text), "only_views"))


def parse_amount(text: str) -> tree.Literal | tree.Duration:
    """The width or step of windows by itself: `2 weeks`, `10`."""
    return cast(tree.Literal | tree.Duration, _parse(Source(text), "only_amount"))


def parse_property(text: str) -> tree.PropertyName:
    """A property by itself: `year`, `src.state`."""
    return cast(tree.PropertyName, _parse(Source(text), "only_property"))


def parse_groupings(text: str) -> tuple[tree.Grouping, ...]:
    """What stands behind `group by` by itself: `city, state`, `(city), (state, age > 30)`."""
    return cast(tuple[tree.Grouping, ...], _parse(Source(text), "only_groupings"))


def parse_aggregates(text: str) -> tuple[tree.AggregateCall, ...]:
    """What stands behind `aggregate` by itself: `count(*), avg(age) as mean`."""
    return cast(tuple[tree.AggregateCall, ...], _parse(Source(text), "only_aggregates"))


def _parse(source: Source, start: str) -> Any:
    if not source.text.isascii():
        _check_characters(source)
    return _reader().read(source, start)


def _check_characters(source: Source) -> None:
    """Refuse what cannot be stored: half of a character, as a wrongly decoded file has."""
    try:
        source.text.encode()
    except UnicodeEncodeError as error:
        raise language_error(
            "the text holds half of a character, which cannot be stored",
            Span(source, error.start, error.start + 1),
            "read the file as UTF-8",
        ) from None


@cache
def _reader() -> Reader:
    builder = ScriptBuilder()
    parser = parser_of("gvdl", start=list(_STARTS), transformer=Callbacks(builder))
    return Reader(parser, builder, explain_failure)
