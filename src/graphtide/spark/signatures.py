"""Signatures of edges, their counts, and the classes that the driver makes of them.

All functions here turn frames into frames. An edge's signature is one long column in most
collections. Features of endpoints are computed once a vertex and joined as one number; where the
two sides ask the same of a vertex, Spark reuses one broadcast for both joins.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from graphtide.plan.predicates import PropertyRef, properties_of
from graphtide.plan.signatures import VERTEX_NUMBER, Bucketing, Feature, Flag, SignatureLayout, Word
from graphtide.spark.columns import word_column
from graphtide.spark.selection import (
    ENDPOINTS,
    Endpoint,
    GraphFrames,
    join_endpoint,
    joined_names,
    raw_column,
    table_names,
)


def signature_columns(layout: SignatureLayout) -> list[str]:
    """The names of the signature's columns; at least one, also where there are no atoms."""
    return [f"_signature_{number}" for number in range(max(len(layout.columns), 1))]


def edge_signatures(frames: GraphFrames, layout: SignatureLayout) -> DataFrame:
    """`_edge` and its signature for every edge of the graph."""
    joined = frames.edges
    asked = _vertex_words(frames, layout)
    for side in ENDPOINTS:
        joined = _join_endpoint(joined, frames, layout, (side, asked))
    edge_names = joined_names(frames.edges.columns)
    words = {
        word: F.col(_word_name(layout, word))
        if word.side in ENDPOINTS
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


def _vertex_words(frames: GraphFrames, layout: SignatureLayout) -> dict[Word, Column]:
    """What is asked of vertices; built once where both sides ask the same."""
    names = table_names(frames.vertices.columns)
    built: dict[tuple[object, ...], Column] = {}
    columns: dict[Word, Column] = {}
    for word in (word for word in layout.words if word.side in ENDPOINTS):
        question = tuple(_question(feature) for feature in word.features)
        if question not in built:
            built[question] = word_column(word, names)
        columns[word] = built[question]
    return columns


def _question(feature: Feature) -> object:
    """A bucketing without its side; a flag as it is."""
    if isinstance(feature, Bucketing):
        return feature.item.name, feature.cuts
    return feature


def _join_endpoint(
    edges: DataFrame,
    frames: GraphFrames,
    layout: SignatureLayout,
    end: tuple[Endpoint, dict[Word, Column]],
) -> DataFrame:
    side, asked = end
    words = [word for word in layout.words if word.side == side]
    raw = _raw_properties(layout, side)
    if not words and not raw:
        return edges
    names = table_names(frames.vertices.columns)
    columns = [asked[word].alias(_word_name(layout, word)) for word in words]
    if len(words) == 1 and not raw:
        endpoint = frames.vertices.select(F.col("_vertex").alias(f"_{side}"), *columns)
        return _join_unusual(edges, endpoint, words[0], frames.broadcasts_vertices)
    return join_endpoint(edges, frames, side, [*columns, *(raw_column(i, names) for i in raw)])


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


def _raw_properties(layout: SignatureLayout, side: Endpoint) -> list[PropertyRef]:
    """Properties of one endpoint that a feature needs beside something else."""
    properties = {
        item: None
        for word in layout.words
        if word.side == "mixed"
        for feature in word.features
        if isinstance(feature, Flag)
        for item in properties_of(feature.atom)
        if item.owner == side and item.name != VERTEX_NUMBER
    }
    return list(properties)


def _word_name(layout: SignatureLayout, word: Word) -> str:
    return f"_graphtide_word_{layout.words.index(word)}"
