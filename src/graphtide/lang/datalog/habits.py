"""What people bring along from Prolog, SQL, Python or mathematics, and what to write instead.

Looked at only where a text cannot be read, or a name is not known: nothing here is ever taken.
"""

from __future__ import annotations

import re
from collections.abc import Collection

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
    """What to write instead of what stands at `start`, where `word` was not expected."""
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
    """The type that goes by another name elsewhere."""
    meant = _TYPES.get(name.lower())
    return f"write `{meant}`" if meant else None


def function_habit(name: str) -> str | None:
    """What to write for a function that is not there."""
    return _FUNCTIONS.get(name)
