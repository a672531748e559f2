"""GVDL that is typed in the page: its mistakes with their places, and what it would do."""

from __future__ import annotations

import threading
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from graphtide.model.errors import InputError, LanguageError, LimitError
from graphtide.web import gvdl
from graphtide.web.shelf import Shelf
from tests.web.stored import big_session


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return Shelf(big_session(tmp_path_factory.mktemp("store")))


def checked(shelf: Shelf, text: str) -> list[tuple[str, str]]:
    """The characters that are marked, and what is wrong with them."""
    found = gvdl.check(shelf, {"text": text})["problems"]
    return [(text[item["from"] : item["to"]], item["what"]) for item in found]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " -- nothing yet\n",
        "show graphs",
        "create view collection c on Calls [a: year < 2012] [b: src.state = 'CA']",
        "create view v on Calls edges where year < 2012; create view w on v edges where year < 3",
        "use graph Calls; create view v edges where note = ';'",
        "load graph mine with edges from 'rows.csv'; create view w on mine edges where x = 3",
        "run wcc on years; run page_rank(iterations=3) on collection big as ranks verify 10",
        "explain run wcc on years",
        "create view collection c on Calls for y in 2000..2020 [upto-{y}: year <= y]",
        "create view collection c on Calls sliding windows over year width 3 step 1",
        "create view collection c on Calls without each vertex",
        "create live graph fed; create query q on live graph fed path from 'a' to 'b'",
    ],
)
def test_what_is_right_has_no_problems(shelf: Shelf, text: str) -> None:
    found = [what for _, what in checked(shelf, text)]
    assert [what for what in found if "outside the store" not in what] == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("crate view x", [("crate", "'crate' is not expected here")]),
        (
            "create view collection c on Calls [a: yaer < 2012] [b: note = 3] [d: year < 3]",
            [
                ("yaer", "edges have no property 'yaer'"),
                ("3", "note is string and does not compare with a number"),
            ],
        ),
        (
            "create view v on Callz edges where year < 3",
            [("Callz", "there is no graph or view named 'Callz'")],
        ),
        (
            "show run nix;\ndelete graph Callz;\nrefresh collection yeers",
            [
                ("nix", "there is no run 'nix'"),
                ("Callz", "there is no graph 'Callz'"),
                ("yeers", "there is no collection 'yeers'"),
            ],
        ),
        (
            "create view v on Calls edges where ;\nshow graphs;\ncreat",
            [(";", "';' is not expected here"), ("creat", "'creat' is not expected here")],
        ),
        (
            "run wccc on collection years; run wcc on collection nowhere",
            [
                ("wccc", "there is no computation named 'wccc'"),
                ("nowhere", "there is no collection 'nowhere'"),
            ],
        ),
        (
            "run page_rank(rounds=3, nix=4) on years",
            [("nix", "PageRank has no parameter 'nix'")],
        ),
        (
            "create view collection c on Calls for y in 2000..2002 [x-{y}: yeer < y]",
            [("yeer", "edges have no property 'yeer'")],
        ),
        (
            "create view collection c on Calls sliding windows over note width 3 step 1",
            [("note", "note is string; windows go over numbers, dates and timestamps")],
        ),
        (
            "create view collection c on Calls [a: year = 3] [a: year = 4]",
            [("a", "two views are called 'a'")],
        ),
        ("show live graph foo", [("foo", "there is no live graph 'foo'")]),
        (
            "run wcc from '/tmp/own.py' on collection years",
            [("/tmp/own.py", "the page takes no program from a file")],
        ),
        ("show graphs; 'open", [("'", "this string is not closed on its line")]),
    ],
)
def test_mistakes_have_their_places(shelf: Shelf, text: str, wanted: list[tuple[str, str]]) -> None:
    found = checked(shelf, text)
    assert [what for _, what in found] == [what for _, what in wanted]
    for (marked, _), (place, _) in zip(found, wanted, strict=True):
        assert place in marked


def test_places_are_those_of_the_whole_text(shelf: Shelf) -> None:
    text = "show graphs;\n-- ; here 'too\nshow view `<script>`;\n  delete graph \N{PILE OF POO};"
    for item in gvdl.check(shelf, {"text": text})["problems"]:
        line = text[: item["from"]].count("\n") + 1
        assert f"line {line}," in item["where"]
        assert 0 <= item["from"] < item["to"] <= len(text)


