"""Graphsurge's way of working: its headers, its folders, its numbers of vertices, its words.

The scripts are of the shapes of its experiments, written for this test; results are compared
with plain recomputations that follow its rules.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import graphtide as gt
from graphtide.api.session import Session
from graphtide.run.statements.answers import Answer
from graphtide.spark.gateway import SparkGateway

pytestmark = pytest.mark.spark

# Vertices appear in the order 7, 2, 9, 4, 1, 3: that is how Graphsurge numbers them.
TIMES = [(7, 2, 10), (2, 9, 20), (9, 4, 30), (7, 4, 40), (4, 1, 50), (1, 7, 60), (3, 2, 70)]
SERIALIZE = """
load graph with
    edges from '{at}/edges.txt'
    separator ' ';
serialize to '{at}/serde' threads 15;
"""
CREATE = """
deserialize from '{at}/serde';
set threads 32 and process_id 0;
create view collection vcol where
    [ts >= 10 and ts < 40],
        [ts >= 10 and ts < 55],
        [ts >= 20 and ts < 100]
     manually_ordered materialize_full_view {hosts};
serialize cube vcol to '{at}/vcol_serde' threads 10;
"""
COMPUTE = """
deserialize cube from '{at}/vcol_serde' threads 10;
set threads 32 and process_id 1;
run {how} computation {what} on collection vcol {kept} hosts 'h0:9000' 'h1:9000';
"""
STRATEGIES = (
    "",
    "2_stage_differential",
    "1_stage_differential",
    "basic",
    "individual",
    "basic_individual",
    "compare_differential",
    "adaptive 20",
    "adaptive upto 5 comp_x 1.5 diff_x 1.0 limit 5 algo lr",
)


class Folder:
    """A folder in which scripts run as Graphsurge's do: each begins with an empty session."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self._spark, self._path = spark, path

    def write(self, name: str, *lines: str) -> None:
        (self._path / name).write_text("\n".join(lines) + "\n")

    def run(self, script: str, **words: str) -> list[Answer]:
        session = Session(self._path / "data", lambda: SparkGateway(lambda: self._spark))
        return session.execute(script.format(at=self._path, **words))


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Folder:
    made = Folder(spark, tmp_path)
    made.write("edges.txt", ":start_id :end_id ts:int", *(f"{u} {v} {t}" for u, v, t in TIMES))
    (tmp_path / "serde").mkdir()
    return made


def capped_distances(edges: list[tuple[int, int]], root: int, cap: int) -> dict[int, float]:
    """By weights of the numbers in which vertices appear, relaxed until nothing changes."""
    order = list(dict.fromkeys(end for u, v, _ in TIMES for end in (u, v)))
    found = {vertex: 0 if vertex == root else math.inf for vertex in sorted(order)}
    for _ in order:
        for u, v in edges:
            weight = (order.index(u) + order.index(v)) % cap + 1
            found[v] = min(found[v], found[u] + weight)
    return found


def test_scripts_run_one_after_the_other(folder: Folder) -> None:
    folder.run(SERIALIZE)
    for hosts in ("", "hosts 'h0:9000' 'h1:9000'"):
        *_, created, _ = folder.run(CREATE, hosts=hosts)
        assert isinstance(created.value, gt.Collection)
        assert [len(view) for view in created.value] == [3, 5, 6]
    for how in STRATEGIES:
        folder.run(COMPUTE, how=how, what="wccopt", kept="noresults")
    for what in ("pr(iterations=10)", "scc", "tc", "bfs(root=7)", "mpsp(goals=[(7, 1), (3, 2)])"):
        answers = folder.run(COMPUTE, how="adaptive 1", what=what, kept="")
        assert isinstance(answers[-1].value, gt.Run)


