"""Reducers: what a group of records comes to.

The rows of a key are read through cursors, one per batch, each in order of value; a cursor holds
the row that it is at as plain words. `_next_record` merges them into distinct records with their
multiplicities at a time. FIRST and LAST stop at the last record they use; rows that are not part of
the time yet are scheduled as they are met, which is how far the rule of `reduce` asks to look.
Records count where their multiplicity is positive; LINEAR adds weights of any sign, and a group is
there where its count is not 0.

First and last records by texts: codes have no order, so labels decide among those alike.

Each text of a record stands behind a word of its first bytes, which orders the way texts do as far
as it goes. A record's words up to the first such word are its *head*: records are read in the order
of heads, and only those whose head is that of the last one needed are compared by labels, which
stand in a table by code and order the way the texts do. So a look goes through what is needed and
what begins alike, and the answer never depends on how texts are numbered.

OP_TEXTS names a block: how many words a head has, and for each word of a record 1 where it is the
code of a text, and 0 for any other.

The float that sums of limbs come to: exact, and rounded once.

Limbs are ints that have been added up, of any sign (see `wide`). Carried from limb to limb they
become the digits of one wide int, of which a float keeps the 53 leading bits: rounded to the
nearest, and to the even one where two are as near.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.batches import (
    compare_keys,
    diff_of,
    load_row,
    sort_rows,
    time_of,
    value_of,
)
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.looks import forced_bound, in_time, schedule_later
from graphtide.kernels.dataflow.memory import (
    append,
    bit_length,
    clear_list,
    copy_words,
    list_count,
    list_rows,
)
from graphtide.kernels.dataflow.numbers import (
    LIMB_MASK,
    LIMBS,
    MANTISSA,
    MINUS_INFINITY,
    NOT_A_NUMBER,
    PLUS_INFINITY,
    held,
)
from graphtide.kernels.dataflow.programs import word_of
from graphtide.kernels.dataflow.traces import plain_cursor
from graphtide.kernels.jit import inner_kernel, joined_kernel


@inner_kernel
def stands_with_last(memory: Memory, texts: int, values: int) -> bool:
    """True where the head of the record that was found is that of the last one in WANTED."""
    if texts == 0:
        return False
    last = list_rows(memory, at.WANTED) + (list_count(memory, at.WANTED) - 1) * (values + 1)
    return compare_keys(memory, last, memory[at.RECORD], memory[texts]) == 0


@inner_kernel
def keep_ends(memory: Memory, texts: int, wanted: int, values: int, downward: bool) -> None:
    """Leave of WANTED the first records by their texts, as many as are wanted, in order of words.

    They are chosen one by one: what was read beyond them begins alike, and is short as a rule.
    """
    width = values + 1
    count, kept, left = list_count(memory, at.WANTED), 0, wanted
    rows = list_rows(memory, at.WANTED)
    while left > 0 and kept < count:
        best = kept
        for other in range(kept + 1, count):
            order = _compare(memory, texts, rows + other * width, rows + best * width, values)
            if (order > 0) if downward else (order < 0):
                best = other
        _swap(memory, rows + kept * width, rows + best * width, width)
        times = rows + kept * width + values
        memory[times] = min(memory[times], left)
        left -= memory[times]
        kept += 1
    memory[memory[at.WANTED] + at.BUCKET_COUNT] = kept
    sort_rows(memory, rows, kept, width, 0)


@inner_kernel
def _compare(memory: Memory, texts: int, one: int, other: int, values: int) -> int:
    """-1, 0 or 1 as a record comes before, with or after another."""
    for word in range(values):
        left, right = memory[one + word], memory[other + word]
        if left == right:
            continue
        if memory[texts + 1 + word] != 0:
            left, right = memory[memory[at.LABELS] + left], memory[memory[at.LABELS] + right]
        return -1 if left < right else 1
    return 0


@inner_kernel
def _swap(memory: Memory, one: int, other: int, width: int) -> None:
    for word in range(width):
        kept = memory[one + word]
        memory[one + word] = memory[other + word]
        memory[other + word] = kept


_INFINITY = float("inf")


@inner_kernel
def float_of_limbs(memory: Memory, limbs: int) -> int:
    """The word of the float that limbs and counts of infinities come to; overwrites the limbs."""
    upward, downward = memory[limbs + PLUS_INFINITY], memory[limbs + MINUS_INFINITY]
    rises, falls = upward > 0 or downward < 0, upward < 0 or downward > 0
    if memory[limbs + NOT_A_NUMBER] != 0 or (rises and falls):
        return word_of(np.nan)
    if rises or falls:
        return word_of(_INFINITY if rises else -_INFINITY)
    sign = 1
    if _carry(memory, limbs) < 0:
        sign = -1
        for limb in range(LIMBS):
            memory[limbs + limb] = -memory[limbs + limb]
        _carry(memory, limbs)
    number = _rounded(memory, limbs)
    return word_of(number if sign > 0 else -number)


@inner_kernel
def _carry(memory: Memory, limbs: int) -> int:
    """Make limbs digits of 32 bits; the last takes what is left, and has the sign of all."""
    carried = 0
    for limb in range(LIMBS - 1):
        total = memory[limbs + limb] + carried
        memory[limbs + limb] = total & LIMB_MASK
        carried = total >> 32
    memory[limbs + LIMBS - 1] += carried
    return memory[limbs + LIMBS - 1]  # type: ignore[no-any-return]


@inner_kernel
def _rounded(memory: Memory, limbs: int) -> float:
    """The float nearest to digits, none below 0, of which the last may have more than 32 bits."""
    last = LIMBS - 1
    while last > 0 and memory[limbs + last] == 0:
        last -= 1
    top = 32 * last + bit_length(memory[limbs + last]) - 1
    low = max(top - 52, 0)
    if low > 2045:
        return _INFINITY
    mantissa = _bits_from(memory, limbs, low)
    if low > 0 and _bit(memory, limbs, low - 1):
        mantissa += 1 if mantissa & 1 or _any_below(memory, limbs, low - 1) else 0
    if mantissa > 2 * MANTISSA + 1:
        mantissa >>= 1
        low += 1
    if low > 2045:
        return _INFINITY
    bits = np.int64(mantissa if low == 0 else (low + 1) << 52 | (mantissa & MANTISSA))
    return bits.view(np.float64)


@inner_kernel
def _bits_from(memory: Memory, limbs: int, low: int) -> int:
    """The leading bits of the digits, from one on: no more than 53."""
    first, shift = low >> 5, low & 31
    found = memory[limbs + first] >> shift
    for limb in range(first + 1, min(first + 3, LIMBS)):
        found |= memory[limbs + limb] << (32 * (limb - first) - shift)
    return found  # type: ignore[no-any-return]


@inner_kernel
def _bit(memory: Memory, limbs: int, place: int) -> bool:
    return (memory[limbs + (place >> 5)] >> (place & 31)) & 1 == 1  # type: ignore[no-any-return]


@inner_kernel
def _any_below(memory: Memory, limbs: int, place: int) -> bool:
    """True where a bit below one is set."""
    limb = place >> 5
    found = memory[limbs + limb] & ((1 << (place & 31)) - 1)
    for lower in range(limb):
        found |= memory[limbs + lower]
    return found != 0  # type: ignore[no-any-return]


@inner_kernel
def want(memory: Memory, operator: int, count: int) -> None:
    """Write to WANTED what the operator's reducer makes of the rows under so many cursors."""
    clear_list(memory, at.WANTED)
    reducer = memory[operator + at.OP_REDUCER]
    if reducer == at.LINEAR:
        _want_sums(memory, operator, count)
    elif reducer == at.THRESHOLD:
        _want_threshold(memory, operator, count)
    elif reducer == at.ASK:
        _ask(memory, operator, count)
    else:
        _want_ends(memory, operator, count)


