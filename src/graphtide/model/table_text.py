"""Tables as lines of text: cut to what fits a terminal, or whole where there is none.

Widths are counted in terminal cells, so that wide characters stay in line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, set_cell_size

from graphtide.model.cells import CellStyle, cell_text, is_number, not_shown, visible

if TYPE_CHECKING:
    import pyarrow as pa

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
    """The header, then a line a row; no line is longer than `width` cells, if that is given."""
    columns = _columns(table, style)
    widths = [size for size, _ in map(_width, columns)]
    if width is None:
        return _joined(columns, widths)
    return [_cut(line, width) for line in _joined(columns, fitted_widths(widths, width))]


def fitted_widths(widths: Sequence[int], room: int) -> list[int]:
    """The widths, with the widest columns narrowed until all fit, or all are at their narrowest."""
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
    """Numbers with blanks behind them, so that their points come to stand below each other."""
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
