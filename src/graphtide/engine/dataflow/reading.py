"""Read a trace as of a version: the rows of all workers that are part of it, added up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.batch_rows import batch_rows
from graphtide.engine.dataflow.host import Host
from graphtide.engine.dataflow.machine import Machine
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.batches import seek_key
from graphtide.kernels.dataflow.numbers import not_after
from graphtide.kernels.dataflow.traces import batch_at, count_batches
from graphtide.model.errors import LimitError

Int64 = NDArray[np.int64]
_MOST_WORD = (1 << 63) - 1
_HALF = (1 << 32) - 1


def read_trace(host: Host, trace: int, version: int, key: list[int] | None) -> Int64:
    """Rows of key, values and multiplicity at a version; of one key, or of all."""
    shape = int(host.machine.words[layout.VERSION_SHAPE])
    parts = [
        np.delete(rows, (-3, -2), axis=1)[_part_of(rows[:, -2], version, shape)]
        for rows in trace_rows(host, trace, key)
    ]
    words = host.machine.field(trace, layout.TRACE_KEY_WORDS)
    width = words + host.machine.field(trace, layout.TRACE_VALUE_WORDS) + 1
    return add_up(np.concatenate([np.empty((0, width), np.int64), *parts]))


def trace_rows(host: Host, trace: int, key: list[int] | None = None) -> Iterator[Int64]:
    """For each batch its rows of key, values, position, version and diff."""
    for machine, its_trace in host.pool.shards(trace):
        yield from _shard_rows(machine, its_trace, key)


def _shard_rows(machine: Machine, trace: int, key: list[int] | None) -> Iterator[Int64]:
    """The same of one worker."""
    sought = 0 if key is None else machine.store(key)
    words = machine.field(trace, layout.TRACE_KEY_WORDS)
    for place in range(count_batches(machine.words, trace)):
        batch = int(batch_at(machine.words, trace, place))
        if batch == 0:
            continue
        if key is None:
            yield batch_rows(machine, trace, batch, 0, machine.field(batch, layout.BATCH_KEYS))
            continue
        at_key = int(seek_key(machine.words, batch, sought, words))
        if at_key >= 0:
            yield batch_rows(machine, trace, batch, at_key, at_key + 1)
    machine.release(sought)


def _part_of(versions: Int64, version: int, shape: int) -> NDArray[np.bool_]:
    """Which versions are not after one."""
    if shape == 0:
        return versions <= version
    return np.array([not_after(int(item), version, shape) for item in versions], np.bool_)


def add_up(rows: Int64) -> Int64:
    """Rows with equal ones added up by their last column, sorted, without zeros."""
    if len(rows) == 0:
        return rows
    order = np.lexsort(rows[:, -2::-1].T) if rows.shape[1] > 1 else np.arange(len(rows))
    ordered = rows[order]
    differs = np.any(ordered[1:, :-1] != ordered[:-1, :-1], axis=1)
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1])
    summed = ordered[starts]
    summed[:, -1] = _sums(ordered[:, -1], starts)
    return summed[summed[:, -1] != 0]  # type: ignore[no-any-return]


def _sums(diffs: Int64, starts: Int64) -> Int64:
    """Diffs added up from each start to the next; an error where a sum is beyond a word."""
    sums: Int64 = np.add.reduceat(diffs, starts)
    most = max(int(diffs.max()), -int(diffs.min()))
    if most * len(diffs) > _MOST_WORD:
        high, low = np.add.reduceat(diffs >> 32, starts), np.add.reduceat(diffs & _HALF, starts)
        if (sums >> 32 != high + (low >> 32)).any():
            raise LimitError(
                "Records of the dataflow are there too often: more than 64 bits can count",
                hint="call distinct(), or count records in the dataflow, which tells where",
            )
    return sums


def rows_held(host: Host, trace: int) -> int:
    """How many rows a trace holds, in all its batches."""
    return sum(_held(machine, its_trace) for machine, its_trace in host.pool.shards(trace))


def _held(machine: Machine, trace: int) -> int:
    batches = [
        int(batch_at(machine.words, trace, place))
        for place in range(count_batches(machine.words, trace))
    ]
    return sum(machine.field(batch, layout.BATCH_ROWS) for batch in batches if batch)
