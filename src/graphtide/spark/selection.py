"""Edges of a stored graph by predicate, and edges as users know them.

A predicate may look at the edge and at both endpoints. The endpoint properties that it needs, and
no others, are joined to the edges under names that no property of a user's can have. All functions
here turn frames into frames: none runs a job.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from graphtide.model.schema import ENDS
from graphtide.plan.predicates import Predicate, PropertyRef, atoms_of, properties_of
from graphtide.plan.signatures import VERTEX_NUMBER
from graphtide.spark.columns import Names, predicate_column

Endpoint = Literal["src", "dst"]
ENDPOINTS: tuple[Endpoint, Endpoint] = ("src", "dst")

# The join of endpoints is a broadcast up to this many vertices.
_BROADCAST_VERTICES = 5_000_000


@dataclass(frozen=True)
class GraphFrames:
    """The two tables of a stored graph, with the number of vertices to choose the join by.

    With several labels of vertices an id may stand for one vertex of each.
    """

    vertices: DataFrame
    edges: DataFrame
    vertex_count: int
    several_labels: bool = False
    ends: tuple[str, str] = ENDS
    directed: bool = True

    @property
    def broadcasts_vertices(self) -> bool:
        """Whether a join with some columns of the vertices is to be a broadcast."""
        return self.vertex_count <= _BROADCAST_VERTICES


def matching_edges(frames: GraphFrames, predicate: Predicate) -> DataFrame:
    """The rows of the edge table on which the predicate is true, with the table's columns."""
    needed = dict.fromkeys(item for atom in atoms_of(predicate) for item in properties_of(atom))
    joined = join_properties(frames, needed)
    condition = predicate_column(predicate, joined_names(frames.edges.columns))
    return joined.where(condition).select(*map(quoted, frames.edges.columns))


def matching_vertices(frames: GraphFrames, predicate: Predicate) -> DataFrame:
    """The rows of the vertex table on which a predicate over its own properties is true."""
    return frames.vertices.where(predicate_column(predicate, table_names(frames.vertices.columns)))


def join_properties(frames: GraphFrames, items: Iterable[PropertyRef]) -> DataFrame:
    """The edge table with the endpoint properties among the items joined to it."""
    joined = frames.edges
    names = table_names(frames.vertices.columns)
    for side in ENDPOINTS:
        raw = [item for item in items if item.owner == side and item.name != VERTEX_NUMBER]
        if raw:
            columns = [raw_column(item, names) for item in raw]
            joined = join_endpoint(joined, frames, side, columns)
    return joined


def join_endpoint(
    edges: DataFrame, frames: GraphFrames, side: Endpoint, columns: Sequence[Column]
) -> DataFrame:
    """Edges with columns of one endpoint's row."""
    endpoint = frames.vertices.select(F.col("_vertex").alias(f"_{side}"), *columns)
    return edges.join(F.broadcast(endpoint) if frames.broadcasts_vertices else endpoint, f"_{side}")


def known_edges(edges: DataFrame, frames: GraphFrames) -> DataFrame:
    """Rows of the edge table as users know them: ends by their ids and names, label, properties.

    Where vertices have several labels, `src_label` and `dst_label` tell their ids apart, or what
    the ends are called in place of `src` and `dst`. Sorted by nothing; `_edge` stays in front, for
    those who want to sort or join.
    """
    joined = edges
    known = ["_id", "_label"] if frames.several_labels else ["_id"]
    for side in ENDPOINTS:
        columns = [F.col(name).alias(_known(side, name)) for name in known]
        joined = join_endpoint(joined, frames, side, columns)
    named = list(zip(ENDPOINTS, frames.ends, strict=True))
    ends = [F.col(_known(side, "_id")).alias(name) for side, name in named]
    if frames.several_labels:
        ends += [F.col(_known(side, "_label")).alias(f"{name}_label") for side, name in named]
    label = [F.col("_label").alias("label")] if "_label" in edges.columns else []
    properties = [quoted(name) for name in edges.columns if name not in _OURS]
    return joined.select("_edge", *ends, *label, *properties)


def table_names(columns: Sequence[str]) -> Names:
    """Properties by the columns of the one table that they are in."""
    return lambda item: F.col(quoted(property_column(item, columns)))


def joined_names(edge_columns: Sequence[str]) -> Names:
    """Properties by the columns of the edge table joined with those of its endpoints."""

    def name(item: PropertyRef) -> Column:
        if item.name == VERTEX_NUMBER:
            return F.col(f"_{item.owner}")
        if item.owner == "edge":
            return F.col(quoted(property_column(item, edge_columns)))
        return F.col(quoted(_raw_name(item)))

    return name


def raw_column(item: PropertyRef, names: Names) -> Column:
    """A property of an endpoint under the name that `joined_names` looks for."""
    return names(item).alias(_raw_name(item))


def property_column(item: PropertyRef, columns: Sequence[str]) -> str:
    """The stored column behind a property; ids and labels go before properties of their names."""
    if item.name == "label" and "_label" in columns:
        return "_label"
    if item.name == "id" and item.owner != "edge":
        return "_id"
    return "_edge" if item.name == "id" and "id" not in columns else item.name


def quoted(name: str) -> str:
    """A column name that no dot or space in it can break."""
    return "`" + name.replace("`", "``") + "`"


_OURS = {"_edge", "_src", "_dst", "_label"}


def _raw_name(item: PropertyRef) -> str:
    return f"_graphtide_{item.owner}_{item.name}"


def _known(side: Endpoint, column: str) -> str:
    return f"_graphtide_{side}{column}_known"
