"""Programs over records: what map, filter and weights become, run over a chunk of rows at once.

A chunk is a block of columns, CHUNK words each. The first columns are the record; a step reads
columns and writes another, for all rows, so decoding a step costs nothing a row. Outputs are the
columns of the new record. Floats are kept as words that order the way the numbers do: the bits of
a negative number below the sign are flipped, which undoes itself.

Arithmetic is that of int64 and float64: ints wrap around, int division by zero is 0, a float
divided by zero is an infinity or NaN. Where a type must not wrap around, OVERFLOW_ADD and the like
tell which rows do, and a program says in which column that is told for the whole record.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import bit_length
from graphtide.kernels.dataflow.numbers import (
    bits_of_column,
    first_limb,
    limb_part,
    part_of_date,
    product_overflows,
    sum_overflows,
)
from graphtide.kernels.jit import Index, bare_kernel, inner_kernel, joined_kernel, lean_kernel

STEP_WORDS = 5
"""Operation, result, and up to three operands: columns, or the number of a constant."""

(
    CONSTANT,
    COPY,
    ADD,
    SUBTRACT,
    MULTIPLY,
    FLOOR_DIVIDE,
    MODULO,
    NEGATE,
    LEAST,
    MOST,
    EQUAL,
    NOT_EQUAL,
    LESS,
    LESS_EQUAL,
    AND,
    OR,
    NOT,
    CHOOSE,
    BIT_LENGTH,
    FLOAT_ADD,
    FLOAT_SUBTRACT,
    FLOAT_MULTIPLY,
    FLOAT_DIVIDE,
    FLOAT_NEGATE,
    TO_FLOAT,
    TO_INT,
    OVERFLOW_ADD,
    OVERFLOW_SUBTRACT,
    OVERFLOW_MULTIPLY,
    YEAR,
    MONTH,
    DAY,
    LIMB,
    PART_0,
    PART_1,
    PART_2,
) = range(1, 37)

_BELOW_SIGN = (1 << 63) - 1
_NAN_WORD = 0x7FF8 << 48


@lean_kernel
def float_of(word: int) -> float:
    bits = np.int64(word ^ _BELOW_SIGN if word < 0 else word)
    return bits.view(np.float64)


@bare_kernel
def word_of(number: float) -> int:
    """The word for a number: zeros are one zero, NaNs are one NaN, after all numbers."""
    if number != number:
        return _NAN_WORD
    plain = np.float64(number + 0.0)
    bits = plain.view(np.int64)
    return bits ^ _BELOW_SIGN if bits < 0 else bits  # type: ignore[return-value]


@inner_kernel
def run_program(memory: Memory, program: int, stage: int, rows: int) -> None:
    """Run every step of a program over the first rows of the chunk."""
    for step in range(memory[program + at.PROGRAM_STEPS]):
        place = program + at.PROGRAM_BODY + step * STEP_WORDS
        operation = memory[place]
        result = stage + memory[place + 1] * at.CHUNK
        if operation == CONSTANT:
            _fill(memory, result, memory[place + 2], rows)
            continue
        left = stage + memory[place + 2] * at.CHUNK
        right = stage + memory[place + 3] * at.CHUNK
        if operation < FLOAT_ADD:
            _run_words(
                memory, operation, result, left, right, stage + memory[place + 4] * at.CHUNK, rows
            )
        elif operation < OVERFLOW_ADD:
            _run_floats(memory, operation, result, left, right, rows)
        elif operation < YEAR and _is_tame(memory, operation, left, right, rows):
            _fill(memory, result, 0, rows)
        else:
            _run_wide(memory, operation, result, left, right, rows)


@inner_kernel
def _fill(memory: Memory, result: int, word: int, rows: int) -> None:
    target = Index(result)
    for row in range(Index(rows)):
        memory[target + row] = word


@joined_kernel
def _is_tame(memory: Memory, operation: int, left: int, right: int, rows: int) -> bool:
    """True where no row of a chunk can overflow, since all its words are small."""
    one, other = bits_of_column(memory, left, rows), bits_of_column(memory, right, rows)
    return one + other <= 62 if operation == OVERFLOW_MULTIPLY else max(one, other) <= 61


@inner_kernel
def _run_words(
    memory: Memory, operation: int, result: int, left: int, right: int, third: int, rows: int
) -> None:
    target, one, other = Index(result), Index(left), Index(right)
    if operation == COPY:
        for row in range(Index(rows)):
            memory[target + row] = memory[one + row]
    elif operation == ADD:
        for row in range(Index(rows)):
            memory[target + row] = memory[one + row] + memory[other + row]
    elif operation == SUBTRACT:
        for row in range(Index(rows)):
            memory[target + row] = memory[one + row] - memory[other + row]
    elif operation == MULTIPLY:
        for row in range(Index(rows)):
            memory[target + row] = memory[one + row] * memory[other + row]
    elif operation == FLOOR_DIVIDE:
        _divide(memory, result, left, right, rows)
    elif operation == MODULO:
        for row in range(Index(rows)):
            by = memory[other + row]
            memory[target + row] = 0 if by == 0 else memory[one + row] % by
    elif operation == NEGATE:
        for row in range(Index(rows)):
            memory[target + row] = -memory[one + row]
    elif operation == LEAST:
        for row in range(Index(rows)):
            memory[target + row] = min(memory[one + row], memory[other + row])
    elif operation == MOST:
        for row in range(Index(rows)):
            memory[target + row] = max(memory[one + row], memory[other + row])
    else:
        _run_truths(memory, operation, result, left, right, third, rows)


@joined_kernel
def _divide(memory: Memory, result: int, left: int, right: int, rows: int) -> None:
    """Divide downwards; by a power of two that all rows have in common, by a shift."""
    target, one, other = Index(result), Index(left), Index(right)
    by = memory[right]
    differs = 0
    for row in range(Index(rows)):
        differs |= memory[other + row] ^ by
    if differs == 0 and by > 0 and by & (by - 1) == 0:
        shift = bit_length(by) - 1
        for row in range(Index(rows)):
            memory[target + row] = memory[one + row] >> shift
        return
    for row in range(Index(rows)):
        by = memory[other + row]
        # The least int divided by -1 wraps around, which division itself would not.
        if by == -1:
            memory[target + row] = -memory[one + row]
        else:
            memory[target + row] = 0 if by == 0 else memory[one + row] // by


@inner_kernel
def _run_truths(
    memory: Memory, operation: int, result: int, left: int, right: int, third: int, rows: int
) -> None:
    target, one, other, last = Index(result), Index(left), Index(right), Index(third)
    if operation == EQUAL:
        for row in range(Index(rows)):
            memory[target + row] = 1 if memory[one + row] == memory[other + row] else 0
    elif operation == NOT_EQUAL:
        for row in range(Index(rows)):
            memory[target + row] = 1 if memory[one + row] != memory[other + row] else 0
    elif operation == LESS:
        for row in range(Index(rows)):
            memory[target + row] = 1 if memory[one + row] < memory[other + row] else 0
    elif operation == LESS_EQUAL:
        for row in range(Index(rows)):
            memory[target + row] = 1 if memory[one + row] <= memory[other + row] else 0
    elif operation == AND:
        for row in range(Index(rows)):
            memory[target + row] = memory[one + row] & memory[other + row]
    elif operation == OR:
        for row in range(Index(rows)):
            memory[target + row] = memory[one + row] | memory[other + row]
    elif operation == NOT:
        for row in range(Index(rows)):
            memory[target + row] = 1 - memory[one + row]
    elif operation == CHOOSE:
        for row in range(Index(rows)):
            chosen = other if memory[one + row] != 0 else last
            memory[target + row] = memory[chosen + row]
    elif operation == BIT_LENGTH:
        for row in range(Index(rows)):
            memory[target + row] = bit_length(max(memory[one + row], 0))


@joined_kernel
def _run_floats(
    memory: Memory, operation: int, result: int, left: int, right: int, rows: int
) -> None:
    if operation == TO_FLOAT:
        for row in range(rows):
            memory[result + row] = word_of(float(memory[left + row]))
        return
    for row in range(rows):
        one = float_of(memory[left + row])
        if operation == TO_INT:
            memory[result + row] = np.int64(one) if -(2.0**63) <= one < 2.0**63 else 0
            continue
        other = float_of(memory[right + row])
        if operation == FLOAT_ADD:
            one = one + other
        elif operation == FLOAT_SUBTRACT:
            one = one - other
        elif operation == FLOAT_MULTIPLY:
            one = one * other
        elif operation == FLOAT_DIVIDE:
            one = one / other
        elif operation == FLOAT_NEGATE:
            one = -one
        memory[result + row] = word_of(one)


@joined_kernel
def _run_wide(
    memory: Memory, operation: int, result: int, left: int, right: int, rows: int
) -> None:
    """Steps that look at all of a word: overflow, the calendar, and floats as wide ints."""
    for row in range(rows):
        one, other = memory[left + row], memory[right + row]
        found = 0
        if operation == OVERFLOW_ADD:
            found = sum_overflows(one, other)
        elif operation == OVERFLOW_SUBTRACT:
            found = 1 if other == -(1 << 63) else sum_overflows(one, -other)
        elif operation == OVERFLOW_MULTIPLY:
            found = product_overflows(one, other)
        elif YEAR <= operation <= DAY:
            found = part_of_date(one, operation - YEAR)
        elif operation == LIMB:
            found = first_limb(one)
        else:
            found = limb_part(one, operation - PART_0)
        memory[result + row] = found