def test_200_views_are_checked_while_typing(shelf: Shelf) -> None:
    views = [
        f"[v{at}: year < {2000 + at} and src.state = 'CA' and note <> 'x']" for at in range(200)
    ]
    text = f"create view collection much on Calls {' '.join(views)}"
    assert checked(shelf, text) == []
    took = []
    for _ in range(5):
        began = process_time()
        checked(shelf, text)
        took.append(process_time() - began)
    assert min(took) < 0.2  # 0.03 on a machine that is not busy.
    (mistake,) = checked(shelf, text.replace("v150: year", "v150: yer"))
    assert mistake == ("yer", "edges have no property 'yer'")


def test_a_store_is_not_needed(shelf: Shelf) -> None:
    assert checked(Shelf(), "show run nix") == []
    assert checked(Shelf(), "shw") != []
    for body in ({}, {"text": 3}, {"text": "x" * (gvdl.MOST_CHARACTERS + 1)}):
        with pytest.raises(InputError):
            gvdl.check(shelf, body)


def test_an_explanation_has_the_size_of_the_plan_without_spark(shelf: Shelf) -> None:
    text = "create view collection c on Calls sliding windows over year width 3 step 1"
    told = gvdl.explain(shelf, {"text": text})
    assert told["size"]["views"] == 30
    assert told["size"]["differences"] == 114
    assert told["size"]["note"] is None
    assert "views (30)" in told["text"]
    assert "Spark has not been started" in told["text"]
    assert shelf.session is not None
    assert shelf.session._gateway is None
    assert "c" not in shelf.session.collections()
    told = gvdl.explain(shelf, {"text": "create view collection c on Calls without each vertex"})
    assert told["size"]["views"] == 3
    told = gvdl.explain(shelf, {"text": "show graphs; explain run wcc on years"})
    assert told["size"] is None
    assert "from scratch" in told["text"]


def test_a_large_graph_is_estimated_and_says_so(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    from graphtide.run.catalog import plan_sizes

    text = "create view collection c on Big for y in 2000..2059 [upto-{y}: year <= y]"
    exact = gvdl.explain(shelf, {"text": text})["size"]
    monkeypatch.setattr(plan_sizes, "SAMPLE", 400)
    about = gvdl.explain(shelf, {"text": text})["size"]
    assert exact["differences"] == 1000
    assert about["note"] == "estimated from 400 of 1,000 edges"
    assert about["views"] == exact["views"] == 60
    assert about["differences"] == pytest.approx(1000, rel=0.2)
    monkeypatch.setattr(plan_sizes, "IN_MEMORY", 100)
    with pytest.raises(LimitError, match="once Spark"):
        gvdl.explain(shelf, {"text": "create view collection c on Big without each vertex"})


def test_what_is_explained_reaches_no_file(shelf: Shelf, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(f"open({str(tmp_path / 'done')!r}, 'w').close()")
    with pytest.raises(LanguageError, match="takes no program from a file"):
        gvdl.explain(shelf, {"text": f"explain run wcc from '{own}' on collection years"})
    checked(shelf, f"run wcc from '{own}' on collection years")
    assert not (tmp_path / "done").exists()


def test_what_takes_too_long_is_given_up(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphtide.run.statements import execute

    go_on, ended = threading.Event(), threading.Event()

    def slow(*given: Any, **known: Any) -> str:
        assert go_on.wait(60)
        ended.set()
        return "late"

    monkeypatch.setattr(execute, "explain_statement", slow)
    monkeypatch.setattr(gvdl, "SECONDS", 0.05)
    with pytest.raises(LimitError, match="takes more than"):
        gvdl.explain(shelf, {"text": "show graphs"})
    with pytest.raises(LimitError, match="not done yet"):
        gvdl.explain(shelf, {"text": "show graphs"})
    go_on.set()
    assert ended.wait(60)
    monkeypatch.undo()
    assert "Show" in gvdl.explain(shelf, {"text": "show graphs"})["text"]


def test_a_closed_store_is_said_to_be_none() -> None:
    with pytest.raises(InputError, match="no store"):
        gvdl.explain(Shelf(), {"text": "show graphs"})
