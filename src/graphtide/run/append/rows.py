"""Tables that users give to an append, read into columns of the types that the graph has.

Rows and frames in memory are read here, by Arrow. Files, Spark frames and whatever is to be read
with options of its own go through the load (`graphtide.spark.ingest`): they become a graph of their
own that is read again, so that they are typed and checked as those of a load are. Either way the
columns end up under the names that `graph.edges()` and `graph.vertices()` use.

Rows that cannot be used are refused together, or set aside with their reasons. What rows are about
is found in `resolve`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graphtide.model.column_types import MEMORY_TYPES, property_type
from graphtide.model.columns import BatchLayout, ColumnBatch, frame_columns, row_columns
from graphtide.model.errors import InputError
from graphtide.model.schema import ENDS, GraphSchema, GraphSummary, PropertyType, name_hint
from graphtide.model.text import counted
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.views.typed_columns import as_type, is_exact, typed_column
from graphtide.spark.ingest.options import IngestOptions, enough
from graphtide.spark.ingest.roles import assign_roles
from graphtide.spark.ingest.source import Kind, TableSource, describe, is_path_list
from graphtide.store.graph import QUARANTINE_SCHEMA

Columns = dict[str, Any]
_TAKEN = {"id", "src", "dst", "label", "src_label", "dst_label"}
_LABELS = {"vertices": ("label",), "edges": ("label", "src_label", "dst_label")}


Place = tuple[str, int | None]
"""A file, and a line of it if that is known."""


@dataclass(frozen=True)
class AppendRows:
    """Rows under the names that users know; `source` says where they came from."""

    rows: pa.Table
    source: str
    faults: dict[int, str] = field(default_factory=dict)
    """Why a row cannot be used, where a value of it has another type; it is missing in `rows`."""
    values_given: dict[tuple[int, str], Any] = field(default_factory=dict)
    """Such values, by row and column."""
    ends: tuple[str, str] = ENDS
    """What the user calls the ends."""
    places: list[Place] | None = None
    """The file and the line of each row, where they came from files."""

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def has(self, name: str) -> bool:
        return name in self.rows.column_names

    @property
    def are_edges(self) -> bool:
        """Whether they are edges, which may have a property called `id`."""
        return all(map(self.has, ENDS))

    def values(self, name: str) -> list[Any]:
        return self.rows.column(name).to_pylist() if self.has(name) else [None] * len(self)

    def keys(self, label: str, id_: str) -> list[tuple[str | None, Any]]:
        return list(zip(self.values(label), self.values(id_), strict=True))

    def place(self, at: int) -> Place:
        """Where one row came from; rows in memory are counted from 1."""
        return (self.source, at + 1) if self.places is None else self.places[at]

    def text(self, at: int) -> str:
        return ", ".join(f"{key}={value!r}" for key, value in self._row(at).items())

    def _row(self, at: int) -> dict[str, Any]:
        row: dict[str, Any] = self.rows.slice(at, 1).to_pylist()[0]
        own = dict(zip(ENDS, self.ends, strict=True))
        return {
            own.get(name, name): self.values_given.get((at, name), value)
            for name, value in row.items()
        }

    def without_faults(self) -> AppendRows:
        if not self.faults:
            return self
        good = [at for at in range(len(self)) if at not in self.faults]
        return AppendRows(self.rows.take(pa.array(good, pa.int64())), self.source, ends=self.ends)

    def properties(self, declared: Iterable[str]) -> list[str]:
        return [name for name in declared if self.has(name)]


def is_in_memory(data: Any) -> bool:
    """Whether rows can be read here: a frame with Arrow, columns by name, or a list of rows."""
    if isinstance(data, str | bytes) or is_path_list(data) or _is_foreign(data):
        return False
    return isinstance(data, Mapping | Sequence) or hasattr(data, "__arrow_c_stream__")


def read_here(table: TableSource, schema: GraphSchema, options: IngestOptions) -> AppendRows:
    columns = _columns(table, schema)
    renamed = label_names(schema)
    columns = {renamed.get(name, name): values for name, values in columns.items()}
    labels = {name: columns.pop(name) for name in _labels(table, schema) if name in columns}
    names = [str(name) for name in columns]
    roles = assign_roles(table, names, options)
    values, typed = list(columns.values()), {}
    misfits = _Misfits(table.name)
    keys = ("id",) if table.kind == "vertices" else ENDS
    for name, column in zip(keys, roles.keys, strict=True):
        typed[name] = misfits.column(values[column.place], schema.id_type, name, column.name)
    if roles.label is not None:
        labels["label"] = values[roles.label]
    known = declared_types(schema, table.kind)
    for column in roles.properties:
        name = column.name
        if name not in known and name in _TAKEN and f"{name}_" in known:
            name = f"{name}_"  # As a load calls what has the name of something else.
        if name not in known:
            raise unknown_property(table.name, name, known)
        typed[name] = misfits.column(values[column.place], known[name], name, name)
    ColumnBatch(table.name, typed).check_lengths()
    rows = len(typed[keys[0]])
    for name, given in labels.items():
        typed[name] = as_type(given, PropertyType.STRING, name, table.name)
    source = describe(table.data)
    whole = pa.table(typed | _said_labels(table, rows))
    return AppendRows(whole, source, misfits.faults, misfits.values, schema.ends)


def declared_types(schema: GraphSchema, kind: str) -> dict[str, PropertyType]:
    declared = schema.vertex if kind == "vertices" else schema.edge
    return {item.name: item.type for item in declared}


def label_names(schema: GraphSchema) -> dict[str, str]:
    """The house's names of end labels, by the names in the user's tables."""
    return {f"{own}_label": f"{end}_label" for end, own in zip(ENDS, schema.ends, strict=True)}


def unknown_property(what: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a column that the graph does not have: nothing is dropped in silence."""
    names = list(known)
    listed = ", ".join(names) or "none"
    return InputError(
        f"{what}: the graph has no property '{name}'",
        hint=name_hint(
            name,
            names,
            f"its properties are: {listed}; leave the "
            f"column out (drop=['{name}']), or load the graph again to add a property",
            "'",
        ),
    )


