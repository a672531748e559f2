"""Columns of frames that hold values of several types, and texts that nearly all are numbers.

A table that was read elsewhere has types already, right or wrong: one text among numbers makes a
column of texts of a file that pandas reads, or a column of objects. Both are looked for here, and
described by the rows that do not fit, counted from 0 as frames count them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.column_types import is_text
from graphtide.model.errors import InputError

_SHOWN = 3
# The share of texts that may be none of the type that the others look like, as in a load.
_MISFITS = 20
_SAMPLE = 1_000
_LOOKS = {
    "numbers": r"^\s*[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$",
    "dates": r"^\s*\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)"
    r"|02-(0[1-9]|[12]\d))([T ]\d{2}:\d{2}.*)?\s*$",
}


def mixed_values(values: Iterable[Any]) -> str | None:
    """Describe the first values whose type differs from that of most; None if all have one type."""
    plain = list(values)
    kinds = [None if _is_missing(item) else _kind(item) for item in plain]
    counts = Counter(kind for kind in kinds if kind is not None)
    if len(counts) < 2:
        return None
    ((most, number),) = counts.most_common(1)
    others = [at for at, kind in enumerate(kinds) if kind not in (None, most)]
    shown = [f"row {at}: {plain[at]!r:.80}" for at in others[:_SHOWN]]
    more = f" and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
    return f"{number:,} values are of type {most}, but not {'; '.join(shown)}{more}"


def mixed_columns_error(what: str, frame: Any, reason: object) -> InputError:
    """The error for a frame that Arrow cannot read, with the rows that caused it."""
    found = {name: text for name, column in _columns(frame) if (text := _mixed(column))}
    if not found:
        return InputError(f"{what} cannot be read as a table: {reason}")
    name = next(iter(found))
    return InputError(
        f"{what}: the column {name!r} holds values of several types",
        where="\n      ".join(f"{column!r}: {text}" for column, text in found.items()),
        hint=f"correct them, or make one type of them: pandas.to_numeric(frame[{name!r}], "
        f"errors='coerce') makes gaps of what is no number, frame[{name!r}].astype(str) texts",
    )


@dataclass
class TextsOfNumbers:
    """Looks at a column of texts, batch by batch, whether nearly all of them are numbers or dates.

    Only the first texts are looked at where these are something else.
    """

    name: str
    _look: str | None = field(default=None, init=False)
    _rows: int = field(default=0, init=False)
    _texts: int = field(default=0, init=False)
    _others: int = field(default=0, init=False)
    _first: list[str] = field(default_factory=list, init=False)

    def look(self, column: pa.Array) -> None:
        """Take in the next batch of the column."""
        column = column.cast(pa.large_string())
        if not self._texts:
            self._look = _look_of(column.slice(0, _SAMPLE))
        there = column.filter(
            pc.fill_null(pc.not_equal(pc.utf8_trim_whitespace(column), ""), False)
        )
        self._texts += len(there)
        if self._look is not None:
            other = pc.fill_null(pc.invert(_matches(column, self._look)), False)
            blank = pc.fill_null(pc.equal(pc.utf8_trim_whitespace(column), ""), False)
            rows = pc.indices_nonzero(pc.and_not(other, blank))
            self._others += len(rows)
            for at in rows[: _SHOWN - len(self._first)].to_pylist():
                self._first.append(f"row {self._rows + at}: {column[at].as_py()!r:.80}")
        self._rows += len(column)

    @property
    def note(self) -> str | None:
        """The note for the user; None if the column is what it looks like."""
        if self._look is None or not 0 < _MISFITS * self._others <= self._texts:
            return None
        more = self._others - len(self._first)
        return (
            f"'{self.name}' is text: {self._texts - self._others:,} of {self._texts:,} texts are "
            f"{self._look}, but not {'; '.join(self._first)}"
            + (f" and {more:,} more" if more else "")
            + ". Convert the column first if it is to be more than text"
        )


def text_notes(columns: Mapping[str, Any]) -> Iterator[str]:
    """The notes on all columns of a frame."""
    for name, column in columns.items():
        if not isinstance(column, pa.ChunkedArray | pa.Array) or not is_text(column.type):
            continue
        texts = TextsOfNumbers(name)
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            texts.look(chunk)
        if texts.note is not None:
            yield texts.note


def _look_of(sample: pa.Array) -> str | None:
    """What most of a sample of texts look like: numbers, dates, or None."""
    for look in _LOOKS:
        matching = pc.sum(_matches(sample, look)).as_py() or 0
        if 2 * matching > len(sample) - sample.null_count:
            return look
    return None


def _matches(column: pa.Array, look: str) -> pa.Array:
    return pc.match_substring_regex(column, _LOOKS[look])


def _columns(frame: Any) -> Iterator[tuple[Any, Any]]:
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):
        names = list(frame.columns)
        if len(set(names)) == len(names):
            yield from ((name, frame[name]) for name in names)


def _mixed(column: Any) -> str | None:
    return mixed_values(column) if str(getattr(column, "dtype", "")) == "object" else None


def _is_missing(item: Any) -> bool:
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(item, float) and item != item


def _kind(item: Any) -> str:
    """The name of the type of a value; all numbers count as one type."""
    name = type(item).__name__
    return "number" if not isinstance(item, bool) and hasattr(item, "__float__") else name
