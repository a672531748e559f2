"""Scripts in the dialect that Graphsurge released run as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import graphtide as gt
from graphtide.api.session import Session
from graphtide.run.statements.answers import Answer
from graphtide.spark.gateway import SparkGateway

pytestmark = pytest.mark.spark

VERTICES = """# made up for this test
id:id,gender,country:string,age:int
0,F,canada,31
1,M,canada,44
2,F,usa,29
3,M,canada,
4,F,canada,52
"""
EDGES = """# made up for this test
from_id:start_id,to_id:end_id,amount:int,year:int,include:bool
0,1,400,1999,true
1,2,100,2003,true
3,4,200,2004,false
4,0,250,2009,true
1,3,600,2009,
"""
LOAD = """
LOAD GRAPH WITH
    VERTICES FROM '{folder}/vertices.txt' and
    EDGES FROM '{folder}/edges.txt'
    COMMENT '#';
SET THREADS 2 AND PROCESS_ID 0;
"""
CREATE = """
/* Three views,
   each within the next. */
CREATE VIEW COLLECTION Years WHERE
    [year <= 2000 and u.country = 'canada' and v.country = 'canada'],
    [year <= 2005 and u.country = 'canada' and v.country = 'canada']
    [year <= 2010 and u.country = 'canada' and v.country = 'canada']
    manually_ordered materialize_full_view hosts 'server1:9000' 'server2:9000';
create view collection Kept where
    [include <> true and u.age >= 30], [! (u.gender = 'F' and amount > 200) and include = true];
show collections;
"""


@pytest.fixture(scope="module")
def made(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[Answer]]:
    """A folder in which the graph was loaded and its collections made, with the answers to that."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "vertices.txt").write_text(VERTICES)
    (folder / "edges.txt").write_text(EDGES)
    session = Session(folder / "catalog", lambda: SparkGateway(lambda: spark))
    session.execute(LOAD.format(folder=folder))
    return folder, session.execute(CREATE)


@pytest.fixture
def session(spark: SparkSession, made: tuple[Path, list[Answer]], tmp_path: Path) -> Session:
    shutil.copytree(made[0], tmp_path, dirs_exist_ok=True)
    return Session(tmp_path / "catalog", lambda: SparkGateway(lambda: spark))


def ends(view: gt.View) -> list[tuple[int, int]]:
    return [tuple(row.values())[:2] for row in view.to_arrow().to_pylist()]


def test_load_and_create(session: Session, made: tuple[Path, list[Answer]]) -> None:
    years, _, shown = made[1]
    assert any("hosts" in note for note in years.notes)
    collection = session.collection("Years")
    assert [ends(view) for view in collection] == [
        [(0, 1)],
        [(0, 1), (3, 4)],
        [(0, 1), (3, 4), (4, 0), (1, 3)],
    ]
    assert collection.plan.kind == "manual"
    assert collection.names == ["view-1", "view-2", "view-3"]
    # A missing value is neither equal nor unequal: the edge without `include` is in no view,
    # and neither is the one whose src has no age.
    assert [ends(view) for view in session.collection("Kept")] == [[], [(1, 2)]]
    assert shown.table is not None
    assert shown.table.column("collection").to_pylist() == ["Kept", "Years"]


def test_serialize_and_deserialize(session: Session, spark: SparkSession, tmp_path: Path) -> None:
    session.execute(
        f"serialize to '{tmp_path}/graph' threads 2; "
        f"serialize cube Years to '{tmp_path}/years' block_size 10 threads 10;"
    )
    other = Session(tmp_path / "other", lambda: SparkGateway(lambda: spark))
    answers = other.execute(
        f"deserialize from '{tmp_path}/graph'; deserialize cube from '{tmp_path}/years' threads 4;"
    )
    assert [type(answer.value) for answer in answers] == [gt.CatalogGraph, gt.Collection]
    assert ends(other.collection("Years")[2]) == ends(session.collection("Years")[2])
    with pytest.raises(gt.GraphtideError, match="holds a collection"):
        other.execute(f"deserialize from '{tmp_path}/years'")


def test_save_as_text(session: Session, tmp_path: Path) -> None:
    session.execute(f"save graph to '{tmp_path}/out'; save cube Years to '{tmp_path}/steps' 1 true")
    assert (tmp_path / "out" / "edges.csv").read_text().splitlines()[1].startswith("0,1,")
    steps = sorted((tmp_path / "steps").glob("step-*.csv"))
    lines = [path.read_text().splitlines()[1:] for path in steps]
    assert [sorted(each) for each in lines] == [["0,1,1"], ["3,4,1"], ["1,3,1", "4,0,1"]]


RUNS = """
RUN ARRANGED_DIFFERENTIAL COMPUTATION wcc on COLLECTION Years HOSTS 'server1:9000';
run computation wcc on collection Years save results to '{folder}/dir';
run adaptive 5 computation bfs(root=4) on collection Years noresults;
run adaptive upto 5 comp_x 1.5 diff_x 1.0 limit 5 algo avg computation
    mpsp(goals=[(4, 3), (3, 4), (4, 2)]) on collection Years noresults hosts 'h0:9000';
run 2_stage_differential computation bfs(root=3) on collection Years diffresults indices [1 2];
"""


def test_computations_run_as_written(session: Session, tmp_path: Path) -> None:
    first, saved, timed, pairs, _ = session.execute(RUNS.format(folder=tmp_path))
    assert isinstance(first.value, gt.Run)
    assert [first.value.values(view).tolist() for view in first.value.views] == [
        [0, 0, 2, 3, 4],
        [0, 0, 2, 3, 3],
        [0, 0, 2, 0, 0],
    ]
    assert any("hosts" in note for note in first.notes)
    lines = (tmp_path / "dir" / "results.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 * 5
    assert any("results.csv" in note for note in saved.notes)
    assert timed.table is not None
    assert timed.table.num_rows == 3
    # 4 -> 0 -> 1 -> 3 in the last view only; nobody calls 2 from Canada to Canada.
    inf = float("inf")
    assert pairs.table is not None
    assert pairs.table.column("distance").to_pylist() == [inf, inf, inf, inf, 1, inf, 3, 1, inf]
    hops = session.results("Years-BFS")
    assert hops.values(2).tolist() == [2, 3, inf, 0, 1]
    assert hops.record().column("state").to_pylist() == ["fresh"] * 3
    assert session.runs() == ["Years-BFS", "Years-WCC"]


def test_a_collection_that_is_not_there(session: Session) -> None:
    with pytest.raises(gt.GraphtideError, match="no collection named 'Yaers'"):
        session.execute("run computation wcc on collection Yaers;")


def test_delete_cubes(session: Session) -> None:
    session.execute("delete cubes;")
    assert session.collections() == []
    assert session.graphs() == ["graph"]


def test_loading_again_replaces_the_unnamed_graph(session: Session, tmp_path: Path) -> None:
    session.execute(f"load graph with edges from '{tmp_path}/edges.txt' comment '#';")
    assert session.graph("graph").num_vertices == 5
    assert session.graph("graph").schema.vertex == ()
