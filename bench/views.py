"""From the stored graph to the stored collection: `python -m bench views`.

Times are ratios within one run: the median time to make a collection, over the median time that
Spark takes to read the same edge table and group it by one column, measured in turns after a
few rounds of warming up. Differences are counted. `loading` measures the way to the stored graph,
`appending` changes of it, and `many_views` plans a hundred thousand.
"""

from __future__ import annotations

import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import graphtide as gt
from bench import appending, data, loading, many_views
from bench.figures import Figure
from graphtide.lang.gvdl.requests import view_items
from graphtide.lang.gvdl.statements import CreateCollection
from graphtide.optimize import plan_collection
from graphtide.optimize.tree import edge_lengths, minimum_spanning_tree, view_distances
from graphtide.plan.classes import classify_signatures
from graphtide.plan.collection import ViewMatrix
from graphtide.plan.signatures import layout_signatures
from graphtide.run.catalog.build import stored_request
from graphtide.store.graph import open_graph

WARM_UP, ROUNDS = 4, 7
CHAIN, SPANNING_TREE = 16_750_000, 14_870_000


def run(*, quick: bool) -> list[Figure]:
    """All figures of this benchmark."""
    with (
        tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder,
        data.stand_ins() if quick else contextlib.nullcontext(),
    ):
        session = gt.session(Path(folder, "store"), master="local[2]", memory="4g", progress=False)
        figures = worked_example() + on_spark(session, quick=quick)
        session.spark.stop()
    return figures + many_views.run(quick=quick)


def on_spark(session: gt.Session, *, quick: bool) -> list[Figure]:
    """The figures that need Spark; a quick run wants stand-ins for the real graphs."""
    return [
        *communities(session, quick),
        *windows(session, quick),
        *outages(session),
        *loading.run(session, quick=quick),
        *appending.run(session, quick=quick),
    ]


def worked_example() -> list[Figure]:
    """The four views of the thesis' section 4.2, by its classes of edges."""
    membership = np.array(
        [[1, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1]], dtype=np.bool_
    )
    matrix = ViewMatrix(membership, np.array([10, 40, 10, 40, 100], np.int64))
    totals = plan_collection(matrix, order="auto").totals
    name = "worked example, differences"
    return [
        Figure(f"{name}, given order", totals.given, "at most", 540, ""),
        Figure(f"{name}, chain", totals.chain, "at most", 260, ""),
        Figure(f"{name}, tree", totals.tree, "at most", 250, ""),
    ]


def communities(session: gt.Session, quick: bool) -> list[Figure]:
    """Five of the ten largest communities of com-dblp removed, in all 252 ways."""
    edges, groups = "com-dblp.txt.gz", "com-dblp-communities.txt.gz"
    name = "com-dblp, 252 community removals"
    paths = data.find(edges), data.find(groups)
    if paths[0] is None or paths[1] is None:
        reason = data.missing(edges)
        return [
            Figure(f"{name}, times a group-by", None, "at most", 6, "x", reason),
            Figure(f"{name}, chain", None, "at most", CHAIN, "", reason),
            Figure(f"{name}, tree", None, "at most", SPANNING_TREE, "", reason),
        ]
    largest = data.largest_communities(paths[1], 10)
    vertices = data.community_vertices(paths[0], largest)
    graph = session.load("dblp", edges=str(paths[0]), vertices=vertices, header=False, comment="#")
    removed = "without 5 of (for i in 0..9 [c{i}: src.c{i} or dst.c{i}])"
    ratio, note, collection = _times_a_group_by(session, graph, removed, quick)
    totals = collection.plan.totals
    distance = view_distances(_matrix(collection))
    bare = int(edge_lengths(distance, minimum_spanning_tree(distance)).sum())
    return [
        Figure(f"{name}, times a group-by", ratio, "at most", 6, "x", note),
        Figure(f"{name}, chain", totals.chain, "at most", CHAIN, ""),
        Figure(f"{name}, tree without stones", bare, "at most", SPANNING_TREE, ""),
        Figure(
            f"{name}, tree",
            totals.tree,
            "below",
            bare,
            "",
            f"{collection.plan.stones} stones; lower bound {totals.tree_bound:,}",
        ),
        Figure(f"{name}, tree / chain", _ratio(totals.tree, totals.chain), "at most", 1, "x"),
    ]


