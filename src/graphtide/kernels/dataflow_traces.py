"""Traces: the batches of one arrangement, merged as they age.

The spine is a list of slots of falling size, oldest first. A slot holds one batch, or two that
are being merged; readers read both until the merge is done. Every batch that enters pays for
`effort` rows of merging per row of its own in each unfinished merge, so no single update waits
for a large merge, and the merge is over before its result is needed: a slot is asked to merge
again only after half its own size has come in behind it.

Merging compacts: versions are replaced by their representatives before all readers, and rows that
have become equal are added up. Rows of the batch that came in at the current position stand apart
in `TRACE_FRESH`: to some operators they are news, to others history.

What is kept true: the rows of all slots and of the fresh batch add up, at every time that a
reader may ask for, to the collection.
"""

from __future__ import annotations

from graphtide.kernels.dataflow_batches import begin_batch, compare_keys, finish_batch, seek_key
from graphtide.kernels.dataflow_layout import (
    BATCH_KEYS,
    BATCH_KEYS_AT,
    BATCH_ROWS,
    BATCH_ROWS_AT,
    BATCH_STARTS_AT,
    CURSORS,
    EFFORT,
    MOST_SLOTS,
    OP_LEFT_AT,
    OP_LEFT_NEWS,
    OP_RIGHT_AT,
    OP_RIGHT_NEWS,
    SLOT_NEWER,
    SLOT_NEWER_AT,
    SLOT_OLDER,
    SLOT_OLDER_AT,
    SLOT_RESULT,
    SLOT_SIZE,
    SLOT_WORDS,
    SMALL_SLOT,
    TRACE_BODY_WORDS,
    TRACE_FRESH,
    TRACE_KEY_WORDS,
    TRACE_MERGED,
    TRACE_POSITION_AT,
    TRACE_READERS,
    TRACE_SLOT_COUNT,
    TRACE_SLOTS,
    TRACE_VALUE_AT,
    TRACE_VALUE_WORDS,
    TRACE_WORDS,
    Memory,
)
from graphtide.kernels.dataflow_memory import allocate, allocate_zeros, copy_words, free
from graphtide.kernels.dataflow_times import representative
from graphtide.kernels.jit import bare_kernel, inlined_kernel, inner_kernel

ALL_OF_IT = 1 << 60
"""Fuel for a merge that has to end now."""


@bare_kernel
def new_trace(memory: Memory, key_words: int, value_words: int, by_time: bool) -> int:
    """An empty trace with bodies sorted by value, or by time."""
    trace = allocate_zeros(memory, TRACE_WORDS)
    memory[trace + TRACE_KEY_WORDS] = key_words
    memory[trace + TRACE_VALUE_WORDS] = value_words
    memory[trace + TRACE_BODY_WORDS] = value_words + 3
    memory[trace + TRACE_VALUE_AT] = 2 if by_time else 0
    memory[trace + TRACE_POSITION_AT] = 0 if by_time else value_words
    memory[trace + TRACE_SLOTS] = allocate(memory, MOST_SLOTS * SLOT_WORDS)
    return trace


@bare_kernel
def drop_trace(memory: Memory, trace: int) -> None:
    """Free a trace and all it holds."""
    slots = memory[trace + TRACE_SLOTS]
    for number in range(memory[trace + TRACE_SLOT_COUNT]):
        slot = slots + number * SLOT_WORDS
        free(memory, memory[slot + SLOT_OLDER])
        free(memory, memory[slot + SLOT_NEWER])
        free(memory, memory[slot + SLOT_RESULT])
    free(memory, memory[trace + TRACE_FRESH])
    free(memory, slots)
    free(memory, trace)


@bare_kernel
def add_reader(memory: Memory, trace: int, operator: int, side: int) -> None:
    """Tell an operator of every fresh batch; side 0 is its left input, 1 its right."""
    reader = allocate(memory, 3)
    memory[reader] = memory[trace + TRACE_READERS]
    memory[reader + 1] = operator
    memory[reader + 2] = side
    memory[trace + TRACE_READERS] = reader


