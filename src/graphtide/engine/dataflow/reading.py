"""Read a trace as of a version: the rows of all workers that are part of it, added up.

Rows of a batch are unpacked for Python: with their keys, values, times and diffs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.machine import Machine
from graphtide.engine.dataflow.worker_pool import WorkerPool
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.batches import seek_key
from graphtide.kernels.dataflow.numbers import not_after
from graphtide.kernels.dataflow.traces import batch_at, count_batches
from graphtide.model.errors import LimitError


def batch_rows(machine: Machine, trace: int, batch: int, first: int, last: int) -> Int64:
    """The rows of some keys of a batch: key, values, position, version and diff."""
    memory = machine.words
    words = machine.field(trace, layout.TRACE_KEY_WORDS)
    keys_at = machine.field(batch, layout.BATCH_KEYS_AT)
    starts_at = machine.field(batch, layout.BATCH_STARTS_AT)
    starts = memory[starts_at + first : starts_at + last + 1].copy()
    keys = memory[keys_at + first * words : keys_at + last * words].reshape(last - first, words)
    frame = batch + layout.BATCH_FRAME
    width = machine.field(frame, layout.FRAME_WIDTH)
    rows_at = machine.field(batch, layout.BATCH_ROWS_AT)
    rows = memory[rows_at + starts[0] * width : rows_at + starts[-1] * width].reshape(-1, width)
    times_at, times = (
        machine.field(batch, field) for field in (layout.BATCH_TIMES_AT, layout.BATCH_TIMES)
    )
    table = memory[times_at : times_at + 2 * times].reshape(-1, 2)
    values = [
        _field(machine, rows, frame + layout.FRAME_VALUES + number * layout.FIELD_WORDS)
        for number in range(machine.field(trace, layout.TRACE_VALUE_WORDS))
    ]
    moments = table[_field(machine, rows, frame + layout.FRAME_TIME)]
    diffs = _field(machine, rows, frame + layout.FRAME_DIFF)
    repeated = np.repeat(keys, np.diff(starts), axis=0)
    return np.column_stack([repeated, *values, moments, diffs])


def _field(machine: Machine, rows: Int64, field: int) -> Int64:
    packed = rows[:, machine.field(field, layout.FIELD_WORD)]
    shift, mask = (machine.field(field, part) for part in (layout.FIELD_SHIFT, layout.FIELD_MASK))
    return (packed >> shift & mask) + machine.field(field, layout.FIELD_LEAST)


Int64 = NDArray[np.int64]
_MOST_WORD = (1 << 63) - 1
_HALF = (1 << 32) - 1


def read_trace(pool: WorkerPool, trace: int, version: int, key: list[int] | None) -> Int64:
    """Rows of key, values and multiplicity at a version; of one key, or of all."""
    shape = int(pool.machines[0].words[layout.VERSION_SHAPE])
    parts = [
        np.delete(rows, (-3, -2), axis=1)[_part_of(rows[:, -2], version, shape)]
        for rows in trace_rows(pool, trace, key)
    ]
    words = pool.machines[0].field(trace, layout.TRACE_KEY_WORDS)
    width = words + pool.machines[0].field(trace, layout.TRACE_VALUE_WORDS) + 1
    return add_up(np.concatenate([np.empty((0, width), np.int64), *parts]))


def trace_rows(pool: WorkerPool, trace: int, key: list[int] | None = None) -> Iterator[Int64]:
    """For each batch its rows of key, values, position, version and diff."""
    for machine, its_trace in pool.shards(trace):
        yield from _shard_rows(machine, its_trace, key)


def _shard_rows(machine: Machine, trace: int, key: list[int] | None) -> Iterator[Int64]:
    """The rows of each batch of one worker."""
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


def rows_held(pool: WorkerPool, trace: int) -> int:
    return sum(_held(machine, its_trace) for machine, its_trace in pool.shards(trace))


def _held(machine: Machine, trace: int) -> int:
    batches = [
        int(batch_at(machine.words, trace, place))
        for place in range(count_batches(machine.words, trace))
    ]
    return sum(machine.field(batch, layout.BATCH_ROWS) for batch in batches if batch)
