"""What the page is answered, compared with what the public API says, read in another way."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import math
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphtide as gt
from graphtide.model.errors import GraphtideError, InputError, NotFoundError, StoreError
from graphtide.store.parts import PartsOnDisk
from graphtide.web.answers import Answers
from graphtide.web.json_values import table_page
from graphtide.web.shelf import Shelf

NAMES = ["<script>alert(1)</script>", "سلام", "🦊", "b", 'O\'Neil & "co"', "../../etc"]
ROWS = [
    {"src": NAMES[at % 6], "dst": NAMES[(at * at + 1) % 6], "year": at, "weight": at / 4}
    for at in range(12)
]


def ask(answers: Answers, path: str, **options: str) -> Any:
    """An answer that has gone through JSON as strictly as browsers read it."""
    return json.loads(json.dumps(answers.get(path, options), allow_nan=False))


def rows_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    names = [column["name"] for column in table["columns"]]
    values = [column["values"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def plain(value: Any) -> Any:
    """A value of pandas as the page has it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, int):
        return value if abs(value) <= 2**53 else str(value)
    return value if math.isfinite(value) else str(value)


def rows_in_pandas(table: Any) -> list[dict[str, Any]]:
    frame = table.to_pandas(integer_object_nulls=True)
    return [{name: plain(value) for name, value in row.items()} for row in frame.to_dict("records")]


@pytest.fixture
def session(tmp_path: Path) -> gt.Session:
    made = gt.session(tmp_path / "store")
    made.load("people", edges=ROWS)
    views = {f"upto {year}": f"year <= {year}" for year in (2, 5, 8, 11)}
    made.graph("people").collection("years", views)
    made.graph("people").view("late", "year > 6")
    made.collection("years").run(gt.algorithms.WCC, name="parts")
    made.collection("years").run(gt.algorithms.ShortestPaths(source="b"), name="ways")
    return made


@pytest.fixture
def answers(session: gt.Session) -> Answers:
    return Answers(Shelf(session))


def items_of(answers: Answers) -> dict[tuple[str, str], dict[str, Any]]:
    return {(item["kind"], item["name"]): item for item in ask(answers, "catalog")["items"]}


def test_the_catalog_lists_all_with_what_it_was_made_from(
    session: gt.Session, answers: Answers
) -> None:
    items = items_of(answers)
    assert [*items] == [
        ("graph", "people"),
        ("view", "late"),
        ("collection", "years"),
        ("run", "parts"),
        ("run", "ways"),
    ]
    assert {item["state"] for item in items.values()} == {"ok"}
    assert items["run", "parts"]["made_from"] == {"kind": "collection", "name": "years"}
    assert items["collection", "years"]["made_from"] == {"kind": "graph", "name": "people"}
    facts = items["graph", "people"]["facts"]
    assert (facts["vertices"], facts["edges"]) == (6, 12)
    assert facts["bytes"] > 0
    assert items["collection", "years"]["facts"]["differences"] == 12
    assert items["run", "ways"]["facts"]["finished"] == 4


def test_the_catalog_says_what_is_stale(session: gt.Session, answers: Answers) -> None:
    assert items_of(answers)["collection", "years"]["state"] == "ok"
    session.graph("people").append(edges=[{"src": "b", "dst": "🦊", "year": 1, "weight": 1.0}])
    items = items_of(answers)
    assert items["collection", "years"]["state"] == items["view", "late"]["state"] == "stale"
    assert items["graph", "people"]["facts"]["edges"] == 13
    assert ask(answers, "collection/years")["stale"] == 1
    session.collection("years").refresh()
    items = items_of(answers)
    assert items["collection", "years"]["state"] == "ok"
    assert items["run", "parts"]["state"] == "stale"
    assert "made anew" in items["run", "parts"]["note"]


def test_what_is_damaged_is_listed_and_breaks_nothing(
    session: gt.Session, answers: Answers, tmp_path: Path
) -> None:
    ask(answers, "run/parts/table", view="upto 5")
    [steps] = (tmp_path / "store" / "runs" / "parts").glob("g-*/steps.parquet")
    steps.unlink()
    [views] = (tmp_path / "store" / "collections" / "late").glob("g-*/views.parquet")
    views.write_bytes(views.read_bytes()[:-7])
    items = items_of(Answers(Shelf(session)))
    assert items["run", "parts"]["state"] == "damaged"
    assert "steps.parquet" in items["run", "parts"]["note"]
    assert items["collection", "late"]["state"] == "damaged"
    assert items["run", "ways"]["state"] == items["graph", "people"]["state"] == "ok"
    assert items_of(answers)["run", "parts"]["state"] == "damaged"
    with pytest.raises(StoreError):
        ask(answers, "run/parts")


