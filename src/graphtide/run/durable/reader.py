"""A live graph that is read while another process writes it.

Readers take no lock. They see what the writer has told somebody of, and nothing that he may yet
take back. Files may go while they read: then they look again.
"""

from __future__ import annotations

import time
from pathlib import Path

from graphtide.model.errors import DamagedError
from graphtide.run.durable.records import BATCH, COMPACT, Record, described_shape, read_record
from graphtide.run.durable.recover import Replay, open_checkpoint, recovered
from graphtide.run.durable.shape import Shape
from graphtide.run.durable.state import LiveState
from graphtide.run.durable.steps import begin_on_rows, follow_record, put_rows, tables_at
from graphtide.run.durable.tables import memory_of
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.turns import changing, uninterrupted
from graphtide.store.log import LoggedRecord, first_logged, read_log
from graphtide.store.seal import well_formed

_LOOKS = 5


def read_committed(folder: Path, name: str, what: str) -> Replay:
    """The last state that was committed."""
    for look in range(_LOOKS):
        try:
            stored = open_checkpoint(folder, name, what)
            return recovered(folder, stored, what, promised=True)
        except DamagedError:
            if look == _LOOKS - 1:
                raise
            time.sleep(0.01)
    raise AssertionError


def committed_since(folder: Path, what: str, state: LiveState) -> list[LoggedRecord] | None:
    """The records behind a state; None where the log does not go back so far."""
    for look in range(_LOOKS):
        if first_logged(folder) > state.sequence + 1:
            return None
        try:
            return read_log(folder, what, state.sequence, state.graph, promised=True)
        except DamagedError:
            if look == _LOOKS - 1:
                raise
            time.sleep(0.01)
    return None


def follow_logged(graph: MemoryGraph, state: LiveState, item: LoggedRecord) -> Shape:
    """Bring a graph, whose programs follow, and what is known of it behind one more record.

    The columns that it has from then on.
    """
    with well_formed("the log"):
        shape = described_shape(item.description)
        record = read_record(item.data, shape)
    if record.kind == BATCH:
        _follow_batch(graph, state, record, item)
    elif record.kind == COMPACT:
        tables = tables_at(graph, shape).compacted(state.leaving_by(record))
        made = memory_of(tables, shape)
        with uninterrupted(), changing(graph._turns):
            replaced = put_rows(graph, made)
            state.take(record, item.sequence)
        begin_on_rows(graph, replaced)
    else:
        state.take(record, item.sequence)
    return shape


def _follow_batch(graph: MemoryGraph, state: LiveState, record: Record, item: LoggedRecord) -> None:
    """Follow a record in both, or in neither where something stops it."""
    before = graph._versions.current
    try:
        follow_record(graph, record, described_shape(item.description))
        with uninterrupted(), changing(graph._turns):
            graph._versions.forget()
            state.take(record, item.sequence)
    except BaseException:
        with uninterrupted():
            while state.sequence < item.sequence and graph._versions.current > before:
                graph._versions.rollback()
        raise
