"""Small made-up data to try things on, the same on every machine: nothing is fetched."""

from __future__ import annotations

import random

import pyarrow as pa

_TOWNS = """
Alder Ash Aspen Barley Bay Beech Birch Bracken Briar Broom Cedar Cherry Clover Cypress Elder Elm
Fern Flax Gorse Hawthorn Hazel Heath Hemlock Holly Hop Ivy Juniper Larch Laurel Lime Linden Maple
Medlar Moss Myrtle Nettle Oak Olive Pear Pine Poplar Quince Reed Rowan Rush Sage Sorrel Spruce
Thyme Willow
"""
_WIDE, _HIGH = 10, 5


def power_grid() -> pa.Table:
    """The lines of a power grid of fifty towns, and when a storm that moves east takes them out.

    A row a line: `src` and `dst`, two towns; `km`; and the hours from which (`out_from`) until
    before which (`out_until`) it is out, 0 and 0 if it never is. In hour 0 the grid is whole, and
    in hour 12 it is whole again.
    """
    pick, towns = random.Random(31), _TOWNS.split()
    lines = []
    for at in range(_WIDE * _HIGH):
        column, row = divmod(at, _HIGH)
        if column + 1 < _WIDE and (row == 2 or pick.random() < 0.85):
            lines.append((at, at + _HIGH))
        if row + 1 < _HIGH and (column % 3 == 0 or pick.random() < 0.78):
            lines.append((at, at + 1))
    rows = []
    for one, other in _joined(lines):
        (column, row), (further, _) = divmod(one, _HIGH), divmod(other, _HIGH)
        came = 1 + (column + further) // 4
        hit = pick.random() < (0.66 if 1 <= row <= 3 else 0.3)
        stays = came + pick.randint(2, 4)
        km = round(pick.uniform(8, 40), 1)
        rows.append((towns[one], towns[other], km, *((came, stays) if hit else (0, 0))))
    names = ("src", "dst", "km", "out_from", "out_until")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def _joined(lines: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The lines with one more for every town that would have none to an earlier one."""
    reached = {0}
    while more := {b for a, b in lines if a in reached} | {a for a, b in lines if b in reached}:
        if more <= reached:
            missing = min(set(range(_WIDE * _HIGH)) - reached, default=None)
            if missing is None:
                break
            lines = [*lines, (missing - (1 if missing % _HIGH else _HIGH), missing)]
        reached |= more
    return sorted(lines)
