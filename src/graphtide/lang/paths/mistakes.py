"""What a path that cannot be read most likely meant."""

from __future__ import annotations

import re

from lark import UnexpectedInput

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import broken_place, expected_there
from graphtide.model.errors import LanguageError

_WORD = re.compile(r"\w+|\S")
_NOT_PATHS = (
    (
        re.compile(r"\s*(?:optional\s+)?match\b", re.I),
        "a query takes the pattern alone",
        "leave `match` and `return` out: `(a)-[:KNOWS]->(b)`",
    ),
    (
        re.compile(r"\s*(?:all)?shortest(?:paths?)?\b", re.I),
        "a query finds the shortest walk anyway",
        "write the pattern alone: its answer has the fewest edges as `hops`",
    ),
    (
        re.compile(r"\s*(?:select|ask|where)\b", re.I),
        "a query takes the property path alone",
        "write what stands between subject and object: `knows/likes*`",
    ),
)
_KINDS = {
    "NAME": "a label",
    "STRING": "a 'label'",
    "SIGNED": "a number",
    "INT": "a number",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "BANG": "`!`",
    "CIRCUMFLEX": "`^`",
    "SLASH": "`/`",
    "VBAR": "`|`",
    "STAR": "`*`",
    "PLUS": "`+`",
    "QUESTION": "`?`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "OPEN": "`-[`",
    "OPEN_LEFT": "`<-[`",
    "CLOSE": "`]-`",
    "CLOSE_RIGHT": "`]->`",
    "TO_RIGHT": "`-->`",
    "TO_LEFT": "`<--`",
    "DOTS": "`..`",
}
_NESTED = re.compile(r"\s*\(\w*\)\s*\(\s*\(\w*\)\s*(-|<-)")
"""`(a) ((x)-[...`: a pattern within a pattern."""

_PATTERN = "a pattern is `(a)-[:KNOWS*1..3]->(b)`"


def explain_failure(failure: UnexpectedInput, source: Source, start: str) -> LanguageError:
    """The error for a text that the parser gave up on."""
    place = broken_place(failure, source, _WORD)
    if not source.text.strip():
        return language_error("there is nothing to read", place, "a path is `knows/likes*`")
    for pattern, what, hint in _NOT_PATHS:
        if pattern.match(source.text):
            return language_error(what, place, hint)
    problem = _quoted(place) or _quantified(source, place, start) or _twice(source, place)
    if problem is not None:
        return language_error(problem[0], place, problem[1])
    what = f"'{place.text}' is not expected here" if place.text else "the text ends too early"
    kinds = _kinds(failure)
    return language_error(what, place, f"expected {kinds}" if kinds else None)


def _quoted(place: Span) -> tuple[str, str] | None:
    if place.text == "'":
        return "this label is not closed on its line", "end it with '; inside it, write ''"
    if place.text in ('"', "`"):
        return "a label takes single quotes here", "write 'works for'"
    return None


def _quantified(source: Source, place: Span, start: str) -> tuple[str, str] | None:
    """Patterns with a quantifier behind a link, or behind parentheses, as newer Cypher has them."""
    of_pattern = start == "only_pattern" or _NESTED.match(source.text)
    if not of_pattern or place.text not in ("+", "*", "{", "(", "?"):
        return None
    return (
        "a quantified pattern finds trails, and a query finds walks",
        f"write a property path, such as `knows{{1,3}}`; {_PATTERN}",
    )


def _twice(source: Source, place: Span) -> tuple[str, str] | None:
    """`a*?`, `a+*`: one sign behind another."""
    before = source.text[: place.start].rstrip()
    if place.text in ("*", "+", "?", "{") and before.endswith(("*", "+", "?", "}")):
        return "one repetition cannot stand behind another", "use parentheses: `(a+)*`"
    return None


def _kinds(failure: UnexpectedInput) -> str:
    expected = expected_there(failure)
    return ", ".join(sorted({_KINDS[item] for item in expected if item in _KINDS}))
