"""Records for which the program of an edge has no word: they wait at the edge and are not sent.

A join sends the pair of a record that goes and one that comes, and takes it back. What is computed
of such a pair may be too large though no version has the pair. So nothing is told here: once the
batch is over, `engine.dataflow.faults` adds up what waits.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.layout import (
    CHUNK,
    EDGE_FAULTS,
    EDGE_KEEP,
    FAULTS,
    PORT_WIDTH,
    Memory,
)
from graphtide.kernels.dataflow.ports import new_row
from graphtide.kernels.jit import inner_kernel


@inner_kernel
def keep_fault(memory: Memory, edge: int, stage: int, versions: int, row: int) -> None:
    """Keep one row of the chunk, as its origin made it.

    Rounds of loops that the edge leaves are added up: nobody behind it tells them apart.
    """
    port = memory[edge + EDGE_FAULTS]
    position = memory[versions + CHUNK + row] & memory[edge + EDGE_KEEP]
    target, columns = new_row(memory, port, position), memory[port + PORT_WIDTH] - 2
    for column in range(columns):
        memory[target + column] = memory[stage + column * CHUNK + row]
    memory[target + columns] = memory[versions + row]
    memory[target + columns + 1] = memory[versions + 2 * CHUNK + row]
    memory[FAULTS] += 1
