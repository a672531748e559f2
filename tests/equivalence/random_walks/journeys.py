"""Graphs with properties of every type, and what happens to them: all of it follows from a seed.

Texts and moments of an edge follow from its ends and its tag, since rows to delete name ends and
numbers alone.
"""

from __future__ import annotations

import datetime as dt
import random
import zlib
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import graphtide as gt

FIRST = dt.datetime(2020, 1, 1)
NUMBERS = ("time", "rank", "open", "tag")
TYPES = {
    "time": pa.float64(),
    "rank": pa.int64(),
    "open": pa.bool_(),
    "tag": pa.int64(),
    "kind": pa.string(),
    "day": pa.date32(),
    "at": pa.timestamp("us"),
}
Row = tuple[Any, ...]
"""The ends of an edge by their ids, and its numbers."""


@dataclass(frozen=True)
class Version:
    """The vertices by their ids, in their order inside, and the live edges."""

    vertices: tuple[Any, ...]
    edges: tuple[Row, ...]


class Journey:
    """Draws a graph and its batches."""

    def __init__(self, pick: random.Random) -> None:
        self.random, self.salt = pick, str(pick.random())
        self.directed = random.Random(f"directed {self.salt}").random() < 0.7
        names = pick.choice((range(100, 120), [f"p{at}" for at in range(20)]))
        self.names = pick.sample(list(names), 12)
        count = pick.randint(3, 7)
        first = tuple(self.names[:count])
        self.first = Version(first, tuple(self.row(first) for _ in range(pick.randint(0, 16))))
        self.gone: list[Row] = []

    def row(self, vertices: tuple[Any, ...]) -> Row:
        """An edge at random: loops and parallel ones are common."""
        pick = self.random
        ends = pick.choice(vertices), pick.choice(vertices)
        numbers = pick.randrange(12) / 4, pick.randrange(-1, 4), pick.random() < 0.5
        return *ends, *numbers, pick.randrange(3)

    def following(self, before: Version) -> tuple[Version, list[Row], list[Row]]:
        """The next version, with the rows that come and those that go."""
        pick, vertices = self.random, before.vertices
        if pick.random() < 0.3:
            vertices += tuple(self.names[len(vertices) : len(vertices) + pick.choice((1, 1, 2))])
        come, go = pick.choice(((1, 0), (0, 1), (2, 2), (1, 3), (4, 1), (0, 4), (3, 3), (6, 6)))
        deleted = pick.sample(before.edges, min(go, len(before.edges)))
        inserted = [self.row(vertices) for _ in range(come)]
        back = [row for row in self.gone if {*row[:2]} <= {*vertices}]
        if back and inserted and pick.random() < 0.5:
            inserted[0] = pick.choice(back)
        if deleted and inserted and pick.random() < 0.3:
            inserted[-1] = deleted[0]
        self.gone += deleted
        kept = list(before.edges)
        for row in deleted:
            kept.remove(row)
        return Version(vertices, (*kept, *inserted)), inserted, deleted

    def edge(self, row: Row) -> dict[str, Any]:
        """All properties of an edge."""
        src, dst, *numbers, tag = row
        found = dict(zip(NUMBERS, (*numbers, tag), strict=True))
        number = zlib.crc32(f"{self.salt} {src} {dst} {tag}".encode())
        found["kind"] = ("a", "b", "c", None)[number % 4]
        found["day"] = FIRST.date() + dt.timedelta(days=number // 4 % 5)
        found["at"] = FIRST + dt.timedelta(seconds=number // 20 % 5)
        return found

    def vertex(self, name: Any) -> dict[str, Any]:
        """All properties of a vertex."""
        pick = random.Random(f"{self.salt} {name}")
        return {
            "age": pick.randrange(-1, 4),
            "size": pick.choice((None, 0.5, 1.0, -0.75)),
            "shut": pick.random() < 0.5,
            "city": pick.choice(("a", "b", "c", None)),
            "nation": pick.choice(("a", "b", None)),
            "born": FIRST.date() + dt.timedelta(days=pick.randrange(5)),
            "seen": pick.choice((None, FIRST, FIRST + dt.timedelta(seconds=1))),
        }

    def vertex_columns(self, names: tuple[Any, ...]) -> dict[str, Any]:
        """Vertices as a graph is given them."""
        rows = [self.vertex(name) for name in names]
        kinds = {"age": pa.int64(), "size": pa.float64(), "shut": pa.bool_()}
        kinds |= dict.fromkeys(("city", "nation"), pa.string())
        kinds |= {"born": pa.date32(), "seen": pa.timestamp("us")}
        columns = {key: pa.array([row[key] for row in rows], kind) for key, kind in kinds.items()}
        return {"id": list(names), **columns}

    def edge_columns(self, rows: list[Row] | tuple[Row, ...]) -> dict[str, Any]:
        """Edges as a graph and an advance are given them."""
        held = [self.edge(row) for row in rows]
        columns = {
            name: pa.array([one[name] for one in held], kind) for name, kind in TYPES.items()
        }
        return {"src": [row[0] for row in rows], "dst": [row[1] for row in rows], **columns}

    def graph(self, version: Version) -> gt.Graph:
        """The version in memory; columns have their types where there is no edge at all."""
        columns: dict[str, Any] = self.edge_columns(version.edges)
        vertices = self.vertex_columns(version.vertices)
        ends = columns.pop("src"), columns.pop("dst")
        return gt.Graph(*ends, vertices=vertices, directed=self.directed, **columns)
