"""Values, counts and tables as text for people: in a terminal, in a notebook, in an error.

Counts are ours and get thousands separators, and six digits where they are not whole. Values are
the user's and are shown as they are: the id 1234567 is not "1,234,567". No text can break a line,
colour a terminal or hide. Tables are cut to fit a terminal, or written whole where there is none;
widths are counted in terminal cells, so that wide characters stay in line.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, set_cell_size

if TYPE_CHECKING:
    import pyarrow as pa


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
    """One value as text on one line."""
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
    """True for values that are aligned to the right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def not_shown(rows: int, columns: Sequence[str] = ()) -> str:
    """How many rows and columns a table has beyond those shown; empty if none."""
    parts = [f"{rows:,} more {'row' if rows == 1 else 'rows'}"] if rows > 0 else []
    if columns:
        names = ", ".join(map(visible, columns[:_LISTED]))
        names += ", ..." if len(columns) > _LISTED else ""
        many = "columns" if len(columns) > 1 else "column"
        parts.append(f"{len(columns):,} more {many}: {names}")
    return f"... and {', '.join(parts)}" if parts else ""


def visible(text: str, kept: str = "") -> str:
    """The text with everything unprintable written as escapes, except `kept`."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in kept
        else character.encode("unicode_escape").decode()
        for character in text
    )


def visible_lines(text: str) -> str:
    """The same for several lines: line ends and tabs stay."""
    return visible(text, kept="\n\t")


def counted(number: int, what: str, many: str | None = None) -> str:
    """A number with its noun: `1 view`, `2 views`; `many` is an irregular plural."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def sized(vertices: int, edges: int, joined: str = ", ") -> str:
    """The size of a graph: `2 vertices, 1 edge`."""
    return f"{counted(vertices, 'vertex', 'vertices')}{joined}{counted(edges, 'edge')}"


def shortened(text: str, width: int = 80) -> str:
    """The text on one line of at most `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."


FIRST_ROWS = 20
"""How many rows are shown of a table that is longer."""

_GAP = "  "
_NARROWEST = 6
_WIDEST = 40


def shown_lines(table: pa.Table, style: CellStyle, width: int) -> list[str]:
    """The header, the first rows, and what is not shown: columns and rows beyond what fits.

    Numbers are never cut, and aligned at their points; long texts are cut.
    """
    if not table.num_columns:
        return ["no columns"]
    first = table.slice(0, FIRST_ROWS)
    columns = _columns(first, replace(style, aligned=True))
    widths = [min(size, _WIDEST) if not right else size for size, right in map(_width, columns)]
    ends = accumulate(size + len(_GAP) for size in widths)
    count = max(1, sum(end - len(_GAP) <= width for end in ends))
    lines = [_cut(line, width) for line in _joined(columns[:count], widths[:count])]
    if not table.num_rows:
        lines.append("no rows")
    rest = not_shown(table.num_rows - first.num_rows, table.column_names[count:])
    return [*lines, rest] if rest else lines


def table_lines(table: pa.Table, style: CellStyle, width: int | None = None) -> list[str]:
    """The header and one line for each row, cut to `width` cells if that is given."""
    columns = _columns(table, style)
    widths = [size for size, _ in map(_width, columns)]
    if width is None:
        return _joined(columns, widths)
    return [_cut(line, width) for line in _joined(columns, fitted_widths(widths, width))]


def fitted_widths(widths: Sequence[int], room: int) -> list[int]:
    """Narrow the widest columns until all fit, or all are as narrow as they may be."""
    fitted = list(widths)
    excess = sum(fitted) + len(_GAP) * (len(fitted) - 1) - room
    while excess > 0 and max(fitted) > _NARROWEST:
        widest = fitted.index(max(fitted))
        others = [size for at, size in enumerate(fitted) if at != widest]
        goal = max([_NARROWEST, *(size - 1 for size in others)])
        taken = min(excess, max(1, fitted[widest] - goal))
        fitted[widest] -= taken
        excess -= taken
    return fitted


class _Column(NamedTuple):
    """The texts of a column, its name first, and whether they stand to the right."""

    texts: list[str]
    right: bool


def _columns(table: pa.Table, style: CellStyle) -> list[_Column]:
    names = enumerate(table.column_names)
    return [_column(name, table.column(at).to_pylist(), style) for at, name in names]


def _column(name: str, values: Sequence[object], style: CellStyle) -> _Column:
    known = [value for value in values if value is not None]
    right = bool(known) and all(map(is_number, known))
    texts = [cell_text(value, style) for value in values]
    if right and style.aligned and float in map(type, known):
        texts = _at_points(texts)
    return _Column([visible(name), *texts], right)


def _at_points(texts: list[str]) -> list[str]:
    """Pad numbers on the right so that their decimal points stand below each other."""
    if any("e" in text for text in texts):
        return texts
    behind = [len(text) - text.index(".") if "." in text else 0 for text in texts]
    most = max(behind)
    return [
        text + " " * (most - size) if text[-1:].isdigit() else text
        for text, size in zip(texts, behind, strict=True)
    ]


def _width(column: _Column) -> tuple[int, bool]:
    return max(map(cell_len, column.texts)), column.right


def _joined(columns: Sequence[_Column], widths: Sequence[int]) -> list[str]:
    padded = [
        [_padded(cell, size, right) for cell in texts]
        for (texts, right), size in zip(columns, widths, strict=True)
    ]
    return [_GAP.join(row).rstrip() for row in zip(*padded, strict=True)]


def _padded(cell: str, size: int, right: bool) -> str:
    missing = size - cell_len(cell)
    if missing < 0:
        return _cut(cell, size)
    return " " * missing + cell if right else cell + " " * missing


def _cut(text: str, size: int) -> str:
    if cell_len(text) <= size:
        return text
    return set_cell_size(text, max(size - 1, 0)) + "…"
