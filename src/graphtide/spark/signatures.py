"""Signatures of edges, their counts, and the classes that the driver makes of them.

Transforms from frames to frames. An edge's signature is one long column in most collections.
Features of endpoints are computed once a vertex and joined as one number; where the two sides
ask the same of a vertex, Spark reuses one broadcast for both joins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from graphtide.plan.predicates import PropertyRef, properties_of
from graphtide.plan.signatures import VERTEX_NUMBER, Flag, SignatureLayout, Word
from graphtide.spark.columns import Names, word_column

# The join of endpoints is a broadcast up to this many vertices (about 16 bytes each, packed).
BROADCAST_VERTICES = 5_000_000


@dataclass(frozen=True)
class GraphFrames:
    """The two tables of a stored graph, with the number of vertices to choose the join by."""

    vertices: DataFrame
    edges: DataFrame
    vertex_count: int


def signature_columns(layout: SignatureLayout) -> list[str]:
    """The names of the signature's columns; at least one, also where there are no atoms."""
    return [f"_signature_{number}" for number in range(max(len(layout.columns), 1))]


def edge_signatures(frames: GraphFrames, layout: SignatureLayout) -> DataFrame:
    """`_edge` and its signature for every edge of the graph."""
    joined = frames.edges
    for side in ("src", "dst"):
        joined = _join_endpoint(joined, frames, layout, side)
    edge_names = _edge_names(frames.edges.columns)
    words = {
        word: F.col(_word_name(layout, word))
        if word.side in ("src", "dst")
        else word_column(word, edge_names)
        for word in layout.words
    }
    packed = [_pack([(word, words[word]) for word in column]) for column in layout.columns]
    names = signature_columns(layout)
    columns = packed or [F.lit(0).cast("long")]
    return joined.select(
        "_edge", *(column.alias(name) for name, column in zip(names, columns, strict=True))
    )


def signature_counts(signatures: DataFrame) -> DataFrame:
    """The distinct signatures with the number of edges of each."""
    names = [name for name in signatures.columns if name != "_edge"]
    return signatures.groupBy(*names).agg(F.count("*").alias("_edges"))


def edge_classes(signatures: DataFrame, classes: DataFrame) -> DataFrame:
    """`_edge` and `_class` of every edge that is in a class; the rest are in no view."""
    names = [name for name in classes.columns if name != "_class"]
    return signatures.join(F.broadcast(classes), names).select("_edge", "_class")


def property_column(item: PropertyRef, columns: Sequence[str]) -> str:
    """The stored column behind a property; `columns` are those of the table it is in.

    Built-in names give way to a declared property of the same name.
    """
    if item.name in columns:
        return item.name
    return {"id": "_edge" if item.owner == "edge" else "_id", "label": "_label"}[item.name]


def _edge_names(columns: Sequence[str]) -> Names:
    def name(item: PropertyRef) -> Column:
        if item.name == VERTEX_NUMBER:
            return F.col(f"_{item.owner}")
        if item.owner == "edge":
            return F.col(_quoted(property_column(item, columns)))
        return F.col(_quoted(_raw_name(item)))

    return name


def _join_endpoint(
    edges: DataFrame, frames: GraphFrames, layout: SignatureLayout, side: str
) -> DataFrame:
    words = [word for word in layout.words if word.side == side]
    raw = _raw_properties(layout, side)
    if not words and not raw:
        return edges
    columns = frames.vertices.columns

    def name(item: PropertyRef) -> Column:
        return F.col(_quoted(property_column(item, columns)))

    vertex_columns = [word_column(word, name).alias(_word_name(layout, word)) for word in words]
    raw_columns = [name(item).alias(_raw_name(item)) for item in raw]
    endpoint = frames.vertices.select(
        F.col("_vertex").alias(f"_{side}"), *vertex_columns, *raw_columns
    )
    small = frames.vertex_count <= BROADCAST_VERTICES
    if len(words) == 1 and not raw:
        return _join_unusual(edges, endpoint, words[0], small)
    return edges.join(F.broadcast(endpoint) if small else endpoint, f"_{side}")


def _join_unusual(edges: DataFrame, endpoint: DataFrame, word: Word, small: bool) -> DataFrame:
    """Join only the vertices whose word is not the plain one: present, and below every cut.

    Where vertices are marked by a few flags (members of communities, say) the join shrinks to
    those; where they are not, it is no larger than a join of all.
    """
    key, name = endpoint.columns
    plain = F.lit(_plain_word(word)).cast("long")
    unusual = endpoint.where(F.col(name) != plain)
    joined = edges.join(F.broadcast(unusual) if small else unusual, key, "left")
    return joined.withColumn(name, F.coalesce(F.col(name), plain))


def _plain_word(word: Word) -> int:
    number, radix = 0, 1
    for feature in word.features:
        number += radix
        radix *= feature.size
    return number


def _pack(parts: Sequence[tuple[Word, Column]]) -> Column:
    packed: Column | None = None
    for word, column in reversed(parts):
        packed = column if packed is None else packed * F.lit(word.radix) + column
    assert packed is not None
    return packed


def _raw_properties(layout: SignatureLayout, side: str) -> list[PropertyRef]:
    """Properties of one endpoint that a feature needs beside something else."""
    found = {
        item: None
        for word in layout.words
        if word.side == "mixed"
        for feature in word.features
        if isinstance(feature, Flag)
        for item in properties_of(feature.atom)
        if item.owner == side and item.name != VERTEX_NUMBER
    }
    return list(found)


def _word_name(layout: SignatureLayout, word: Word) -> str:
    return f"_graphtide_word_{layout.words.index(word)}"


def _raw_name(item: PropertyRef) -> str:
    return f"_graphtide_{item.owner}_{item.name}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