@inner_kernel
def order_by_value(memory: Memory, operator: int, count: int) -> int:
    """Make the rows under so many cursors, which are sorted by time, one cursor sorted by value."""
    trace = memory[operator + at.OP_LEFT]
    body, values = memory[trace + at.TRACE_BODY_WORDS], memory[trace + at.TRACE_VALUE_WORDS]
    clear_list(memory, at.REPLAYED)
    for number in range(count):
        cursor = memory[at.CURSORS] + number * at.CURSOR_WORDS
        batch = memory[cursor + at.CURSOR_BATCH]
        width = memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH]
        for row in range(memory[cursor + at.CURSOR_ROW], memory[cursor + at.CURSOR_END], width):
            target = append(memory, at.REPLAYED, body)
            load_row(memory, batch, row, values, target)
    rows = list_rows(memory, at.REPLAYED)
    sort_rows(memory, rows, list_count(memory, at.REPLAYED), body, 0)
    plain_cursor(memory, 0, rows, rows + list_count(memory, at.REPLAYED) * body)
    return 1 if count > 0 else 0


@joined_kernel
def _load(memory: Memory, cursor: int, values: int, downward: bool) -> None:
    """Load the row that a cursor is at; LAST reads downward. Nothing at the end."""
    if memory[cursor + at.CURSOR_ROW] == memory[cursor + at.CURSOR_END]:
        return
    batch = memory[cursor + at.CURSOR_BATCH]
    width = memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH] if batch != 0 else values + 3
    row = memory[cursor + at.CURSOR_END] - width if downward else memory[cursor + at.CURSOR_ROW]
    if batch != 0:
        load_row(memory, batch, row, values, cursor + at.CURSOR_RECORD)
    else:
        copy_words(memory, row, cursor + at.CURSOR_RECORD, values + 3)