def test_runs_outlive_their_collection_and_not_their_graph(
    session: gt.Session, answers: Answers
) -> None:
    before = ask(answers, "run/ways/table", view="upto 5", sort="dist")
    session.delete_collection("years")
    items = items_of(answers)
    assert "is gone" in items["run", "ways"]["note"]
    assert ask(answers, "run/ways")["drawable"] is False
    assert ask(answers, "run/ways/table", view="upto 5", sort="dist") == before
    session.delete_graph("people")
    assert items_of(answers)["run", "ways"]["state"] == "stale"
    with pytest.raises(StoreError, match="is gone"):
        ask(answers, "run/ways/table", view="upto 5")


def test_a_run_that_is_left_off_and_one_that_goes_on(
    session: gt.Session, answers: Answers, tmp_path: Path
) -> None:
    stop_after(session, 2)
    item = items_of(answers)["run", "half"]
    assert item["state"] == "left off"
    facts = ask(answers, "run/half")
    done = len(session.results("half"))
    assert (facts["finished"], facts["done"], facts["resumable"]) == (False, done, True)
    assert 0 < done < 4
    lock = tmp_path / "store" / "runs" / "half" / "LOCK"
    with lock.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("process 1 on somewhere")
        file.flush()
        assert items_of(answers)["run", "half"]["state"] == "going on"
        assert ask(answers, "run/half")["resumable"] is False
    assert items_of(answers)["run", "half"]["state"] == "left off"
    session.collection("years").run(gt.algorithms.WCC, name="half", resume=True)
    assert ask(answers, "run/half")["done"] == 4
    table = ask(answers, "run/half/table", view="upto 11")
    assert rows_of(table) == rows_in_pandas(session.results("half").table("upto 11"))


def stop_after(session: gt.Session, parts: int) -> None:
    """A run that ends early, with so many parts of a step each on disk."""

    def full(self: Any, part: Any) -> None:
        if len(self) == parts:
            raise GraphtideError("no room")
        append(self, part)

    append = PartsOnDisk.append
    years = session.collection("years")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphtide.run.collection.runner._MOST_ROWS", 0)
        patch.setattr(PartsOnDisk, "append", full)
        with pytest.raises(GraphtideError, match="no room"):
            years.run(gt.algorithms.WCC, name="half", workers=1)


@pytest.mark.parametrize("name", ["parts", "ways"])
def test_tables_of_a_run_are_those_of_the_api(
    session: gt.Session, answers: Answers, name: str
) -> None:
    run, path = session.results(name), f"run/{name}"
    for view in run.views:
        assert rows_of(ask(answers, f"{path}/table", view=view)) == rows_in_pandas(run.table(view))
        for other in run.views:
            asked = ask(answers, f"{path}/changes", view=view, against=other)
            assert rows_of(asked) == rows_in_pandas(run.changes(other, view))
        losses = ask(answers, f"{path}/losses", against=view)
        assert rows_of(losses) == rows_in_pandas(run.losses(view))
    for vertex in NAMES:
        asked = ask(answers, f"{path}/history", vertex=vertex)
        assert rows_of(asked) == rows_in_pandas(run.history(vertex))
    assert rows_of(ask(answers, f"{path}/summary")) == rows_in_pandas(run.summary())
    assert rows_of(ask(answers, f"{path}/record")) == rows_in_pandas(run.record())
    assert rows_of(ask(answers, f"{path}/workers")) == rows_in_pandas(run.workers())


def test_components_and_leaders(session: gt.Session, answers: Answers) -> None:
    parts, ways = session.results("parts"), session.results("ways")
    asked = ask(answers, "run/parts/components", view="upto 5")
    assert rows_of(asked) == rows_in_pandas(parts.components("upto 5"))
    leaders = ask(answers, "run/ways/top", count="2")
    assert rows_of(leaders) == rows_in_pandas(ways.top(2))
    assert leaders["rows"] == 8
    with pytest.raises(InputError, match="no order"):
        ask(answers, "run/parts/top")


def test_the_facts_of_a_run(session: gt.Session, answers: Answers) -> None:
    facts = ask(answers, "run/parts")
    assert facts["views"] == session.results("parts").views
    assert facts["fields"] == facts["naming"] == ["component"]
    assert (facts["finished"], facts["done"], facts["resumable"]) == (True, 4, False)
    assert facts["drawable"] is True
    assert facts["kept"] is True
    assert ask(answers, "run/ways")["naming"] == []


