"""The statement `run`: computations by name, parameters, strategies, files, and every mistake."""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.api.session import Session
from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl.parse import parse_statement
from graphtide.lang.nga import unparse
from graphtide.model.errors import LanguageError
from graphtide.plan.program_text import explain
from graphtide.run.statements.answers import Answer
from graphtide.run.statements.computations import chosen_computation
from tests.oracle import algorithms as naive
from tests.oracle.dataflow import strong_components
from tests.scenario.commands import graphtide, objects
from tests.scenario.stored import CALLS, PEOPLE

OWN = """
import graphtide as gt
from beside import START

@gt.program
class MostKnown:
    best: int
    most = gt.Max(int)

    def initialize(self, v):
        v.best = v.id + START

    def traverse(self, u, e, v):
        v.most(u.best)

    def update(self, v):
        v.best = max(v.best, v.most)
"""
OWN_DATAFLOW = """
import graphtide as gt

col = gt.dataflow.col

@gt.dataflow.program("calls", int, missing=0)
def calls_to(edges, *, least: int = 1):
    return edges.count(by="{by}").filter(col.count >= least)
"""
OWN_WALK = """
import graphtide as gt

@gt.program
class Later:
    total = gt.Global(gt.Count())
    ends: int = 0
    found = gt.Count()
    ways = gt.Matches(one=gt.Vertex, two=gt.Vertex, year=float, limit=40)

    def traverse(self, u):
        for v, e in u.out_edges:
            for w, f in v.out_edges:
                if e.year + 9 < f.year:
                    self.total()
                    w.found()
                    self.ways(u, w, f.year)

    def update(self, v):
        v.ends = v.found
"""
IDS = [row["id"] for row in PEOPLE]


@pytest.fixture
def session(data: Path) -> Session:
    return gt.session(data, progress=False)


def carried_out(session: Session, text: str) -> Answer:
    (answer,) = session.execute(text)
    return answer


def edges(view: str) -> list[naive.Edge]:
    last = int(view.split("-")[1])
    return [(row["src"], row["dst"], 1.0) for row in CALLS if row["year"] <= last]


def refused(session: Session, text: str) -> LanguageError:
    with pytest.raises(LanguageError) as caught:
        session.execute(text)
    return caught.value


def under_carets(error: LanguageError) -> str:
    """What the carets of an error point at."""
    assert error.where is not None
    _, text, carets = error.where.splitlines()
    start, stop = carets.index("^"), carets.rindex("^") + 1
    return text[start:stop]


def test_a_run_answers_with_its_summary(session: Session) -> None:
    answer = carried_out(session, "run wcc on years;")
    assert answer.table is not None
    for row in answer.table.to_pylist():
        labels = naive.components(3, edges(row["view"]))["component"]
        assert row["components"] == len(set(labels))
    assert isinstance(answer.value, gt.Run)
    assert session.runs() == ["years-WCC"]


@pytest.mark.parametrize(
    "text",
    [
        "run bfs(source='Zoë') on years",
        "run BFS (source = 'Zoë') on collection years",
        "RUN DIFFERENTIAL COMPUTATION bfs(root='Zoë') ON COLLECTION years",
        "run scratch bfs(source='Zoë') on years verify 4",
        "run individual computation bfs(root='Zoë') on collection years",
        "run compare_differential computation bfs(root='Zoë') on collection years",
        "run adaptive 10 computation bfs(root='Zoë') on collection years diffresults",
        "run bfs(source='Zoë') on years indices [2 11 12]",
    ],
)
def test_every_way_to_say_it_gives_the_same_results(session: Session, text: str) -> None:
    run = carried_out(session, text).value
    assert isinstance(run, gt.Run)
    for view in run.views:
        assert run.values(view).tolist() == naive.bfs(3, edges(view), 1)["hops"]


@pytest.mark.interpreted
def test_weights_of_another_name(session: Session) -> None:
    run = carried_out(session, "run shortest_paths(source='Zoë', weight='year') on years").value
    assert isinstance(run, gt.Run)
    for view in run.views:
        last = int(view.split("-")[1])
        there = [row for row in CALLS if row["year"] <= last]
        years = [(row["src"], row["dst"], float(row["year"])) for row in there]
        assert run.values(view).tolist() == naive.bellman_ford(3, years, [1])["dist"]
    error = refused(session, "run shortest_paths(source='Zoë', weight=3) on years")
    assert "it is a property of edges" in error.what
    assert under_carets(error) == "weight"
    told = carried_out(session, "explain run shortest_paths(source='Zoë', weight='year') on years")
    assert "year" in str(told)


