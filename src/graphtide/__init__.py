"""Graphtide: one graph computation over many versions of a graph.

    import graphtide as gt

    session = gt.session("my-graphs")
    calls = session.load("Calls", vertices="customers.csv", edges="calls.csv")
    years = calls.collection("years", "for y in 2010..2020 [upto-{y}: year <= y]")

Names are imported when they are first used, so that `import graphtide` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from graphtide.version import __version__

if TYPE_CHECKING:
    from graphtide.api.collection import Collection, Step
    from graphtide.api.generators import (
        cross,
        expanding,
        sliding,
        tumbling,
        without,
        without_each,
    )
    from graphtide.api.graph import Graph
    from graphtide.api.session import Session, session
    from graphtide.api.view import View
    from graphtide.model.delta import Delta
    from graphtide.model.errors import GraphtideError

_HOMES = {
    "Collection": "graphtide.api.collection",
    "Step": "graphtide.api.collection",
    "cross": "graphtide.api.generators",
    "expanding": "graphtide.api.generators",
    "sliding": "graphtide.api.generators",
    "tumbling": "graphtide.api.generators",
    "without": "graphtide.api.generators",
    "without_each": "graphtide.api.generators",
    "Graph": "graphtide.api.graph",
    "Session": "graphtide.api.session",
    "session": "graphtide.api.session",
    "View": "graphtide.api.view",
    "Delta": "graphtide.model.delta",
    "GraphtideError": "graphtide.model.errors",
}

__all__ = [
    "Collection",
    "Delta",
    "Graph",
    "GraphtideError",
    "Session",
    "Step",
    "View",
    "__version__",
    "cross",
    "expanding",
    "session",
    "sliding",
    "tumbling",
    "without",
    "without_each",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'graphtide' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