@dataclass
class _Misfits:
    """Values in memory that are not of the type that the graph has; each makes its row a bad one.

    A column of which no value fits is refused as a whole: it is another column, or another graph.
    """

    what: str
    faults: dict[int, str] = field(default_factory=dict)
    values: dict[tuple[int, str], Any] = field(default_factory=dict)

    def column(self, given: Any, wanted: PropertyType, to: str, name: str) -> pa.Array:
        """A column in the type of the graph, missing where it holds something else."""
        try:
            return as_type(given, wanted, name, self.what)
        except InputError:
            plain = given.to_pylist() if hasattr(given, "to_pylist") else list(given)
            fitting = [_is_of_type(item, wanted) for item in plain]
            if not any(fits for fits, item in zip(fitting, plain, strict=True) if item is not None):
                raise
            for at, fits in enumerate(fitting):
                if not fits:
                    self.faults.setdefault(at, f"'{name}' is not of type {wanted}")
                    self.values[at, to] = plain[at]
            good = [item if fits else None for item, fits in zip(plain, fitting, strict=True)]
            return as_type(good, wanted, name, self.what)


def _is_of_type(item: Any, wanted: PropertyType) -> bool:
    """Whether one value, or a missing one, can be in a column of a type."""
    if isinstance(item, str | bytes) and wanted is not PropertyType.STRING:
        return False
    column = typed_column([item])
    if column is None:
        return False
    if column.null_count or column.type == MEMORY_TYPES[wanted]:
        return True
    both = {property_type(column), wanted} == {PropertyType.INT, PropertyType.FLOAT}
    return both and is_exact(column, wanted)


def joined(given: Sequence[AppendRows]) -> AppendRows | None:
    if not given:
        return None
    rows = pa.concat_tables([item.rows for item in given], promote_options="default")
    faults: dict[int, str] = {}
    values: dict[tuple[int, str], Any] = {}
    before = 0
    for item in given:
        faults |= {before + at: fault for at, fault in item.faults.items()}
        values |= {(before + at, name): value for (at, name), value in item.values_given.items()}
        before += len(item)
    source = "; ".join(item.source for item in given)
    known = None
    if any(item.places is not None for item in given):
        known = [item.place(at) for item in given for at in range(len(item))]
    return AppendRows(rows.combine_chunks(), source, faults, values, given[0].ends, known)


