"""Tables that users give to an append, read into columns of the types that the graph has.

Rows and frames in memory are read here, by Arrow; files, Spark frames, and whatever is to be read
with options of its own go through the load (`graphtide.spark.ingest`), which takes all of them.
Either way the columns end up under the names that `graph.edges()` and `graph.vertices()` use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.model.schema import ENDS, GraphSchema, PropertyType, name_hint
from graphtide.run.live.edge_rows import frame_columns
from graphtide.run.views.typed_columns import ARROW_TYPES, property_type, typed_column
from graphtide.spark.ingest.options import IngestOptions
from graphtide.spark.ingest.roles import assign_roles
from graphtide.spark.ingest.source import TableSource, describe, is_path_list

Columns = dict[str, Any]
_TAKEN = {"id", "src", "dst", "label", "src_label", "dst_label"}
_LABELS = {"vertices": ("label",), "edges": ("label", "src_label", "dst_label")}


Place = tuple[str, int | None]
"""A file, and a line of it if that is known."""


@dataclass(frozen=True)
class GivenRows:
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
        """Whether the rows give a column."""
        return name in self.rows.column_names

    def values(self, name: str) -> list[Any]:
        """A column as Python values; missing where the rows do not give it."""
        return self.rows.column(name).to_pylist() if self.has(name) else [None] * len(self)

    def keys(self, label: str, id_: str) -> list[tuple[str | None, Any]]:
        """Label and id of a vertex of each row."""
        return list(zip(self.values(label), self.values(id_), strict=True))

    def place(self, at: int) -> Place:
        """Where one row came from; rows in memory are counted from 1."""
        return (self.source, at + 1) if self.places is None else self.places[at]

    def text(self, at: int) -> str:
        """One row, for errors."""
        return ", ".join(f"{key}={value!r}" for key, value in self._row(at).items())

    def _row(self, at: int) -> dict[str, Any]:
        row: dict[str, Any] = self.rows.slice(at, 1).to_pylist()[0]
        own = dict(zip(ENDS, self.ends, strict=True))
        return {
            own.get(name, name): self.values_given.get((at, name), value)
            for name, value in row.items()
        }

    def without_faults(self) -> GivenRows:
        """The rows that have none."""
        if not self.faults:
            return self
        good = [at for at in range(len(self)) if at not in self.faults]
        return GivenRows(self.rows.take(pa.array(good, pa.int64())), self.source, ends=self.ends)

    def properties(self, declared: Iterable[str]) -> list[str]:
        """The properties that the rows give, in the order of the schema."""
        return [name for name in declared if self.has(name)]


def is_in_memory(data: Any) -> bool:
    """Whether rows can be read here: a frame with Arrow, columns by name, or a list of rows."""
    if isinstance(data, str | bytes) or is_path_list(data) or _is_foreign(data):
        return False
    return isinstance(data, Mapping | Sequence) or hasattr(data, "__arrow_c_stream__")


def read_here(table: TableSource, schema: GraphSchema, options: IngestOptions) -> GivenRows:
    """Rows in memory, in the types of the graph."""
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
    _check_lengths(table.name, typed)
    rows = len(typed[keys[0]])
    for name, given in labels.items():
        typed[name] = as_type(given, PropertyType.STRING, name, table.name)
    source = describe(table.data)
    whole = pa.table(typed | _said_labels(table, rows))
    return GivenRows(whole, source, misfits.faults, misfits.values, schema.ends)


def declared_types(schema: GraphSchema, kind: str) -> dict[str, PropertyType]:
    """The properties of the vertices or of the edges."""
    declared = schema.vertex if kind == "vertices" else schema.edge
    return {item.name: item.type for item in declared}


def label_names(schema: GraphSchema) -> dict[str, str]:
    """By what the user's tables call the labels of the ends, what they are called here."""
    return {f"{own}_label": f"{end}_label" for end, own in zip(ENDS, schema.ends, strict=True)}


def unknown_property(what: str, name: str, known: Iterable[str]) -> InputError:
    """Rows have only what the graph was loaded with: what else they give is not dropped."""
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


def as_type(values: Any, wanted: PropertyType, name: str, what: str) -> pa.Array:
    """A column in the type that the graph has it in; InputError where it holds something else."""
    column = typed_column(values)
    target = ARROW_TYPES[wanted]
    if column is not None and column.null_count == len(column):
        return pa.nulls(len(column), target)
    if column is not None and column.type != target:
        kinds = {property_type(column), wanted}
        if kinds == {PropertyType.INT, PropertyType.FLOAT} and _is_exact(column, wanted):
            return column.cast(target, safe=False)
        column = None
    if column is None:
        raise InputError(
            f"{what}: '{name}' holds values of type {wanted}, and the rows give others",
            hint="give values of the same type",
        )
    return column


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
    if column.null_count or column.type == ARROW_TYPES[wanted]:
        return True
    both = {property_type(column), wanted} == {PropertyType.INT, PropertyType.FLOAT}
    return both and _is_exact(column, wanted)


def joined(given: Sequence[GivenRows]) -> GivenRows | None:
    """Several tables as one; None where there is none."""
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
    return GivenRows(rows.combine_chunks(), source, faults, values, given[0].ends, known)


def _is_foreign(data: Any) -> bool:
    """Frames of Spark, and NetworkX graphs, which are mappings in their way."""
    module = type(data).__module__.split(".")[0]
    return module in ("pyspark", "networkx")


def _is_exact(found: pa.Array, wanted: PropertyType) -> bool:
    if wanted is PropertyType.FLOAT:
        return True
    values = found.drop_null().to_numpy(zero_copy_only=False)
    return bool((np.floor(values) == values).all() and (np.abs(values) < 2.0**53).all())


def _columns(table: TableSource, schema: GraphSchema) -> Columns:
    data = table.data
    if isinstance(data, Mapping):
        return {str(name): values for name, values in data.items()}
    if hasattr(data, "__arrow_c_stream__"):
        return frame_columns(table.name, data, mixed=True)
    rows = list(data)
    keys = ("id",) if table.kind == "vertices" else ENDS
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(str(name) for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}
    order = (*keys, *declared_types(schema, table.kind))
    bad = [row for row in rows if not _is_row(row, len(keys), len(order))]
    if bad:
        shown = keys if table.kind == "vertices" else schema.ends
        raise InputError(
            f"{table.name}: there are rows that are none",
            where=repr(bad[0]),
            hint=f"a row is ({', '.join((*shown, *order[len(keys) :]))})",
        )
    width = max(map(len, rows), default=len(keys))
    return {
        name: [row[at] if at < len(row) else None for row in rows]
        for at, name in enumerate(order[:width])
    }


def _is_row(row: Any, least: int, most: int) -> bool:
    return isinstance(row, tuple | list) and least <= len(row) <= most


def _labels(table: TableSource, schema: GraphSchema) -> tuple[str, ...]:
    """The columns that are labels and not properties, as `graph.edges()` calls them."""
    names: tuple[str, ...] = _LABELS[table.kind]
    return tuple(name for name in names if name not in declared_types(schema, table.kind))


def _said_labels(table: TableSource, rows: int) -> dict[str, pa.Array]:
    """The labels that the place of a table in a mapping says."""
    said = {"label": table.label, "src_label": table.src_space, "dst_label": table.dst_space}
    return {
        name: pa.array([label] * rows, pa.large_string())
        for name, label in said.items()
        if label is not None
    }


def _check_lengths(what: str, columns: Mapping[str, pa.Array]) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InputError(f"the columns of {what} differ in length: {each}")
