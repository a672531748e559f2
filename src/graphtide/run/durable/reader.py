"""A live graph that is read while another process writes it.

Readers take no lock. They see what the writer has told somebody of, and nothing that he may yet
take back. Files may go while they read: then they look again.
"""

from __future__ import annotations

import datetime as dt
import time
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.model.errors import DamagedError
from graphtide.run.durable.records import BATCH, COMPACT, Record, described_shape, read_record
from graphtide.run.durable.recover import LIVE, Replay, open_checkpoint, recovered
from graphtide.run.durable.shape import Shape
from graphtide.run.durable.state import LiveState
from graphtide.run.durable.steps import (
    begin_on_rows,
    follow_record,
    inside_numbers,
    put_rows,
    tables_at,
)
from graphtide.run.durable.tables import memory_of
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.turns import changing, uninterrupted
from graphtide.store.log import LoggedRecord, first_logged, log_bytes, read_log
from graphtide.store.pointer import CURRENT
from graphtide.store.seal import well_formed

_LOOKS, _MOST_KNOWN = 5, 100
_CHECKPOINTS: dict[Path, tuple[tuple[int, int], int, dict[str, Any]]] = {}
"""What was read of checkpoints, with the time of the pointer to each."""


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


def check_as_on_disk(graph: MemoryGraph, disk: Replay) -> None:
    """Compare a graph in memory with what its checkpoint and log come to, row by row.

    AssertionError at the first difference. Both directions of the adjacency are looked at.
    """
    resident, tables = graph._resident, disk.tables()
    here = tables_at(graph, disk.shape)
    inside = inside_numbers(graph, np.arange(resident.edges))
    ends = resident.ends(np.arange(resident.edges, dtype=np.int32))
    apart = np.zeros(resident.edges, np.bool_) if resident.directed else np.equal(*ends)
    live = np.zeros(resident.edges, np.bool_)
    for slabs in resident.adjacency:
        live &= apart  # These are in the first direction alone.
        for start, count in zip(slabs.start.tolist(), slabs.live.tolist(), strict=True):
            live[slabs.edge[start : start + count]] = True
        differ = np.setxor1d(np.flatnonzero(~live[inside]), tables.gone)
        if len(differ):
            raise AssertionError(f"edge {differ[0]} is there in memory or on disk, but not in both")
    _check_rows("vertex", here.vertices, tables.vertices)
    _check_rows("edge", here.edges, tables.edges)


def _check_rows(what: str, here: pa.Table, there: pa.Table) -> None:
    for name in there.column_names:
        both = zip_longest(*(side.column(name).to_pylist() for side in (here, there)))
        for row, (one, other) in enumerate(both):
            if one != other and (one == one or other == other):  # NaN is the same as NaN.
                raise AssertionError(
                    f"{what} {row} has {name} = {one!r} in memory, and {other!r} on disk"
                )


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


def disk_facts(folder: Path, name: str, what: str, state: LiveState) -> dict[str, Any]:
    """How large the log is and how many records it has behind the checkpoint, and that itself."""
    current = (folder / CURRENT).stat()
    stamp = current.st_mtime_ns, current.st_ino
    known = _CHECKPOINTS.get(folder)
    if known is None or known[0] != stamp:
        stored = open_checkpoint(folder, name, what)
        with well_formed(stored.generation.what, stored.generation.path):
            then = LiveState.from_json(stored.generation.manifest[LIVE]["state"])
        facts = {
            "bytes": sum(item.size for item in stored.generation.files.values()),
            "version": then.version,
            "when": stored.created.astimezone(dt.UTC).isoformat(timespec="seconds"),
        }
        if len(_CHECKPOINTS) >= _MOST_KNOWN:
            _CHECKPOINTS.clear()
        known = _CHECKPOINTS[folder] = stamp, then.sequence, facts
    _, sequence, checkpoint = known
    log = {"bytes": log_bytes(folder), "records": max(0, state.sequence - sequence)}
    return {"log": log, "checkpoint": checkpoint}