@bare_kernel
def remove_reader(memory: Memory, trace: int, operator: int) -> None:
    """Stop telling an operator."""
    before = trace + TRACE_READERS
    while memory[before] != 0:
        reader = memory[before]
        if memory[reader + 1] == operator:
            memory[before] = memory[reader]
            free(memory, reader)
        else:
            before = reader


@inner_kernel
def announce(memory: Memory, trace: int, position: int) -> None:
    """Mark the fresh batch as news for all readers. All of a trace as news stays so."""
    reader = memory[trace + TRACE_READERS]
    while reader != 0:
        operator = memory[reader + 1]
        news = operator + (OP_LEFT_NEWS if memory[reader + 2] == 0 else OP_RIGHT_NEWS)
        place = operator + (OP_LEFT_AT if memory[reader + 2] == 0 else OP_RIGHT_AT)
        if memory[news] != 2:
            memory[news] = 1
            memory[place] = position
        reader = memory[reader]


@inlined_kernel
def count_batches(memory: Memory, trace: int) -> int:
    """How many places `batch_at` knows: two a slot, and one for the fresh batch."""
    return 2 * memory[trace + TRACE_SLOT_COUNT] + 1  # type: ignore[no-any-return]


@inlined_kernel
def batch_at(memory: Memory, trace: int, place: int) -> int:
    """The batch at a place, or 0; the fresh batch has the last place."""
    if place == 2 * memory[trace + TRACE_SLOT_COUNT]:
        return memory[trace + TRACE_FRESH]  # type: ignore[no-any-return]
    slot = memory[trace + TRACE_SLOTS] + (place >> 1) * SLOT_WORDS
    return memory[slot + SLOT_OLDER] if place & 1 == 0 else memory[slot + SLOT_NEWER]  # type: ignore[no-any-return]


@inner_kernel
def open_cursors(memory: Memory, trace: int, key: int) -> int:
    """Find the rows of a key in all batches: pairs of first row and end in CURSORS; how many."""
    words = memory[trace + TRACE_KEY_WORDS]
    body = memory[trace + TRACE_BODY_WORDS]
    cursors = memory[CURSORS]
    found = 0
    for place in range(count_batches(memory, trace)):
        batch = batch_at(memory, trace, place)
        if batch == 0:
            continue
        number = seek_key(memory, batch, key, words)
        if number < 0:
            continue
        starts = memory[batch + BATCH_STARTS_AT] + number
        rows = memory[batch + BATCH_ROWS_AT]
        memory[cursors + 2 * found] = rows + memory[starts] * body
        memory[cursors + 2 * found + 1] = rows + memory[starts + 1] * body
        found += 1
    return found


@inner_kernel
def settle_fresh(memory: Memory, trace: int) -> None:
    """Move the fresh batch into the spine, and pay for merging."""
    batch = memory[trace + TRACE_FRESH]
    if batch == 0:
        return
    memory[trace + TRACE_FRESH] = 0
    rows = memory[batch + BATCH_ROWS]
    _work(memory, trace, rows * memory[EFFORT])
    count = memory[trace + TRACE_SLOT_COUNT]
    slot = memory[trace + TRACE_SLOTS] + count * SLOT_WORDS
    memory[slot + SLOT_OLDER] = batch
    memory[slot + SLOT_NEWER] = 0
    memory[slot + SLOT_RESULT] = 0
    memory[slot + SLOT_SIZE] = rows
    memory[trace + TRACE_SLOT_COUNT] = count + 1
    _restore_order(memory, trace)


