"""How a walk reaches an accumulator, as text.

Three ways to send: a run from scratch writes to rows as they are (`RUN`), a term touches a row
before it changes it and may have to take something back (`TERM`), and a gathering takes anew what
one vertex has lost (`GATHER`). `sign` is 1 for a walk that came and -1 for one that left.
"""

from __future__ import annotations

from enum import StrEnum

from graphtide.engine.synchronous.row_layout import Column
from graphtide.engine.walks.names import WalkNames
from graphtide.plan.expressions import FLOAT
from graphtide.plan.programs import Accumulator, AccumulatorKind

_KINDS = AccumulatorKind


class Mode(StrEnum):
    """What a kernel does with what it sends."""

    RUN = "run"
    TERM = "term"
    GATHER = "gather"


def amount_text(item: Accumulator, value: str, mode: Mode) -> str:
    """What a walk adds to an accumulator that counts."""
    match item.kind:
        case _KINDS.OR:
            value = f"(1 if {value} else 0)"
        case _KINDS.AND:
            value = f"(0 if {value} else 1)"
        case _:
            value = f"np.int64({value})"
    return f"sign * {value}" if mode is Mode.TERM else value


def vertex_add(names: WalkNames, column: Column, target: str, mode: Mode, amount: str) -> list[str]:
    """Add an amount to a counting accumulator of a vertex."""
    width = _width(names)
    lines = [names.touching(target)] if mode is Mode.TERM else []
    return [*lines, f"sums.whole[{names.element(column, f'{target} * {width}', None)}] += {amount}"]


def vertex_send(
    names: WalkNames, column: Column, target: str, mode: Mode, value: str, index: str | None
) -> list[str]:
    """Send a value to an accumulator of a vertex."""
    item, width = column.item, _width(names)
    assert isinstance(item, Accumulator)
    lines = [f"place = {names.element(column, f'{target} * {width}', index)}"]
    if mode is Mode.TERM:
        lines = [f"entry = {names.touching(target)}", *lines]
    memory = "real" if column.real else "whole"
    word = f"sums.{memory}[place]"
    match item.kind:
        case _KINDS.SUM if item.type is FLOAT:
            if mode is Mode.TERM:
                return [*lines, f"send_float(walking, sums.real, place, sign * {value}, entry)"]
            return [*lines, f"gather_float(sums.real, place, {value})"]
        case _KINDS.MIN | _KINDS.MAX:
            return [*lines, *_select(item, "sums", value, mode, "entry")]
        case _KINDS.PRODUCT if mode is Mode.TERM:
            return [
                *lines,
                "if sign > 0:",
                f"    {word} *= {_typed(item, value)}",
                "else:",
                "    note_doubt(walking, entry)",
            ]
        case _KINDS.PRODUCT:
            return [*lines, f"{word} *= {_typed(item, value)}"]
        case _:
            return [*lines, f"{word} += {amount_text(item, value, mode)}"]


def global_add(names: WalkNames, column: Column, amount: str) -> list[str]:
    """Add an amount to a counting accumulator of the whole graph."""
    return [f"walking.globals.whole[{names.element(column, '0', None)}] += {amount}"]


def global_send(
    names: WalkNames, column: Column, mode: Mode, value: str, index: str | None
) -> list[str]:
    """Send a value to an accumulator of the whole graph."""
    item = column.item
    assert isinstance(item, Accumulator)
    lines = [f"place = {names.element(column, '0', index)}"]
    rows, sign = "walking.globals", "sign" if mode is Mode.TERM else "1"
    match item.kind:
        case _KINDS.SUM if item.type is FLOAT:
            return [*lines, f"send_exactly({rows}.whole, place, np.float64({value}), {sign})"]
        case _KINDS.MIN | _KINDS.MAX:
            return [*lines, *_select(item, rows, value, mode, "-1")]
        case _KINDS.PRODUCT if item.type is FLOAT:
            return [*lines, f"multiply(walking, {rows}, place, np.float64({value}), {sign})"]
        case _KINDS.PRODUCT:
            return [*lines, f"multiply_whole({rows}.whole, place, np.int64({value}), {sign})"]
        case _:
            return [*lines, f"{rows}.whole[place] += {amount_text(item, value, mode)}"]


def report_lines(number: int, width: int, values: list[tuple[str, bool]], mode: Mode) -> list[str]:
    """Report a row: which matches, the sign, and its columns."""
    sign = "sign" if mode is Mode.TERM else "1"
    lines = [
        f"row = report(walking, {width})",
        "if row >= 0:",
        f"    walking.reported.whole[row] = {number}",
        f"    walking.reported.whole[row + 1] = {sign}",
    ]
    for at, (value, real) in enumerate(values, 2):
        memory = "real" if real else "whole"
        lines.append(f"    walking.reported.{memory}[row + {at}] = {value}")
    return lines


def clearing(names: WalkNames, column: Column, rows: str, base: str) -> list[str]:
    """Set all elements of a column to those of nothing sent."""
    item = column.item
    assert isinstance(item, Accumulator)
    place = f"{names.element(column, base, None)} + {column.words} * element"
    lines = [f"for element in range({names.length(column)}):"]
    lines += [f"    {rows}.whole[{place} + {word}] = 0" for word in range(min(column.words, 4))]
    if column.words > 4:
        lines += [f"    for word in range({column.words}):"]
        lines += [f"        {rows}.whole[{place} + word] = 0"]
    if item.kind in (_KINDS.PRODUCT, _KINDS.MIN, _KINDS.MAX):
        memory = "real" if column.real else "whole"
        lines.append(f"    {rows}.{memory}[{place}] = {_identity(item)}")
    return lines


def _select(item: Accumulator, rows: str, value: str, mode: Mode, entry: str) -> list[str]:
    """Keep the better value, and count how often it was sent.

    A walk that leaves with the best value is one less of them; only the last one leaves its place
    in doubt, unless nothing better than nothing was sent. One that leaves with a better value than
    is kept is in neither version, and has not come yet.
    """
    better = "<" if item.kind is _KINDS.MIN else ">"
    sent = f"sent_{item.name}"
    word = f"{rows}.{'real' if item.type is FLOAT else 'whole'}[place]"
    count = f"{rows}.whole[place + 1]"
    lines = [f"{sent} = {_typed(item, value)}"]
    taking = [
        f"if {sent} {better} {word}:",
        f"    {word} = {sent}",
        f"    {count} = 1",
        f"elif {sent} == {word}:",
        f"    {count} += 1",
    ]
    if mode is not Mode.TERM:
        return [*lines, *taking]
    losing = [
        f"if {sent} {better} {word}:",
        f"    note_doubt(walking, {entry})",
        f"elif {sent} == {word}:",
        f"    {count} -= 1",
        f"    if {count} <= 0 and {word} != {_identity(item)}:",
        f"        note_doubt(walking, {entry})",
    ]
    return [
        *lines,
        "if sign > 0:",
        *("    " + line for line in taking),
        "else:",
        *("    " + line for line in losing),
    ]


def _typed(item: Accumulator, value: str) -> str:
    return f"np.{'float64' if item.type is FLOAT else 'int64'}({value})"


def _identity(item: Accumulator) -> str:
    value = item.identity
    if item.type is FLOAT and abs(value) == float("inf"):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _width(names: WalkNames) -> str:
    text = names.extent(names.layout.sums_width)
    return text if text.isdigit() else f"({text})"