@joined_kernel
def _step(memory: Memory, cursor: int, values: int, downward: bool) -> None:
    """Move a cursor on by one row, and load it."""
    batch = memory[cursor + at.CURSOR_BATCH]
    width = memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH] if batch != 0 else values + 3
    if downward:
        memory[cursor + at.CURSOR_END] -= width
    else:
        memory[cursor + at.CURSOR_ROW] += width
    _load(memory, cursor, values, downward)


@inner_kernel
def _begin_records(memory: Memory, operator: int, count: int) -> None:
    """Load the first row of each cursor."""
    values = memory[memory[operator + at.OP_LEFT] + at.TRACE_VALUE_WORDS]
    downward = memory[operator + at.OP_REDUCER] == at.LAST
    for number in range(count):
        _load(memory, memory[at.CURSORS] + number * at.CURSOR_WORDS, values, downward)


@joined_kernel
def _first_record(memory: Memory, count: int, values: int, downward: bool) -> int:
    """The address of the next record under the cursors, or 0."""
    record = 0
    for number in range(count):
        cursor = memory[at.CURSORS] + number * at.CURSOR_WORDS
        if memory[cursor + at.CURSOR_ROW] == memory[cursor + at.CURSOR_END]:
            continue
        here = cursor + at.CURSOR_RECORD
        order = 0 if record == 0 else compare_keys(memory, here, record, values)
        if record == 0 or (order > 0 if downward else order < 0):
            record = here
    return record


@inner_kernel
def _next_record(memory: Memory, operator: int, count: int) -> int:
    """Read the next distinct record under the cursors into RECORD: its multiplicity.

    Rows that are not part of the time are scheduled. FOUND is 0 at the end.
    """
    values = memory[memory[operator + at.OP_LEFT] + at.TRACE_VALUE_WORDS]
    downward = memory[operator + at.OP_REDUCER] == at.LAST
    forced = forced_bound(memory, operator)
    first = _first_record(memory, count, values, downward)
    memory[at.FOUND] = first
    if first == 0:
        return 0
    record = memory[at.RECORD]
    copy_words(memory, first, record, values)
    total = 0
    for number in range(count):
        cursor = memory[at.CURSORS] + number * at.CURSOR_WORDS
        here = cursor + at.CURSOR_RECORD
        while memory[cursor + at.CURSOR_ROW] < memory[cursor + at.CURSOR_END]:
            if compare_keys(memory, here, record, values) != 0:
                break
            position, version = memory[here + values], memory[here + values + 1]
            if in_time(memory, operator, position, version):
                total = held(total + memory[here + values + 2])
            else:
                schedule_later(memory, operator, position, version, forced, 0)
            _step(memory, cursor, values, downward)
    return total


@inner_kernel
def _want_ends(memory: Memory, operator: int, count: int) -> None:
    """The first or last `argument` records, each as often as it is there."""
    values = memory[memory[operator + at.OP_LEFT] + at.TRACE_VALUE_WORDS]
    texts = memory[operator + at.OP_TEXTS]
    left = memory[operator + at.OP_ARGUMENT]
    _begin_records(memory, operator, count)
    while True:
        total = _next_record(memory, operator, count)
        if memory[at.FOUND] == 0:
            break
        if total <= 0:
            continue
        if left <= 0 and not stands_with_last(memory, texts, values):
            break
        target = append(memory, at.WANTED, values + 1)
        copy_words(memory, memory[at.RECORD], target, values)
        memory[target + values] = total if texts != 0 else min(total, left)
        left = max(left - total, 0)
        if texts == 0 and left <= 0:
            break
    downward = memory[operator + at.OP_REDUCER] == at.LAST
    if texts != 0:
        keep_ends(memory, texts, memory[operator + at.OP_ARGUMENT], values, downward)
    elif downward:
        _reverse_wanted(memory, values + 1)