@inlined_kernel
def _restore_order(memory: Memory, trace: int) -> None:
    """Begin merges until every slot is more than twice as large as the one behind it."""
    slots = memory[trace + TRACE_SLOTS]
    count = memory[trace + TRACE_SLOT_COUNT]
    while count > 1:
        left = slots + (count - 2) * SLOT_WORDS
        right = left + SLOT_WORDS
        size = memory[right + SLOT_SIZE]
        if memory[left + SLOT_SIZE] > 2 * size and memory[left + SLOT_SIZE] > SMALL_SLOT:
            break
        _merge_on(memory, trace, left, ALL_OF_IT)
        _merge_on(memory, trace, right, ALL_OF_IT)
        count -= 1
        _begin_merge(memory, trace, left, right)
        memory[trace + TRACE_SLOT_COUNT] = count
        if memory[left + SLOT_SIZE] <= SMALL_SLOT or memory[EFFORT] < 0:
            _merge_on(memory, trace, left, ALL_OF_IT)
        if memory[left + SLOT_SIZE] == 0:
            count -= 1
            memory[trace + TRACE_SLOT_COUNT] = count


@inner_kernel
def _begin_merge(memory: Memory, trace: int, left: int, right: int) -> None:
    """Put the batch of the right slot beside that of the left one."""
    older, newer = memory[left + SLOT_OLDER], memory[right + SLOT_OLDER]
    if older == 0 or newer == 0:
        memory[left + SLOT_OLDER] = older if newer == 0 else newer
        memory[left + SLOT_SIZE] += memory[right + SLOT_SIZE]
        return
    memory[left + SLOT_NEWER] = newer
    memory[left + SLOT_OLDER_AT] = 0
    memory[left + SLOT_NEWER_AT] = 0
    memory[left + SLOT_SIZE] = memory[older + BATCH_ROWS] + memory[newer + BATCH_ROWS]
    memory[left + SLOT_RESULT] = begin_batch(
        memory,
        trace,
        memory[older + BATCH_KEYS] + memory[newer + BATCH_KEYS],
        memory[left + SLOT_SIZE],
    )


@inlined_kernel
def _work(memory: Memory, trace: int, fuel: int) -> None:
    """Carry every unfinished merge on by so many rows; newest first."""
    slots = memory[trace + TRACE_SLOTS]
    for number in range(memory[trace + TRACE_SLOT_COUNT] - 1, -1, -1):
        _merge_on(memory, trace, slots + number * SLOT_WORDS, fuel)


@inlined_kernel
def finish_merges(memory: Memory, trace: int) -> None:
    """Merge the whole trace into one compacted batch; linear in the trace."""
    settle_fresh(memory, trace)
    slots = memory[trace + TRACE_SLOTS]
    while memory[trace + TRACE_SLOT_COUNT] > 0:
        count = memory[trace + TRACE_SLOT_COUNT]
        last = slots + (count - 1) * SLOT_WORDS
        _merge_on(memory, trace, last, ALL_OF_IT)
        if count == 1:
            break
        left = last - SLOT_WORDS
        _merge_on(memory, trace, left, ALL_OF_IT)
        _begin_merge(memory, trace, left, last)
        memory[trace + TRACE_SLOT_COUNT] = count - 1
        _merge_on(memory, trace, left, ALL_OF_IT)
    if memory[trace + TRACE_SLOT_COUNT] == 1:
        _compact_alone(memory, trace, slots)


@inlined_kernel
def _compact_alone(memory: Memory, trace: int, slot: int) -> None:
    """Rewrite the one batch of a trace with representative versions."""
    older = memory[slot + SLOT_OLDER]
    if older == 0:
        memory[trace + TRACE_SLOT_COUNT] = 0
        return
    result = begin_batch(memory, trace, memory[older + BATCH_KEYS], memory[older + BATCH_ROWS])
    words = memory[trace + TRACE_KEY_WORDS]
    for number in range(memory[older + BATCH_KEYS]):
        _add_key(memory, trace, result, memory[older + BATCH_KEYS_AT] + number * words)
        _add_rows(memory, trace, result, older, number)
        _close_key(memory, trace, result)
    free(memory, older)
    memory[slot + SLOT_OLDER] = 0
    memory[slot + SLOT_RESULT] = result
    _end_merge(memory, trace, slot)
    if memory[slot + SLOT_SIZE] == 0:
        memory[trace + TRACE_SLOT_COUNT] = 0


