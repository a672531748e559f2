"""The allocator of the dataflow machine: blocks by size class, with one free list per class.

Four classes a doubling, so a block is at most a quarter larger than what was asked for. The word
before a block holds its class. A freed block is reused for its class or, where it is not much
larger, for a smaller one; it never moves, so an address stays good until the block is freed. The
array is address space reserved once: what was never touched costs nothing.

Lists of the machine: growing rows whose address stands in the header.

A list is a bucket: a count, its room, rows of one width. Appending may move it, so whoever keeps
the address of a row across an append asks again.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel, lean_kernel

SMALLEST = 16
SMALL_WORDS = 1 << 20
"""What has fewer words may grow to four times its size, and not to twice (see `more_room`)."""


@inner_kernel
def bit_length(number: int) -> int:
    """How many bits a number that is not negative takes."""
    length = 0
    step = 32
    while step > 0:
        if number >> step:
            number >>= step
            length += step
        step >>= 1
    return length + (1 if number > 0 else 0)


@lean_kernel
def class_of(words: int) -> int:
    last = (words if words > SMALLEST else SMALLEST) - 1
    exponent = bit_length(last) - 1
    return 4 * exponent + (last >> (exponent - 2)) - 4


@lean_kernel
def class_words(size_class: int) -> int:
    return ((size_class & 3) + 5) << ((size_class >> 2) - 2)


@bare_kernel
def allocate(memory: Memory, words: int) -> int:
    """The address of a block with room for so many words, not cleared. O(1)."""
    wanted = class_of(words)
    for size_class in range(wanted, wanted + 3):
        block = memory[at.FREE_LISTS + size_class]
        if block != 0:
            memory[at.FREE_LISTS + size_class] = memory[block]
            memory[at.HELD_WORDS] += class_words(size_class)
            return block  # type: ignore[no-any-return]
    size = class_words(wanted)
    block = memory[at.NEXT_FREE] + 1
    if block + size > memory[at.END_OF_MEMORY]:
        raise MemoryError("dataflow memory is full")
    memory[at.NEXT_FREE] = block + size
    memory[block - 1] = wanted
    memory[at.HELD_WORDS] += size
    return block  # type: ignore[no-any-return]


@bare_kernel
def allocate_zeros(memory: Memory, words: int) -> int:
    block = allocate(memory, words)
    for place in range(block, block + words):
        memory[place] = 0
    return block


@bare_kernel
def free(memory: Memory, block: int) -> None:
    """Give a block back; 0 is nothing to give. O(1)."""
    if block == 0:
        return
    size_class = memory[block - 1]
    memory[block] = memory[at.FREE_LISTS + size_class]
    memory[at.FREE_LISTS + size_class] = block
    memory[at.HELD_WORDS] -= class_words(size_class)
    if size_class >= at.LARGE_CLASS:
        memory[at.FREED_WORDS] += class_words(size_class)


@inner_kernel
def copy_words(memory: Memory, source: int, target: int, words: int) -> None:
    """Copy between blocks that do not overlap."""
    for place in range(words):
        memory[target + place] = memory[source + place]


@joined_kernel
def more_room(room: int, width: int) -> int:
    """How many rows of so many words a block has room for next, which is full.

    What is grown out of holds pages that the system had to clear, a third of a run's time: to grow
    by four leaves a third of the new size behind, and not all of it. Pages that are not reached
    cost nothing. For what few operators have: it takes up to four times the room that it needs.
    """
    return (4 if room * width < SMALL_WORDS else 2) * room


@inner_kernel
def larger_block(memory: Memory, block: int, used: int, words: int) -> int:
    """A block of so many words that begins with what is used of the given one, which is freed."""
    fresh = allocate(memory, words)
    copy_words(memory, block, fresh, used)
    free(memory, block)
    return fresh


@inner_kernel
def clear_list(memory: Memory, which: int) -> None:
    """Forget the rows of a list; it may have another width from now on."""
    if memory[which] == 0:
        memory[which] = allocate(memory, 256)
    memory[memory[which] + at.BUCKET_COUNT] = 0
    memory[memory[which] + at.BUCKET_ROOM] = 0


@joined_kernel
def list_count(memory: Memory, which: int) -> int:
    return memory[memory[which] + at.BUCKET_COUNT]  # type: ignore[no-any-return]


@joined_kernel
def list_rows(memory: Memory, which: int) -> int:
    """The address of the first row, good until the next append."""
    return memory[which] + at.BUCKET_ROWS  # type: ignore[no-any-return]


@inner_kernel
def append(memory: Memory, which: int, width: int) -> int:
    """The address of one more row, for the caller to fill."""
    block = memory[which]
    count = memory[block + at.BUCKET_COUNT]
    if at.BUCKET_ROWS + (count + 1) * width > 200 and count >= memory[block + at.BUCKET_ROOM]:
        room = 2 * (count + 8)
        fresh = allocate(memory, at.BUCKET_ROWS + room * width)
        for word in range(at.BUCKET_ROWS + count * width):
            memory[fresh + word] = memory[block + word]
        memory[fresh + at.BUCKET_ROOM] = room
        free(memory, block)
        memory[which] = fresh
        block = fresh
    memory[block + at.BUCKET_COUNT] = count + 1
    return block + at.BUCKET_ROWS + count * width  # type: ignore[no-any-return]
