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
from graphtide.lang.grammars import (
    Known,
    Slip,
    expected_there,
    foreign_signs,
    listed_kinds,
    not_expected,
)
from graphtide.model.errors import LanguageError
from graphtide.model.schema import closest

_WORD = re.compile(r"\w+|\+\+|--|\+=|-=|\*=|/=|=>|&|\||\S")
_HEAD = r"[ \t]*(?:initialize|traverse|update)[ \t]*\([ \t]*\w+[ \t]*\)[ \t]*:?[ \t]*[^\s]"
_UNSAID = ["$END", "_PROGRAM", "_NEWLINE", "INFINITY", "TRUE", "FALSE", "QUOTED", "FLOAT", "_ASK"]
"""Terminals that are possible almost anywhere, so that naming them tells nothing."""

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
_KINDS = {
    **{terminal: f"`{word}`" for terminal, word in _WORDS.items()},
    **_KINDS,
    **dict.fromkeys(
        ("$END", "_PROGRAM", "_NEWLINE", "INFINITY", "TRUE", "FALSE", "QUOTED", "FLOAT", "_ASK"), ""
    ),
}
_MOST = 10


def explain_failure(failure: UnexpectedInput, source: Source, _start: str) -> LanguageError:
    place, expected = _place(failure, source), expected_there(failure)
    for known in _KNOWN:
        error = known(source, place, expected)
        if error is not None:
            return error
    kinds = listed_kinds(expected, _KINDS, most=_MOST)
    return language_error(not_expected(place), place, f"expected {kinds}" if kinds else None)


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


def _misspelt(source: Source, place: Span, expected: Collection[str]) -> LanguageError | None:
    words = sorted(_WORDS[item] for item in expected if item in _WORDS)
    words += ["Initialize", "Traverse", "Update"] if "FUNCTION" in expected else []
    near = closest(place.text, words) if place.text.strip() else None
    if near is None or near.lower() == place.text.lower():
        return None
    return language_error(f"'{place.text}' is not expected here", place, f"did you mean `{near}`?")


_HERE = "'{word}' is not expected here"
_BLOCK = "indent what belongs to it on the next line, or put it in braces"
_KNOWN: tuple[Known, ...] = (
    foreign_signs("L_NGA", _FOREIGN, behind=True),
    _left_open,
    Slip(_HERE, _BLOCK, at=".+", needs=("_INDENT", "_BRACE")),
    Slip("a block is missing here", _BLOCK, needs=("_INDENT", "_BRACE")),
    # Conditions and sends as other languages write them.
    Slip(_HERE, "write `==` to compare", at="=", needs=("COMPARATOR",)),
    Slip(
        _HERE,
        "compare two at a time: `u < v And v < w`",
        at="[<>=]",
        needs=("AND",),
        lacks=("COMPARATOR",),
    ),
    Slip(
        _HERE,
        "to send, write `v.sum.Accumulate(...)`",
        before=r"\.\s*\w+\s*",
        at=r"\(",
        needs=("_IS", "_DOT"),
    ),
    # More than the one statement that may stand on the line of its function.
    Slip(
        _HERE,
        "put several statements in braces, or indent them below their head",
        before=rf"(?:^|\n){_HEAD}[^\n]*",
        needs=("FUNCTION",),
    ),
    _misspelt,
)