def _is_foreign(data: Any) -> bool:
    """True for Spark frames and NetworkX graphs, which would pass for mappings."""
    module = type(data).__module__.split(".")[0]
    return module in ("pyspark", "networkx")


def _columns(table: TableSource, schema: GraphSchema) -> Columns:
    data = table.data
    if isinstance(data, Mapping):
        return {str(name): values for name, values in data.items()}
    if hasattr(data, "__arrow_c_stream__"):
        return frame_columns(table.name, data, mixed=True)
    rows = list(data)
    keys, shown = (("id",), ("id",)) if table.kind == "vertices" else (ENDS, schema.ends)
    declared = tuple(declared_types(schema, table.kind))
    layout = BatchLayout((*shown, *declared), len(keys), table.kind, gaps=True)
    columns = row_columns(table.name, rows, layout)
    if rows and isinstance(rows[0], Mapping):
        return columns
    return dict(zip((*keys, *declared), columns.values(), strict=False))


def _labels(table: TableSource, schema: GraphSchema) -> tuple[str, ...]:
    """The columns that are labels and not properties, as `graph.edges()` calls them."""
    names: tuple[str, ...] = _LABELS[table.kind]
    return tuple(name for name in names if name not in declared_types(schema, table.kind))


def _said_labels(table: TableSource, rows: int) -> dict[str, pa.Array]:
    """The labels that a table has by its key in a mapping."""
    said = {"label": table.label, "src_label": table.src_space, "dst_label": table.dst_space}
    return {
        name: pa.array([label] * rows, pa.large_string())
        for name, label in said.items()
        if label is not None
    }


_SHOWN = 5
_KINDS: dict[Kind, str] = {"vertices": "vertex", "edges": "edge"}


@dataclass
class RejectedRows:
    """Collects the bad rows of all tables; those that the load set aside come first."""

    options: IngestOptions
    _read: Counter[str] = field(default_factory=Counter)
    _aside: list[pa.Table] = field(default_factory=list)
    _rows: list[dict[str, Any]] = field(default_factory=list)
    _counted_by: str = "row"

    def count(self, kind: Kind, rows: int) -> None:
        self._read[_KINDS[kind]] += rows

    def set_aside(self, rows: pa.Table) -> None:
        self._aside.append(rows)
        self._counted_by = "line"
        self._read.update(rows.column("kind").to_pylist())

    def add(self, kind: str, given: AppendRows, at: int, reason: str) -> None:
        file, line = given.place(at)
        place = {"kind": kind, "file": file, "line": line}
        self._rows.append({**place, "reason": reason, "text": given.text(at)})
        self._counted_by = self._counted_by if given.places is None else "line"

    def table(self) -> pa.Table:
        """The rows to set aside; InputError if bad rows are refused, or there are too many."""
        own = pa.Table.from_pylist(self._rows, schema=QUARANTINE_SCHEMA)
        rows = pa.concat_tables([*self._aside, own])
        if self._rows and self.options.on_bad_rows == "refuse":
            raise self._refusal(rows, counted(rows.num_rows, "bad row"))
        for kind, count in Counter(rows.column("kind").to_pylist()).items():
            if count > self.options.bad_rows_allowed(self._read[kind]):
                what = self.options.too_many(count, self._read[kind], kind)
                share = enough(count, self._read[kind])
                raise self._refusal(rows.filter(pc.field("kind") == kind), what, share)
        return rows

    def _refusal(self, rows: pa.Table, what: str, share: str = "") -> InputError:
        reasons = Counter(rows.column("reason").to_pylist()).most_common()
        counts = "; ".join(f"{count:,} × {reason}" for reason, count in reasons)
        shown = [
            f"{row['file']}, {self._counted_by} {row['line']}: {row['reason']}: {row['text'][:200]}"
            for row in rows.slice(0, _SHOWN).to_pylist()
        ]
        if rows.num_rows > _SHOWN:
            shown.append(f"... and {rows.num_rows - _SHOWN:,} more")
        read = sum(self._read.values())
        rest = "append the rest and keep these aside with " + self.options.setting_aside(
            rows.num_rows, read
        )
        if share:
            rest = f"let more rows be set aside: {self.options.said('at_most', share)}"
        return InputError(
            f"{what}, nothing was appended: {counts}",
            where="\n      ".join(shown),
            hint=f"correct them, or {rest}",
        )


