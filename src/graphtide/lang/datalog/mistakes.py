"""What a program that cannot be read most likely meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lark import UnexpectedInput

from graphtide.lang.datalog.habits import habit
from graphtide.lang.datalog.tree import Node
from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import broken_place, expected_there
from graphtide.model.errors import LanguageError
from graphtide.model.schema import name_hint

_WORD = re.compile(r"\.?[\w?]+|[:!<>]?[=-]|\S")
_NOT_TAKEN = {
    ".comp": "components are not taken; write the rules out",
    ".init": "components are not taken; write the rules out",
    ".functor": "functions of C++ are not taken; map the values before they are inserted",
    ".pragma": "settings of Soufflé are not taken; leave the line out",
    ".limitsize": "every fact that follows is derived; leave the line out",
    ".override": "components are not taken; write the rules out",
    ".lattice": "write `d(x, a) <= d(x, b) :- b <= a.` to keep the least value of a key",
    "#": "there is no preprocessor, so write out what it would put in; a comment begins with //",
    "$": "constructors and counters are not taken; use a record, or number the facts before",
    "@": "functions of C++ are not taken; map the values before they are inserted",
    "band": "bitwise operations are not taken",
    "bor": "bitwise operations are not taken",
    "bxor": "bitwise operations are not taken",
    "bnot": "bitwise operations are not taken",
    "bshl": "bitwise operations are not taken",
    "bshr": "bitwise operations are not taken",
    "land": "write the conditions as literals, with `,` and `;` between them",
    "lor": "write the conditions as literals, with `,` and `;` between them",
    "lnot": "turn the comparison round",
    "not": "write `!` before the atom: `!edge(x, y)`",
    "mean": "write it as a sum and a count",
    "range": "insert the numbers as facts",
    "as": "types are not cast; use to_number, to_float or to_string",
}
_KINDS = {
    "DOT": "`.`",
    "NAME": "a name",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "COMMA": "`,`",
    "SEMICOLON": "`;`",
    "COLON": "`:`",
    "EQUALS": "`=`",
    "COMPARATOR": "a comparison",
    "INT": "a number",
    "STRING": 'a "text"',
    "RBRACE": "`}`",
    "LBRACE": "`{`",
    "RSQB": "`]`",
    "__ANON_0": "`?-`",
    "__ANON_2": "`:-`",
}


def explain_failure(failure: UnexpectedInput, source: Source, _start: str) -> LanguageError:
    """The error for a text that the parser gave up on."""
    place = broken_place(failure, source, _WORD)
    word = place.text
    for candidate in (word, word[:1], _word_before(source, place)):
        if candidate in _NOT_TAKEN:
            return language_error(f"`{candidate}` is not taken", place, _NOT_TAKEN[candidate])
    if word == '"':
        return language_error(
            "this text is not closed on its line", place, r'end it with "; inside it, write \"'
        )
    if re.fullmatch(r"\d+u", source.text[place.start - 1 : place.end].strip() or " "):
        return language_error("unsigned numbers are not taken", place, "number has 64 bits here")
    what = f"'{word}' is not expected here" if word else "the text ends too early"
    if not word and not source.text.strip():
        what = "there is nothing to read"
    expected = expected_there(failure)
    instead = habit(source.text, place.start, word, expected) if word else None
    kinds = ", ".join(sorted({_KINDS[item] for item in expected if item in _KINDS}))
    return language_error(what, place, instead or (f"expected {kinds}" if kinds else None))


def _word_before(source: Source, place: Span) -> str:
    word = re.search(r"([\w?]+)\s*$", source.text[: place.start])
    return word[1] if word else ""


def refuse(what: str, node: Node, hint: str) -> LanguageError:
    """The error for what a node says."""
    return language_error(what, node.span, hint)


def offered(name: str, known: Iterable[str], what: str) -> str:
    """A hint for a name that is not there: the nearest one, or all."""
    listed = list(known)
    listing = f"the {what} are {', '.join(listed)}" if listed else f"there are no {what}"
    if what == "relations":
        listing += f"; `.decl {name}(x: number)` declares one"
    return name_hint(name, listed, listing)
