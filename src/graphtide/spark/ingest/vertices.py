"""The vertex table: rows of vertex tables first, then vertices that only edges speak of.

Vertices of tables are numbered in input order, and the first of an id stays. Vertices found in
edges are numbered after them, sorted by space and id. The table is written part by part by the
tasks that read it; the only shuffles are over ids, to find duplicates and distinct endpoints.

The driver looks at ids itself where they are few. Spark sends a broadcast table through the
driver, so ids that are few enough for that are few enough to be sorted, numbered or counted there
by Arrow. A job would take longer than the work: 3.4 million edges took Arrow 0.6 seconds of
processor time where Spark took 3.5. That holds as long as one process reads the keys faster than
a cluster starts, and where nothing but a missing end can make a row a bad one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from graphtide.model.column_types import ARROW_TYPES
from graphtide.model.schema import Property, PropertyType
from graphtide.spark.files import reading_path, writing_path
from graphtide.spark.frames import SPARK_TYPES
from graphtide.spark.ingest.checked import (
    Load,
    check_count,
    check_size,
    checked_tables,
    depends_on_keys_alone,
    has_small_parts,
    no_properties,
    place_columns,
    property_columns,
    reject,
    union,
)
from graphtide.spark.ingest.parts import arrange_parts, count_rows, part_name, read_sequence
from graphtide.spark.ingest.stage_rows import naming_damage
from graphtide.spark.ingest.typed import Space, Spaces, TypedTable

# Vertices whose ids are sent to every task. An int id with its number takes some 40 bytes in
# Spark's hash table, a string three times that: at most 200 MB.
BROADCAST_VERTICES = {PropertyType.INT: 5_000_000}
_BROADCAST_OTHERS = 1_500_000


def fits_driver(vertices: int, id_type: PropertyType) -> bool:
    """Whether so many ids may go through the driver to every task."""
    return vertices <= BROADCAST_VERTICES.get(id_type, _BROADCAST_OTHERS)


def distinct_rows(folder: Path, columns: Sequence[str]) -> int:
    """The number of distinct rows of some columns of a folder of parts."""
    table = read_columns(folder, columns)
    return int(table.group_by(list(columns)).aggregate([]).num_rows)


def write_sorted_ids(
    ids: pa.Table, target: Path, start: int, properties: Sequence[Property], *, has_space: bool
) -> None:
    """Write a part of the vertex table from `_space` and `_id`, sorted and numbered."""
    ids = ids.sort_by([("_space", "ascending"), ("_id", "ascending")])
    columns = {
        "_vertex": pa.array(np.arange(start, start + ids.num_rows, dtype=np.int32)),
        "_id": ids.column("_id"),
        "_label": ids.column("_space"),
    }
    columns |= {"_space": ids.column("_space")} if has_space else {}
    nothing = {item.name: pa.nulls(ids.num_rows, ARROW_TYPES[item.type]) for item in properties}
    target.mkdir(exist_ok=True)
    if ids.num_rows or not any(target.iterdir()):
        pq.write_table(pa.table(columns | nothing), target / part_name(start), compression="zstd")


def read_columns(folder: Path, columns: Sequence[str]) -> pa.Table:
    """Some columns of all parts of a folder, whatever their nullability."""
    paths = sorted(folder.glob("*.parquet"))
    parts = [pq.read_table(path, columns=list(columns)) for path in paths]
    return pa.table(
        {
            name: pa.chunked_array(
                [chunk for part in parts for chunk in part.column(name).chunks],
                parts[0].schema.field(name).type,
            )
            for name in columns
        }
    )


# Keys of so many rows are read by one process in a few seconds.
MOST_ROWS = 30_000_000
_BATCH = 1 << 20
_ID_TYPES = PropertyType.INT, PropertyType.STRING

Found = dict[Space, list[pa.Array]]


def ends_by_arrow(
    tables: Sequence[TypedTable], id_type: PropertyType, spaces: Spaces
) -> pa.Table | None:
    """Space and id of the ends without a vertex table; None if Spark has to find them."""
    rows = sum(table.staged.rows for table in tables)
    if rows > MOST_ROWS or not all(_is_plain(table, id_type) for table in tables):
        return None
    by_space: Found = {space: [] for space in spaces.found}
    for table in tables:
        for ends in _batches(table, ARROW_TYPES[id_type]):
            if ends is None or not _collect(by_space, table, spaces, ends, id_type):
                return None
    return _table(by_space, ARROW_TYPES[id_type])


def _is_plain(table: TypedTable, id_type: PropertyType) -> bool:
    return id_type in _ID_TYPES and depends_on_keys_alone(table)


def _batches(table: TypedTable, id_type: pa.DataType) -> Iterator[list[pa.Array] | None]:
    """Both ends of good rows, batch by batch; None for a file that Arrow cannot read."""
    places = [column.place for column in table.roles.keys]
    names = [table.staged.stored[place] for place in places]
    for path in table.staged.paths:
        yield from _batches_of(path, names, id_type)


def _batches_of(
    path: Path, names: Sequence[str], id_type: pa.DataType
) -> Iterator[list[pa.Array] | None]:
    with naming_damage(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        if not all(_is_readable(file.schema_arrow, name, id_type) for name in names):
            yield None
            return
        for batch in file.iter_batches(_BATCH, columns=list(dict.fromkeys(names))):
            ends = [batch.column(name).cast(id_type) for name in names]
            known = pc.and_(*map(_is_known, ends))
            yield [end.filter(known) for end in ends]


def _is_readable(schema: pa.Schema, name: str, id_type: pa.DataType) -> bool:
    if "." in name or schema.names.count(name) != 1:
        return False
    type_ = schema.field(name).type
    if id_type == pa.int64():
        return bool(pa.types.is_signed_integer(type_))
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _is_known(end: pa.Array) -> pa.Array:
    """Where an end is present. A blank text counts as missing."""
    if not pa.types.is_string(end.type):
        return end.is_valid()
    return pc.fill_null(pc.not_equal(pc.utf8_trim(end, characters=" "), ""), False)


def _collect(
    found: Found,
    table: TypedTable,
    spaces: Spaces,
    ends: Sequence[pa.Array],
    id_type: PropertyType,
) -> bool:
    """Add ends to those found; False once a space has too many for the driver."""
    for end, named in zip(ends, table.roles.spaces, strict=True):
        space = spaces.of(named)
        if space in found:
            found[space].append(end.unique())
            if sum(map(len, found[space])) > 4 * _BATCH:
                found[space] = [_joined(found[space], end.type)]
    most = max(len(part) for parts in found.values() for part in [*parts, ()])
    return fits_driver(most, id_type)


def _joined(parts: Sequence[pa.Array], id_type: pa.DataType) -> pa.Array:
    return pa.chunked_array(parts, id_type).unique()


def _table(found: Found, id_type: pa.DataType) -> pa.Table:
    tables = []
    for space, parts in found.items():
        ids = _joined(parts, id_type)
        names = pa.array([space] * len(ids), pa.string())
        tables.append(pa.table({"_space": names, "_id": ids}))
    return pa.concat_tables(tables)


# So many rows are looked at by one task, which needs no shuffle to find what is distinct.
_FEW_ROWS = 200_000


def write_found(
    load: Load, spaces: Spaces, edges: Sequence[DataFrame], start: int, *, has_space: bool
) -> int:
    """Write the distinct ends of good edges as vertices, numbered from `start`."""
    tables = load.tables
    ids = ends_by_arrow(tables.edges, tables.id_type, spaces)
    if ids is None:
        folder = load.staging / "endpoints"
        distinct = _distinct_ends(load, spaces, edges)
        distinct.write.parquet(writing_path(folder))
        count = count_rows(folder)
        check_count(start + count, "vertices")
        if not fits_driver(count, tables.id_type):
            ends = load.spark.read.schema(distinct.schema).parquet(reading_path(folder))
            _write_by_jobs(load, ends, start, has_space=has_space)
            return count
        ids = read_columns(folder, ("_space", "_id"))
    target = load.folder / "vertices"
    write_sorted_ids(ids, target, start, tables.vertex_properties, has_space=has_space)
    return int(ids.num_rows)


def _distinct_ends(load: Load, spaces: Spaces, edges: Sequence[DataFrame]) -> DataFrame:
    ends = union(
        [
            _ends(frame, [spaces.of(space) for space in table.roles.spaces], spaces)
            for frame, table in zip(edges, load.tables.edges, strict=True)
            if any(spaces.of(space) in spaces.found for space in table.roles.spaces)
        ]
    )
    rows = sum(table.staged.rows for table in load.tables.edges)
    distinct = (ends.coalesce(1) if rows <= _FEW_ROWS else ends).distinct()
    no_space = F.lit(None).cast("string").alias("_space")
    return distinct if spaces.used else distinct.select(no_space, "_id")


def _ends(frame: DataFrame, ends: Sequence[Space], spaces: Spaces) -> DataFrame:
    """The ends of good edges that have no vertex table, by one scan for both.

    Where there is one space they are ids alone, of which Spark finds what is distinct much
    sooner than of structs.
    """
    good = frame.where(F.col("_reason").isNull())
    if not spaces.used:
        return good.select(F.explode(F.array("_key0", "_key1")).alias("_id"))
    pairs = [
        F.struct(F.lit(space).cast("string").alias("_space"), F.col(key).alias("_id"))
        for space, key in zip(ends, ("_key0", "_key1"), strict=True)
        if space in spaces.found
    ]
    return good.select(F.explode(F.array(*pairs)).alias("end")).select("end._space", "end._id")


def _write_by_jobs(load: Load, ends: DataFrame, start: int, *, has_space: bool) -> None:
    """Sort in one job and number in another, for ids that only tasks can hold."""
    folder = load.staging / "endpoints-sorted"
    ends.orderBy("_space", "_id").write.parquet(writing_path(folder))
    arrange_parts(folder)
    numbered = read_sequence(load.spark, folder, ends.schema).select(
        (F.col("_position") + start).cast("int").alias("_vertex"),
        "_id",
        F.col("_space").alias("_label"),
        *([F.col("_space")] if has_space else []),
        *no_properties(load.tables.vertex_properties),
    )
    target = load.staging / "vertices-found"
    numbered.write.parquet(writing_path(target))
    arrange_parts(target, ("_vertex",), start)
    _move_parts(target, load.folder / "vertices")


def _move_parts(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for path in source.iterdir():
        path.rename(target / path.name)


_KEYS = ["_space", "_id"]


def write_vertices(load: Load, spaces: Spaces, edges: Sequence[DataFrame]) -> tuple[int, int, int]:
    """Write `vertices/`: how many are of tables, how many there are, how many rows are set aside.

    `edges` are the checked edge tables, for the vertices that have no table.
    """
    given, rejected = _write_given(load, spaces) if load.tables.vertices else (0, 0)
    has_space = _space_column(load, spaces) == "_space"
    named = write_found(load, spaces, edges, given, has_space=has_space) if spaces.found else 0
    check_count(given + named, "vertices")
    return given, given + named, rejected


def vertex_ids(load: Load, spaces: Spaces, space: Space) -> DataFrame:
    """`_id` and `_vertex` of all vertices of a space, from the written table."""
    vertices = _written_ids(load, spaces)
    if spaces.used:
        vertices = vertices.where(F.col(_space_column(load, spaces)) == F.lit(space))
    return vertices.select("_id", "_vertex")


def _written_ids(load: Load, spaces: Spaces) -> DataFrame:
    """The identifying columns of the written table."""
    fields = [
        StructField("_vertex", IntegerType()),
        StructField("_id", SPARK_TYPES[load.tables.id_type]),
        StructField(_space_column(load, spaces), StringType()),
    ]
    return load.spark.read.schema(StructType(fields)).parquet(
        reading_path(load.folder / "vertices")
    )


def hide_spaces(load: Load, spaces: Spaces) -> None:
    """Write the table once more without its spaces, where it has both spaces and labels.

    To be called when no more ids are looked up.
    """
    if _space_column(load, spaces) != "_space":
        return
    table, bare = load.folder / "vertices", load.staging / "vertices-bare"
    vertices = load.spark.read.parquet(reading_path(table))
    vertices.drop("_space").write.parquet(writing_path(bare))
    arrange_parts(bare, ("_vertex",))
    _clear(table)
    bare.rename(table)


def _write_given(load: Load, spaces: Spaces) -> tuple[int, int]:
    tables = load.tables.vertices
    rows = check_size(tables, "vertices")
    properties = load.tables.vertex_properties
    frames = checked_tables(tables, properties, load.options.timezone)
    checked = union(
        [
            frame.withColumn("_space", F.lit(spaces.of(table.roles.spaces[0])).cast("string"))
            for frame, table in zip(frames, tables, strict=True)
        ]
    )
    good = _table_columns(load, spaces, checked.where(F.col("_reason").isNull()))
    written = load.write_numbered(good, "vertices", "_vertex", rows, sort=has_small_parts(tables))
    if written == rows and not _has_duplicates(load, spaces, rows):
        return written, 0
    return _without_bad(load, spaces, checked)


def _without_bad(load: Load, spaces: Spaces, checked: DataFrame) -> tuple[int, int]:
    """Write the table again without bad rows and duplicate vertices."""
    judged = _with_duplicates(checked)
    bad = judged.where(F.col("_reason").isNotNull())
    rejected = reject(load, "vertex", load.tables.vertices, bad)
    _clear(load.folder / "vertices")
    good = _table_columns(load, spaces, judged.where(F.col("_reason").isNull()))
    return load.write_renumbered(good, "vertices", "_vertex"), rejected


def _has_duplicates(load: Load, spaces: Spaces, rows: int) -> bool:
    keys = ["_id", _space_column(load, spaces)] if spaces.used else ["_id"]
    if fits_driver(rows, load.tables.id_type):
        return distinct_rows(load.folder / "vertices", keys) < rows
    vertices = _written_ids(load, spaces)
    return not vertices.groupBy(*keys).count().where(F.col("count") > 1).isEmpty()


def _with_duplicates(checked: DataFrame) -> DataFrame:
    """The rows; all good ones but the first of each id get a reason."""
    good = checked.where(F.col("_reason").isNull())
    keyed = good.select("_space", F.col("_key0").alias("_id"), "_number")
    first = keyed.groupBy(*_KEYS).agg(F.min("_number").alias("_first"), F.count("*").alias("_n"))
    repeated = first.where(F.col("_n") > 1).select(
        F.col("_space").alias("_space2"), "_id", "_first"
    )
    same = (F.col("_key0") == F.col("_id")) & F.col("_space").eqNullSafe(F.col("_space2"))
    is_second = F.col("_reason").isNull() & (F.col("_number") > F.col("_first"))
    reason = F.when(is_second, "duplicate vertex").otherwise(F.col("_reason"))
    return checked.join(repeated, same, "left").withColumn("_reason", reason)


def _table_columns(load: Load, spaces: Spaces, checked: DataFrame) -> DataFrame:
    columns: list[Column | str] = ["_number", F.col("_key0").alias("_id"), "_label"]
    if _space_column(load, spaces) == "_space":
        columns.append("_space")
    properties = property_columns(load.tables.vertex_properties)
    return checked.select(*columns, *properties, *place_columns(load.options))


def _space_column(load: Load, spaces: Spaces) -> str:
    """The column of spaces: labels, unless rows have labels of their own."""
    own = any(table.roles.label is not None for table in load.tables.vertices)
    return "_space" if own and spaces.used else "_label"


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
