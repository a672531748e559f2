"""Where statements end in text that is still being typed.

A statement ends with a `;` that is not inside a string, a quoted name or a comment. Strings and
quoted names end with their line at the latest, as in the grammar, so that a forgotten quote is an
error at once and does not swallow all that follows.
"""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"""
      '(?:[^'\\\n]|\\.|'')*(?:'|$)      # a string
    | "(?:[^"\n])*(?:"|$)               # a quoted name
    | `(?:[^`\n])*(?:`|$)
    | --[^\n]*                          # a comment to the end of the line
    | /\*(?:[^*]|\*(?!/))*\*/           # a comment
    | (?P<open>/\*)                     # a comment that goes on
    | (?P<end>;)
    """,
    re.VERBOSE | re.MULTILINE,
)
_BLANK = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/|;)*")


def split_statements(text: str) -> tuple[str, str]:
    """The text up to the end of its last complete statement, and the rest."""
    end = 0
    for piece in _PIECE.finditer(text):
        if piece["open"]:
            break
        if piece["end"]:
            end = piece.end()
    return text[:end], text[end:]


def is_blank(text: str) -> bool:
    """True of text that holds nothing but blanks, comments and semicolons."""
    return _BLANK.fullmatch(text) is not None