_PLACES = ("_graphtide_file", "_graphtide_block", "_graphtide_row")


class FileReader:
    """Reads tables by Spark, into a folder that nobody sees."""

    def __init__(self, space: Workspace, schema: GraphSchema, folder: Path) -> None:
        self._space = space
        self._schema = schema
        self._folder = folder

    def read(self, table: TableSource, options: IngestOptions, bad: RejectedRows) -> AppendRows:
        """The rows of a table in the types of the graph; bad ones are set aside, or refused."""
        # Rows that are set aside are counted over all tables, and with those that do not fit later.
        at_most = None if options.on_bad_rows == "refuse" else 1.0
        chosen = replace(options, known=self._schema, at_most=at_most)
        with self._space.gateway.read(self._folder, table, chosen) as (folder, summary):
            bad.set_aside(_quarantine(folder))
            rows = _vertices(folder) if table.kind == "vertices" else _edges(folder, summary)
            places = _places(_parts(folder / table.kind), summary.files)
            source, ends = describe(table.data), self._schema.ends
            return AppendRows(self._typed(table, rows), source, ends=ends, places=places)

    def _typed(self, table: TableSource, rows: pa.Table) -> pa.Table:
        known = declared_types(self._schema, table.kind)
        labels = ("label", "src_label", "dst_label")
        typed, renamed = {}, label_names(self._schema)
        keys = ("id",) if table.kind == "vertices" else ENDS
        for given in rows.column_names:
            name, column = renamed.get(given, given), rows.column(given).combine_chunks()
            if name in keys:
                typed[name] = as_type(column, self._schema.id_type, name, table.name)
            elif name in known:
                typed[name] = as_type(column, known[name], name, table.name)
            elif name not in labels:
                raise unknown_property(table.name, name, known)
            elif column.null_count < len(column):
                typed[name] = column.cast(pa.large_string())
        return pa.table(typed)


def _vertices(folder: Path) -> pa.Table:
    rows = _parts(folder / "vertices")
    hidden = {"_vertex", *_PLACES}
    rows = rows.drop_columns([name for name in rows.column_names if name in hidden])
    names = {"_id": "id", "_label": "label"}
    return rows.rename_columns([names.get(name, name) for name in rows.column_names])


def _edges(folder: Path, summary: GraphSummary) -> pa.Table:
    """Edges with the ids of their ends, and with their labels where ids need them."""
    vertices, rows = _parts(folder / "vertices"), _parts(folder / "edges")
    columns = {}
    for side in ("src", "dst"):
        ends = vertices.take(rows.column(f"_{side}"))
        columns[side] = ends.column("_id")
        if summary.schema.vertex_labels:
            columns[f"{side}_label"] = ends.column("_label")
    columns["label"] = rows.column("_label")
    hidden = {"_edge", "_src", "_dst", "_label", *_PLACES}
    rest = [name for name in rows.column_names if name not in hidden]
    return pa.table({**columns, **{name: rows.column(name) for name in rest}})


def _places(rows: pa.Table, files: Sequence[str]) -> list[Place]:
    """The file and the line of each row; lines of files that several tasks read are not counted."""
    columns = (rows.column(name).to_pylist() for name in _PLACES)
    return [
        (files[file], row + 1 if block == 0 else None)
        for file, block, row in zip(*columns, strict=True)
    ]


def _parts(folder: Path) -> pa.Table:
    return pq.read_table(sorted(folder.glob("*.parquet")), partitioning=None)


def _quarantine(folder: Path) -> pa.Table:
    files = sorted((folder / "quarantine").glob("*.parquet"))
    if not files:
        return QUARANTINE_SCHEMA.empty_table()
    return pq.read_table(files, schema=QUARANTINE_SCHEMA, partitioning=None)
