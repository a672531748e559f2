"""What reductions begin and end with: the news of their input, and the batch of their results."""

from __future__ import annotations

from graphtide.kernels.dataflow.layout import (
    BATCH_ROWS,
    OP_IN,
    OP_LEFT,
    OP_LEFT_AT,
    OP_LEFT_NEWS,
    OP_OUTPUT,
    OP_RESULTS,
    TRACE_FRESH,
    TRACE_SLOT_COUNT,
    TRACE_SLOTS,
    Memory,
)
from graphtide.kernels.dataflow.ports import take_bucket
from graphtide.kernels.dataflow.sending import send_batch
from graphtide.kernels.dataflow.sorting import batch_of_bucket
from graphtide.kernels.dataflow.traces import announce, finish_merges
from graphtide.kernels.jit import inner_kernel


@inner_kernel
def batch_of_news(memory: Memory, operator: int, position: int) -> int:
    """The input rows that are new at this position, as one batch, or 0."""
    trace = memory[operator + OP_LEFT]
    if memory[operator + OP_LEFT_NEWS] == 0 or memory[operator + OP_LEFT_AT] != position:
        return 0
    everything = memory[operator + OP_LEFT_NEWS] == 2
    memory[operator + OP_LEFT_NEWS] = 0
    batch = memory[trace + TRACE_FRESH]
    if everything:
        finish_merges(memory, trace)
        found = memory[trace + TRACE_SLOT_COUNT] > 0
        batch = memory[memory[trace + TRACE_SLOTS]] if found else 0
    if batch != 0:
        memory[operator + OP_IN] += memory[batch + BATCH_ROWS]
    return batch  # type: ignore[no-any-return]


@inner_kernel
def close_output(memory: Memory, operator: int, position: int) -> None:
    """Make the results a batch of the output, tell its readers, and send it on."""
    output = memory[operator + OP_OUTPUT]
    bucket = take_bucket(memory, memory[operator + OP_RESULTS], position)
    if bucket == 0:
        return
    batch = batch_of_bucket(memory, output, bucket, position)
    if batch != 0:
        memory[output + TRACE_FRESH] = batch
        announce(memory, output, position)
        send_batch(memory, operator, output, batch)