@pytest.mark.parametrize(
    "text",
    [
        "run scc on years",
        "run strong_components on years verify 3",
        "run scratch SCC on years",
        "run differential computation scc on collection years",
        "run scc on years indices [2 11]",
    ],
)
def test_a_dataflow_runs_like_any_program(session: Session, text: str) -> None:
    answer = carried_out(session, text)
    run = answer.value
    assert isinstance(run, gt.Run)
    assert answer.table is not None
    for row in answer.table.to_pylist():
        labels = strong_components(3, edges(row["view"]))["component"]
        assert run.values(row["view"]).tolist() == [IDS[at] for at in labels]
        assert row["components"] == len(set(labels))
    assert session.runs() == ["years-SCC"]


def later(view: str) -> list[tuple[int, int, int]]:
    """The rows of `Later` in a view, in the order of vertices and years."""
    calls = [row for row in CALLS if row["year"] <= int(view.split("-")[1])]
    return sorted(
        (one["src"], other["dst"], other["year"])
        for one in calls
        for other in calls
        if one["dst"] == other["src"] and one["year"] + 9 < other["year"]
    )


@pytest.mark.interpreted
@pytest.mark.parametrize("how", ["", "scratch", "differential computation"])
def test_a_walk_program_of_ones_own(session: Session, data: Path, tmp_path: Path, how: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN_WALK)
    statement = f"run {how} later from '{path}' on years"
    answer = carried_out(session, f"{statement} verify 10 save results to '{tmp_path}/files'")
    assert answer.table is not None
    wanted = {view: later(view) for view in answer.table["view"].to_pylist()}
    run = session.results("years-Later")
    for row in answer.table.to_pylist():
        rows = wanted[row["view"]]
        assert row["total"] == len(rows)
        assert row["ways_rows"] == min(40, len(rows))
        assert run.values(row["view"]).sum() == len(rows)
        found = run.matches(row["view"]).to_pylist()
        named = [(IDS[one], IDS[two], float(year)) for one, two, year in rows[:40]]
        assert [tuple(item.values()) for item in found] == named
    told = ("results", "years-Later", "--matches", "upto-2030", "--data", data, "--json")
    (answered,) = objects(graphtide(*told))
    assert answered["table"] == run.matches("upto-2030").to_pylist()
    assert run.globals()["total"].to_pylist() == [len(rows) for rows in wanted.values()]
    again = carried_out(session, f"{statement} resume").value
    assert isinstance(again, gt.Run)
    assert again.to_arrow().equals(run.to_arrow())
    assert "walk mode" in carried_out(session, f"explain {statement}").text
    assert len((tmp_path / "files" / "summary.csv").read_text().splitlines()) == 1 + len(wanted)
    with pytest.raises(gt.GraphtideError):
        session.collection("years").run(gt.algorithms.Triangles, grid=(5, 6))


@pytest.mark.interpreted
def test_cliques_of_a_size(session: Session) -> None:
    threes = carried_out(session, "run cliques(size=3) on years verify 10").table
    triangles = carried_out(session, "run triangles on years").table
    assert threes is not None
    assert triangles is not None
    assert threes["total"].to_pylist() == triangles["total"].to_pylist()
    assert max(threes["total"].to_pylist()) > 0


def test_a_collection_fed_as_a_grid(session: Session) -> None:
    years = session.collection("years")
    plain = years.run(gt.algorithms.SCC, name="plain")
    run = years.run(gt.algorithms.SCC, grid=(5, 6), verify=4)
    assert run.to_arrow().equals(plain.to_arrow())
    assert "grid of 5 x 6 views" in run.explain()
    again = years.run(gt.algorithms.SCC, grid=(5, 6), resume=True)
    assert again.to_arrow().equals(plain.to_arrow())
    with pytest.raises(gt.GraphtideError, match="cannot be resumed"):
        years.run(gt.algorithms.SCC, resume=True)


def test_a_dataflow_of_ones_own_and_resuming(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN_DATAFLOW.format(by="dst"))
    statement = f"run calls_to(least=2) from '{path}' on years"
    run = carried_out(session, statement).value
    assert isinstance(run, gt.Run)
    for view in run.views:
        counts = Counter(dst for _, dst, _ in edges(view))
        expected = [counts[at] if counts[at] >= 2 else 0 for at in range(3)]
        assert run.values(view).tolist() == expected
    again = carried_out(session, f"{statement} resume").value
    assert isinstance(again, gt.Run)
    assert again.finished
    path.write_text(OWN_DATAFLOW.format(by="src"))
    with pytest.raises(gt.GraphtideError, match="cannot be resumed"):
        session.execute(f"{statement} resume")
    error = refused(session, f"run calls_to(most=2) from '{path}' on years")
    assert "it has least" in (error.hint or "")


