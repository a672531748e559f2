"""Values as short texts, for tables that people read: in a terminal or in a notebook.

Counts are ours and get thousands separators, and six digits where they are not whole; values are
the user's and are shown as they are, because the id 1234567 is not "1,234,567". No text can break
a line, colour a terminal or hide.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class CellStyle:
    """How numbers and missing values are written; `aligned` is for eyes, with six digits."""

    thousands: bool
    missing: str
    aligned: bool = False


_WHOLE, _READABLE = 1e6, 1e15
"""Between these, six digits are not enough for the whole part of a number."""

_LISTED = 5

COUNTS = CellStyle(thousands=True, missing="")
VALUES = CellStyle(thousands=False, missing="null")


def cell_text(value: object, style: CellStyle) -> str:
    """One value on one line."""
    match value:
        case None:
            return style.missing
        case bool():
            return "true" if value else "false"
        case float() if style.thousands:
            return f"{value:,.0f}" if _WHOLE <= abs(value) < _READABLE else f"{value:,.6g}"
        case float() if style.aligned:
            text = f"{value:.0f}" if _WHOLE <= abs(value) < _READABLE else f"{value:.6g}"
            return f"{text}.0" if text.lstrip("-").isdigit() else text
        case list() | tuple() if style.aligned:
            return f"[{', '.join(cell_text(item, style) for item in value)}]"
        case int() | float():
            return f"{value:,}" if style.thousands else str(value)
        case dt.datetime():
            return value.isoformat(sep=" ")
    return visible(str(value))


def is_number(value: object) -> bool:
    """True of what belongs to the right side of its column."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def not_shown(rows: int, columns: Sequence[str] = ()) -> str:
    """What a table has besides what is shown of it; nothing where all is."""
    parts = [f"{rows:,} more {'row' if rows == 1 else 'rows'}"] if rows > 0 else []
    if columns:
        names = ", ".join(map(visible, columns[:_LISTED]))
        names += ", ..." if len(columns) > _LISTED else ""
        many = "columns" if len(columns) > 1 else "column"
        parts.append(f"{len(columns):,} more {many}: {names}")
    return f"... and {', '.join(parts)}" if parts else ""


def visible(text: str, kept: str = "") -> str:
    """The text with everything that does not print written as an escape, but for `kept`."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in kept
        else character.encode("unicode_escape").decode()
        for character in text
    )


def visible_lines(text: str) -> str:
    """A text of several lines with what does not print as escapes; line ends and tabs stay."""
    return visible(text, kept="\n\t")
