"""The rows of a batch, as Python reads them: unpacked, with their keys and times."""

from __future__ import annotations

import numpy as np

from graphtide.engine.dataflow.machine import Int64, Machine
from graphtide.kernels.dataflow import layout


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
    """One field of packed rows."""
    packed = rows[:, machine.field(field, layout.FIELD_WORD)]
    shift, mask = (machine.field(field, part) for part in (layout.FIELD_SHIFT, layout.FIELD_MASK))
    return (packed >> shift & mask) + machine.field(field, layout.FIELD_LEAST)
