"""Summing on the way: the rows of a chunk are added up by key before they are sent.

An aggregate of several sums would have a row for each record and sum, most of which differ in
nothing but their weight. Where all those rows come of one program, and only their tags and weights
tell them apart, the chunk is gone through once: each row finds its group, by key, version and
position, and adds its weights to those of the group. What is sent is one row for each group and
sum that is not 0. Where diffs or weights are so large that a sum might not be held, each addition
is looked at (see `diffs`).
"""

from __future__ import annotations

from graphtide.kernels.dataflow.diffs import TAME_BITS, bits_of_column, held, product_of
from graphtide.kernels.dataflow.exchange import owner_of
from graphtide.kernels.dataflow.faults import keep_fault
from graphtide.kernels.dataflow.layout import (
    CHUNK,
    EDGE_ADD,
    EDGE_BEYOND,
    EDGE_KEEP,
    EDGE_KEYS,
    EDGE_OWNERS,
    EDGE_PASSED,
    EDGE_PORT,
    EDGE_SIGN,
    PROGRAM_BODY,
    PROGRAM_FAULT,
    PROGRAM_FILTER,
    PROGRAM_OUTPUTS,
    PROGRAM_STEPS,
    PROGRAM_SUMS,
    SUMMING,
    Memory,
)
from graphtide.kernels.dataflow.ports import new_row
from graphtide.kernels.dataflow.programs import STEP_WORDS
from graphtide.kernels.jit import inner_kernel, joined_kernel

TABLE = 2 * CHUNK
"""Places of the table of groups; a place holds the number of a group, from 1, or 0."""
CHUNK_BITS = 8
"""Bits that a chunk of rows may add to the largest of them."""
_SPREAD = -7046029254386353131


@inner_kernel
def send_sums(memory: Memory, edge: int, program: int, stage: int, columns: int, rows: int) -> None:
    """Add up a chunk over which the program of an edge has run, and send the sums."""
    listed = program + PROGRAM_BODY + memory[program + PROGRAM_STEPS] * STEP_WORDS
    keys, sums = memory[program + PROGRAM_OUTPUTS], memory[program + PROGRAM_SUMS]
    passing, fault = memory[program + PROGRAM_FILTER], memory[program + PROGRAM_FAULT]
    versions = stage + columns * CHUNK
    table = memory[SUMMING]
    totals = table + TABLE + CHUNK
    tags = listed + keys
    for place in range(TABLE):
        memory[table + place] = 0
    tame = _are_tame(memory, stage, versions, tags, sums, rows)
    groups = 0
    for row in range(rows):
        if fault >= 0 and memory[stage + fault * CHUNK + row] != 0:
            keep_fault(memory, edge, stage, versions, row)
            continue
        if passing >= 0 and memory[stage + passing * CHUNK + row] == 0:
            continue
        place = _place(memory, stage, listed, keys, versions, row)
        group = memory[table + place] - 1
        if group < 0:
            group = groups
            groups += 1
            memory[table + place] = groups
            memory[table + TABLE + group] = row
            for number in range(sums):
                memory[totals + group * sums + number] = 0
        diff = memory[versions + 2 * CHUNK + row]
        for number in range(sums):
            weight = memory[tags + 2 * number + 1]
            times = memory[stage + weight * CHUNK + row] if weight >= 0 else 1
            total = totals + group * sums + number
            if tame:
                memory[total] += diff * times
            else:
                memory[total] = held(memory[total] + product_of(diff, times))
    for group in range(groups):
        _send_group(memory, edge, program, stage, versions, group)


@joined_kernel
def _are_tame(memory: Memory, stage: int, versions: int, tags: int, sums: int, rows: int) -> bool:
    """True where no sum of a chunk can be beyond what a diff may be."""
    most = 0
    for number in range(sums):
        weight = memory[tags + 2 * number + 1]
        if weight >= 0:
            most = max(most, bits_of_column(memory, stage + weight * CHUNK, rows))
    return bits_of_column(memory, versions + 2 * CHUNK, rows) + most + CHUNK_BITS <= TAME_BITS


@inner_kernel
def _place(memory: Memory, stage: int, listed: int, keys: int, versions: int, row: int) -> int:
    """Where the group of a row stands in the table, or is to stand."""
    found = memory[versions + row] ^ memory[versions + CHUNK + row]
    for key in range(keys):
        found = (found ^ memory[stage + memory[listed + key] * CHUNK + row]) * _SPREAD
        found ^= found >> 29
    table = memory[SUMMING]
    place = found & (TABLE - 1)
    while memory[table + place] != 0:
        first = memory[table + TABLE + memory[table + place] - 1]
        if _is_alike(memory, stage, listed, keys, versions, row, first):
            break
        place = (place + 1) & (TABLE - 1)
    return place  # type: ignore[no-any-return]


@joined_kernel
def _is_alike(
    memory: Memory, stage: int, listed: int, keys: int, versions: int, row: int, other: int
) -> bool:
    """True where two rows have the same key, version and position."""
    same = (
        memory[versions + row] == memory[versions + other]
        and memory[versions + CHUNK + row] == memory[versions + CHUNK + other]
    )
    for key in range(keys):
        column = stage + memory[listed + key] * CHUNK
        same = same and memory[column + row] == memory[column + other]
    return same  # type: ignore[no-any-return]


@joined_kernel
def _send_group(
    memory: Memory, edge: int, program: int, stage: int, versions: int, group: int
) -> None:
    """Append the sums of a group that are not 0 to the port: key, tag, version and sum."""
    listed = program + PROGRAM_BODY + memory[program + PROGRAM_STEPS] * STEP_WORDS
    keys, sums = memory[program + PROGRAM_OUTPUTS], memory[program + PROGRAM_SUMS]
    table = memory[SUMMING]
    row = memory[table + TABLE + group]
    totals = table + TABLE + CHUNK + group * sums
    position = (memory[versions + CHUNK + row] & memory[edge + EDGE_KEEP]) + memory[edge + EDGE_ADD]
    if position & memory[edge + EDGE_BEYOND]:
        raise OverflowError("too many rounds")
    port, owners = memory[edge + EDGE_PORT], memory[edge + EDGE_OWNERS]
    if owners != 0:
        port = memory[owners + owner_of(memory, stage + row, listed, memory[edge + EDGE_KEYS])]
    for number in range(sums):
        total = memory[totals + number]
        if total == 0:
            continue
        target = new_row(memory, port, position)
        for key in range(keys):
            memory[target + key] = memory[stage + memory[listed + key] * CHUNK + row]
        memory[target + keys] = memory[listed + keys + 2 * number]
        memory[target + keys + 1] = memory[versions + row]
        memory[target + keys + 2] = total * memory[edge + EDGE_SIGN]
        memory[edge + EDGE_PASSED] += 1