def test_views_that_begin_anew(session: Session) -> None:
    run = carried_out(session, "run bfs(source='ann') on years indices [2 11]").value
    assert isinstance(run, gt.Run)
    fresh = [row["view"] for row in run.record().to_pylist() if row["state"] == "fresh"]
    assert {"upto-2012", "upto-2021"} <= set(fresh)
    assert len(fresh) == 3
    excess = carried_out(session, "run bfs(source='ann') on years indices [2 30 99]")
    assert any("there is no view 30, 99" in note for note in excess.notes)
    assert isinstance(excess.value, gt.Run)
    assert [row["view"] for row in excess.value.record().to_pylist() if row["state"] == "fresh"][
        -1
    ] == "upto-2012"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("adaptive upto 5 comp_x 1.5 diff_x 1.0 limit 5 algo avg computation", "upto, comp_x"),
        ("adaptive 10 computation", "batch"),
        ("arranged_differential computation", "same as differential"),
        ("2_stage_differential computation", "no stages"),
        ("basic computation", "same as differential"),
        ("basic_individual computation", "same as scratch"),
        ("compare_differential computation", "verify 1"),
    ],
)
def test_words_without_a_meaning_are_answered(session: Session, words: str, said: str) -> None:
    answer = carried_out(session, f"run {words} wcc on collection years hosts 'a:1'")
    assert any(said in note for note in answer.notes)
    assert any("hosts" in note for note in answer.notes)


