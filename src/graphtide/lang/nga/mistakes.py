"""What a text that does not parse most likely meant.

The parser knows where it stopped and which words could have stood there. From that, in this order:
signs of other languages, things left open, a misspelt word, and at last the list of what was
expected.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import cast

from lark import UnexpectedInput, UnexpectedToken

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import expected_there
from graphtide.model.errors import LanguageError
from graphtide.model.schema import closest

_WORD = re.compile(r"\w+|\+\+|--|\+=|-=|\*=|/=|=>|&|\||\S")
_ONE_LINE = re.compile(r"\s*(initialize|traverse|update)\s*\(\s*\w+\s*\)\s*:?\s*\S", re.IGNORECASE)
_FOREIGN = {
    "while": "a program is repeated until nothing changes; loops are `For v in u.nbrs`",
    "return": "assign an attribute: `u.rank = ...`",
    "break": "put what follows under an `If`",
    "continue": "put what follows under an `If`",
    "def": "functions are `Initialize (u):`, `Traverse (u):` and `Update (u):`",
    "class": "a program is `Vertex (...)` and three functions",
    "elif": "write `Else If (...)`",
    "foreach": "write `For v in u.nbrs`",
    "self": "parameters are written by their names alone",
    "+=": "write `u.x = u.x + ...`, or send to an accumulator: `v.sum.Accumulate(...)`",
    "-=": "write `u.x = u.x - ...`",
    "*=": "write `u.x = u.x * ...`",
    "++": "write `u.x = u.x + 1`",
    "--": "write `u.x = u.x - 1`",
    "=>": "write `>=`",
    "&": "write `And` or `&&`",
    "|": "write `Or` or `||`",
    "'": "texts and names of properties take double quotes",
    "#": "a comment is `// to the end of the line` or `/* ... */`",
}
_KINDS = {
    "NAME": "a name",
    "QUOTED": 'a name in "quotes"',
    "INT": "a number",
    "FLOAT": "a number",
    "FUNCTION": "Initialize, Traverse or Update",
    "COMPARATOR": "a comparison such as ==",
    "_LESS": "`<`",
    "_GREATER": "`>`",
    "TIMES": "`*`, `/` or `%`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "POWER": "`**`",
    "_IS": "`=`",
    "_ASK": "`?`",
    "_DOT": "`.`",
    "_COLON": "`:`",
    "_COMMA": "`,`",
    "_SEMICOLON": "`;`",
    "_OPEN": "`(`",
    "_CLOSE": "`)`",
    "_BRACKET": "`[`",
    "_BRACKET_END": "`]`",
    "_BRACE": "`{`",
    "_BRACE_END": "`}`",
    "_INDENT": "an indented block",
    "_DEDENT": "the end of the block",
    "_GLOBALS": "GlobalVariable",
    "_ACCM": "Accm",
}
_WORDS = {
    "_VERTEX": "Vertex",
    "_PARAMETER": "Parameter",
    "_EDGE": "Edge",
    "_GLOBALS": "GlobalVariable",
    "_ITERATIONS": "Iterations",
    "_TOLERANCE": "Tolerance",
    "_LET": "Let",
    "_IF": "If",
    "_ELSE": "Else",
    "_FOR": "For",
    "_IN": "in",
    "_WHERE": "Where",
    "_VIA": "Via",
    "_ACCUMULATE": "Accumulate",
    "_ACCM": "Accm",
    "_ARRAY": "Array",
    "_RANGE": "Range",
    "DISTINCT": "Distinct",
    "AND": "And",
    "OR": "Or",
    "_NOT": "Not",
}
# Possible almost anywhere, so naming them tells nothing.
_UNSAID = {"$END", "_PROGRAM", "_NEWLINE", "INFINITY", "TRUE", "FALSE", "QUOTED", "FLOAT", "_ASK"}
_MOST = 10


def explain_failure(failure: UnexpectedInput, source: Source, _start: str) -> LanguageError:
    place, expected = _place(failure, source), expected_there(failure)
    for known in (_foreign, _left_open, _no_block, _half_known, _second, _misspelt):
        error = known(source, place, expected)
        if error is not None:
            return error
    what = f"'{place.text}' is not expected here" if place.text else "the text ends too early"
    kinds = _kinds(expected)
    return language_error(what, place, f"expected {kinds}" if kinds else None)


def _place(failure: UnexpectedInput, source: Source) -> Span:
    position = cast("int | None", failure.pos_in_stream)
    ended = isinstance(failure, UnexpectedToken) and failure.token.type in ("$END", "_DEDENT")
    if ended or position is None or position >= len(source.text):
        end = len(source.text.rstrip()) if position is None else min(position, len(source.text))
        end = len(source.text[:end].rstrip())
        return Span(source, end, end)
    while position < len(source.text) and source.text[position].isspace():
        position += 1
    word = _WORD.match(source.text, position)
    return Span(source, position, word.end() if word else position + 1)


def _foreign(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    # `+` was read as a sign, so `+=` fails at its second character.
    pair = Span(source, max(0, place.start - 1), place.start + 1)
    for span in (place, pair):
        if span.text.lower() in _FOREIGN:
            hint = _FOREIGN[span.text.lower()]
            return language_error(f"`{span.text}` is not L_NGA", span, hint)
    # A statement may begin with any name: the one before may be foreign.
    before = re.search(r"([^\W\d]\w*)\s*$", source.text[: place.start])
    if before and before.group(1).lower() in _FOREIGN:
        span = Span(source, before.start(1), before.end(1))
        hint = _FOREIGN[before.group(1).lower()]
        return language_error(f"`{before.group(1)}` is not L_NGA", span, hint)
    return None


def _left_open(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    # `/` was read as a sign, so `/*` fails at its second character.
    for start in (place.start, place.start - 1):
        if source.text[max(0, start) :].startswith("/*"):
            span = Span(source, start, start + 2)
            return language_error("this comment is not closed", span, "end it with */")
    if place.text != '"':
        return None
    whole = re.compile(r'"[^"\n]*"').match(source.text, place.start)
    if whole is None:
        return language_error("this name is not closed on its line", place, 'end it with "')
    hint = "texts stand in comparisons; a parameter that is a text has no default"
    span = Span(source, place.start, whole.end())
    return language_error("a text cannot stand here", span, hint)


def _second(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    """More than the one statement that may stand on the line of its function."""
    line = source.text.rfind("\n", 0, place.start) + 1
    if "FUNCTION" not in expected or not _ONE_LINE.match(source.text, line, place.start):
        return None
    hint = "put several statements in braces, or indent them below their head"
    return language_error(f"'{place.text}' is not expected here", place, hint)


def _no_block(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    if not {"_INDENT", "_BRACE"} <= set(expected):
        return None
    return language_error(
        f"'{place.text}' is not expected here" if place.text else "a block is missing here",
        place,
        "indent what belongs to it on the next line, or put it in braces",
    )


def _half_known(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    """Conditions and sends as other languages write them."""
    hint = None
    if place.text == "=" and "COMPARATOR" in expected:
        hint = "write `==` to compare"
    elif place.text in ("<", ">", "=") and "AND" in expected and "COMPARATOR" not in expected:
        hint = "compare two at a time: `u < v And v < w`"
    elif place.text == "(" and {"_IS", "_DOT"} <= set(expected):
        sends = re.search(r"\.\s*\w+\s*$", source.text[: place.start])
        hint = "to send, write `v.sum.Accumulate(...)`" if sends else None
    return language_error(f"'{place.text}' is not expected here", place, hint) if hint else None


def _misspelt(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    words = [_WORDS[item] for item in expected if item in _WORDS]
    words += ["Initialize", "Traverse", "Update"] if "FUNCTION" in expected else []
    near = closest(place.text, words) if place.text.strip() else None
    if near is None or near.lower() == place.text.lower():
        return None
    return language_error(f"'{place.text}' is not expected here", place, f"did you mean `{near}`?")


def _kinds(expected: Collection[str]) -> str:
    """What could stand there, in words; kinds of things before keywords."""
    named = {
        _KINDS.get(item) or f"`{_WORDS.get(item, item.strip('_').lower())}`"
        for item in expected
        if item not in _UNSAID
    }
    ordered = sorted(named, key=lambda kind: (kind.startswith("`"), kind))
    return ", ".join(ordered[:_MOST]) + (", ..." if len(ordered) > _MOST else "")
