"""What the log of a live graph says, of which columns, and what a graph knows by it.

A property is one column on disk. In memory it may be two: an array for programs, and a column for
views, where it is a text or a moment, or a whole number that may be missing. So the shape says for
each property what it is for; what is read back is then what was there.

A batch is logged as what it came to, not as what was asked: vertices and edges that are new, with
the numbers that they got, and the numbers of the edges that went. Whatever an advance had to find
out is settled in the log, so replaying is the same on every machine and at every time.

    length | facts as JSON | lengths | vertices | edges | deleted | changed vertices, to the end

Rows are batches of Arrow without names and types of columns, which the file says once for all of
its records. The state of a graph besides its vertices and edges is changed by records alone, one
after the other, whether they come from a caller or from the log: two processes that have seen the
same records know the same. What is registered is in dicts that are replaced, never changed.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.column_types import ARROW_TYPES, MEMORY_TYPES, property_type, type_of_array
from graphtide.model.errors import InputError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.run.live.edge_rows import ColumnNames
from graphtide.run.live.named_graph import NamedGraph
from graphtide.run.live.vertex_ids import VertexIds
from graphtide.store.files import Damage
from graphtide.store.generation import MANIFEST, Manifest
from graphtide.store.graph import StoredGraph

Named = tuple[tuple[str, str], ...]

_OURS = ("src", "dst", "src_label", "dst_label")


@dataclass(frozen=True)
class GraphShape:
    """Names and types: `numbers` are arrays for programs, `kept` and `vertex` columns for views."""

    src: str
    dst: str
    ids: str
    numbers: Named
    kept: Named
    vertex: Named
    simple: bool
    directed: bool = True

    @property
    def names(self) -> ColumnNames:
        return ColumnNames(self.src, self.dst, tuple(name for name, _ in self.numbers))

    @cached_property
    def edge_types(self) -> dict[str, str]:
        return {
            **{name: type_of_array(np.dtype(kind)).value for name, kind in self.numbers},
            **self.seen,
        }

    @cached_property
    def seen(self) -> dict[str, str]:
        return dict(self.kept)

    @cached_property
    def edges(self) -> pa.Schema:
        ends = [("_src", pa.int32()), ("_dst", pa.int32())]
        return pa.schema([*ends, *((n, ARROW_TYPES[kind]) for n, kind in self.edge_types.items())])

    @cached_property
    def vertices(self) -> pa.Schema:
        properties = [(name, ARROW_TYPES[kind]) for name, kind in self.vertex]
        return pa.schema([("_id", ARROW_TYPES[self.ids]), *properties])

    @cached_property
    def changed(self) -> pa.Schema:
        """Rows of vertices with other values: the number, and all properties."""
        return pa.schema([("_vertex", pa.int32()), *list(self.vertices)[1:]])

    @cached_property
    def memory_types(self) -> list[pa.DataType]:
        return [MEMORY_TYPES[kind] for _, kind in self.vertex]

    @cached_property
    def schema(self) -> GraphSchema:
        return GraphSchema(
            id_type=PropertyType(self.ids),
            vertex=_declared(self.vertex),
            edge=_declared(self.edge_types.items()),
            ends=(self.src, self.dst),
            directed=self.directed,
        )

    def to_json(self) -> dict[str, Any]:
        listed = {
            name: [list(item) for item in getattr(self, name)]
            for name in ("numbers", "kept", "vertex")
        }
        plain = {name: getattr(self, name) for name in ("src", "dst", "ids", "simple", "directed")}
        return {**plain, **listed}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> GraphShape:
        def named(entry: str) -> Named:
            return tuple((item[0], item[1]) for item in data[entry])

        return cls(
            src=data["src"],
            dst=data["dst"],
            ids=data["ids"],
            numbers=named("numbers"),
            kept=named("kept"),
            vertex=named("vertex"),
            simple=data["simple"],
            directed=data.get("directed", True),
        )


def shape_of(known: NamedGraph, kept: pa.Table) -> GraphShape:
    """The shape of a graph in memory; InputError where it cannot be kept on disk."""
    names, vertices = known.names, known.vertex_columns.table
    shape = GraphShape(
        src=names.src,
        dst=names.dst,
        ids=_id_type(known.ids),
        numbers=tuple((name, str(known.resident.dtypes[name])) for name in names.properties),
        kept=_typed(kept),
        vertex=_typed(vertices),
        simple=known.simple,
        directed=known.resident.directed,
    )
    _check_names([*shape.edge_types, *(name for name, _ in shape.vertex)])
    return shape


def _id_type(ids: VertexIds) -> str:
    if ids.are_whole:
        return "int"
    other = next((ids[at] for at in range(len(ids)) if not isinstance(ids[at], str)), None)
    if other is not None:
        raise InputError(
            "the ids of a live graph are whole numbers below 2**63, or else texts",
            where=f"the id {other!r}",
            hint="give all ids as texts",
        )
    return "string"


def _typed(table: pa.Table) -> Named:
    return tuple((name, property_type(table.column(name)).value) for name in table.column_names)


def _declared(items: Any) -> tuple[Property, ...]:
    return tuple(Property(name, PropertyType(kind)) for name, kind in items)


def _check_names(names: list[str]) -> None:
    bad = [name for name in names if name.startswith("_") or name in _OURS]
    if bad:
        raise InputError(
            f"no property of a live graph can be called '{bad[0]}'",
            hint="rename it: names that begin with '_', and 'src' and 'dst', are taken on disk",
        )


_HEAD = struct.Struct("<IQQQ")
_NOTHING = np.empty(0, np.int32)

BATCH, COMPACT, REGISTER, UNREGISTER = "batch", "compact", "register", "unregister"
ASK, DROP, SET = "ask", "drop", "set"


@dataclass(frozen=True)
class LogRecord:
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


def written(record: LogRecord) -> bytes:
    facts = json.dumps(record.facts, separators=(",", ":"), ensure_ascii=False).encode()
    parts = [_rows(record.vertices), _rows(record.edges), record.deleted.tobytes()]
    head = _HEAD.pack(len(facts), *map(len, parts))
    return b"".join([head, facts, *parts, _rows(record.changed)])


def read_record(data: memoryview, shape: GraphShape) -> LogRecord:
    length, vertices, edges, deleted = _HEAD.unpack_from(data)
    at = _HEAD.size
    facts, at = json.loads(bytes(data[at : at + length])), at + length
    rows = (data[at : at + vertices], data[at + vertices : at + vertices + edges])
    numbers = np.frombuffer(data, np.int32, deleted // 4, at + vertices + edges)
    return LogRecord(
        facts,
        _read_rows(rows[0], shape.vertices),
        _read_rows(rows[1], shape.edges),
        numbers,
        _read_rows(data[at + vertices + edges + deleted :], shape.changed),
    )


def description(shape: GraphShape, graph: str) -> bytes:
    return json.dumps({"shape": shape.to_json(), "graph": graph}).encode()


def described_shape(data: bytes) -> GraphShape:
    return GraphShape.from_json(json.loads(data)["shape"])


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


MOST_IDS = 10_000
"""A live graph remembers this many ids of batches, the last ones."""

_BATCHES = "batches"

BatchId = str | tuple[str, int]
"""Whatever a caller calls a batch: a text, or a stream and the number of the batch in it."""


@dataclass
class AppliedBatches:
    """The batches that a graph has taken: the last ids, and how far each stream has come."""

    ids: dict[str, int] = field(default_factory=dict)
    streams: dict[str, int] = field(default_factory=dict)

    def has(self, given: BatchId) -> bool:
        if isinstance(given, str):
            return given in self.ids
        stream, number = given
        last = self.streams.get(stream)
        if last is None or number <= last:
            return last is not None
        if number > last + 1:
            raise InputError(
                f"the batch {number:,} of the stream '{stream}' follows the batch {last:,}",
                hint="give the batches of a stream in their order, without gaps",
            )
        return False

    def add(self, given: BatchId, version: int) -> None:
        if isinstance(given, str):
            self.ids[given] = version
            if len(self.ids) > MOST_IDS:
                del self.ids[next(iter(self.ids))]
        else:
            self.streams[given[0]] = given[1]

    def entries(self, id: BatchId | None, version: int) -> Manifest:
        """What the manifest of a stored graph says of them, with a batch that makes a version."""
        if id is not None:
            self.add(id, version)
        return {_BATCHES: vars(self)} if self.ids or self.streams else {}

    @classmethod
    def of_graph(cls, stored: StoredGraph) -> AppliedBatches:
        try:
            found = cls(**stored.generation.manifest.get(_BATCHES, {}))
            numbers = [*dict.values(found.ids), *dict.values(found.streams)]
            if not all(type(item) is int for item in numbers):
                raise TypeError(numbers)
        except TypeError as error:
            damage = Damage(stored.path / MANIFEST, f"is not that of a graph: {error!r:.60}")
            raise stored.generation.damaged(damage) from None
        return found


@dataclass
class LiveState(AppliedBatches):
    """Versions, applied batches, registered programs and queries, vertices that leave, the time."""

    graph: str = ""
    """The identity of the graph, which its log has as well."""
    version: int = 0
    sequence: int = 0
    followed: dict[str, dict[str, Any]] = field(default_factory=dict)
    """How far each stream that the graph follows has come (`run.streams.position`)."""
    registered: dict[str, dict[str, Any]] = field(default_factory=dict)
    queries: dict[str, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    """How queries are kept: `budget`, `patience` and `landmarks`, those that were ever set."""
    leaving: set[int] = field(default_factory=set)
    latest: float | int | None = None
    late: int = 0
    keep: dict[str, Any] | None = None
    compacted: int = 0
    """The last record that has numbered vertices and edges anew."""
    changed: int = 0
    """The last record that gave vertices other values."""

    def take(self, record: LogRecord, sequence: int) -> None:
        facts, self.sequence = record.facts, sequence
        match record.kind:
            case "batch":
                self._take_batch(facts)
                if record.changed is not None:
                    self.changed = sequence
            case "compact":
                self.leaving = set(facts.get("left", ()))
                self.compacted = sequence
            case "register":
                self.registered = _with(self.registered, facts["name"], facts["program"])
            case "unregister":
                self.registered = _without(self.registered, facts["name"])
            case "ask":
                self.queries = _with(self.queries, facts["name"], facts["query"])
            case "drop":
                self.queries = _without(self.queries, facts["name"])
            case "set":
                self.settings = {**self.settings, **facts["settings"]}

    def _take_batch(self, facts: dict[str, Any]) -> None:
        self.version = facts["version"]
        self.leaving.update(facts.get("left", ()))
        self.leaving.difference_update(facts.get("back", ()))
        self.latest = facts.get("latest", self.latest)
        self.late += facts.get("late", 0)
        if (name := facts.get("id")) is not None:
            self.add(name, self.version)
        for stream, number in facts.get("stream", {}).items():
            self.add((stream, number), self.version)
        self.followed |= facts.get("followed", {})

    def leaving_by(self, record: LogRecord) -> NDArray[np.int32]:
        """The vertices that leave by a compaction, ascending: all but those that it says stay."""
        return np.array(sorted(self.leaving.difference(record.facts.get("stay", ()))), np.int32)

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "leaving": sorted(self.leaving)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LiveState:
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        state = cls(**{**known, "leaving": set(data.get("leaving", ()))})
        state._check()
        return state

    def _check(self) -> None:
        """TypeError where a manifest holds what no state has."""
        for name, usual in vars(LiveState()).items():
            value = getattr(self, name)
            if usual is not None and type(value) is not type(usual):
                raise TypeError(f"'{name}' is {value!r:.60}")
        for known in (self.registered, self.queries, self.followed):
            for name, stored in known.items():
                _with({}, name, stored)
        numbers = (*self.ids.values(), *self.streams.values(), *self.leaving)
        if not all(type(item) is int for item in numbers):
            raise TypeError("a version, a batch or a vertex is no number")


def _with(known: dict[str, dict[str, Any]], name: str, stored: Any) -> dict[str, dict[str, Any]]:
    fits = isinstance(stored, dict) and type(stored.get("version", 0)) is int
    if fits and isinstance(name, str):
        return {**known, name: stored}
    raise TypeError(f"{name!r:.60} stands for {stored!r:.60}")


def _without(known: dict[str, dict[str, Any]], name: str) -> dict[str, dict[str, Any]]:
    return {other: stored for other, stored in known.items() if other != name}


def checked_id(given: Any) -> BatchId | None:
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, tuple | list) and len(given) == 2:
        stream, number = given
        if isinstance(stream, str) and isinstance(number, int) and not isinstance(number, bool):
            return stream, number
    raise InputError(
        f"{given!r} cannot be the id of a batch",
        hint="give a text, or the name of a stream and the number of the batch: ('orders', 17)",
    )
