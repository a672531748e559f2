"""The values of parameters: what users give, as programs take it, by the kind of the parameter.

Numbers may be scalars of NumPy, moments texts in ISO form. Vertices stay as the user named them.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Hashable, Iterable, Mapping

from graphtide.plan.programs import INT_MAX, INT_MIN, ParameterKind

ParameterValue = Hashable
"""A number, a text, a moment, the id of a vertex, a tuple of such ids, or of pairs of them."""


def converted_value(kind: ParameterKind, value: object) -> ParameterValue:
    """A value of that kind; None where it cannot be one."""
    return _CONVERSIONS[kind](value)


def _int_value(value: object) -> ParameterValue:
    plain = _plain(value)
    if isinstance(plain, bool) or not isinstance(plain, int):
        return None
    return plain if INT_MIN <= plain <= INT_MAX else None


def _float_value(value: object) -> ParameterValue:
    plain = _plain(value)
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        return None
    return None if math.isnan(plain) else float(plain)


def _bool_value(value: object) -> ParameterValue:
    plain = _plain(value)
    return plain if isinstance(plain, bool) else None


def _text_value(value: object) -> ParameterValue:
    return str(value) if isinstance(value, str) else None


def date_value(value: object) -> dt.date | None:
    """A date, or one in ISO form as a text; None of anything else, a timestamp included."""
    if isinstance(value, str):
        try:
            return dt.date.fromisoformat(value.strip())
        except ValueError:
            return None
    return value if isinstance(value, dt.date) and not isinstance(value, dt.datetime) else None


def timestamp_value(value: object) -> dt.datetime | None:
    """A timestamp in UTC, from one, a date (its midnight) or either in ISO form as a text.

    One without an offset is taken to be in UTC.
    """
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)
    if not isinstance(value, dt.datetime):
        return None
    return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)


def moment_number(value: dt.date) -> int:
    """A moment as programs compute with it: days, or microseconds, since 1970 began (in UTC)."""
    if isinstance(value, dt.datetime):
        return (value - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
    return (value - dt.date(1970, 1, 1)).days


def _vertex_value(value: object) -> ParameterValue:
    plain = _plain(value)
    return plain if isinstance(plain, Hashable) else None


def _vertices_value(value: object) -> ParameterValue:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return None
    vertices = [_vertex_value(item) for item in value]
    return None if None in vertices else tuple(dict.fromkeys(vertices))


def _pairs_value(value: object) -> ParameterValue:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return None
    pairs = [_pair_value(item) for item in value]
    return None if None in pairs or not pairs else tuple(dict.fromkeys(pairs))


def _pair_value(value: object) -> ParameterValue:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return None
    ends = tuple(_vertex_value(item) for item in value)
    return None if None in ends or len(ends) != 2 else ends


def _plain(value: object) -> object:
    """The Python value of a NumPy scalar; anything else as it is."""
    item = getattr(value, "item", None)
    return item() if item is not None and getattr(value, "shape", None) == () else value


_CONVERSIONS = {
    ParameterKind.INT: _int_value,
    ParameterKind.FLOAT: _float_value,
    ParameterKind.BOOL: _bool_value,
    ParameterKind.TEXT: _text_value,
    ParameterKind.DATE: date_value,
    ParameterKind.TIMESTAMP: timestamp_value,
    ParameterKind.VERTEX: _vertex_value,
    ParameterKind.VERTICES: _vertices_value,
    ParameterKind.PAIRS: _pairs_value,
}
WANTED = {
    ParameterKind.INT: "a whole number of 64 bits",
    ParameterKind.FLOAT: "a number",
    ParameterKind.BOOL: "True or False",
    ParameterKind.TEXT: "a text",
    ParameterKind.DATE: "a date, or a text such as '2020-12-31'",
    ParameterKind.TIMESTAMP: "a timestamp, or a text such as '2020-12-31 18:00'",
    ParameterKind.VERTEX: "the id of a vertex",
    ParameterKind.VERTICES: "a list of ids of vertices",
    ParameterKind.PAIRS: "a list of pairs of vertices by their ids: [(source, target), ...]",
}
"""What to give of each kind, for hints."""
