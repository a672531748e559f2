"""The memory of a machine, and what is built in it: ports, traces, operators, edges.

The array is address space, reserved once and backed by memory only where it has been touched.
Blocks in it are known by their addresses (see `kernels.dataflow.layout`), and Python gets copies of
what they hold, never views that a later run would change under the reader.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.pages import reserve
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.memory import allocate, allocate_zeros, free
from graphtide.kernels.dataflow.ports import drop_port, new_port
from graphtide.kernels.dataflow.seen import new_seen
from graphtide.kernels.dataflow.traces import add_reader, new_trace
from graphtide.model.errors import LimitError

Int64 = NDArray[np.int64]


class Blocks:
    """One memory, of so many bytes at most."""

    def __init__(self, memory: int) -> None:
        self._mapped = reserve(memory)
        self.words: Int64 = np.frombuffer(self._mapped, np.int64)
        self.words[layout.NEXT_FREE] = layout.HEADER_WORDS
        self.words[layout.END_OF_MEMORY] = len(self.words)

    def store(self, numbers: Sequence[int] | Int64) -> int:
        """Put numbers into a block of their own; its address."""
        block = int(allocate(self.words, max(len(numbers), 1)))
        self.words[block : block + len(numbers)] = numbers
        return block

    def release(self, block: int) -> None:
        """Free a block."""
        free(self.words, block)

    def new_port(self, data_words: int) -> int:
        """A port for records of so many words."""
        return int(new_port(self.words, data_words))

    def drop_port(self, port: int) -> None:
        """Free a port."""
        drop_port(self.words, port)

    def new_trace(self, key_words: int, value_words: int, by_time: bool = False) -> int:
        """An empty trace."""
        if key_words + value_words > layout.MOST_COLUMNS:
            raise LimitError(
                f"A record of {key_words + value_words} columns is to be kept; "
                f"{layout.MOST_COLUMNS} is the most",
                hint="select those that are needed before what keeps records: "
                "distinct, reductions, joins",
            )
        return int(new_trace(self.words, key_words, value_words, by_time))

    def new_seen(self, words: int) -> int:
        """A table of records of so many words that have been seen: of none yet."""
        return int(new_seen(self.words, words))

    def new_operator(self, kind: int, shape: int, fields: dict[int, int]) -> int:
        """An operator with some of its fields set."""
        operator = int(allocate_zeros(self.words, layout.OP_WORDS))
        self.words[operator + layout.OP_KIND] = kind
        self.words[operator + layout.OP_SHAPE] = shape
        for field, value in fields.items():
            self.words[operator + field] = value
        return operator

    def read_trace(self, operator: int, trace: int, side: int) -> None:
        """Tell an operator of fresh batches of a trace, which is one of its inputs."""
        add_reader(self.words, trace, operator, side)

    def add_edge(self, operator: int, edge: dict[int, int]) -> int:
        """One more way out of an operator; the edge's address."""
        block = int(allocate_zeros(self.words, layout.EDGE_WORDS))
        for field, value in edge.items():
            self.words[block + field] = value
        self.words[block + layout.EDGE_NEXT] = self.words[operator + layout.OP_EDGES]
        self.words[operator + layout.OP_EDGES] = block
        return block

    def edges(self, operator: int) -> list[int]:
        """All ways out of an operator, the last one first."""
        found, edge = [], self.field(operator, layout.OP_EDGES)
        while edge:
            found.append(edge)
            edge = self.field(edge, layout.EDGE_NEXT)
        return found

    def field(self, block: int, field: int) -> int:
        """One field of a block."""
        return int(self.words[block + field])

    def set_field(self, block: int, field: int, value: int) -> None:
        """Set one field of a block."""
        self.words[block + field] = value

    def read_list(self, place: int, width: int) -> Int64:
        """A copy of the rows of a list in the header."""
        return self._rows(int(self.words[place]), width)

    def _rows(self, bucket: int, width: int) -> Int64:
        """A copy of the rows of a bucket."""
        count = int(self.words[bucket + layout.BUCKET_COUNT])
        start = bucket + layout.BUCKET_ROWS
        return self.words[start : start + count * width].reshape(count, width).copy()
