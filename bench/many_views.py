"""Planning a hundred thousand views, and the price of planning by candidates.

Each kind of views is planned in a process of its own, from its GVDL to the steps of the plan, so
that the peak of memory is that of the planning; signatures are made up, as Spark would count them,
and no graph is stored. Seconds are those of the processor. Small collections are planned both ways,
over all distances and by candidates, and the differences are compared.

    python -m bench.many_views 'sliding windows' 100000     # one kind: figures as JSON
"""

from __future__ import annotations

import itertools
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from bench.figures import Figure
from graphtide.lang.gvdl.facts import NamedEdge, NamedVertex
from graphtide.lang.gvdl.lower import lower_views
from graphtide.lang.gvdl.parse import parse_views
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.optimize import plan_collection
from graphtide.plan.classes import classify_signatures
from graphtide.plan.collection import ViewMatrix
from graphtide.plan.predicates import Predicate, PropertyRef, Value
from graphtide.plan.signatures import layout_signatures
from graphtide.plan.view_runs import runs_of_matrix

VIEWS = 100_000
MOST_SECONDS, MOST_GIGABYTES = 120, 2
KINDS = {
    "expanding windows": "expanding windows over ts from 0 until {views} width 1",
    "sliding windows": "sliding windows over ts from 0 until {views} width 50 step 1",
    "N-1": "without each edge",
    "N-2": "without each pair of edges",
}
SCHEMA = GraphSchema(PropertyType.INT, vertex=(), edge=(Property("ts", PropertyType.INT),))


class _Lines:
    """Facts of a graph of so many edges, of which no other question is asked."""

    def __init__(self, count: int) -> None:
        self._count = count

    def bounds(self, property: PropertyRef, where: Predicate) -> tuple[Value, Value] | None:
        """Windows say where they begin and end."""
        raise AssertionError(property)

    def edges(self, where: Predicate, limit: int) -> Sequence[NamedEdge]:
        """Every edge."""
        return [NamedEdge(at, str(at), str(at + 1)) for at in range(self._count)]

    def vertices(self, where: Predicate, limit: int) -> Sequence[NamedVertex]:
        """Vertices stay."""
        raise AssertionError(where)

    def values(self, property: PropertyRef, where: Predicate, limit: int) -> Sequence[Value]:
        """Values stay."""
        raise AssertionError(property)


def _sliding_windows() -> np.ndarray:
    return np.array([[0 <= row - view < 50 for view in range(1000)] for row in range(1049)])


def _pairs_of_outages() -> np.ndarray:
    pairs = [set(out) for out in itertools.combinations(range(60), 2)]
    return np.array([[line not in out for out in pairs] for line in range(60)])


def _windows_times_outages(windows: int, lines: int) -> np.ndarray:
    """Expanding windows, each without each line in turn: classes are a time and a line."""
    time_of, line_of = np.divmod(np.arange(windows * lines), lines)
    inside = time_of[:, None] <= time_of[None, :]
    found: np.ndarray = inside & (line_of[:, None] != line_of[None, :])
    return found[found.any(axis=1)]


SMALL: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "sliding windows": lambda random: _sliding_windows(),
    "N-2": lambda random: _pairs_of_outages(),
    "windows x N-1": lambda random: _windows_times_outages(25, 40),
    "random views": lambda random: random.random((300, 400)) < 0.5,
}
"""Which classes are in which views, of collections that are small enough for all distances."""


def run(*, quick: bool) -> list[Figure]:
    """All figures of this part; quickly of few views, with the processes of one kind alone."""
    if quick:
        return [*_of_kind("N-2", 1_000), *compared(("windows x N-1",))]
    figures = [figure for kind in KINDS for figure in _of_kind(kind, VIEWS)]
    return figures + list(compared())


def _of_kind(kind: str, views: int) -> Iterator[Figure]:
    """One kind of views, in a process of its own."""
    command = [sys.executable, "-m", "bench.many_views", kind, str(views)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    name = f"{found['views']:,} views, {kind}"
    stages = ", ".join(f"{stage} {took:.1f}" for stage, took in found["stages"].items())
    yield Figure(
        f"{name}, planned", sum(found["stages"].values()), "at most", MOST_SECONDS, "s", stages
    )
    yield Figure(f"{name}, peak memory", found["gigabytes"], "at most", MOST_GIGABYTES, "GB")
    yield Figure(f"{name}, over the given order", found["over_given"], "at most", 1, "x")
    yield Figure(f"{name}, over the lower bound", found["over_bound"], "at most", 1.01, "x")


def plan_kind(kind: str, views: int) -> dict[str, object]:
    """Plan so many views of one kind, from their text on."""
    lines = int((1 + (1 + 8 * views) ** 0.5) / 2) if kind == "N-2" else views
    stages: dict[str, float] = {}
    began = time.process_time()

    def done(stage: str) -> None:
        nonlocal began
        stages[stage] = time.process_time() - began
        began = time.process_time()

    written = parse_views(KINDS[kind].format(views=views))
    predicates = [view.predicate for view in lower_views(written, SCHEMA, _Lines(lines)).views]
    done("views")
    layout = layout_signatures(predicates)
    done("signatures")
    (feature,) = layout.features
    codes = np.random.default_rng(0).permutation(np.arange(1, feature.size))
    counts = np.ones(len(codes), np.int64)
    classes = classify_signatures(layout, codes[:, None], counts, predicates)
    done("classes")
    plan = plan_collection(classes.views)
    done("plan")
    paid, totals = plan.differences(classes.views.weights), plan.totals
    bound = totals.chain_bound if plan.kind == "chain" else totals.tree_bound
    return {
        "views": len(predicates),
        "stages": stages,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "over_given": paid / totals.given,
        "over_bound": paid / bound,
    }


def compared(names: Iterable[str] = tuple(SMALL)) -> Iterator[Figure]:
    """Small collections planned by candidates, over what all distances give."""
    random = np.random.default_rng(1)
    for name in names:
        table = SMALL[name](random)
        matrix = ViewMatrix(table, random.integers(1, 20, len(table)))
        exact = plan_collection(matrix).totals
        wide = plan_collection(runs_of_matrix(matrix.membership, matrix.weights)).totals
        assert exact.chain
        assert exact.tree
        assert wide.chain
        assert wide.tree
        label = f"{name}, {matrix.views:,} views, candidates over all distances"
        yield Figure(f"{label}, chain", wide.chain / exact.chain, "at most", 1.3, "x")
        yield Figure(f"{label}, tree", wide.tree / exact.tree, "at most", 1.2, "x")


if __name__ == "__main__":
    print(json.dumps(plan_kind(sys.argv[1], int(sys.argv[2]))))