def test_a_collection_and_its_plan(session: gt.Session, answers: Answers) -> None:
    held, facts = session.collection("years"), ask(answers, "collection/years")
    assert facts["views"]["names"] == held.names
    assert facts["views"]["sizes"] == [len(view.edge_ids) for view in held]
    assert facts["statement"] == held.statement
    assert facts["runs"] == ["parts", "ways"]
    assert facts["totals"]["given"] == held.plan.totals.given
    plan = ask(answers, "collection/years/plan")
    for at, step in enumerate(held.steps()):
        assert (plan["view"][at], plan["stone"][at]) == (step.view, step.stone)
        assert plan["parent"][at] == step.parent
        assert plan["inserted"][at] == len(step.delta.inserted)
        assert plan["deleted"][at] == len(step.delta.deleted)
    assert plan["edges"] == [len(held[view].edge_ids) for view in plan["view"]]


@pytest.mark.parametrize("order", ["given", "planned"])
def test_similarity_is_the_share_of_common_edges(
    session: gt.Session, answers: Answers, order: str
) -> None:
    views = {"all": "year >= 0", "none": "year < 0", "low": "year < 7", "high": "year > 3"}
    held = session.graph("people").collection("alike", views)
    asked = ask(answers, "collection/alike/similarity", order=order)
    edges = {name: set(held[name].edge_ids.tolist()) for name in held.names}
    cells = base64.b64decode(asked["cells"])
    assert sorted(asked["names"]) == sorted(views)
    assert order == "planned" or asked["names"] == held.names
    for row, one in enumerate(asked["names"]):
        for column, other in enumerate(asked["names"]):
            either = edges[one] | edges[other]
            share = len(edges[one] & edges[other]) / len(either) if either else 1.0
            assert abs(cells[row * asked["size"] + column] - 255 * share) <= 0.5


def test_a_stored_graph_and_its_tables(session: gt.Session, answers: Answers) -> None:
    held, facts = session.graph("people"), ask(answers, "graph/people")
    assert (facts["vertices"], facts["edges"], facts["directed"]) == (6, 12, True)
    assert facts["collections"] == ["late", "years"]
    assert rows_of(facts["head"]) == rows_in_pandas(held.head(20))
    assert {row["property"]: row["type"] for row in rows_of(facts["schema"])}["year"] == "int"
    assert rows_of(ask(answers, "graph/people/edges")) == rows_in_pandas(held.edges())
    some = ask(answers, "graph/people/edges", start="3", count="4")
    assert rows_of(some) == rows_in_pandas(held.edges())[3:7]
    assert (some["rows"], some["start"]) == (12, 3)
    found = ask(answers, "graph/people/vertices", search="<SCRIPT")
    assert rows_of(found) == [{"id": NAMES[0]}]


def graph_of_numbers() -> gt.Graph:
    wide = 2**53 + 1
    return gt.Graph(
        [1, 2, wide, -4, 5], [2, wide, -4, 5, 1], year=[1, 2, 3, 4, 5], weight=[0.5, 1, 2, 4, 8.0]
    )


def test_things_in_memory_have_names_of_their_own() -> None:
    graph = graph_of_numbers()
    one = graph.collection("years", "for y in 1..5 [y{y}: year <= y]")
    other = graph.collection("years", "for y in 1..3 [y{y}: year <= y]")
    shelf = Shelf()
    assert shelf.put(one) == ["collection", "years"]
    assert shelf.put(other) == ["collection", "years-2"]
    assert shelf.put(one) == ["collection", "years"]
    assert shelf.put(graph) == ["live", "graph"]
    run = one.run(gt.algorithms.WCC)
    assert shelf.put(run, "a run") == ["run", "a run"]
    answers = Answers(shelf)
    items = items_of(answers)
    assert items["collection", "years-2"]["facts"]["views"] == 3
    assert items["run", "a run"]["made_from"] == {"kind": "collection", "name": "years"}
    assert ask(answers, "collection/years")["runs"] == ["a run"]
    assert ask(answers, "catalog")["store"] is False
    assert ask(answers, "run/a%20run")["drawable"] is True
    with pytest.raises(InputError, match="nothing that the page shows"):
        shelf.put(17)  # type: ignore[arg-type]


