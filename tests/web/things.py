"""What the tests of the page show: small, in memory, with names to be taken as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import graphtide as gt
from graphtide import algorithms

EVIL = "<script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(2)>"
ARABIC, TRAM = "محطة القطار", "🚋 tram & 'more'"
VIEWS = {
    "upto-2001": "year <= 2001",
    "upto-2002": "year <= 2002",
    ARABIC: "year <= 2003",
    TRAM: "year <= 2004",
    EVIL: "year <= 2005",
    "all": "year <= 2009",
}


def edge_table(edges: int = 400, vertices: int = 60) -> pa.Table:
    """Edges with years between vertices with such names."""
    random = np.random.default_rng(7)
    names = np.array([EVIL, IMAGE, ARABIC, TRAM, *(f"v{n}" for n in range(4, vertices))])
    return pa.table(
        {
            "src": names[random.integers(vertices, size=edges)],
            "dst": names[random.integers(vertices, size=edges)],
            "year": random.integers(2000, 2010, size=edges),
        }
    )


def graph() -> Any:
    """A graph in memory."""
    return gt.Graph.from_frame(edge_table())


def collection() -> Any:
    """A collection of six views of it."""
    return graph().collection("years", VIEWS)


def ranks(of: Any = None) -> Any:
    """A run of ranks over the collection."""
    program: Any = algorithms.PageRank
    return (of or collection()).run(program(iterations=5))


def parts(of: Any = None) -> Any:
    """A run of components over the collection."""
    program: Any = algorithms.WCC
    return (of or collection()).run(program())
