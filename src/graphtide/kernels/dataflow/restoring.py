"""What Python wants of traces when it brings them back to before a batch that failed."""

from __future__ import annotations

from graphtide.kernels.dataflow.layout import TRACE_FRESH, Memory
from graphtide.kernels.dataflow.sorting import batch_of_bucket
from graphtide.kernels.dataflow.traces import settle_fresh
from graphtide.kernels.jit import bare_kernel


@bare_kernel
def add_batch(memory: Memory, trace: int, bucket: int, position: int) -> None:
    """Let a trace have the rows of a bucket, all at one position; no reader is told of them."""
    settle_fresh(memory, trace)
    memory[trace + TRACE_FRESH] = batch_of_bucket(memory, trace, bucket, position)