def test_infinities_and_wide_numbers_are_texts() -> None:
    run = (
        graph_of_numbers()
        .collection("y", "for y in 1..5 [y{y}: year <= y]")
        .run(gt.algorithms.ShortestPaths(source=1))
    )
    shelf = Shelf()
    [_, name] = shelf.put(run)
    answers = Answers(shelf)
    rows = rows_of(ask(answers, f"run/{name}/table", view="y2"))
    assert rows == rows_in_pandas(run.table("y2"))
    assert {"id": str(2**53 + 1), "dist": 1.5} in rows
    assert {"id": -4, "dist": "inf"} in rows
    rows = rows_of(ask(answers, f"run/{name}/history", vertex=str(2**53 + 1)))
    assert [row["dist"] for row in rows] == ["inf", 1.5, 1.5, 1.5, 1.5]
    shown = rows_of(ask(answers, f"run/{name}/table", view="y2", sort="dist", down="1"))
    assert [row["dist"] for row in shown] == ["inf", "inf", 1.5, 0.5, 0.0]


def test_pairs_are_named_by_both_ends(session: gt.Session, answers: Answers) -> None:
    program = gt.algorithms.PairDistances(pairs=[("b", "🦊"), ("سلام", "b")])
    run = session.collection("years").run(program, name="pairs")
    assert ask(answers, "run/pairs")["of_pairs"] is True
    asked = ask(answers, "run/pairs/table", view="upto 11")
    assert rows_of(asked) == rows_in_pandas(run.table("upto 11"))
    asked = ask(answers, "run/pairs/history", vertex="b", to="🦊")
    assert rows_of(asked) == rows_in_pandas(run.history(("b", "🦊")))
    with pytest.raises(InputError, match="pairs of vertices"):
        ask(answers, "run/pairs/history", vertex="b")
    with pytest.raises(InputError, match="single vertices"):
        ask(answers, "run/ways/history", vertex="b", to="🦊")


def test_a_run_without_results_has_its_record(session: gt.Session) -> None:
    run = session.collection("years").run(gt.algorithms.WCC, results=False)
    shelf = Shelf(session)
    [_, name] = shelf.put(run)
    answers = Answers(shelf)
    assert ask(answers, f"run/{name}")["kept"] is False
    assert rows_of(ask(answers, f"run/{name}/record")) == rows_in_pandas(run.record())
    for path, options in (("table", {"view": "upto 5"}), ("summary", {})):
        with pytest.raises(InputError, match="were not kept"):
            ask(answers, f"run/{name}/{path}", **options)


def test_two_runs_beside_each_other(session: gt.Session, answers: Answers) -> None:
    names = {"run": "ways", "view": "upto 2", "other": "ways", "other_view": "upto 11"}
    asked = rows_of(ask(answers, "compare", **names))
    held = session.results("ways")
    one, other = (rows_in_pandas(held.table(names[view])) for view in ("view", "other_view"))
    expected = [{**row, "other_dist": twin["dist"]} for row, twin in zip(one, other, strict=True)]
    assert asked == expected
    differing = rows_of(ask(answers, "compare", **names, differs="1"))
    assert differing == [row for row in expected if row["dist"] != row["other_dist"]]
    assert 0 < len(differing) < len(expected)


