"""A store for tests of the page, made without Spark: graphs, a view and two collections."""

from __future__ import annotations

import random
from pathlib import Path

import graphtide as gt
from tests.graphs import write_graph
from tests.scenario.stored import SCHEMA, write_catalog, write_views

VIEWS = 60
SLOW = "run differential wcc on big as slow verify 1"
"""A run that reports behind each view, if reports are not held back."""


def big_session(root: Path) -> gt.Session:
    """What `write_catalog` has, and the collection `big` of a graph of 1,000 edges."""
    catalog, pick = write_catalog(root), random.Random(7)
    people = [{"id": f"p{number}", "state": "CA"} for number in range(300)]
    people[0]["id"] = "<script>alert(1)</script>"
    calls = [
        {"src": pick.randrange(300), "dst": pick.randrange(300), "year": 2000 + at % VIEWS}
        for at in range(1_000)
    ]
    graph = write_graph(catalog, "Big", SCHEMA, people, calls)
    views = {f"upto-{year}": _up_to(year) for year in range(2000, 2000 + VIEWS)}
    write_views(catalog, graph, "collection", "big", views, calls)
    return gt.session(root, progress=False)


def _up_to(year: int):  # type: ignore[no-untyped-def]
    return lambda row: bool(row["year"] <= year)
