"""Which programs `make test` compiles. All others run in it with interpreted kernels.

A program takes ten to thirty seconds to compile for a mode, and a second to go through its tests
interpreted. So `make test` compiles a few programs of every kind, and interprets all of them, these
few too; `make campaign` compiles all. A test or parameter with a program of its own carries the
mark `interpreted`; one that is about compiled code, or too large to be interpreted, carries the
mark `compiled`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest

SELECTING = ("BFS", "ShortestPaths", "WCC")
"""Hops, floats, and names of vertices: what fixpoint mode treats in ways of its own."""
ADDING_UP = ("PageRank", "LabelPropagation")
"""Floats, and arrays of them."""
DATAFLOWS = ("SCC",)
"""One machine runs all dataflows: it is compiled once, and slow to interpret."""
WALKS = ("Triangles",)
COMPILED = (*SELECTING, *ADDING_UP, *DATAFLOWS, *WALKS)


def interpreted() -> bool:
    """True where kernels are Python."""
    from numba import config

    return bool(vars(config)["DISABLE_JIT"])


def plan_name(item: Any) -> str:
    """The name of a program, a plan or a case."""
    return str(item.plan.name if hasattr(item, "plan") else item.name)


def few_compiled(
    items: Iterable[Any],
    compiled: Collection[str] = COMPILED,
    name: Callable[[Any], str] = plan_name,
) -> list[Any]:
    """Parameters of a test: those that are not among the compiled ones are interpreted."""

    def marks(item: Any) -> Any:
        if name(item) in DATAFLOWS:
            return pytest.mark.compiled
        return () if name(item) in compiled else pytest.mark.interpreted

    return [pytest.param(item, id=name(item), marks=marks(item)) for item in items]
