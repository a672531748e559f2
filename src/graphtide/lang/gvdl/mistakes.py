"""What a text that does not parse most likely meant.

The parser knows where it stopped and which words could have stood there. From that, in this
order: statements we know but do not have, things left open, signs of other languages, habits, a
misspelt keyword, and at last the list of what was expected.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from lark import UnexpectedInput

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import broken_place, expected_there
from graphtide.lang.gvdl.habits import HABITS, NOT_OURS, OTHER_WORDS, Habit
from graphtide.model.errors import LanguageError
from graphtide.model.schema import closest

_WORD = re.compile(r"\w+|'[^'\n]*'|&&|\|\||=<|=>|===?|//|/\*|\S")
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
    "~": "`like` compares with a pattern: `name like 'a%'`",
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
    "COLUMN_ROLE": "id, src, dst, label or edge_label",
    "LISTED": "graphs, views, collections, computations or runs",
    "SHOWN": "graph, view, collection or run",
    "DELETED": "graph, view, collection or run",
    "ALL_COLLECTIONS": "collections",
    "REFRESHED": "view or collection",
    "LIVE_GRAPHS": "live graphs",
    "QUERY": "query",
    "QUERIES": "queries",
    "DROP_QUERY": "`drop query`",
    "PROGRAM": "program",
    "PROGRAMS": "programs",
    "DROP_PROGRAM": "`drop program`",
    "WAY": "out, in or both",
    "_DELETE_FROM": "`delete from`",
    "NONE": "none",
    "FAR": "far",
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
    "_STAR": "`*`",
}
# Possible almost anywhere, so naming them tells nothing.
_UNSAID = {"$END", "VIEW_NAME", "QUOTED", "VARIABLE", "FLOAT", "SIGN", "_BANG", "_DOT"}
STARTERS = {
    *("_CREATE", "_LOAD", "_RUN", "_SHOW", "_DELETE", "_REFRESH", "_USE", "_SET"),
    *("_SERIALIZE", "_DESERIALIZE", "_SAVE", "_EXPLAIN", "_ADVANCE", "DROP_QUERY"),
}
_MOST = 12


def explain_failure(failure: UnexpectedInput, source: Source, start: str) -> LanguageError:
    """The error for a text that the parser gave up on."""
    place = broken_place(failure, source, _WORD)
    expected = expected_there(failure)
    for known in _KNOWN:
        error = known(source, place, expected)
        if error is not None:
            return error
    return _unexpected(source, place, expected, start)


def _not_ours(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    return _by_habit(NOT_OURS, source, place)


def _habits(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    return _by_habit(HABITS, source, place)


def _by_habit(habits: Iterable[Habit], source: Source, place: Span) -> LanguageError | None:
    """The first habit that the statement at the place begins with."""
    start = source.text.rfind(";", 0, place.start) + 1
    statement = source.text[start:].lstrip()
    statement = re.sub(r"^(?:\s|/\*.*?\*/|--[^\n]*|explain\s)+", "", statement, flags=re.S | re.I)
    for pattern, what, hint in habits:
        if pattern.match(statement):
            return language_error(what, place, hint)
    return None


def _left_open(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    problem = _OPENED.get(place.text)
    if problem is None:
        return None
    line_end = source.text.find("\n", place.start)
    rest = source.text[place.end : None if line_end < 0 else line_end]
    closing = "*/" if place.text == "/*" else place.text
    return None if closing in rest else language_error(problem[0], place, problem[1])


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
    if place.text.startswith("'") and "QUOTED" in expected and "STRING" not in expected:
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


def _unbracketed(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    """`year in 2019`, `year in [2018, 2019]`, `count(x) > 3`."""
    before = source.text[: place.start]
    if "_OPEN" in expected and re.search(r"\bin\s*$", before, re.I):
        hint = "`year in (2018, 2019)`"
        return language_error("`in` takes its values in parentheses", place, hint)
    called = re.search(r"([^\W\d]\w*)\s*$", before)
    if place.text == "(" and called and re.search(r"\bwhere\b|\[", before, re.I):
        hint = "a condition compares properties with values: `year > 2019`"
        return language_error(f"there is no function '{called.group(1)}'", place, hint)
    return None


def _parenthesised(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    """`year = (2019)`: parentheses behind a comparison begin a pair."""
    before = re.search(r"[=<>≤≥≠]\s*\(\s*([^(),]+?)\s*$", source.text[: place.start])
    if place.text != ")" or before is None:
        return None
    hint = f"write it without: `... = {before.group(1)}`; a list is `... in (1, 2)`"
    return language_error("a single value takes no parentheses", place, hint)


def _bare_value(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    """`run bfs(source=LHR)`: a word where a parameter's value stands."""
    if not {"STRING", "TRUE"} <= set(expected) or "PROPERTY_NAME" in expected:
        return None
    if not re.match(r"[^\W\d]", place.text):
        return None
    what = "a value is a number, a text in single quotes, or true or false"
    return language_error(what, place, f"a text takes single quotes: '{place.text}'")


