"""How each kind of accumulator takes a value in, gives it back and is merged, as text.

`place` is where an element's words stand in a row of `sums`. Where a loop over edges sends to a
scalar, its words are local names for the length of the loop: `total_NAME` and, for sums of
floats, `low_NAME`, the error of the total.
"""

from __future__ import annotations

from graphtide.engine.synchronous.places import accumulator_kind
from graphtide.engine.synchronous.row_layout import Column
from graphtide.plan.expressions import ValueType
from graphtide.plan.programs import Accumulator, AccumulatorKind

OR, AND = AccumulatorKind.OR, AccumulatorKind.AND
MIN, MAX = AccumulatorKind.MIN, AccumulatorKind.MAX
PRODUCT, SUM = AccumulatorKind.PRODUCT, AccumulatorKind.SUM


def is_float_sum(column: Column) -> bool:
    """True for the one accumulator that has an error to keep; a plain sum has none."""
    return column.real and column.words == 2 and accumulator_kind(column) is SUM


def contributing(column: Column, place: str, value: str) -> list[str]:
    """Send to a row in memory, and add up the size of what was sent to sums of floats."""
    name = column.item.name
    message, at = f"message_{name}", f"place_{name}"
    match accumulator_kind(column):
        case AccumulatorKind.SUM if column.real:
            return [f"{message} = {value}", *_adding(place, message), _reach(message)]
        case AccumulatorKind.PRODUCT if column.real:
            return [f"multiply_floats(sums, {place}, {value})"]
        case AccumulatorKind.PRODUCT:
            return [f"multiply_ints(sums.whole, {place}, {value})"]
        case AccumulatorKind.MIN | AccumulatorKind.MAX as kind:
            word = f"sums.{_memory(column)}[{at}]"
            return [
                f"{message} = {value}",
                f"{at} = {place}",
                f"if {message} {_better(kind)} {word}:",
                f"    {word} = {message}",
            ]
        case kind:
            return [f"sums.whole[{place}] += {_counted(kind, value)}"]


def withdrawing(column: Column, place: str, value: str) -> list[str]:
    """Take back what was sent; nothing for kinds that cannot, which are never asked."""
    message = f"message_{column.item.name}"
    match accumulator_kind(column):
        case AccumulatorKind.SUM if column.real:
            return [f"{message} = {value}", *_adding(place, f"-{message}"), _reach(message)]
        case AccumulatorKind.PRODUCT if column.real:
            return [f"divide_floats(sums, {place}, {value})"]
        case AccumulatorKind.PRODUCT:
            return [f"divide_ints(sums.whole, {place}, {value})"]
        case AccumulatorKind.MIN | AccumulatorKind.MAX:
            return ["pass"]
        case kind:
            return [f"sums.whole[{place}] -= {_counted(kind, value)}"]


def merging(column: Column, offset: str) -> list[str]:
    """Put what one row holds into another; `trusted` becomes False where that cannot be."""
    here, there = f"at + {offset}", f"other_at + {offset}"
    match accumulator_kind(column):
        case AccumulatorKind.SUM if column.real:
            merged = f"merge_sum(sums.real, {here}, other.real, {there})"
            return [f"trusted = {merged} and trusted"]
        case AccumulatorKind.PRODUCT if column.real:
            return [f"trusted = merge_floats(sums, {here}, other, {there}) and trusted"]
        case AccumulatorKind.PRODUCT:
            return [f"merge_ints(sums.whole, {here}, other.whole, {there})"]
        case AccumulatorKind.MIN | AccumulatorKind.MAX:
            return ["trusted = False"]
        case _:
            return [f"sums.whole[{here}] += other.whole[{there}]"]


def clearing(column: Column, offset: str) -> list[str]:
    """Set the words of an element to those of nothing sent."""
    place = f"at + {offset}"
    words = [f"sums.whole[{place} + {word}] = 0" for word in range(column.words)]
    item = column.item
    assert isinstance(item, Accumulator)
    if item.kind in (PRODUCT, MIN, MAX):
        words[0] = f"sums.{_memory(column)}[{place}] = {identity_text(item)}"
    return words


def local_names(column: Column) -> bool:
    """True where a loop over edges keeps the words in local names."""
    return column.item.size is None and accumulator_kind(column) is not PRODUCT


def opening(column: Column, place: str) -> list[str]:
    """Before a loop over edges."""
    name = column.item.name
    lines = [f"total_{name} = sums.{_memory(column)}[{place}]"]
    return [*lines, f"low_{name} = sums.real[{place} + 1]"] if is_float_sum(column) else lines


def closing(column: Column, place: str) -> list[str]:
    """After it: the error of a sum is rounded into it, unless it is infinite."""
    name = column.item.name
    if not is_float_sum(column):
        return [f"sums.{_memory(column)}[{place}] = total_{name}"]
    return [
        f"raised_{name} = total_{name} + low_{name}",
        f"sums.real[{place}] = total_{name}",
        f"sums.real[{place} + 1] = 0.0",
        f"if math.isfinite(raised_{name}):",
        f"    sums.real[{place}] = raised_{name}",
        f"    sums.real[{place} + 1] = low_{name} - (raised_{name} - total_{name})",
    ]


def gathering(column: Column, place: str, value: str) -> list[str]:
    """Send inside of the loop."""
    name = column.item.name
    if not local_names(column):
        if column.real and column.words == 1 and accumulator_kind(column) is SUM:
            return [f"sums.real[{place}] += {value}"]
        lines = contributing(column, place, value)
        return lines[:-1] if is_float_sum(column) else lines
    message, total = f"message_{name}", f"total_{name}"
    match accumulator_kind(column):
        case AccumulatorKind.SUM if is_float_sum(column):
            return [
                f"{message} = {value}",
                f"raised_{name} = {total} + {message}",
                f"part_{name} = raised_{name} - {total}",
                f"low_{name} += ({total} - (raised_{name} - part_{name})) "
                f"+ ({message} - part_{name})",
                f"{total} = raised_{name}",
            ]
        case AccumulatorKind.MIN | AccumulatorKind.MAX as kind:
            lines = [f"{message} = {value}", f"if {message} {_better(kind)} {total}:"]
            return [*lines, f"    {total} = {message}"]
        case kind:
            return [f"{total} += {_counted(kind, value)}"]


def identity_text(item: Accumulator) -> str:
    """What an accumulator holds where nothing was sent."""
    if item.type is ValueType.FLOAT and abs(item.identity) == float("inf"):
        return "np.inf" if item.identity > 0 else "-np.inf"
    return repr(item.identity)


def _adding(place: str, value: str) -> list[str]:
    return [f"add_to_sum(sums.real, {place}, {value})"]


def _reach(message: str) -> str:
    return f"sums.real[target[2] + sums_width(read)] += abs({message})"


def _counted(kind: AccumulatorKind, value: str) -> str:
    """What a value adds: `or` counts what is true, `and` what is not."""
    if kind is OR:
        return f"(1 if {value} else 0)"
    return f"(0 if {value} else 1)" if kind is AND else value


def _better(kind: AccumulatorKind) -> str:
    return "<" if kind is MIN else ">"


def _memory(column: Column) -> str:
    return "real" if column.real else "whole"
