"""Aliases of a program as a dataflow by hand, whose operators share arrangements or have their own.

The rules are those of `examples/analysis/points_restricted.dl`. Whoever joins a collection by some
columns reads the arrangement of it that is there. Without sharing, each join is given a collection
of its own, the same records mapped to themselves, and so arranges them again: that is how dataflow
systems without shared arrangements run the same plan.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from bench.timing import seconds_of
from graphtide.dataflow import Collection, col

Columns = dict[str, NDArray[np.int64]]
Use = Callable[[Collection], Collection]


def aliases(assign: Collection, deref: Collection, use: Use) -> Collection:
    """(x, y) that may be the same place; `use` gives what a join reads of a collection."""
    ends = [side.map(x=col[name]) for side in (assign, deref) for name in ("x", "y")]
    nodes = ends[0].concat(*ends[1:]).distinct()
    with assign.nested_loop("aliases") as loop:
        flows, places = loop.variable(x=int, y=int), loop.variable(x=int, y=int)
        behind = use(assign).join_map(use(places), on={"y": "x"}, x=col.x, w=col.y_right)
        direct = use(assign).join_map(use(flows), on={"y": "x"}, x=col.x, y=col.y_right)
        through = behind.join_map(use(flows), on={"w": "x"}, x=col.x, y=col.y)
        itself = nodes.map(x=col.x, y=col.x)
        reaches = use(flows).join_map(use(deref), on={"y": "x"}, x=col.x, y=col.y_right).distinct()
        common = use(reaches).join_map(use(reaches), on="x", x=col.y, y=col.y_right)
        one = use(reaches).join_map(use(places), on="x", a=col.y, w=col.y_right)
        other = one.join_map(use(reaches), on={"w": "x"}, x=col.a, y=col.y)
        found = common.concat(other).distinct()
        flows.set(direct.concat(through, itself).distinct())
        places.set(found)
    return found.leave()


def shared(item: Collection) -> Collection:
    """The collection itself: who joins it by the same columns reads the same arrangement."""
    return item


def apart(item: Collection) -> Collection:
    """The same records as a collection of its own, which is arranged for whoever joins it."""
    return item.select(*item.names)


def first_run(assign: Columns, deref: Columns, use: Use) -> tuple[float, int, int]:
    """Seconds, how many pairs of places there are, and how many rows arrangements hold."""
    flow = gt.Dataflow()
    assigned, followed = (flow.input(name, x=int, y=int) for name in ("assign", "deref"))
    output = aliases(assigned, followed, use).count(by=()).output()
    assigned.insert(assign)
    followed.insert(deref)
    taken = seconds_of(flow.advance)
    [(pairs,)] = output.records()
    held = sum(item.get("held", 0) for item in flow.counters().values())
    flow.host.end()
    return taken, pairs, held