def test_results_in_a_folder(session: Session, tmp_path: Path) -> None:
    answer = carried_out(session, f"run wcc on years save results to '{tmp_path}/out';")
    assert "results.csv, summary.csv, record.csv" in answer.notes[0]
    with (tmp_path / "out" / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 90
    found = {(row["view"], row["id"]): row["component"] for row in rows}
    for view in session.collection("years").names:
        labels = naive.components(3, edges(view))["component"]
        assert [found[view, name] for name in IDS] == [IDS[at] for at in labels]
    carried_out(session, f"run wcc on years diffresults save results to '{tmp_path}/less';")
    names = sorted(path.name for path in (tmp_path / "less").iterdir())
    assert names == ["differences.csv", "record.csv", "summary.csv"]
    (tmp_path / "file").write_text("")
    with pytest.raises(gt.GraphtideError, match="cannot write"):
        session.execute(f"run wcc on years save results to '{tmp_path}/file';")


def test_no_results_keeps_none(session: Session) -> None:
    answer = carried_out(session, "run wcc on years noresults")
    assert answer.table is not None
    assert "seconds" in answer.table.column_names
    assert session.runs() == []
    for words in ("as other", "resume", "save results to 'x'"):
        assert "keeps nothing" in refused(session, f"run wcc on years noresults {words}").what


def test_no_results_writes_nothing(session: Session, data: Path) -> None:
    before = sorted(data.rglob("*"))
    answer = carried_out(session, "run wcc on years verify 1 noresults")
    run = session.collection("years").run(gt.algorithms.WCC, results=False, verify=1)
    assert sorted(data.rglob("*")) == before
    kept = session.collection("years").run(gt.algorithms.WCC)
    told = kept.record().drop_columns(["seconds"]).column_names
    assert answer.table is not None
    for record in (answer.table, run.record()):
        assert record.select(["view", "edges", "changed"]) == kept.record().select(
            ["view", "edges", "changed"]
        )
        assert record.drop_columns(["seconds"]).column_names == told
    assert "differences found" in run.explain()
    assert run.finished
    assert not run.kept
    assert run.picture(of="times").title.endswith("time per view")
    assert "microseconds" in run._repr_html_()
    for read in (run.summary, run.to_arrow, lambda: run.table(0), run.differences):
        with pytest.raises(gt.GraphtideError, match="were not kept"):
            read()


@pytest.mark.parametrize("more", [{"name": "other"}, {"resume": True}])
def test_what_is_not_kept_has_no_name(session: Session, more: dict[str, Any]) -> None:
    with pytest.raises(gt.GraphtideError, match="results=False keeps nothing"):
        session.collection("years").run(gt.algorithms.WCC, results=False, **more)


@pytest.mark.interpreted
def test_pairs_of_vertices(session: Session, tmp_path: Path) -> None:
    goals = "goals=[('ann', 'Zoë'), ('Zoë', 'ann'), ('ann', 'ann')]"
    answer = carried_out(session, f"run mpsp({goals}) on years save results to '{tmp_path}'")
    assert session.runs() == ["years-PairHops"]
    assert answer.table is not None
    rows = answer.table.to_pylist()
    assert [row["view"] for row in rows[:4]] == ["upto-2010"] * 3 + ["upto-2011"]
    for row in rows:
        hops = naive.bfs(3, edges(row["view"]), IDS.index(row["source"]))["hops"]
        assert row["distance"] == hops[IDS.index(row["target"])]
    assert (tmp_path / "results.csv").read_text().count("\n") == len(rows) + 1
    assert carried_out(session, f"run mpsp({goals}) on years noresults").table == answer.table
    assert len(session.runs()) == 1
    run = session.results("years-PairHops")
    assert run.history(("Zoë", "ann")).column("distance").to_pylist() == [
        row["distance"] for row in rows if (row["source"], row["target"]) == ("Zoë", "ann")
    ]
    with pytest.raises(gt.GraphtideError, match="not among"):
        run.history(("Zoë", "Zoë"))
    assert under_carets(refused(session, "run mpsp(goals=3) on years")) == "goals"
    assert under_carets(refused(session, "run pair_hops(pairs=['ann']) on years")) == "pairs"
    assert under_carets(refused(session, "run mpsp(gaols=[(1, 2)]) on years")) == "gaols"


@pytest.mark.interpreted
def test_programs_of_a_file(session: Session, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("START = 5\n")
    (tmp_path / "own.py").write_text(OWN)
    run = carried_out(session, f"run most_known from '{tmp_path}/own.py' on years").value
    assert isinstance(run, gt.Run)
    assert run.values("upto-2039").tolist() == [7, 7, 7]
    # What has been edited since is what runs.
    (tmp_path / "beside.py").unlink()
    (tmp_path / "own.py").write_text(OWN.replace("from beside import START", "START = 50"))
    statement = parse_statement(f"run MostKnown from '{tmp_path}/own.py' on years")
    assert isinstance(statement, s.Run)
    assert "50" in explain(chosen_computation(statement).program.program)


REACHED = """
Parameter (root: vertex)
Vertex (active, out_nbrs, hops: double = Infinity, best: Accm<double, MIN>)
Initialize (u):
  u.hops = u == root ? 0 : Infinity;
  u.active = u == root;
Traverse (u):
  For v in u.out_nbrs
    v.best.Accumulate(u.hops + 1);
Update (u):
  If (u.best < u.hops)
    u.hops = u.best;
    u.active = true;
"""


@pytest.mark.interpreted
def test_a_file_of_l_nga(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "reached-from.nga"
    file.write_text(REACHED)
    for what in (f"'{file}'(root='ann')", f"reached_from(root='ann') from '{file}'"):
        run = carried_out(session, f"run {what} on years").value
        usual = carried_out(session, "run bfs(source='ann') on years").value
        assert isinstance(run, gt.Run)
        assert isinstance(usual, gt.Run)
        for view in run.views:
            assert run.values(view).tolist() == usual.values(view).tolist()
    file.write_text(REACHED.replace("u.hops + 1", "u.hopes + 1"))
    error = refused(session, f"run '{file}'(root='ann') on years")
    assert "a vertex has no 'hopes'" in error.what
    assert f"{file}, line 9" in (error.where or "")
    file.write_text(unparse(gt.algorithms.Triangles.plan))
    told = carried_out(session, f"explain run '{file}' on years")
    assert f"{file} was read as L_NGA" in told.text
    walked = carried_out(session, f"run '{file}' on years").value
    assert isinstance(walked, gt.Run)
    assert walked.mode == "walk"


def test_a_file_of_several_programs_needs_a_name(session: Session, tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text("from graphtide.algorithms import BFS, WCC\n")
    error = refused(session, f"run '{tmp_path}/two.py' on years")
    assert "two.py has 2 programs" in error.what
    assert "run BFS from" in (error.hint or "")
    (tmp_path / "one.py").write_text("from graphtide.algorithms import WCC\n")
    assert carried_out(session, f"run '{tmp_path}/one.py' on years").value
    error = refused(session, f"run '{tmp_path}/one.py' from 'two.py' on years")
    assert "two files" in error.what


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("x = (", "not Python"),
        ("import nothing_like_it", "ModuleNotFoundError"),
        ("x = 1", "no program named 'own'"),
        ("class own: pass", "no program named 'own'"),
        (None, "cannot read"),
    ],
)
def test_files_that_cannot_be_used(
    session: Session, tmp_path: Path, content: str | None, what: str
) -> None:
    if content is not None:
        (tmp_path / "own.py").write_text(content)
    with pytest.raises(gt.GraphtideError, match=what) as caught:
        session.execute(f"run own from '{tmp_path}/own.py' on years")
    assert caught.value.where is not None
    with pytest.raises(gt.GraphtideError, match="compiled library"):
        session.execute("run own from 'lib.so' on years")


@pytest.mark.parametrize(
    ("text", "what", "pointed", "hint"),
    [
        ("run wc on years", "no computation named 'wc'", "wc", "`wcc`"),
        ("run pagernak on years", "no computation named", "pagernak", "page_rank"),
        ("run sccs on years", "no computation named", "sccs", "`scc`"),
        ("run pr(iteration=3) on years", "no parameter 'iteration'", "iteration", "iterations"),
        ("run wcc(x=1) on years", "no parameter 'x'", "x", "it has none"),
        ("run pr(iterations='x') on years", "cannot be 'x'", "iterations", "whole number"),
        ("run bfs on years", "needs a value for 'source'", "bfs", "the id of a vertex"),
        ("run bfs(source=1, root=2) on years", "given twice", "root", ""),
        ("run wcc on years verify 0", "verify cannot be 0", "0", "every view"),
    ],
)
def test_mistakes_are_pointed_at(
    session: Session, text: str, what: str, pointed: str, hint: str
) -> None:
    error = refused(session, text)
    assert what in error.what
    assert under_carets(error) == pointed
    assert hint in (error.hint or "")


def test_vertices_that_are_not_there(session: Session) -> None:
    with pytest.raises(gt.GraphtideError, match="not there: 'an'") as caught:
        session.execute("run bfs(root='an') on years")
    assert caught.value.where is not None
    assert "^^^^" in caught.value.where
    with pytest.raises(gt.GraphtideError, match="no collection named 'yeers'"):
        session.execute("run wcc on yeers")


def test_the_catalog_of_computations_and_runs(session: Session) -> None:
    listed = carried_out(session, "show computations").table
    assert listed is not None
    rows: dict[str, Any] = {row["computation"]: row for row in listed.to_pylist()}
    assert rows["page_rank"]["parameters"] == "damping=0.85, iterations=10"
    assert "sssp" in rows["shortest_paths"]["also"]
    assert set(rows) >= {"wcc", "bfs", "mpsp", "k_hops", "degree_statistics"}
    session.execute("run wcc on years as mine; run bfs(source='ann') on years;")
    shown = carried_out(session, "show runs").table
    assert shown is not None
    assert [row["run"] for row in shown.to_pylist()] == ["mine", "years-BFS"]
    assert shown.column("finished").to_pylist() == [30, 30]
    summary = carried_out(session, "show run mine").table
    assert summary is not None
    assert summary.num_rows == 30
    assert "deleted" in carried_out(session, "delete run mine").text
    assert session.runs() == ["years-BFS"]


def test_explained_before_it_runs(session: Session) -> None:
    text = session.explain("run bfs(source='ann') on years")
    assert "Run computation='bfs'" in text
    assert "fixpoint" in text
    assert session.runs() == []
    assert "PairHops" in session.explain("run mpsp(goals=[('ann', 'Zoë')]) on years")


def test_distances_are_those_of_the_oracle_by_name_of_vertex(session: Session) -> None:
    run = carried_out(session, "run bfs(source='ann') on years").value
    assert isinstance(run, gt.Run)
    history = run.history("Zoë").to_pydict()
    expected = [naive.bfs(3, edges(view), 0)["hops"][1] for view in history["view"]]
    assert history["hops"] == expected
    assert not any(map(math.isnan, expected))


def test_a_file_of_datalog(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "callers.dl"
    file.write_text("""
        .decl edge(caller: vertex, callee: vertex)
        .decl callers(callee: vertex, count: number)
        callers(v, n) :- edge(_, v), n = count : { edge(_, v) }.
        .output callers
    """)
    statement = f"run '{file}' on years"
    run = carried_out(session, f"{statement} verify 3").value
    assert isinstance(run, gt.Run)
    for view in run.views:
        pairs = {(src, dst) for src, dst, _ in edges(view)}
        counts = Counter(IDS[dst] for _, dst in pairs)
        found = run.matches(view, "callers").to_pylist()
        assert {item["callee"]: item["count"] for item in found} == counts
    again = carried_out(session, f"{statement} resume").value
    assert isinstance(again, gt.Run)
    assert again.finished
    assert "its rules follow differences" in carried_out(session, f"explain {statement}").text
