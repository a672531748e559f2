"""Strings, names, dates and timestamps: how their text is read and written.

Reading and writing are each other's inverse. Strings escape with a backslash (`\\'`, `\\\\`,
`\\n`, `\\t`, ...) or by doubling the quote; a backslash before anything else stands for
itself, so that the pattern `'50\\%'` reaches `like` as it was written.
"""

from __future__ import annotations

import datetime as dt
import re

from graphtide.lang.gvdl.tree import LiteralValue
from graphtide.plan.predicates import format_value

_ESCAPE = re.compile(r"''|\\(['\"\\/bfnrt])")
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_PLAIN_NAME = re.compile(r"\w+(?:[-.]\w+)*")
_TIMESTAMP = re.compile(
    r"(\d{4}-\d{1,2}-\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?",
    re.IGNORECASE,
)


def read_string(text: str) -> str:
    """The value of a string as written, quotes included."""
    return _ESCAPE.sub(_read_escape, text[1:-1])


def _read_escape(match: re.Match[str]) -> str:
    code = match.group(1)
    return "'" if code is None else _ESCAPED.get(code, code)


def read_name(text: str) -> str:
    """The name in backticks or double quotes, or a plain one as it is."""
    if text[0] in '`"':
        return text[1:-1].replace(text[0] * 2, text[0])
    return str(text)


def write_quoted_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def write_statement_name(name: str) -> str:
    """The name of a graph, a section or an aggregate, in backticks where it needs them."""
    return name if _PLAIN_NAME.fullmatch(name) else write_quoted_name(name)


def read_date(text: str) -> dt.date | None:
    """`2020-01-31` as a date; None if it is not one."""
    match = _DATE.fullmatch(text.strip())
    try:
        return dt.date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


def read_timestamp(text: str) -> dt.datetime | None:
    """`2020-01-31 10:00:00.5+02:00` and shorter; without an offset, a time without a zone."""
    match = _TIMESTAMP.fullmatch(text.strip())
    day = read_date(match.group(1)) if match else None
    if match is None or day is None:
        return None
    hour, minute, second, fraction, offset = match.groups()[1:]
    try:
        time = dt.time(int(hour or 0), int(minute or 0), int(second or 0))
        zone = _read_offset(offset) if offset else None
    except ValueError:
        return None
    microsecond = int((fraction or "0").ljust(6, "0"))
    return dt.datetime.combine(day, time.replace(microsecond=microsecond), zone)


def _read_offset(text: str) -> dt.timezone:
    if text in "Zz":
        return dt.UTC
    digits = text[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return dt.timezone(dt.timedelta(minutes=-minutes if text[0] == "-" else minutes))


def write_literal(value: LiteralValue) -> str:
    """A literal as GVDL writes it; times without a zone stay without."""
    if value is None:
        return "null"
    if isinstance(value, dt.datetime):
        text = value.isoformat(sep=" ").replace("+00:00", "Z")
        return f"timestamp '{text}'"
    if isinstance(value, str):
        return format_value(value).replace("\b", "\\b").replace("\f", "\\f")
    return format_value(value)
