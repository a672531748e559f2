"""Saved files: what is in them and how large they are, and the page that they are, from disk."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from graphtide.model.errors import InputError
from graphtide.web.saved import asked_path, first_rows, module_names, one_file, save_html
from tests.web import things
from tests.web.browser import Browser, Page
from tests.web.conftest import SCREENSHOTS

RUN = "years-PageRank"


@pytest.fixture(scope="module")
def ranks() -> Any:
    return things.ranks()


@pytest.fixture(scope="module")
def saved(ranks: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_html(ranks, tmp_path_factory.mktemp("saved") / "run.html")


def answers_of(path: Path) -> dict[str, Any]:
    """What a file holds, by path."""
    found = re.search(
        r'<script type="application/json" id="answers">(.*?)</script>', path.read_text(), re.S
    )
    assert found
    answers: dict[str, Any] = json.loads(found[1])
    return answers


def test_it_holds_what_the_page_asks_for(saved: Path) -> None:
    held = answers_of(saved)
    for wanted in ("catalog", f"run/{RUN}", f"run/{RUN}/summary", f"run/{RUN}/record"):
        assert wanted in held
    for view in things.VIEWS:
        table = held[asked_path("run", RUN, "table", view=view)]
        assert table["rows"] == len(table["columns"][0]["values"])
    assert not held["catalog"]["store"]


def test_names_never_become_markup(saved: Path) -> None:
    text = saved.read_text()
    assert things.EVIL not in text
    assert things.IMAGE not in text
    assert text.count("</script>") == 3  # modules by name, answers, and what begins


def test_it_is_bounded(ranks: Any, tmp_path: Path) -> None:
    page = len(one_file(start=["run", RUN], answers={}))
    for most in (0.03, 0.1):
        path = save_html(ranks, tmp_path / "small.html", most=most)
        assert path.stat().st_size < page + most * 1.1 * 2**20 + 10_000
    assert "Left out for its size" in path.read_text()
    held = answers_of(path)
    assert asked_path("run", RUN, "table", view="all") in held


def test_a_collection_is_saved(tmp_path: Path) -> None:
    held = answers_of(save_html(things.collection(), tmp_path / "collection.html"))
    assert {"collection/years", "collection/years/plan"} <= set(held)
    assert held["collection/years"]["runs"] == []


def test_what_is_neither_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be saved"):
        save_html(things.graph(), tmp_path / "graph.html")
    with pytest.raises(InputError, match="megabytes"):
        save_html(things.collection(), tmp_path / "none.html", most=0)
    assert not list(tmp_path.iterdir())


def test_first_rows_are_those_with_the_greatest_result() -> None:
    table = pa.table({"id": [1, 2, 3], "rank": [0.5, 0.9, None]})
    first, note = first_rows(table, 1)
    assert first.to_pydict() == {"id": [2], "rank": [0.9]}
    assert "greatest rank" in note
    changed = pa.table({"id": [1, 2], "old": [1.0, 5.0], "new": [9.0, 6.0]})
    assert first_rows(changed, 1)[0].column("id").to_pylist() == [1]
    assert len(first_rows(pa.table({"id": ["b", "a"]}), 1)[0]) == 1


def test_the_editor_is_left_out() -> None:
    assert "vendor/editor.js" in module_names()
    assert "vendor/editor.js" not in module_names(editor=False)


def test_paths_are_those_of_the_page(browser: Browser) -> None:
    texts = [
        "plain",
        "a b/c?d&e=f#g",
        "é~!*'()-_.",
        things.ARABIC,
        things.TRAM,
        things.EVIL,
        "%2F+",
    ]
    page = browser.open("data:text/html,<p>")
    for text in texts:
        name = json.dumps(text)
        query = f"new URLSearchParams({{ view: {name} }})"
        said = page.evaluate(f"encodeURIComponent({name}) + '?' + {query}")
        assert asked_path(text, view=text) == said
    page.close()


def test_it_works_from_disk(saved: Path, opened: Callable[..., Page]) -> None:
    page = opened(saved.as_uri())
    page.wait("h1", RUN)
    page.wait("table td", things.EVIL)
    page.screenshot(SCREENSHOTS / "saved.png")
    page.evaluate("document.querySelector('input[type=range]').focus()")
    page.key("End")
    page.until("location.hash.includes('view=all')")
    page.type(".table input[type=search]", things.ARABIC)
    page.until("document.querySelectorAll('.table tbody tr').length === 1")
    assert page.evaluate("document.querySelectorAll('#page script, #page [src=x]').length") == 0
    for address in [one.address for one in page.requests]:
        assert address.startswith(("file:", "data:", "blob:"))


@pytest.mark.parametrize("tab", ["changes", "graph", "losses", "cost", "workers"])
def test_all_tabs_have_what_they_show(saved: Path, opened: Callable[..., Page], tab: str) -> None:
    page = opened(f"{saved.as_uri()}#/run/{RUN}?tab={tab}&view=all")
    page.wait('[role="tab"][aria-selected="true"]')
    page.until("!document.querySelector('main [aria-busy=true], main .empty')")
    page.screenshot(SCREENSHOTS / f"saved-{tab}.png")
    assert page.count(".problem") == 0


def test_histories_and_the_catalog_are_there(saved: Path, opened: Callable[..., Page]) -> None:
    held = answers_of(saved)
    vertex = next(path for path in held if "/history?" in path).split("vertex=")[1]
    page = opened(f"{saved.as_uri()}#/run/{RUN}?tab=vertex&vertex={vertex}")
    page.wait(".table td", "upto-2001")
    page.evaluate("location.hash = '#/'")
    page.wait("h1", "Catalog")