def _two_words(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    """`city = New York`: a second word where a condition ends."""
    before = re.search(r"[=<>≤≥≠]\s*([^\W\d]\w*)\s+$", source.text[: place.start])
    if before is None or "_AND" not in expected or not re.match(r"[^\W\d]", place.text):
        return None
    hint = f"a text takes single quotes: '{before.group(1)} {place.text}'; `and` joins conditions"
    return language_error(f"'{place.text}' is not expected here", place, hint)


def _bare_grouping(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    """`group by age > 30`, `group by [age > 30]`: conditions need their parentheses."""
    before = re.search(r"\bgroup\s+by\s+\[?[^()]*$", source.text[: place.start], re.I)
    bare = re.fullmatch(r"[=<>≤≥≠!]+|is|in|not|like|between|and|or", place.text, re.I)
    if before is None or not (bare or ("_OPEN" in expected and "_BRACKET" not in expected)):
        return None
    hint = "`group by (city, age > 30)`; alternatives are `([young: age < 30], [old: age >= 30])`"
    return language_error("conditions to group by stand in parentheses", place, hint)


def _string_as_name(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    before = re.search(r"\[\s*'([^']*)'\s*$", source.text[: place.start])
    if place.text != ":" or before is None:
        return None
    hint = f"write [`{before.group(1)}`: ...]; single quotes are for strings"
    return language_error("a view's name takes backticks", place, hint)


def _misspelt(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    words = [word for name in expected for word in _words(name)]
    ours = OTHER_WORDS.get(place.text.lower())
    near = ours if ours in words else closest(place.text, words) if place.text.strip() else None
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
    what = f"{_shown(place.text)} is not expected here" if place.text else "the text ends too early"
    if not source.text.strip():
        what = "there is nothing to read"
    if "$END" not in expected or start != "script":
        kinds = _kinds(expected)
        return language_error(what, place, f"expected {kinds}" if kinds else None)
    before = re.sub(r"/\*.*?\*/|--[^\n]*", "", source.text[: place.start], flags=re.S)
    if not before.strip(" \n\t;"):
        return language_error(what, place, f"a statement begins with {_kinds(STARTERS)}")
    further = _kinds([item for item in expected if item not in STARTERS | {"_SEMICOLON"}])
    hint = "end the statement before it with `;`"
    hint += f", or go on with {further}" if further else ""
    return language_error(what, place, hint)


def _shown(text: str) -> str:
    return text if text.startswith("'") and len(text) > 1 else f"'{text}'"


def _kinds(expected: Collection[str]) -> str:
    """What could stand there, in words; kinds of things before keywords."""
    named = {_KINDS.get(item, f"`{item.strip('_').lower()}`") for item in expected}
    kinds = named - {f"`{item.strip('_').lower()}`" for item in _UNSAID}
    ordered = sorted(kinds, key=lambda kind: (kind.startswith("`"), kind))
    return ", ".join(ordered[:_MOST]) + (", ..." if len(ordered) > _MOST else "")


_KNOWN = (
    _not_ours,
    _left_open,
    _foreign,
    _wrong_quotes,
    _bare_condition,
    _odd_name,
    _unbracketed,
    _parenthesised,
    _bare_grouping,
    _string_as_name,
    _bare_value,
    _habits,
    _misspelt,
    _two_words,
)
