"""Tables as aligned text: cut to the width of a terminal, whole where there is none.

Widths are counted in terminal cells, so that wide characters stay in line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from graphtide.model.cells import CellStyle, cell_text, is_number, visible

if TYPE_CHECKING:
    import pyarrow as pa

_GAP = "  "
_NARROWEST = 6


def table_lines(table: pa.Table, style: CellStyle, width: int | None = None) -> list[str]:
    """The header, then a line a row; no line is longer than `width` cells, if that is given."""
    columns = [
        _column(name, table.column(at).to_pylist(), style)
        for at, name in enumerate(table.column_names)
    ]
    widths = [max(map(cell_len, column)) for column, _ in columns]
    if width is not None:
        widths = fitted_widths(widths, width)
    padded = [
        [_padded(cell, size, right) for cell in column]
        for (column, right), size in zip(columns, widths, strict=True)
    ]
    lines = [_GAP.join(row).rstrip() for row in zip(*padded, strict=True)]
    return lines if width is None else [_cut(line, width) for line in lines]


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


def _column(name: str, values: Sequence[object], style: CellStyle) -> tuple[list[str], bool]:
    """The texts of a column, its name first, and whether they stand to the right."""
    known = [value for value in values if value is not None]
    right = bool(known) and all(map(is_number, known))
    return [visible(name), *(cell_text(value, style) for value in values)], right


def _padded(cell: str, size: int, right: bool) -> str:
    missing = size - cell_len(cell)
    if missing < 0:
        return _cut(cell, size)
    return " " * missing + cell if right else cell + " " * missing


def _cut(text: str, size: int) -> str:
    if cell_len(text) <= size:
        return text
    return set_cell_size(text, max(size - 1, 0)) + "…"
