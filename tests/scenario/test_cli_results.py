"""`graphtide run` of computations and `graphtide results`: tables, files, pictures, interrupts."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.optimize.strategy import AlwaysDifferential, Move
from graphtide.run.statements import run_statement
from tests.scenario.commands import graphtide, objects


@pytest.fixture
def run(data: Path) -> Path:
    """A catalog with the runs years-WCC and hops."""
    text = "run wcc on years; run bfs(source='ann') on years as hops"
    assert graphtide("run", "-e", text, "--data", data).exit_code == 0
    return data


def rows(*words: object) -> list[dict[str, Any]]:
    (answer,) = objects(graphtide(*words, "--json"))
    found: list[dict[str, Any]] = answer["table"]
    return found


def test_a_run_prints_its_summary(data: Path) -> None:
    result = graphtide("run", "-e", "run wcc on years", "--data", data)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("run 'years-WCC': WCC() on 'years'")
    header = next(at for at, line in enumerate(lines) if line.startswith("view"))
    assert lines[header].split() == ["view", "edges", "components", "largest", "single"]
    assert lines[header + 1].split() == ["upto-2010", "2", "2", "2", "1"]
    assert lines[-1] == "... and 10 more rows"


def test_runs_are_listed(run: Path, tmp_path: Path) -> None:
    listed = rows("results", "--data", run)
    assert [row["run"] for row in listed] == ["hops", "years-WCC"]
    assert listed[0]["program"] == "BFS(source='ann')"
    empty = graphtide("results", "--data", tmp_path / "none")
    assert "no runs in" in empty.stdout
    assert graphtide("show", "runs", "--data", run).stdout.startswith("2 runs")


def test_a_pair_in_every_view(run: Path) -> None:
    text = "run pair_hops(pairs=[('ann', 'Zoë'), ('Zoë', 'ann')]) on years as pairs"
    assert graphtide("run", "-e", text, "--data", run).exit_code == 0
    found = rows("results", "pairs", "--vertex", "Zoë", "--to", "ann", "--data", run)
    expected = gt.session(run).results("pairs").history(("Zoë", "ann"))
    assert [row["view"] for row in found] == expected.column("view").to_pylist()
    values = expected.column(1).to_pylist()
    assert [float(row[expected.column_names[1]]) for row in found] == values


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("hops", "--vertex", "An"), "did you mean 'ann'?"),
        (("hops", "--vertex", "Heathrow"), "ids are such as 'ann', 'Zoë'"),
        (("hops", "--vertex", "ann", "--to", "Zoë"), "leave out --to"),
        (("pairs", "--vertex", "ann"), "--vertex SOURCE --to TARGET"),
        (("pairs", "--vertex", "ann", "--to", "ann"), "not among those of the program"),
    ],
)
def test_vertices_that_are_not_there(run: Path, words: tuple[str, ...], told: str) -> None:
    text = "run pair_hops(pairs=[('ann', 'Zoë')]) on years as pairs"
    assert graphtide("run", "-e", text, "--data", run).exit_code == 0
    result = graphtide("results", *words, "--data", run)
    assert result.exit_code == 1
    assert told in result.stderr
    assert "graph.vertices" not in result.stderr


def test_part_of_the_vertices_and_losses(run: Path) -> None:
    session = gt.session(run)
    wcc = session.results("years-WCC")
    narrowed = rows("results", "years-WCC", "--touched", "--data", run)
    assert narrowed == wcc.summary(vertices="touched").to_pylist()
    assert (narrowed[0]["vertices"], narrowed[0]["single"]) == (2, 0)
    everyone = rows("results", "years-WCC", "--all-vertices", "--data", run)
    assert everyone == wcc.summary(vertices="all").to_pylist() == wcc.summary().to_pylist()
    lost = rows("results", "years-WCC", "--losses", "upto-2039", "--data", run)
    assert lost == wcc.losses("upto-2039").to_pylist()
    assert lost[0] == {
        "view": "upto-2010",
        "edges_lost": 58,
        "cut_off": 1,
        "components_more": 1,
    }
    for words in (("--losses", "upto-2039", "--touched"), ("--top", "3", "--label", "Person")):
        assert graphtide("results", "years-WCC", *words, "--data", run).exit_code == 2


def test_touched_vertices_need_the_collection(run: Path) -> None:
    session = gt.session(run)
    session.delete_collection("years")
    wcc = session.results("years-WCC")
    assert len(wcc.summary()) == 30
    with pytest.raises(gt.GraphtideError, match="'years' behind the run 'years-WCC' is gone"):
        wcc.summary(vertices="touched")


def test_every_table_of_a_run(run: Path) -> None:
    session = gt.session(run)
    hops, wcc = session.results("hops"), session.results("years-WCC")
    tables = {
        (): hops.summary(),
        ("--view", "upto-2011"): hops.table("upto-2011"),
        ("--changes", "upto-2010", "upto-2012"): hops.changes("upto-2010", "upto-2012"),
        ("--vertex", "Zoë"): hops.history("Zoë"),
        ("--top", "2"): hops.top(2),
        ("--values",): hops.to_arrow(),
    }
    for words, table in tables.items():
        found = rows("results", "hops", *words, "--data", run)
        assert len(found) == table.num_rows
        assert [str(row) for row in found] == [
            str(row).replace("inf", "'inf'") for row in table.to_pylist()
        ]
    found = rows("results", "years-WCC", "--components", "upto-2010", "--data", run)
    assert found == wcc.components("upto-2010").to_pylist()
    record = rows("results", "hops", "--record", "--data", run)
    assert [row["view"] for row in record] == [f"upto-{year}" for year in range(2010, 2040)]


def test_as_many_rows_as_wanted(run: Path) -> None:
    for words, count in ((["--rows", "3"], 3), ([], 20), (["--all"], 90)):
        result = graphtide("results", "hops", "--values", *words, "--data", run)
        lines = result.stdout.splitlines()
        assert sum(line.startswith("upto-") for line in lines) == count
        assert (f"the first {count} of 90 rows" in result.stdout) == (count < 90)


def test_tables_as_files(run: Path, tmp_path: Path) -> None:
    csv_file, parquet = tmp_path / "t.csv", tmp_path / "t.parquet"
    result = graphtide(
        "results", "hops", "--values", "--csv", csv_file, "--parquet", parquet, "--data", run
    )
    assert result.stdout.count("90 rows written to") == 2
    assert pq.read_table(parquet).equals(gt.session(run).results("hops").to_arrow())
    with csv_file.open(newline="", encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == 91
    graphtide("results", "hops", "--vertex", "ann", "--csv", csv_file, "--data", run)
    assert csv_file.read_text(encoding="utf-8").splitlines()[0] == '"view","hops"'
    failed = graphtide("results", "hops", "--csv", tmp_path / "no" / "t.csv", "--data", run)
    assert (failed.exit_code, "no folder" in failed.stderr) == (1, True)


def test_pictures_as_files(run: Path, tmp_path: Path) -> None:
    for words in (["hops"], ["years-WCC", "--record"], ["hops", "--top", "2"]):
        path = tmp_path / f"{'-'.join(words)}.svg"
        result = graphtide("results", *words, "--picture", path, "--data", run)
        assert (result.exit_code, "drawn to" in result.stdout) == (0, True)
        assert path.read_text(encoding="utf-8").startswith("<?xml")
    graphtide("run", "-e", "run scratch wcc on years as slow", "--data", run)
    beside = ["--record", "--reference", "slow", "--picture", tmp_path / "b.png"]
    assert graphtide("results", "years-WCC", *beside, "--data", run).exit_code == 0
    view = ["--view", "upto-2010"]
    for words in (["results", "hops", *view], ["show", "years", *view]):
        drawn = graphtide(*words, "--picture", tmp_path / "v.png", "--data", run)
        assert "upto-2010: drawn to" in " ".join(drawn.stdout.split())
        assert (tmp_path / "v.png").read_bytes().startswith(b"\x89PNG")
        (tmp_path / "v.png").unlink()
    shown = graphtide("show", "years", "--picture", tmp_path / "c.png", "--data", run)
    assert shown.exit_code == 0
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    wrong = graphtide("results", "hops", "--picture", tmp_path / "d.gif", "--data", run)
    assert (wrong.exit_code, "no PNG, SVG or PDF" in wrong.stderr) == (1, True)


@pytest.mark.parametrize(
    "words",
    [
        ["--view", "upto-2010"],
        ["hops", "--view", "a", "--record"],
        ["hops", "--label", "x", "--top", "3"],
        ["hops", "--touched", "--picture", "a.png"],
        ["hops", "--touched", "--all-vertices"],
        ["hops", "--all-vertices", "--top", "3"],
        ["hops", "--view", "upto-2010", "--picture", "a.png", "--bars"],
        ["hops", "--vertex", "1", "--picture", "a.png"],
        ["hops", "--reference", "years-WCC"],
        ["hops", "--field", "hops"],
        ["hops", "--top", "0"],
    ],
)
def test_wrong_usage(run: Path, words: list[str]) -> None:
    assert graphtide("results", *words, "--data", run).exit_code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["hosp"], "did you mean 'hops'?"),
        (["hops", "--view", "upto-201"], "did you mean"),
        (["hops", "--vertex", "nobody"], "no vertex 'nobody'"),
        (["hops", "--vertex", "ann", "--label", "x"], "leave out --label"),
        (["hops", "--components", "upto-2010"], "does not compute components"),
    ],
)
def test_mistakes_say_what_to_do(run: Path, words: list[str], said: str) -> None:
    result = graphtide("results", *words, "--data", run)
    assert result.exit_code == 1
    assert said in result.stderr


def test_runs_are_deleted(run: Path) -> None:
    asked = graphtide("delete", "run", "hops", "--data", run)
    assert asked.exit_code == 1
    assert "30 of 30 views" in asked.stderr
    assert graphtide("delete", "run", "hops", "--yes", "--data", run).exit_code == 0
    assert gt.session(run).runs() == ["years-WCC"]


class Interrupted(AlwaysDifferential):
    """Somebody presses Ctrl-C when step 12 is about to begin."""

    def choose(self, step: int, ready: bool) -> Move:
        if step == 12:
            raise KeyboardInterrupt
        return super().choose(step, ready)


def interrupt(*arguments: object) -> Interrupted:
    return Interrupted()


def test_an_interrupt_keeps_what_is_finished_and_says_how_to_go_on(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(run_statement, "forced_splits", interrupt)
        result = graphtide("run", "-e", "run bfs(source='ann') on years as hops", "--data", data)
    assert result.exit_code == 130
    assert "interrupted" in result.stderr
    assert "the run 'hops' keeps 12 of 30 views" in result.stderr
    session = gt.session(data)
    kept = session.results("hops").to_arrow()
    assert kept.num_rows == 36
    shown = graphtide("results", "hops", "--data", data)
    assert "12 of 30 views can be read" in shown.stdout
    unread = graphtide("results", "hops", "--view", "upto-2039", "--data", data)
    assert "not finished" in unread.stderr
    again = re.search(r"to go on: (.+);", result.stderr)
    assert again is not None
    assert graphtide("run", "-e", again.group(1), "--data", data).exit_code == 0
    whole = session.results("hops")
    assert whole.finished
    straight = session.execute("run bfs(source='ann') on years as straight")[0].value
    assert isinstance(straight, gt.Run)
    assert whole.to_arrow() == straight.to_arrow()
    assert whole.to_arrow().slice(0, 36) == kept


def test_an_interrupt_in_json(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_statement, "forced_splits", interrupt)
    result = graphtide("run", "-e", "run wcc on years", "--data", data, "--json")
    assert result.exit_code == 130
    (found,) = objects(result)
    assert "12 of 30 views" in found["error"]["hint"]
    nothing = graphtide("run", "-e", "run wcc on years noresults", "--data", data, "--json")
    assert "no results are kept" in objects(nothing)[0]["error"]["hint"]
    assert gt.session(data).runs() == ["years-WCC"]