def test_runs_of_different_graphs_are_compared_by_id(session: gt.Session) -> None:
    graph = gt.Graph(["b", "zoe"], ["🦊", "b"], year=[1, 2])
    other = graph.collection("mine", {"all": "year > 0"}).run(gt.algorithms.WCC)
    shelf = Shelf(session)
    [_, name] = shelf.put(other)
    names = {"run": "parts", "view": "upto 5", "other": name, "other_view": "all"}
    rows = rows_of(ask(Answers(shelf), "compare", **names))
    mine = {row["id"]: row["component"] for row in rows_in_pandas(other.table("all"))}
    theirs = rows_in_pandas(session.results("parts").table("upto 5"))
    theirs_by_id = {row["id"]: row["component"] for row in theirs}
    assert [row["id"] for row in rows] == [*theirs_by_id, "zoe"]
    for row in rows:
        assert row["component"] == theirs_by_id.get(row["id"])
        assert row["other_component"] == mine.get(row["id"])


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("graph/nobody", {}, "no graph named 'nobody'"),
        ("collection/yeers", {}, "no collection named 'yeers'"),
        ("run/nobody", {}, "no run named 'nobody'"),
        ("run/parts/table", {"view": "upto 3"}, "no view 'upto 3'"),
        ("run/parts/table", {}, "not said which view"),
        ("run/parts/table", {"view": "upto 5", "sort": "x"}, "no column 'x'"),
        ("run/parts/table", {"view": "upto 5", "count": "-1"}, "count cannot be '-1'"),
        ("run/parts/history", {"vertex": "<img>"}, "no vertex '<img>'"),
        ("run/ways/matches", {"view": "upto 5"}, "has no matches"),
        ("collection/years/similarity", {"order": "up"}, "no order 'up'"),
        ("graph/..%2F..%2Fetc", {}, "cannot be the name of a graph"),
        ("graph/people/../people", {}, "knows no"),
    ],
)
def test_what_is_not_there_is_said_with_a_hint(
    answers: Answers, path: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(GraphtideError, match=message) as caught:
        ask(answers, path, **options)
    assert caught.value.hint


def test_a_graph_that_is_no_live_graph_is_not_opened_as_one(session: gt.Session) -> None:
    with pytest.raises(NotFoundError, match="no live graph"):
        Shelf(session).live("people")
    assert session.graph("people").num_edges == 12


def test_without_a_store_unknown_names_are_said_too() -> None:
    with pytest.raises(NotFoundError, match="no run 'nobody'"):
        ask(Answers(Shelf()), "run/nobody")


def test_digits_shorten_what_is_not_whole(session: gt.Session, answers: Answers) -> None:
    exact = ask(answers, "run/parts/record")
    short = ask(answers, "run/parts/record", digits="3")
    for one, other in zip(exact["columns"], short["columns"], strict=True):
        for value, rounded in zip(one["values"], other["values"], strict=True):
            whole = not isinstance(value, float)
            assert rounded == (value if whole else float(f"{value:.3g}"))


def test_several_threads_read_a_run_at_once(session: gt.Session, answers: Answers) -> None:
    run, wrong = session.results("ways"), []
    expected = {view: rows_in_pandas(run.table(view)) for view in run.views}

    def look(first: int) -> None:
        for at in range(40):
            view = run.views[(first + at * 3) % 4]
            if rows_of(ask(answers, "run/ways/table", view=view)) != expected[view]:
                wrong.append(view)
            ask(answers, "run/ways/summary")

    threads = [threading.Thread(target=look, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


CELLS = {
    "number": st.one_of(st.none(), st.integers(-(2**62), 2**62)),
    "share": st.one_of(st.none(), st.floats(width=32)),
    "name": st.one_of(st.none(), st.text(max_size=4), st.sampled_from(NAMES)),
}


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(*CELLS.values()), max_size=120),
    sort=st.sampled_from([None, *CELLS]),
    down=st.booleans(),
    search=st.sampled_from(["", "1", "a", "سل", "<"]),
    start=st.integers(0, 130),
    count=st.integers(0, 5),
)
def test_pages_are_those_of_a_plain_sort_and_search(
    rows: list[tuple[Any, ...]], sort: str | None, down: bool, search: str, start: int, count: int
) -> None:
    table = pa.table(
        {
            "number": pa.array([row[0] for row in rows], pa.int64()),
            "share": pa.array([row[1] for row in rows], pa.float64()),
            "name": pa.array([row[2] for row in rows], pa.string()),
        }
    )
    options = {"search": search, "start": str(start), "count": str(count)}
    if sort is not None:
        options |= {"sort": sort, "down": "1" if down else "0"}
    page = table_page(table, options)

    texts = {name: pc.cast(table.column(name), pa.string()).to_pylist() for name in CELLS}
    found = [
        at
        for at in range(len(rows))
        if not search or any(search in (texts[name][at] or "").lower() for name in CELLS)
    ]
    if sort is not None:
        place = [*CELLS].index(sort)
        values = {at: rows[at][place] for at in found}
        usual = [at for at in found if values[at] is not None and values[at] == values[at]]
        # Texts are in the order of their bytes. A sort that is stable both ways keeps ties.
        usual.sort(key=lambda at: _sort_key(values[at]), reverse=down)
        if down:
            usual = _ties_in_order(usual, values)
        no_numbers = [at for at in found if values[at] is not None and values[at] != values[at]]
        found = usual + no_numbers + [at for at in found if values[at] is None]
    assert page["rows"] == len(found)
    shown = found[start : start + count]
    assert page["start"] == min(start, len(found))
    expected = [[plain(rows[at][place]) for at in shown] for place in range(3)]
    assert [column["values"] for column in page["columns"]] == expected


def _sort_key(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def _ties_in_order(places: list[int], values: dict[int, Any]) -> list[int]:
    ordered: list[int] = []
    for _, tied in itertools.groupby(places, lambda at: values[at]):
        ordered += sorted(tied)
    return ordered
