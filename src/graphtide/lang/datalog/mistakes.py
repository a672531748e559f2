"""What a Datalog program that cannot be read most likely meant, and errors at nodes of its tree.

Parts of Soufflé that are not supported are named; habits from Prolog, SQL, Python or mathematics
get what to write instead; otherwise the error lists what could have stood there. All of this is
looked at only after the parser gave up or a name was not found: nothing here is ever accepted as a
program.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from lark import UnexpectedInput

from graphtide.lang.diagnostics import Source, Span, language_error
from graphtide.lang.grammars import broken_place, expected_there, listed_kinds, not_expected
from graphtide.lang.trees import Node
from graphtide.model.errors import LanguageError
from graphtide.model.schema import name_hint

_RULE = "write a rule as `head :- body.`"
_AND, _OR, _NOT = (
    "write `,` for and",
    "write `;` for or",
    "write `!` before the atom: `!edge(x, y)`",
)
_COMMENT = "a comment is `// ...` up to the end of its line, or `/* ... */`"
_SIGNS = {
    "==": "write one `=`", "<>": "write `!=`", "=<": "write `<=`", "=>": "write `>=`",
    "≠": "write `!=`", "≤": "write `<=`", "≥": "write `>=`", "**": "write `^` for a power",
    "&&": _AND, "&": _AND, "∧": _AND, "||": _OR, "|": _OR, "∨": _OR,
    "\\+": _NOT, "~": _NOT, "¬": _NOT, "->": _RULE, "<-": _RULE, ":=": _RULE, "--": _COMMENT,
    "'": 'write texts in double quotes: "text"',
    "/*": "close the comment with `*/`",
}  # fmt: skip
_WORDS = {
    "and": _AND,
    "or": _OR,
    "is": "write `=`",
    "mod": "write `%`",
    "in": "name each value: (x = 1; x = 2), or let the values be facts",
    "where": "write the condition behind a `,`",
}
_COMPARISONS = {"=", "!=", "<", "<=", ">", ">="}
_STATEMENTS = ("decl", "type", "input", "output", "printsize")
_TYPES = {
    "int": "number", "integer": "number", "i64": "number", "long": "number", "double": "float",
    "real": "float", "f64": "float", "string": "symbol", "str": "symbol", "text": "symbol",
    "node": "vertex",
}  # fmt: skip
_FUNCTIONS = {
    "itof": "write to_float(x)",
    "ftoi": "write to_number(x)",
    "itou": "there is no unsigned: leave it out",
    "utoi": "there is no unsigned: leave it out",
    "ord": "symbols have no numbers: number them in a relation of their own",
    "abs": "write max(x, -x)",
    "count": "write count : { edge(x, _) }",
    "range": "insert the numbers as facts",
    "as": "types are not cast; use to_number, to_float or to_string",
}


def habit(text: str, start: int, word: str, expected: Collection[str]) -> str | None:
    before = text[:start].rstrip()
    for sign in (text[start - 1 : start + 1] if start else "", text[start : start + 2], word):
        if sign in _SIGNS:
            return _SIGNS[sign]
    if word == "%" and "NAME" in expected:
        return _COMMENT
    if word in _COMPARISONS and "COMMA" in expected:
        return _RULE if _is_head(before) else "compare two values at a time: 1 < x, x < 3"
    return _WORDS.get(word) or _behind(before, word)


def _behind(before: str, word: str) -> str | None:
    """What to write where it is the word before that counts."""
    last = re.search(r"[\w.]*$", before)
    name = last[0] if last else ""
    if name in ("sum", "min", "max") and word in (":", "{"):
        return f"say of what: {name} w : {{ road(x, _, w) }}"
    if name == "count" and word == "{":
        return "write count : { edge(x, _) }"
    if name in _STATEMENTS:
        return f"write `.{name}`"
    if word[:1] == "." and word[1:5].lower() in ("decl", "type", "inpu", "outp", "prin"):
        return "the statements are .decl, .type, .input, .output, .printsize and .plan"
    if re.fullmatch(r"\d+", name) and re.fullmatch(r"[eE]\d+", word):
        return f"a float has a point: {name}.0{word}"
    return None


def _is_head(before: str) -> bool:
    """Whether what stands before is the head of a rule: nothing since the last statement ended."""
    return ":-" not in re.split(r"\.(?=\s|$)", before)[-1]


def type_habit(name: str) -> str | None:
    meant = _TYPES.get(name.lower())
    return f"write `{meant}`" if meant else None


def function_habit(name: str) -> str | None:
    return _FUNCTIONS.get(name)


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
    expected = expected_there(failure)
    instead = habit(source.text, place.start, word, expected) if word else None
    kinds = listed_kinds(expected, _KINDS, most=len(_KINDS), others=False)
    return language_error(
        not_expected(place), place, instead or (f"expected {kinds}" if kinds else None)
    )


def _word_before(source: Source, place: Span) -> str:
    word = re.search(r"([\w?]+)\s*$", source.text[: place.start])
    return word[1] if word else ""


def refuse(what: str, node: Node, hint: str) -> LanguageError:
    return language_error(what, node.span, hint)


def offered(name: str, known: Iterable[str], what: str) -> str:
    """A hint for a name that is not there: the nearest one, or all."""
    listed = list(known)
    listing = f"the {what} are {', '.join(listed)}" if listed else f"there are no {what}"
    if what == "relations":
        listing += f"; `.decl {name}(x: number)` declares one"
    return name_hint(name, listed, listing)
