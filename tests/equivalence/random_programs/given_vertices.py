"""Properties of vertices, which depend on the id of a vertex and on the seed of its case alone.

So whoever knows the ids knows the properties: the graph, both oracles, and a script to paste.
"""

from __future__ import annotations

import datetime as dt
import re
import zlib
from collections.abc import Iterable
from typing import Any

TEXTS = ("a", "b", "c", "")
FIRST_DAY = dt.date(2020, 1, 1)
_INTS = {"positive": (1, 2, 3), "mixed": (-2, 0, 1, 5), "zero": (0, 0, 1, 3)}
_FLOATS = {"positive": (0.5, 1.0, 2.0), "mixed": (-1.0, 0.0, 2.0, 0.5), "zero": (0.0, 1.0, 4.0)}
_DECLARED = {
    "level": "gt.VertexProperty(int, missing=2)",
    "rank": "gt.VertexProperty(int)",
    "worth": "gt.VertexProperty(float)",
    "active": "gt.VertexProperty(bool)",
    "kind": "gt.VertexProperty(str)",
    "town": "gt.VertexProperty(str, missing='b')",
    "born": "gt.VertexProperty(gt.Date)",
}
NAMES = {"int": ("level", "rank"), "float": ("worth",), "bool": ("active",)}


def vertex_row(seed: str, vertex: Any) -> dict[str, Any]:
    """What the data say of one vertex; some say nothing of its level, kind or town."""

    def pick(what: str, choices: Iterable[Any]) -> Any:
        given = list(choices)
        return given[zlib.crc32(f"{seed} {vertex!r} {what}".encode()) % len(given)]

    style = list(_INTS)[zlib.crc32(seed.encode()) % len(_INTS)]
    return {
        "level": pick("level", (*_INTS[style], None)),
        "rank": pick("rank", _INTS[style]),
        "worth": pick("worth", _FLOATS[style]),
        "active": pick("active", (True, True, False)),
        "kind": pick("kind", (*TEXTS, None, None)),
        "town": pick("town", (*TEXTS, None)),
        "born": FIRST_DAY + dt.timedelta(days=pick("born", range(12))),
    }


def vertex_columns(seed: str, vertices: Iterable[Any]) -> dict[str, list[Any]]:
    """Vertices as a graph is given them."""
    ids = list(vertices)
    rows = [vertex_row(seed, vertex) for vertex in ids]
    return {"id": ids, **{name: [row[name] for row in rows] for name in _DECLARED}}


def declarations(text: str) -> list[str]:
    """A line for each property that the functions of a program read."""
    return [
        f"{name} = {declared}"
        for name, declared in _DECLARED.items()
        if re.search(rf"\b[uv]\.{name}\b", text)
    ]