@joined_kernel
def _reverse_wanted(memory: Memory, width: int) -> None:
    """WANTED is in ascending order, always."""
    rows, count = list_rows(memory, at.WANTED), list_count(memory, at.WANTED)
    for number in range(count // 2):
        for word in range(width):
            one = rows + number * width + word
            other = rows + (count - 1 - number) * width + word
            kept = memory[one]
            memory[one] = memory[other]
            memory[other] = kept


@inner_kernel
def _add_weights(memory: Memory, operator: int, count: int, tagged: bool) -> None:
    """Add up the diffs under the cursors into SUMS, by the tag in the value word or all in one."""
    values = memory[memory[operator + at.OP_LEFT] + at.TRACE_VALUE_WORDS]
    forced = forced_bound(memory, operator)
    sums = list_rows(memory, at.SUMS)
    for number in range(count):
        cursor = memory[at.CURSORS] + number * at.CURSOR_WORDS
        batch = memory[cursor + at.CURSOR_BATCH]
        packed = batch != 0
        width = memory[batch + at.BATCH_FRAME + at.FRAME_WIDTH] if packed else values + 3
        for row in range(memory[cursor + at.CURSOR_ROW], memory[cursor + at.CURSOR_END], width):
            time = time_of(memory, batch, row) if packed else row + values
            position, version = memory[time], memory[time + 1]
            if not in_time(memory, operator, position, version):
                schedule_later(memory, operator, position, version, forced, 0)
                continue
            tag = 0
            if tagged:
                tag = value_of(memory, batch, row, 0) if packed else memory[row]
            diff = diff_of(memory, batch, row) if packed else memory[time + 2]
            memory[sums + tag] = held(memory[sums + tag] + diff)


@inner_kernel
def _clear_sums(memory: Memory, parts: int) -> None:
    clear_list(memory, at.SUMS)
    for _ in range(parts):
        place = append(memory, at.SUMS, 1)
        memory[place] = 0


@joined_kernel
def _want_sums(memory: Memory, operator: int, count: int) -> None:
    """The sums of weights by tag: tag 0 counts the records, and 0 means that there is no group."""
    _clear_sums(memory, memory[operator + at.OP_ARGUMENT])
    _add_weights(memory, operator, count, True)
    sums = list_rows(memory, at.SUMS)
    if memory[sums] == 0:
        return
    listed = memory[operator + at.OP_ARGUMENTS]
    outputs = memory[listed]
    target = append(memory, at.WANTED, outputs + 1)
    for output in range(outputs):
        kind, tag = memory[listed + 1 + 2 * output], memory[listed + 2 + 2 * output]
        memory[target + output] = made_of(memory, kind, sums + tag)
    memory[target + outputs] = 1


@inner_kernel
def made_of(memory: Memory, kind: int, sums: int) -> int:
    """What an output is, given the sums from its tag on; an error where it is beyond a word."""
    if kind == at.FLOAT_SUM:
        return float_of_limbs(memory, sums)
    if kind == at.PLAIN_SUM:
        return memory[sums]  # type: ignore[no-any-return]
    low, high = memory[sums], memory[sums + 1]
    high += low >> 32
    if high < -(1 << 31) or high >= 1 << 31:
        raise ArithmeticError("a sum is beyond a word")
    return (high << 32) | (low & LIMB_MASK)  # type: ignore[no-any-return]


@joined_kernel
def _want_threshold(memory: Memory, operator: int, count: int) -> None:
    """The record once, where it is there at least `argument` times."""
    _clear_sums(memory, 1)
    _add_weights(memory, operator, count, False)
    if memory[list_rows(memory, at.SUMS)] >= memory[operator + at.OP_ARGUMENT]:
        target = append(memory, at.WANTED, 1)
        memory[target] = 1


@joined_kernel
def _ask(memory: Memory, operator: int, count: int) -> None:
    """Write the group, and its records with their multiplicities, for Python to read."""
    trace = memory[operator + at.OP_LEFT]
    keys, values = memory[trace + at.TRACE_KEY_WORDS], memory[trace + at.TRACE_VALUE_WORDS]
    group = list_count(memory, at.GROUPS)
    target = append(memory, at.GROUPS, keys + 1)
    copy_words(memory, memory[at.LOOK_KEY], target, keys)
    memory[target + keys] = memory[at.LOOK_VERSION]
    _begin_records(memory, operator, count)
    while True:
        times = _next_record(memory, operator, count)
        if memory[at.FOUND] == 0:
            break
        if times != 0:
            target = append(memory, at.ASKED, values + 2)
            memory[target] = group
            copy_words(memory, memory[at.RECORD], target + 1, values)
            memory[target + 1 + values] = times
