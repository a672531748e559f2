"""What parts of the page promise, in a browser: plans to walk, tables, pictures, colours."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import graphtide as gt
from graphtide.web.opening import open_page
from graphtide.web.saved import save_html
from tests.web import things
from tests.web.browser import Browser, Page

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

Open = Callable[..., Page]
HOURS = "for h in 0..8 [hour-{h}: h < out_from or h >= out_until]"
LAYOUT = """
(async () => {
  const { rowsOf } = await import("gt/parts/plan.js");
  const parent = PARENT;
  const none = parent.map(() => 0);
  const view = parent.map(String);
  const stone = parent.map(() => null);
  const rows = rowsOf({ parent, view, stone, edges: none, inserted: none, deleted: none });
  const lines = Array.from(rows.lines, (lane) => lane ?? []);
  return { stepAt: [...rows.stepAt], lane: [...rows.lane], lanes: rows.lanes, lines };
})()
"""


@pytest.fixture(scope="module")
def storm() -> Iterator[str]:
    """The address of a collection with stepping stones and a run over it, ending in its place."""
    grid = gt.Graph.from_frame(gt.samples.power_grid())
    hours: Any = grid.collection("storm", HOURS)
    open_page(hours.run(gt.algorithms.WCC), browser=False, report=lambda _: None)
    page = open_page(hours, browser=False, report=lambda _: None)
    yield page.address
    page.close()


def made_tree(steps: int, seed: int) -> list[int]:
    """Parents of a tree, depth first; some seeds make chains and combs."""
    pick, path, parents = random.Random(seed), [0], [-1]
    back = pick.choice((0.0, 0.3, 0.6))
    for step in range(1, steps):
        while len(path) > 1 and pick.random() < back:
            path.pop()
        parents.append(path[-1])
        path.append(step)
    return parents


def test_plans_are_laid_out_in_few_lanes(storm: str, opened: Open) -> None:
    page = opened(storm)
    comb = [-1, *range(499), *reversed(range(500))]
    forest = [-1, 0, -1, 2, 2]
    for parents in (*(made_tree(400, seed) for seed in range(6)), comb, forest, [-1]):
        laid = page.evaluate(LAYOUT.replace("PARENT", str(parents)))
        check_layout(parents, laid)


def check_layout(parents: list[int], laid: dict[str, Any]) -> None:
    """Every step once, below its parent; lanes as promised; no two lines on each other."""
    rows = {step: row for row, step in enumerate(laid["stepAt"])}
    assert sorted(rows) == list(range(len(parents)))
    assert laid["lanes"] <= math.log2(len(parents)) + 1
    taken: set[tuple[int, int]] = set()
    for lane, lines in enumerate(laid["lines"]):
        ends = [line["to"] for line in lines]
        assert ends == sorted(ends)
        for line in lines:
            between = {(lane, row) for row in range(line["from"] + 1, line["to"])}
            assert not taken & between
            taken |= between
    for step, parent in enumerate(parents):
        if parent >= 0:
            assert rows[parent] < rows[step]
            assert laid["lane"][step] - laid["lane"][parent] in (0, 1)
        assert (laid["lane"][step], rows[step]) not in taken


def test_a_plan_is_walked_by_keys(storm: str, opened: Open) -> None:
    page = opened(storm)
    page.wait(".plan [role=treeitem]")
    assert page.count(".plan .mark.stone") >= 1
    page.evaluate("document.querySelector('.plan').focus()")
    page.key("Home")
    page.until("location.hash.includes('step=')")
    page.wait(".step h2")
    first = page.text(".step h2")
    page.key("ArrowDown")
    page.until(f"document.querySelector('.step h2').textContent !== {first!r}")
    assert first in page.text(".step dl")
    chosen = page.text(".step h2")
    page.key("ArrowUp")
    page.until(f"document.querySelector('.step h2').textContent === {first!r}")
    page.key("ArrowDown")
    page.reload()
    page.wait(".step h2", chosen)
    assert page.count(".plan [aria-selected=true]") == 1


def test_a_step_has_its_time_in_a_run(storm: str, opened: Open) -> None:
    page = opened(f"{storm}?step=0&run=storm-WCC")
    page.wait(".step dl", "strategy")
    assert "(majority" not in page.text(".step h2")
    assert "–" not in page.texts(".plan text.end:last-child")


def test_views_share_one_scale(storm: str, opened: Open) -> None:
    page = opened(f"{storm}?tab=similarity")
    page.until("document.querySelectorAll('.matrix').length === 2")
    page.until(
        "new Set([...document.querySelectorAll('.scale')].map((one) => one.textContent)).size === 1"
    )
    page.evaluate("document.querySelector('.matrix').focus()")
    page.key("ArrowRight")
    page.wait(".reading", "hour-1")
    assert "hour-0" in page.text(".reading")


def test_pictures_are_files_that_stand_alone(storm: str, opened: Open, browser: Browser) -> None:
    page = opened(storm)
    page.wait(".plan [role=treeitem]")
    group = ".save[aria-label='Save storm-plan']"
    path = browser.downloaded(lambda: page.click_text(f"{group} button", "SVG"))
    root = ElementTree.fromstring(path.read_text())
    assert "var(" not in path.read_text()
    texts = "".join(root.itertext())
    assert all(f"hour-{hour}" in texts for hour in range(9))
    path = browser.downloaded(lambda: page.click_text(f"{group} button", "PNG"))
    assert path.read_bytes().startswith(b"\x89PNG")


def test_colours_are_remembered(storm: str, opened: Open) -> None:
    page = opened(storm)
    page.wait(".theme select")
    choose = """(() => {
      const box = document.querySelector('.theme select');
      box.value = THEME;
      box.dispatchEvent(new Event('change', { bubbles: true }));
      return getComputedStyle(document.body).backgroundColor;
    })()"""
    dark, light = (page.evaluate(choose.replace("THEME", f"'{one}'")) for one in ("dark", "light"))
    assert dark != light
    page.evaluate(choose.replace("THEME", "'dark'"))
    page.reload()
    page.wait(".theme select")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.evaluate(choose.replace("THEME", "''"))


def test_a_saved_file_searches_and_sorts_by_itself(
    tmp_path: Path, opened: Open, browser: Browser
) -> None:
    path = save_html(things.ranks(), tmp_path / "run.html")
    page = opened(path.as_uri())
    page.wait("main table tbody tr")
    page.click_text("main th button", "rank")
    page.wait("th[aria-sort=ascending]")
    page.click("th[aria-sort=ascending] button")
    page.until("document.querySelector('th[aria-sort=descending]')")
    ranks = [float(text) for text in page.texts("[role=tabpanel] tbody td:nth-child(2)")]
    assert ranks == sorted(ranks, reverse=True)
    page.type("main .table input[type=search]", "v1")
    page.until("document.querySelectorAll('[role=tabpanel] tbody tr').length === 10")
    rows = browser.downloaded(lambda: page.click_text(".table .save button", "Save rows"))
    assert len(rows.read_text().splitlines()) == 11


def test_an_empty_store_says_what_to_do(tmp_path: Path, opened: Open) -> None:
    session = gt.session(tmp_path, progress=False)
    with open_page(session=session, browser=False, report=lambda _: None) as served:
        page = opened(served.address)
        page.wait("h1", "Nothing here yet")
        assert "graphtide load" in page.text(".pasted")
        page.go("about:blank")  # It loads ahead, and the server goes now.
