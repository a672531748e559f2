"""What a load found out about a graph; whoever commits the graph describes it with this."""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.model.schema import GraphSchema


@dataclass(frozen=True)
class GraphSummary:
    """Schema and sizes of tables just written; `source` says in words where they came from.

    `timezone` is the zone in which timestamps without an offset were read. The first `listed`
    vertices are those of vertex tables, and the others are known from edges alone; None if all
    are of tables. `notes` are what a user should know of columns whose types were found,
    `files` those of its first table.
    """

    schema: GraphSchema
    vertices: int
    edges: int
    quarantined: int
    source: str
    timezone: str = "UTC"
    listed: int | None = None
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
