"""What a text that does not parse most likely meant.

The parser knows where it stopped and which words could have stood there. From that, in this
order: statements we know but do not have, things left open, signs of other languages, habits, a
misspelt keyword, and at last the list of what was expected. Habits are what people write who come
from other languages or from Graphsurge. Each is a pattern, tried on the statement that fails, with
what to write here; no pattern is a part of the language.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import partial
from typing import NamedTuple

from lark import UnexpectedInput

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import (
    Known,
    Slip,
    broken_place,
    expected_there,
    foreign_signs,
    listed_kinds,
    not_expected,
)
from graphtide.model.errors import LanguageError
from graphtide.model.schema import closest


class Habit(NamedTuple):
    """A way to begin a statement that fails, what is wrong with it, and what to write."""

    pattern: re.Pattern[str]
    what: str
    hint: str


def _habit(pattern: str, what: str, hint: str) -> Habit:
    return Habit(re.compile(pattern, re.IGNORECASE | re.DOTALL), what, hint)


_NAME = r"(?:[\w.-]+|`[^`]*`|\"[^\"]*\")"
_CREATE = r"create\s+(?:or\s+replace\s+)?"
_LOAD = r"load\s+(?:or\s+replace\s+)?graph\b"
_FILE = r"'[^']*'"
_AGGREGATION = (
    "make a grouped graph for each grouping: `create view NAME vertices group by city "
    "aggregate count(*) edges aggregate count(*)`"
)

NOT_OURS = (
    _habit(
        r"create\s+aggregated\s+cube\b", "aggregated cubes are not part of GVDL here", _AGGREGATION
    ),
    _habit(
        r"generate\s+cube\b",
        "random cubes are not part of GVDL here",
        "`create view collection NAME for i in 1..10 [...]` generates views",
    ),
    _habit(
        r"window\s+cube\b",
        "windows over random cubes are not part of GVDL here",
        "`create view collection NAME sliding windows over ts width 7 days step 1 day`",
    ),
    _habit(
        r"load\s+cube\b",
        "loading a cube from files of differences is not part of GVDL here",
        "load the graph and create the collection: `create view collection NAME [...]`",
    ),
    _habit(
        rf"{_LOAD}[^;]*?\b(?:vertices|edges)\s+type\b",
        "types of vertices and edges are not part of `load graph`",
        "leave them out; labels stand in a column (`label '...'`), or come from "
        "`graphtide load NAME --vertices LABEL=FILE --edges SOURCE-LABEL-TARGET=FILE`",
    ),
)
"""Statements that we know and do not have."""

HABITS = (
    _habit(
        rf"{_LOAD}[^;]*?\bedges\s+from\s+{_FILE}\s+and\s+vertices\b",
        "vertices stand before edges",
        "`load graph NAME with vertices from 'FILE' and edges from 'FILE'`",
    ),
    _habit(
        rf"{_LOAD}[^;]*?\b(?:(?:vertices|edges)\s*{_FILE}|graph\s+{_NAME}\s+{_FILE})",
        "`from` is missing before the file",
        "`load graph NAME from 'FILE'`, or `with vertices from 'FILE' and edges from 'FILE'`",
    ),
    _habit(
        rf"{_LOAD}[^;]*?\bwith\s+vertices\s+from\s+{_FILE}\s*(?:;|$)",
        "a graph needs edges",
        "go on with `and edges from 'FILE'`",
    ),
    _habit(
        rf"{_LOAD}[^;]*{_FILE}\s*,",
        "there are no commas in `load graph`",
        "`with vertices from 'FILE' and edges from 'FILE'`, and options one after the other",
    ),
    _habit(
        rf"{_LOAD}[^;]*{_FILE}\s+replace\b",
        "`replace` stands in front",
        "`load or replace graph NAME ...`",
    ),
    _habit(
        rf"{_LOAD}[^;]*{_FILE}\s+columns\b",
        "columns are named by what they are",
        "`src 'COLUMN' dst 'COLUMN'`, and `id 'COLUMN'` of the vertices",
    ),
    _habit(
        rf"{_LOAD}[^;]*{_FILE}\s+\w+\s*=",
        "an option and its value have no `=` between them",
        "`separator ';' src 'COLUMN'`",
    ),
    _habit(
        rf"{_CREATE}(?:collection|cube)\b",
        "a collection is created with `create view collection`",
        "`create view collection NAME on GRAPH [name: condition], ...`",
    ),
    _habit(
        rf"{_CREATE}view\s+{_NAME}\s+as\b",
        "a view is a condition on edges, not a query",
        "`create view NAME on GRAPH edges where ...`",
    ),
    _habit(
        rf"{_CREATE}view\s+(?:on|where)\s+{_NAME}\s+\w",
        "the view has no name",
        "`create view NAME on GRAPH edges where ...`",
    ),
    _habit(
        rf"{_CREATE}view\s+collection\s+(?:(?:on|where|within)\s+{_NAME}\s*[\[(\w]|\[)",
        "the collection has no name",
        "`create view collection NAME on GRAPH [name: condition], ...`",
    ),
    _habit(
        rf"{_CREATE}view\s+collection\b.*\]\s*(?:and|or)\s*\[",
        "views of a collection are a list",
        "put commas between them; a condition of several parts stands in one pair of brackets",
    ),
    _habit(
        rf"{_CREATE}view\s+collection\b.*\b(?:expanding|sliding|tumbling)\s+(?!windows)\w",
        "`windows over` is missing",
        "`expanding windows over year width 1`",
    ),
    _habit(
        rf"{_CREATE}view\b.*\bfor\s+\w+\s+in\s+(?:range\s*\(|[\w'-]+\s*(?:-|to\b|:))",
        "a range is written with two dots",
        "`for y in 2000..2020`, with `step 5` behind it if you like",
    ),
    _habit(
        r"run\b[^;(]*\([^;)]*\w\s*:",
        "a parameter and its value have `=` between them",
        "`run bfs(source='ann') on NAME`",
    ),
    _habit(
        r"run\b[^;(]*\([^;=)]*[,)]",
        "parameters go by name",
        "`run bfs(source='ann') on NAME`; `show computations` lists them",
    ),
    _habit(
        r"run\b[^;(]*\([^;)]*=\s*[\[(,\s]*[^\W\d]\w*",
        "a value is a number, a text in single quotes, or true or false",
        "ids that are text are written 'ann'",
    ),
    _habit(r"run\b[^;]*\bsave\s+to\b", "results are what is saved", "`save results to 'FOLDER'`"),
    _habit(
        rf"run\s+{_NAME}(?:\s*\([^;)]*\))?\s*(?:;|$)",
        "the statement does not say on what to run",
        "`run wcc on NAME`, the name of a collection or a view",
    ),
    _habit(
        rf"{_CREATE}query\s+(?:on|path|paths|hops|reach|regular)\s+(?!on\b)",
        "the query has no name",
        "`create query NAME on live graph GRAPH path from 'a' to 'b'`",
    ),
    _habit(
        rf"(?:{_CREATE}|drop\s+|show\s+|explain\s+)query\s+{_NAME}\s+(?:on\s+(?!live\b)|(?!on\b))",
        "a query is on a live graph",
        "`... query NAME on live graph GRAPH ...`; `show live graphs` lists them",
    ),
    _habit(
        rf"(?:{_CREATE}|drop\s+|show\s+|explain\s+)program\s+{_NAME}\s+(?:on\s+(?!live\b)|(?!on\b))",
        "a program is registered on a live graph",
        "`create program NAME on live graph GRAPH run page_rank`; `run` is for collections",
    ),
    _habit(
        rf"{_CREATE}program\s+{_NAME}\s+on\s+live\s+graph\s+{_NAME}\s+(?!run\b)",
        "the statement does not say what to run",
        "`create program NAME on live graph GRAPH run page_rank(iterations=10)`",
    ),
    _habit(
        rf"{_CREATE}query\b.*\bfrom\s+[^\W\d]",
        "a vertex is named by its id",
        "an id is a number, or a text in single quotes: `path from 'LHR' to 'SYD'`",
    ),
    _habit(
        rf"{_CREATE}query\b.*\bregular\s+[^'\s]",
        "a regular path is a text",
        "`regular 'knows/likes*' from 'ann' label kind`",
    ),
    _habit(
        r"(?:insert\s+(?:into|from|edges)|append|update\s+(?:live|graph|from))\b",
        "a live graph is brought to its next version by `advance`",
        "`advance live graph NAME insert from 'FILE' delete from 'FILE'`",
    ),
    _habit(
        rf"advance\s+(?:graph\s+)?(?!live\b){_NAME}",
        "only live graphs advance",
        "`advance live graph NAME insert from 'FILE'`",
    ),
    _habit(
        rf"advance\s+live\s+graph\s+{_NAME}\s+(?:insert|update|remove|vertices)\s+(?:{_FILE}|edges|into)",
        "`from` is missing before the file",
        "`advance live graph NAME insert from 'FILE'`",
    ),
    _habit(
        rf"show\s+(graph|view|collection|run)s\s+{_NAME}",
        "several things have no name",
        "`show graph NAME` shows one of them, `show graphs` lists all",
    ),
    _habit(
        r"show\s+(?:schema|properties|columns)\b",
        "there is nothing of that kind to show",
        "`show graph NAME` lists the properties of a graph and their types",
    ),
    _habit(
        r"set\s+threads\s*(?:=|to\b|\d+\.|\d+e)",
        "threads are a whole number, without anything before it",
        "`set threads 4`",
    ),
)
"""Statements that we have, written otherwise."""

OTHER_WORDS = {
    "delimiter": "separator",
    "sep": "separator",
    "header": "has_headers",
    "headers": "has_headers",
    "tz": "timezone",
    "destination": "dst",
    "type": "edge_label",
    "drop": "delete",
    "remove": "delete",
    "describe": "show",
    "list": "show",
    "import": "load",
    "compute": "run",
    "select": "create",
    "when": "where",
    "filter": "where",
    "output": "save",
}
"""Words of other languages by ours."""


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
_UNSAID = ("$END", "VIEW_NAME", "QUOTED", "VARIABLE", "FLOAT", "SIGN", "_BANG", "_DOT")
"""Terminals that are possible almost anywhere, so that naming them tells nothing."""

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
    **dict.fromkeys(
        ("$END", "VIEW_NAME", "QUOTED", "VARIABLE", "FLOAT", "SIGN", "_BANG", "_DOT"), ""
    ),
}
STARTERS = {
    *("_CREATE", "_LOAD", "_RUN", "_SHOW", "_DELETE", "_REFRESH", "_USE", "_SET"),
    *("_SERIALIZE", "_DESERIALIZE", "_SAVE", "_EXPLAIN", "_ADVANCE", "DROP_QUERY"),
}
_MOST = 12


def explain_failure(failure: UnexpectedInput, source: Source, start: str) -> LanguageError:
    place = broken_place(failure, source, _WORD)
    expected = expected_there(failure)
    for known in _KNOWN:
        error = known(source, place, expected)
        if error is not None:
            return error
    return _unexpected(source, place, expected, start)


def _by_habit(
    habits: Iterable[Habit], source: Source, place: Span, _: Collection[str]
) -> LanguageError | None:
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


def _misspelt(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    words = sorted({word for name in expected for word in _words(name)})
    ours = OTHER_WORDS.get(place.text.lower())
    near = ours if ours in words else closest(place.text, words) if place.text.strip() else None
    if near is None or near == place.text.lower():
        return None
    return language_error(f"'{place.text}' is not expected here", place, f"did you mean `{near}`?")


def _listed(expected: Iterable[str]) -> str:
    return listed_kinds(expected, _KINDS, most=_MOST)


def _words(terminal: str) -> list[str]:
    if terminal in _KINDS:
        kind = _KINDS[terminal]
        return [] if kind.startswith(("a ", "`")) or not kind else re.split(r", | or ", kind)
    return [terminal.strip("_").lower()]


def _unexpected(
    source: Source, place: Span, expected: Collection[str], start: str
) -> LanguageError:
    what = not_expected(place)
    if "$END" not in expected or start != "script":
        kinds = _listed(expected)
        return language_error(what, place, f"expected {kinds}" if kinds else None)
    before = re.sub(r"/\*.*?\*/|--[^\n]*", "", source.text[: place.start], flags=re.S)
    if not before.strip(" \n\t;"):
        return language_error(what, place, f"a statement begins with {_listed(STARTERS)}")
    further = _listed([item for item in expected if item not in STARTERS | {"_SEMICOLON"}])
    hint = "end the statement before it with `;`"
    hint += f", or go on with {further}" if further else ""
    return language_error(what, place, hint)


_A_WORD = r"[^\W\d].*"
_BARE_GROUPING = (
    "conditions to group by stand in parentheses",
    "`group by (city, age > 30)`; alternatives are `([young: age < 30], [old: age >= 30])`",
    r"\bgroup\s+by\s+\[?[^()]*",
)
_WRONG_QUOTES = (
    Slip(
        "a string is expected here",
        "strings take single quotes: '...'",
        at='["`]',
        needs=("STRING",),
        lacks=("QUOTED",),
    ),
    Slip(
        "a name is expected here",
        'names take backticks or "..."',
        at="'.*",
        needs=("QUOTED",),
        lacks=("STRING",),
    ),
    Slip(
        "a collection is a list of views in brackets",
        "write each as `[name: condition]`; a condition that all of them share is `within ...`",
        before=r"where\s*",
        needs=("WINDOW_KIND",),
    ),
)
_UNBRACKETED = (
    Slip(  # `year in 2019`, `year in [2018, 2019]`
        "`in` takes its values in parentheses",
        "`year in (2018, 2019)`",
        before=r"\bin\s*",
        needs=("_OPEN",),
    ),
    Slip(  # `where count(x) > 3`
        "there is no function '{0}'",
        "a condition compares properties with values: `year > 2019`",
        before=r"^(?=.*(?:\bwhere\b|\[)).*?([^\W\d]\w*)\s*",
        at=r"\(",
    ),
    Slip(  # `year = (2019)`: parentheses behind a comparison begin a pair.
        "a single value takes no parentheses",
        "write it without: `... = {0}`; a list is `... in (1, 2)`",
        before=r"[=<>≤≥≠]\s*\(\s*([^(),]+?)\s*",
        at=r"\)",
    ),
    Slip(*_BARE_GROUPING, at="[=<>≤≥≠!]+|is|in|not|like|between|and|or"),
    Slip(*_BARE_GROUPING, needs=("_OPEN",), lacks=("_BRACKET",)),
    Slip(
        "a view's name takes backticks",
        "write [`{0}`: ...]; single quotes are for strings",
        before=r"\[\s*'([^']*)'\s*",
        at=":",
    ),
    Slip(  # `run bfs(source=LHR)`
        "a value is a number, a text in single quotes, or true or false",
        "a text takes single quotes: '{word}'",
        at=_A_WORD,
        needs=("STRING", "TRUE"),
        lacks=("PROPERTY_NAME",),
    ),
)
_TWO_WORDS = Slip(  # `city = New York`
    "'{word}' is not expected here",
    "a text takes single quotes: '{0} {word}'; `and` joins conditions",
    before=r"[=<>≤≥≠]\s*([^\W\d]\w*)\s+",
    at=_A_WORD,
    needs=("_AND",),
)
_KNOWN: tuple[Known, ...] = (
    partial(_by_habit, NOT_OURS),
    _left_open,
    foreign_signs("GVDL", _FOREIGN),
    *_WRONG_QUOTES,
    _odd_name,
    *_UNBRACKETED,
    partial(_by_habit, HABITS),
    _misspelt,
    _TWO_WORDS,
)