def windows(session: gt.Session, quick: bool) -> list[Figure]:
    """A thousand expanding windows of sx-mathoverflow."""
    file = "sx-mathoverflow.txt.gz"
    name = "sx-mathoverflow, 1,000 expanding windows"
    path = data.find(file)
    if path is None:
        reason = data.missing(file)
        return [
            Figure(f"{name}, times a group-by", None, "at most", 6, "x", reason),
            Figure("1,000 windows over 10 windows", None, "at most", 1.5, "x", reason),
        ]
    graph = session.load(
        "mathoverflow",
        edges=str(path),
        header=False,
        edge_columns=["src", "dst", "ts"],
        types={"ts": "int"},
    )
    first, last = _bounds(graph, "ts")
    counts = (10, 50) if quick else (10, 1000)
    statements = [
        f"expanding windows over ts from {first} until {last + 1} "
        f"width {-(-(last + 1 - first) // count)}"
        for count in counts
    ]
    few, many = (_spark_part(session, graph, text, quick) for text in statements)
    ratio, note, collection = _times_a_group_by(session, graph, statements[1], quick)
    totals = collection.plan.totals
    return [
        Figure(f"{name}, times a group-by", ratio, "at most", 6, "x", note),
        Figure(f"{name}, tree / chain", _ratio(totals.tree, totals.chain), "at most", 1, "x"),
        Figure(
            f"{counts[1]:,} windows over {counts[0]} windows, Spark's part",
            many / few,
            "at most",
            1.5,
            "x",
            f"{many:.2f} s over {few:.2f} s",
        ),
    ]


def outages(session: gt.Session) -> list[Figure]:
    """Each branch of the European grid out in turn."""
    bus, branch = (data.find(f"grid-2869pegase-{part}.csv.gz") for part in ("bus", "branch"))
    name = "grid-2869pegase, 4,582 single outages"
    if bus is None or branch is None:
        reason = data.missing("grid-2869pegase-branch.csv.gz")
        return [
            Figure(f"{name}, planned and stored", None, "below", 60, "s", reason),
            Figure(f"{name}, differences a view", None, "at most", 1, "", reason),
        ]
    graph = session.load(
        "grid", vertices=str(bus), edges=str(branch), id="bus", src="fbus", dst="tbus"
    )
    began = time.perf_counter()
    collection = graph.collection("outages", "without each edge")
    seconds = time.perf_counter() - began
    extra = (collection.differences - graph.num_edges) / len(collection)
    totals = collection.plan.totals
    return [
        Figure(f"{name}, planned and stored", seconds, "below", 60, "s", f"{len(collection):,}"),
        Figure(f"{name}, differences a view", extra, "at most", 1, ""),
        Figure(f"{name}, tree / chain", _ratio(totals.tree, totals.chain), "at most", 1, "x"),
    ]


def _times_a_group_by(
    session: gt.Session, graph: gt.CatalogGraph, views: str, quick: bool
) -> tuple[float, str, gt.Collection]:
    """Median time to make a collection over that of a group-by, taken in turns."""
    path = str(open_graph(session.catalog, graph.name).edges_folder())

    def group_by() -> None:
        grouped = session.spark.read.parquet(path).groupBy("_src").count()
        grouped.write.format("noop").mode("overwrite").save()

    def build() -> gt.Collection:
        return graph.collection("measured", views, replace=True)

    base: list[float] = []
    ours: list[float] = []
    for _ in range(1 if quick else WARM_UP + ROUNDS):
        base.append(_seconds(group_by))
        ours.append(_seconds(build))
    skip = 0 if quick else WARM_UP
    one, other = statistics.median(ours[skip:]), statistics.median(base[skip:])
    return one / other, f"{one:.2f} s over {other:.2f} s", session.collection("measured")


def _spark_part(session: gt.Session, graph: gt.CatalogGraph, views: str, quick: bool) -> float:
    """Median time of the two Spark jobs alone, without planning."""
    statement = CreateCollection("w", view_items(views), base=graph.name)
    request = stored_request(session, statement)
    predicates = [view.predicate for view in request.views]
    layout = layout_signatures(predicates)

    def jobs(folder: Path) -> None:
        work = session.gateway.collection_jobs(request.graph, layout)
        found = work.count()
        classes = classify_signatures(layout, found.signatures, found.counts, predicates)
        with work.writing(found.signatures, classes.of_signature, folder / "edges"):
            pass

    with tempfile.TemporaryDirectory() as folder:
        rounds = 1 if quick else WARM_UP + ROUNDS
        seconds = [_seconds(lambda: jobs(Path(folder))) for _ in range(rounds)]
    return statistics.median(seconds[0 if quick else WARM_UP :])


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _bounds(graph: gt.CatalogGraph, name: str) -> tuple[int, int]:
    values = graph.edges().column(name).to_numpy()
    return int(values.min()), int(values.max())


def _matrix(collection: gt.Collection) -> ViewMatrix:
    """The matrix behind a stored collection, put together from its plan."""
    plan = collection.plan
    columns = np.zeros((plan.classes, len(collection)), np.bool_)
    for step, held in zip(plan.steps, plan.versions(), strict=True):
        if step.view is not None:
            columns[:, step.view] = held
    return ViewMatrix(columns, collection.weights)


def _ratio(one: int | None, other: int | None) -> float | None:
    return None if one is None or not other else one / other
