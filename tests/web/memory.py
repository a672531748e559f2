"""A graph, a collection and a run in memory, for tests of the page that need no store."""

from __future__ import annotations

from functools import cache
from typing import Any

import graphtide as gt

ODD = "<script>alert('é')</script>/../%2F"


@cache
def run_in_memory() -> gt.Run:
    """Components of three views of a graph, one of whose ids would be markup."""
    return collection_in_memory().run(gt.algorithms.WCC())


@cache
def collection_in_memory() -> gt.MemoryCollection[Any]:
    return graph_in_memory().collection(
        "years", {f"upto-{year}": f"year <= {year}" for year in (2018, 2019, 2020)}
    )


@cache
def graph_in_memory() -> gt.Graph:
    src = ["ann", "بيت", "🦊", ODD, "ann"]
    dst = ["بيت", "🦊", "ann", "eve", "eve"]
    return gt.Graph(src, dst, year=[2018, 2018, 2019, 2019, 2020])
