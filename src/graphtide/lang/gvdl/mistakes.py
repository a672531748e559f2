"""What a text that does not parse most likely meant.

The parser knows where it stopped and which words could have stood there. From that, in this
order: statements we know but do not have, things left open, signs of other languages, a
misspelt keyword, and at last the list of what was expected.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import cast

from lark import UnexpectedInput, UnexpectedToken

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.model.errors import LanguageError
from graphtide.model.schema import closest

_NAME = r"(?:[\w.-]+|`[^`]*`|\"[^\"]*\")"
_AGGREGATION = "filter with `create view NAME on GRAPH edges where ...`, and aggregate the result"
_NOT_OURS = (
    (
        re.compile(rf"create\s+(?:or\s+replace\s+)?view\s+{_NAME}\s+with\b", re.I),
        "views that group and aggregate are not part of GVDL here",
        _AGGREGATION,
    ),
    (
        re.compile(r"create\s+aggregated\s+cube\b", re.I),
        "aggregated cubes are not part of GVDL here",
        _AGGREGATION,
    ),
    (
        re.compile(r"generate\s+cube\b", re.I),
        "random cubes are not part of GVDL here",
        "`create view collection NAME for i in 1..10 [...]` generates views",
    ),
    (
        re.compile(r"window\s+cube\b", re.I),
        "windows over random cubes are not part of GVDL here",
        "`create view collection NAME sliding windows over ts width 7 days step 1 day`",
    ),
    (
        re.compile(r"load\s+cube\b", re.I),
        "loading a cube from files of differences is not part of GVDL here",
        "load the graph and create the collection: `create view collection NAME [...]`",
    ),
)
_ARITHMETIC = "a name may be shifted, as in `y + 1`, and no more; a loop or a window has a `step`"
_FOREIGN = {
    "*": _ARITHMETIC,
    "/": _ARITHMETIC,
    "%": _ARITHMETIC,
    "&&": "join conditions with `and`",
    "&": "join conditions with `and`",
    "||": "join conditions with `or`",
    "|": "join conditions with `or`",
    "=<": "write `<=`",
    "=>": "write `>=`",
    "===": "write `=`",
    "#": "a comment is `-- to the end of the line` or `/* ... */`",
    "//": "a comment is `-- to the end of the line` or `/* ... */`",
}
_OPENED = {
    "'": ("this string is not closed on its line", "end it with '; inside it, write \\' or ''"),
    '"': ("this name is not closed on its line", 'end it with "; strings take single quotes'),
    "`": ("this name is not closed on its line", "end it with `"),
    "/*": ("this comment is not closed", "end it with */"),
}
_KINDS = {
    "DASHED_NAME": "a name",
    "LOOP_NAME": "a name",
    "PROPERTY_NAME": "a property",
    "STRING": "a 'string'",
    "INT": "a number",
    "COMPARATOR": "a comparison such as =",
    "UNIT": "a unit such as days",
    "STRATEGY": "differential",
    "WINDOW_KIND": "expanding, sliding or tumbling",
    "ORDERING": "auto, chain or tree",
    "BAD_ROWS": "refuse or quarantine",
    "LISTED": "graphs, views, collections, computations or runs",
    "SHOWN": "graph, view, collection or run",
    "DELETED": "graph, view, collection or run",
    "ALL_COLLECTIONS": "collections",
    "_SAVE_RESULTS": "save results",
    "_SAVE_MAPPINGS": "save mappings",
    "_COMMA": "`,`",
    "_DOTS": "`..`",
    "_OPEN": "`(`",
    "_CLOSE": "`)`",
    "_BRACKET": "`[`",
    "_BRACKET_END": "`]`",
    "_BRACE": "`{`",
    "_BRACE_END": "`}`",
    "_EQUALS": "`=`",
    "_SEMICOLON": "`;`",
    "_COLON": "`:`",
}
# Possible almost anywhere, so naming them tells nothing.
_UNSAID = {"$END", "VIEW_NAME", "QUOTED", "VARIABLE", "FLOAT", "SIGN", "_BANG", "_DOT"}
_MOST = 12


def explain_failure(failure: UnexpectedInput, source: Source, start: str) -> LanguageError:
    """The error for a text that the parser gave up on."""
    place = _place(failure, source)
    expected = _expected(failure)
    for known in _KNOWN:
        found = known(source, place, expected)
        if found is not None:
            return found
    return _unexpected(source, place, expected, start)


def _place(failure: UnexpectedInput, source: Source) -> Span:
    position = cast("int | None", failure.pos_in_stream)
    ended = isinstance(failure, UnexpectedToken) and failure.token.type == "$END"
    if ended or position is None or position >= len(source.text):
        end = len(source.text.rstrip())
        return Span(source, end, end)
    word = re.compile(r"\w+|&&|\|\||=<|=>|===?|//|/\*|\S").match(source.text, position)
    return Span(source, position, word.end() if word else position + 1)


def _expected(failure: UnexpectedInput) -> Collection[str]:
    if isinstance(failure, UnexpectedToken):
        return cast("set[str] | None", failure.accepts) or failure.expected
    return cast("set[str] | None", getattr(failure, "allowed", None)) or ()


def _not_ours(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    start = source.text.rfind(";", 0, place.start) + 1
    statement = source.text[start:].lstrip()
    statement = re.sub(r"^(?:\s|/\*.*?\*/|--[^\n]*|explain\s)+", "", statement, flags=re.S | re.I)
    for pattern, what, hint in _NOT_OURS:
        if pattern.match(statement):
            return language_error(what, place, hint)
    return None


def _left_open(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    found = _OPENED.get(place.text)
    if found is None:
        return None
    line_end = source.text.find("\n", place.start)
    rest = source.text[place.end : None if line_end < 0 else line_end]
    closing = "*/" if place.text == "/*" else place.text
    return None if closing in rest else language_error(found[0], place, found[1])


def _foreign(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    # `=` was read as a comparison, so `=<` fails at its second character.
    pair = Span(source, max(0, place.start - 1), place.start + 1)
    for span in (place, pair):
        if span.text in _FOREIGN:
            return language_error(f"`{span.text}` is not GVDL", span, _FOREIGN[span.text])
    return None


def _wrong_quotes(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    if place.text in ('"', "`") and "STRING" in expected and "QUOTED" not in expected:
        return language_error(
            "a string is expected here", place, "strings take single quotes: '...'"
        )
    if place.text == "'" and "QUOTED" in expected and "STRING" not in expected:
        return language_error("a name is expected here", place, 'names take backticks or "..."')
    return None


def _bare_condition(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    before = source.text[: place.start].rstrip().lower()
    if "WINDOW_KIND" not in expected or not before.endswith("where"):
        return None
    return language_error(
        "a collection is a list of views in brackets",
        place,
        "write each as `[name: condition]`; a condition that all of them share is `within ...`",
    )


def _odd_name(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    before, after = source.text[: place.start], source.text[place.start :]
    opened = re.search(r"\[\s*([\w .{}-]*)$", before)
    rest = re.match(r"[\w .{}-]*:", after)
    if opened and rest:
        name = (opened.group(1) + rest.group()[:-1]).strip()
        hint = f"write [`{name}`: ...]"
        return language_error("a view's name with spaces in it needs quotes", place, hint)
    dashed = re.search(r"[^\W\d]\w*-$", before)
    if dashed and re.match(r"\w", after):
        name = dashed.group() + place.text
        hint = f"write `{name}` in backticks, if that is the name"
        return language_error("a property's name with '-' in it needs quotes", place, hint)
    return None


def _string_as_name(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    before = re.search(r"\[\s*'([^']*)'\s*$", source.text[: place.start])
    if place.text != ":" or before is None:
        return None
    hint = f"write [`{before.group(1)}`: ...]; single quotes are for strings"
    return language_error("a view's name takes backticks", place, hint)


def _misspelt(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    words = [word for name in expected for word in _words(name)]
    near = closest(place.text, words) if place.text.strip() else None
    if near is None or near == place.text.lower():
        return None
    return language_error(f"'{place.text}' is not expected here", place, f"did you mean `{near}`?")


def _words(terminal: str) -> list[str]:
    if terminal in _KINDS:
        kind = _KINDS[terminal]
        return [] if kind.startswith(("a ", "`")) else re.split(r", | or ", kind)
    return [] if terminal in _UNSAID else [terminal.strip("_").lower()]


def _unexpected(
    source: Source, place: Span, expected: Collection[str], start: str
) -> LanguageError:
    what = f"'{place.text}' is not expected here" if place.text else "the text ends too early"
    if not source.text.strip():
        what = "there is nothing to read"
    named = {_KINDS.get(item, f"`{item.strip('_').lower()}`") for item in expected}
    kinds = sorted(named - {f"`{item.strip('_').lower()}`" for item in _UNSAID})
    shown = ", ".join(kinds[:_MOST]) + (", ..." if len(kinds) > _MOST else "")
    hint = f"expected {shown}" if kinds else None
    if "$END" in expected and start == "script":
        hint = f"end the statement before it with `;`, or go on with {shown}"
    return language_error(what, place, hint)


_KNOWN = (
    _not_ours,
    _left_open,
    _foreign,
    _wrong_quotes,
    _bare_condition,
    _odd_name,
    _string_as_name,
    _misspelt,
)