@inner_kernel
def _merge_on(memory: Memory, trace: int, slot: int, fuel: int) -> None:
    """Carry the merge of a slot on by about so many rows, key by key; end it where it is done."""
    result = memory[slot + SLOT_RESULT]
    if result == 0:
        return
    older, newer = memory[slot + SLOT_OLDER], memory[slot + SLOT_NEWER]
    left, right = memory[slot + SLOT_OLDER_AT], memory[slot + SLOT_NEWER_AT]
    lefts, rights = memory[older + BATCH_KEYS], memory[newer + BATCH_KEYS]
    left_keys, right_keys = memory[older + BATCH_KEYS_AT], memory[newer + BATCH_KEYS_AT]
    words = memory[trace + TRACE_KEY_WORDS]
    while fuel > 0 and (left < lefts or right < rights):
        which = -1 if right >= rights else 1
        if left < lefts and right < rights:
            which = compare_keys(
                memory, left_keys + left * words, right_keys + right * words, words
            )
        key = left_keys + left * words if which <= 0 else right_keys + right * words
        _add_key(memory, trace, result, key)
        if which <= 0:
            fuel -= _add_rows(memory, trace, result, older, left)
            left += 1
        if which >= 0:
            fuel -= _add_rows(memory, trace, result, newer, right)
            right += 1
        _close_key(memory, trace, result)
    memory[slot + SLOT_OLDER_AT] = left
    memory[slot + SLOT_NEWER_AT] = right
    if left == lefts and right == rights:
        free(memory, older)
        free(memory, newer)
        memory[slot + SLOT_OLDER] = 0
        memory[slot + SLOT_NEWER] = 0
        _end_merge(memory, trace, slot)


@inner_kernel
def _end_merge(memory: Memory, trace: int, slot: int) -> None:
    """Make the result the batch of its slot, in a smaller block where much was cancelled."""
    result = memory[slot + SLOT_RESULT]
    keys, rows = memory[result + BATCH_KEYS], memory[result + BATCH_ROWS]
    memory[slot + SLOT_RESULT] = 0
    memory[slot + SLOT_SIZE] = rows
    memory[trace + TRACE_MERGED] += rows
    if rows == 0:
        free(memory, result)
        return
    words, body = memory[trace + TRACE_KEY_WORDS], memory[trace + TRACE_BODY_WORDS]
    room = memory[result + BATCH_STARTS_AT] - memory[result + BATCH_KEYS_AT]
    if 4 * (keys * words + rows * body) < 3 * (room + rows * body) or rows < SMALL_SLOT:
        smaller = begin_batch(memory, trace, keys, rows)
        for part, size in ((BATCH_KEYS_AT, keys * words), (BATCH_ROWS_AT, rows * body)):
            copy_words(memory, memory[result + part], memory[smaller + part], size)
        copy_words(
            memory, memory[result + BATCH_STARTS_AT], memory[smaller + BATCH_STARTS_AT], keys
        )
        memory[smaller + BATCH_KEYS] = keys
        memory[smaller + BATCH_ROWS] = rows
        free(memory, result)
        result = smaller
    finish_batch(memory, trace, result)
    memory[slot + SLOT_OLDER] = result


@inner_kernel
def _add_key(memory: Memory, trace: int, result: int, key: int) -> None:
    """Write one more key; it counts only once rows of it are left (see `_close_key`)."""
    words = memory[trace + TRACE_KEY_WORDS]
    number = memory[result + BATCH_KEYS]
    copy_words(memory, key, memory[result + BATCH_KEYS_AT] + number * words, words)
    memory[memory[result + BATCH_STARTS_AT] + number] = memory[result + BATCH_ROWS]