def test_made_up_weights_are_those_of_graphsurge(folder: Folder) -> None:
    folder.run(SERIALIZE)
    folder.run(CREATE, hosts="")
    for cap in (1, 3, 10):
        what = f"sssp(root=7 weight_cap={cap})"
        *_, answer = folder.run(COMPUTE, how="2_stage_differential", what=what, kept="")
        assert any("(u + v) % weight_cap + 1" in note for note in answer.notes)
        run = answer.value
        assert isinstance(run, gt.Run)
        for view, (low, high) in enumerate(((10, 40), (10, 55), (20, 100))):
            edges = [(u, v) for u, v, t in TIMES if low <= t < high]
            assert run.values(view).tolist() == list(capped_distances(edges, 7, cap).values())


def test_weights_of_listed_vertices_are_by_their_place(folder: Folder) -> None:
    folder.write("v.txt", "id,year:int", "5,2000", "3,2001", "8,2002")
    folder.write("e.txt", "src,dst", "8,3", "3,5", "5,8")
    folder.run(
        "load graph with vertices from '{at}/v.txt' and edges from '{at}/e.txt' separator ',';"
        "create view collection c where [u.year > 0], [u.year >= 2001 and v.year < 2001];"
    )
    (answer,) = folder.run("run computation sssp(root=8, weight_cap=2) on collection c;")
    # 8 -> 3 weighs (2 + 1) % 2 + 1, 3 -> 5 weighs (1 + 0) % 2 + 1; rows are as in the file.
    assert isinstance(answer.value, gt.Run)
    assert answer.value.values(0).tolist() == [4, 2, 0]
    assert answer.value.values(1).tolist() == [math.inf, math.inf, 0]


MISTAKES = {
    "sssp(root=7 weight_cap=0)": "weight_cap cannot be 0",
    "sssp(root=7 weight_cap=-2)": "weight_cap cannot be -2",
    "sssp(root=7 weight_cap='a')": "weight_cap",
    "bfs(root=7 weight_cap=3)": "BFS has no parameter 'weight_cap'",
    "sssp(weight_cap=3)": "source",
}


def test_weights_that_cannot_be(folder: Folder) -> None:
    folder.run(SERIALIZE)
    folder.run(CREATE, hosts="")
    for what, told in MISTAKES.items():
        with pytest.raises(gt.GraphtideError, match=told):
            folder.run(COMPUTE, how="", what=what, kept="")


HEADERS = [
    ("id,year:int,authors:int", "src,dst", ""),
    ("vid,year:int,authors", "sid,eid,w:int", ""),
    (":ID,year:int,authors:string", ":START_ID,to,w:bool", ""),
    ("key,year:int,authors:int", "a,b", "id key src a dst b"),
    ("key,year,authors", "x,y,w", "id 'key' src `x` dst y"),
]


@pytest.mark.parametrize(("vertices", "edges", "columns"), HEADERS)
def test_headers(folder: Folder, vertices: str, edges: str, columns: str) -> None:
    width = edges.count(",") + 1
    folder.write("v.txt", vertices, "3,1990,4", "1,2001,", "2,2010,7")
    folder.write("e.txt", edges, *(",".join([*row, ""][:width]) for row in ("13", "12", "32")))
    *_, made = folder.run(
        "load graph with vertices from '{at}/v.txt' and edges from '{at}/e.txt' " + columns + ";"
        "create view collection c where [u.year >= 1990 and v.year <= 2001], [v.year > 2001];"
    )
    assert isinstance(made.value, gt.Collection)
    rows = [[tuple(row.values())[:2] for row in view.to_arrow().to_pylist()] for view in made.value]
    assert rows == [[(1, 3)], [(1, 2), (3, 2)]]


def test_a_plain_header_is_not_guessed_at(folder: Folder) -> None:
    folder.write("e.txt", "sid,eid", "1,2")
    with pytest.raises(gt.GraphtideError, match="no column for src and dst") as caught:
        folder.run("load graph with edges from '{at}/e.txt';")
    said = (caught.value.hint or "").removeprefix("say which it is with ")
    told = said.replace("...", "sid", 1).replace("...", "eid", 1)
    (loaded,) = folder.run("load graph with edges from '{at}/e.txt' " + told)
    assert isinstance(loaded.value, gt.CatalogGraph)
    assert loaded.value.num_edges == 1
