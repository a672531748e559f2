"""What a log says: batches by the rows that they add and the edges that they delete, and acts.

A batch is logged as what it came to, not as what was asked: vertices and edges that are new, with
the numbers that they got, and the numbers of the edges that went. Whatever an advance had to find
out (which of two parallel edges a row meant, what has expired) is settled in the log, so replaying
is the same on every machine and at every time.

    length | facts as JSON | lengths | vertices | edges | deleted | changed vertices, to the end

Rows are batches of Arrow without their columns' names and types, which the file says once for all
of its records.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.run.durable.shape import Shape

_HEAD = struct.Struct("<IQQQ")
_NOTHING = np.empty(0, np.int32)

BATCH, COMPACT, REGISTER, UNREGISTER = "batch", "compact", "register", "unregister"
ASK, DROP, SET = "ask", "drop", "set"


@dataclass(frozen=True)
class Record:
    """An act on a live graph; `facts` has its `kind`. Rows are None where there are none."""

    facts: dict[str, Any]
    vertices: pa.RecordBatch | None = None
    edges: pa.RecordBatch | None = None
    deleted: NDArray[np.int32] = field(default_factory=lambda: _NOTHING)
    changed: pa.RecordBatch | None = None

    @property
    def kind(self) -> str:
        """`batch`, `compact`, `register`, `unregister`, `ask`, `drop` or `set`."""
        return str(self.facts["kind"])


def written(record: Record) -> bytes:
    """As the log holds it."""
    facts = json.dumps(record.facts, separators=(",", ":"), ensure_ascii=False).encode()
    parts = [_rows(record.vertices), _rows(record.edges), record.deleted.tobytes()]
    head = _HEAD.pack(len(facts), *map(len, parts))
    return b"".join([head, facts, *parts, _rows(record.changed)])


def read_record(data: memoryview, shape: Shape) -> Record:
    """The record that was written."""
    length, vertices, edges, deleted = _HEAD.unpack_from(data)
    at = _HEAD.size
    facts, at = json.loads(bytes(data[at : at + length])), at + length
    rows = (data[at : at + vertices], data[at + vertices : at + vertices + edges])
    numbers = np.frombuffer(data, np.int32, deleted // 4, at + vertices + edges)
    return Record(
        facts,
        _read_rows(rows[0], shape.vertices),
        _read_rows(rows[1], shape.edges),
        numbers,
        _read_rows(data[at + vertices + edges + deleted :], shape.changed),
    )


def description(shape: Shape, graph: str) -> bytes:
    """What a file of the log says of its records, and whose they are."""
    return json.dumps({"shape": shape.to_json(), "graph": graph}).encode()


def described_shape(data: bytes) -> Shape:
    """The shape of the records in a file."""
    return Shape.from_json(json.loads(data)["shape"])


def _rows(batch: pa.RecordBatch | None) -> bytes | memoryview:
    return b"" if batch is None else memoryview(batch.serialize())


def _read_rows(data: memoryview, schema: pa.Schema) -> pa.RecordBatch | None:
    if not len(data):
        return None
    try:
        batch = pa.ipc.read_record_batch(pa.py_buffer(data), schema)
    except OSError as error:  # Arrow's word for bytes that are no message; no disk has failed.
        raise ValueError(str(error)) from None
    batch.validate(full=True)
    return batch
