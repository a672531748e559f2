"""Lists of the machine: growing rows whose address stands in the header.

A list is a bucket: a count, its room, rows of one width. Appending may move it, so whoever keeps
the address of a row across an append asks again.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.layout import BUCKET_COUNT, BUCKET_ROOM, BUCKET_ROWS, Memory
from graphtide.kernels.dataflow.memory import allocate, free
from graphtide.kernels.jit import inner_kernel, joined_kernel


@inner_kernel
def clear_list(memory: Memory, which: int) -> None:
    """Forget the rows of a list; it may have another width from now on."""
    if memory[which] == 0:
        memory[which] = allocate(memory, 256)
    memory[memory[which] + BUCKET_COUNT] = 0
    memory[memory[which] + BUCKET_ROOM] = 0


@joined_kernel
def list_count(memory: Memory, which: int) -> int:
    """How many rows a list has."""
    return memory[memory[which] + BUCKET_COUNT]  # type: ignore[no-any-return]


@joined_kernel
def list_rows(memory: Memory, which: int) -> int:
    """The address of the first row, good until the next append."""
    return memory[which] + BUCKET_ROWS  # type: ignore[no-any-return]


@inner_kernel
def append(memory: Memory, which: int, width: int) -> int:
    """The address of one more row, for the caller to fill."""
    block = memory[which]
    count = memory[block + BUCKET_COUNT]
    if BUCKET_ROWS + (count + 1) * width > 200 and count >= memory[block + BUCKET_ROOM]:
        room = 2 * (count + 8)
        fresh = allocate(memory, BUCKET_ROWS + room * width)
        for word in range(BUCKET_ROWS + count * width):
            memory[fresh + word] = memory[block + word]
        memory[fresh + BUCKET_ROOM] = room
        free(memory, block)
        memory[which] = fresh
        block = fresh
    memory[block + BUCKET_COUNT] = count + 1
    return block + BUCKET_ROWS + count * width  # type: ignore[no-any-return]