@inner_kernel
def _add_rows(memory: Memory, trace: int, result: int, batch: int, number: int) -> int:
    """Append the rows of one key with representative versions; how many they were."""
    body = memory[trace + TRACE_BODY_WORDS]
    version_at = memory[trace + TRACE_POSITION_AT] + 1
    starts = memory[batch + BATCH_STARTS_AT] + number
    first, last = memory[starts], memory[starts + 1]
    source = memory[batch + BATCH_ROWS_AT] + first * body
    target = memory[result + BATCH_ROWS_AT] + memory[result + BATCH_ROWS] * body
    copy_words(memory, source, target, (last - first) * body)
    for _ in range(last - first):
        memory[target + version_at] = representative(memory, trace, memory[target + version_at])
        target += body
    memory[result + BATCH_ROWS] += last - first
    return last - first  # type: ignore[no-any-return]


@inner_kernel
def _close_key(memory: Memory, trace: int, result: int) -> None:
    """Sort the rows of the last key where they need it, add up equal ones, count the key."""
    body = memory[trace + TRACE_BODY_WORDS]
    number = memory[result + BATCH_KEYS]
    first = memory[memory[result + BATCH_STARTS_AT] + number]
    rows = memory[result + BATCH_ROWS_AT] + first * body
    count = memory[result + BATCH_ROWS] - first
    if count > 1:
        sort_bodies(memory, rows, count, body)
        count = add_equal(memory, rows, count, body)
    memory[result + BATCH_ROWS] = first + count
    if count > 0:
        memory[result + BATCH_KEYS] = number + 1


@inner_kernel
def add_equal(memory: Memory, rows: int, count: int, body: int) -> int:
    """Add up equal neighbours and drop zeros, in place; how many rows are left."""
    kept = 0
    row = 0
    while row < count:
        source = rows + row * body
        diff = memory[source + body - 1]
        row += 1
        while row < count and compare_keys(memory, source, rows + row * body, body - 1) == 0:
            diff += memory[rows + row * body + body - 1]
            row += 1
        if diff != 0:
            target = rows + kept * body
            if target != source:
                copy_words(memory, source, target, body - 1)
            memory[target + body - 1] = diff
            kept += 1
    return kept


@inner_kernel
def sort_bodies(memory: Memory, rows: int, count: int, body: int) -> None:
    """Sort bodies by all their words but the diff: a merge of the sorted runs they come in.

    Two runs are the usual case: the rows of one key in an older and in a newer batch.
    """
    run = 1
    while run < count and _in_order(memory, rows, run, body):
        run += 1
    if run == count:
        return
    work = allocate(memory, count * body)
    while run < count:
        end = run + 1
        while end < count and _in_order(memory, rows, end, body):
            end += 1
        _merge_two(memory, rows, run, end, body, work)
        run = end
    free(memory, work)


@inlined_kernel
def _in_order(memory: Memory, rows: int, row: int, body: int) -> bool:
    """True where a row does not come before the one it follows."""
    return compare_keys(memory, rows + (row - 1) * body, rows + row * body, body - 1) <= 0


@inlined_kernel
def _merge_two(memory: Memory, rows: int, middle: int, end: int, body: int, work: int) -> None:
    """Merge rows[:middle] and rows[middle:end]."""
    copy_words(memory, rows, work, middle * body)
    left, right = 0, middle
    for place in range(end):
        if left == middle:
            break
        take_left = right == end or (
            compare_keys(memory, work + left * body, rows + right * body, body - 1) <= 0
        )
        source = work + left * body if take_left else rows + right * body
        for word in range(body):
            memory[rows + place * body + word] = memory[source + word]
        left += 1 if take_left else 0
        right += 0 if take_left else 1
