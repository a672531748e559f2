"""The page in a browser: every kind of place opened, used and looked at, as its users do.

Screenshots go to build/screenshots. No page may log an error or ask another machine: `opened`
looks at both when a test ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.run.collection import runner
from graphtide.web import jobs
from graphtide.web.opening import open_page
from tests.web import things
from tests.web.browser import Browser, Page
from tests.web.conftest import SCREENSHOTS
from tests.web.stored import SLOW, big_session

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

LONG = 60
Open = Callable[..., Page]


class Site:
    """A server with a store, a run in memory and a live graph; `at` is the address of a place."""

    def __init__(self, root: Path) -> None:
        self.session = big_session(root)
        self.session.collection("big").run(gt.algorithms.WCC)
        years = things.collection()
        self.graph = things.graph()
        self.program = self.graph.maintain(gt.algorithms.WCC)
        self.live = self._put(self.graph)
        for thing in (years, things.ranks(years), things.parts(years)):
            self._put(thing)
        self.base = self._address.split("#")[0]

    def _put(self, thing: Any) -> str:
        page = open_page(
            thing, session=self.session, allow_changes=True, browser=False, report=lambda _: None
        )
        self.page, self._address = page, page.address
        return self._address.split("/")[-1]

    def at(self, place: str = "") -> str:
        return f"{self.base}#/{place}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("site"))
    yield made
    made.page.close()


def go(page: Page, place: str) -> None:
    """Another place of the same page."""
    page.evaluate(f"void (location.hash = '#/{place}')")


def settled(page: Page) -> None:
    """Wait until nothing is being waited for."""
    page.until("document.querySelector('h1') && !document.querySelector('main [aria-busy=true]')")


def looked_at(page: Page, name: str) -> None:
    """Take pictures: light and dark, wide and narrow; nothing may stick out at the side."""
    settled(page)
    for width in (1400, 700):
        page.resize(width, 900)
        for theme in ("light", "dark"):
            page.prefers(color_scheme=theme)
            page.screenshot(SCREENSHOTS / f"{name}-{width}-{theme}.png")
        overhang = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overhang <= 0, f"{name} is {overhang} pixels too wide at {width}"
    page.resize(1400, 900)


# The catalog, and the way from it


def test_the_token_leaves_the_address(site: Site, opened: Open) -> None:
    page = opened(site.at())
    page.wait("h1", "Catalog")
    assert "token" not in page.address
    assert "token" not in page.evaluate("document.referrer + document.cookie")


def test_without_the_token_there_is_nothing(site: Site, browser: Browser) -> None:
    page = browser.open(site.base.split("?")[0])
    page.until("document.body.innerText.length > 0")
    assert page.count("#page") == 0
    assert "big" not in page.text()
    page.close()


def test_the_catalog_shows_everything_and_is_searched(site: Site, opened: Open) -> None:
    page = opened(site.at())
    for name in ("Big", "big", "big-WCC", "years-PageRank", "early"):
        page.wait("main a, main .name", name)
    looked_at(page, "catalog")
    page.type("main input[type=search]", "pagerank")
    page.until("!document.querySelector('main').innerText.includes('early')")
    page.click_text("main a", "years-PageRank")
    page.wait("h1", "years-PageRank")
    page.back()
    page.wait("h1", "Catalog")
    assert page.value("main input[type=search]") == "pagerank"


def test_a_graph_shows_its_vertices_as_they_are(site: Site, opened: Open) -> None:
    page = opened(site.at("graph/Calls"))
    page.wait("h1", "Calls")
    page.wait("td", "<b>李雷</b>")
    assert page.count("td b") == 0
    looked_at(page, "graph")


# Collections


def test_a_collection_is_walked(site: Site, opened: Open) -> None:
    page = opened(site.at("collection/big"))
    page.wait("h1", "big")
    looked_at(page, "collection")
    for tab in ("Views", "Similarity", "Explained"):
        page.click_text('[role="tab"]', tab)
        page.wait('[role="tab"][aria-selected="true"]', tab)
        settled(page)
        page.screenshot(SCREENSHOTS / f"collection-{tab.lower()}.png")
        assert page.count(".problem") == 0


def test_names_of_views_never_become_markup(site: Site, opened: Open) -> None:
    page = opened(site.at("collection/years"))
    for name in (things.EVIL, things.ARABIC, things.TRAM):
        page.wait("main", name)
    page.click_text('[role="tab"]', "Views")
    settled(page)
    assert page.count("main script") == 0
    looked_at(page, "collection-names")


def test_the_graph_of_a_view_is_drawn(site: Site, opened: Open) -> None:
    page = opened(site.at("collection/years?tab=graph"))
    page.wait("[data-layout=still], [data-layout]:not([data-layout=moving])")
    page.screenshot(SCREENSHOTS / "collection-graph.png")
    assert page.count("main canvas, main svg") > 0


# Runs


def test_a_run_is_looked_through(site: Site, opened: Open) -> None:
    page = opened(site.at("run/years-PageRank"))
    page.wait("td", things.EVIL)
    page.wait("td", things.ARABIC)
    looked_at(page, "run")
    assert page.count("main script, main [src=x]") == 0
    for tab in page.texts('[role="tab"]'):
        page.click_text('[role="tab"]', tab)
        page.wait('[role="tab"][aria-selected="true"]', tab)
        settled(page)
        page.screenshot(SCREENSHOTS / f"run-{tab.lower().replace(' ', '-')}.png")
        assert page.count(".problem") == 0, tab


def test_the_slider_steps_and_the_address_follows(site: Site, opened: Open) -> None:
    page = opened(site.at("run/years-PageRank"))
    page.wait("td", "v10")
    page.evaluate("document.querySelector('input[type=range]').focus()")
    page.key("ArrowRight", 2)
    page.until(f"decodeURIComponent(location.hash).includes('view={things.ARABIC.split()[0]}')")
    page.key("End")
    page.until("location.hash.includes('view=all')")
    address = page.address
    page.reload()
    page.wait(".at-view input:not([type=range])")
    page.until("document.querySelector('.at-view input[type=range]').valueAsNumber === 5")
    assert page.address == address


def test_a_table_is_searched_sorted_and_saved(site: Site, opened: Open, browser: Browser) -> None:
    page = opened(site.at("run/years-PageRank?view=all"))
    page.wait("td", "v10")
    page.click_text("th button", "rank")
    page.wait("th[aria-sort=ascending]", "rank")
    page.click("th[aria-sort=ascending] button")
    page.wait("th[aria-sort=descending]", "rank")
    page.until(f"{_RANKS}.every((rank, row, all) => row === 0 || rank <= all[row - 1])")
    file = browser.downloaded(lambda: page.click('a[href*="format=csv"]'))
    assert len(file.read_text().splitlines()) == 61
    file = browser.downloaded(lambda: page.click('a[href*="format=parquet"]'))
    assert file.read_bytes()[:4] == b"PAR1"
    page.type(".table input[type=search]", "<script>")
    page.until("document.querySelectorAll('.table tbody tr').length === 1")


def test_a_chart_is_saved(site: Site, opened: Open, browser: Browser) -> None:
    page = opened(site.at("run/years-PageRank"))
    page.wait("main canvas")
    settled(page)
    svg = browser.downloaded(lambda: page.click_text("main button", "SVG"))
    assert svg.read_text().lstrip().startswith(("<svg", "<?xml"))
    png = browser.downloaded(lambda: page.click_text("main button", "PNG"))
    assert png.read_bytes()[:4] == b"\x89PNG"


def test_two_runs_are_compared(site: Site, opened: Open) -> None:
    page = opened(site.at("compare?one=years-PageRank&other=years-PageRank&view=upto-2001"))
    page.wait("h1")
    looked_at(page, "compare")
    assert page.count(".problem") == 0


# Jobs


class Gate:
    """Holds a job at half of its way, until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened, self.reached = threading.Event(), threading.Event()
        monkeypatch.setattr(runner, "_TELL_EVERY", 0.0)
        report = jobs.Job.report

        def held(job: jobs.Job, stage: str, done: float | None = None) -> None:
            report(job, stage, done)
            if done is not None and done >= 0.5:
                self.reached.set()
                assert self.opened.wait(LONG)

        monkeypatch.setattr(jobs.Job, "report", held)


def write(page: Page, text: str) -> None:
    """A statement, into the editor."""
    page.wait(".cm-content")
    page.click(".cm-content")
    page.key("Control+a")
    page.key("Backspace")
    page.call("Input.insertText", text=text)


def test_mistakes_in_gvdl_are_shown_while_typing(site: Site, opened: Open) -> None:
    page = opened(site.at("gvdl"))
    write(page, "create view collection x on Big [a: yeer < 2003]")
    page.wait(".gvdl-problems .problem", "yeer")
    page.wait(".cm-lintRange-error")
    looked_at(page, "gvdl-problem")
    write(page, "show collections")
    page.gone(".gvdl-problems .problem")
    page.until("!document.querySelector('button.main').disabled")
    page.key("Control+Enter")
    page.wait(".job-state[data-state=done]")
    page.wait(".job-answer", "big")
    looked_at(page, "gvdl-answer")


def test_a_run_is_followed_cancelled_and_resumed(
    site: Site, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    page = opened(site.at("gvdl"))
    write(page, SLOW)
    page.until("!document.querySelector('button.main').disabled")
    page.click("button.main")
    assert gate.reached.wait(LONG)
    page.wait(".job-state[data-state='going on']")
    page.wait("progress[value]")
    looked_at(page, "job-going-on")
    page.click_text(".job a", "follow run slow")
    page.wait("h1", "slow")
    page.wait("main", "of 60 views finished")
    page.screenshot(SCREENSHOTS / "run-going-on.png")
    page.click_text("main button", "Cancel")
    gate.opened.set()
    page.click_text("main button", "Resume")
    page.wait(".facts", "60 views")
    page.gone("progress")
    page.screenshot(SCREENSHOTS / "run-resumed.png")
    go(page, "jobs")
    page.wait(".job-state[data-state=cancelled]")
    looked_at(page, "jobs")


# Live graphs


def test_a_live_graph_is_fed_while_the_page_is_open(site: Site, opened: Open) -> None:
    page = opened(site.at(f"live/{site.live}"))
    page.wait("h1", site.live)
    page.wait("main", "400")
    looked_at(page, "live")
    page.click_text('[role="tab"]', "Programs (1)")
    page.wait("td", things.EVIL)
    site.graph.advance(insert=[("new-1", things.IMAGE, 2005)])
    page.wait("main", "401 edges")
    page.wait("main", "61 vertices")
    page.wait("td", "new-1")
    assert page.count("main script, main [src=x]") == 0
    page.screenshot(SCREENSHOTS / "live-fed.png")
    for tab in ("Last changes", "Graph", "Now"):
        page.click_text('[role="tab"]', tab)
        page.wait('[role="tab"][aria-selected="true"]', tab)
        settled(page)
        page.screenshot(SCREENSHOTS / f"live-{tab.lower().replace(' ', '-')}.png")
        assert page.count(".problem") == 0, tab


# Servers that come and go


SERVER = """
import sys
from pathlib import Path
from graphtide.web.opening import open_page
from tests.web.stored import big_session
import graphtide as gt
session = gt.session(Path(sys.argv[1]), progress=False)
page = open_page(session=session, port=int(sys.argv[2]) or None, browser=False)
sys.stdin.read()
"""


def test_a_server_is_killed_and_started_again(tmp_path: Path, opened: Open) -> None:
    big_session(tmp_path)
    first = Process(tmp_path, 0)
    try:
        page = opened(first.address)
        page.wait("main", "big")
    finally:
        first.kill()
    page.click_text("main a", "big")
    page.wait(".problem", "graphtide open")
    page.screenshot(SCREENSHOTS / "server-gone.png")
    second = Process(tmp_path, first.port)
    try:
        # Its tokens are new ones.
        page.go(second.address)
        page.wait("main", "big")
    finally:
        second.kill()
    for sign in ("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "401", "403"):
        page.forgive(sign)


class Process:
    """A server in a process of its own; it ends with a signal that it cannot catch."""

    def __init__(self, root: Path, port: int) -> None:
        command = [sys.executable, "-c", SERVER, str(root), str(port)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ}
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        self.address = line.split()[-1]
        self.port = int(self.address.split(":")[2].split("/")[0])

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()


# For everybody


def test_what_is_not_there_is_said(site: Site, opened: Open) -> None:
    page = opened(site.at("run/none"))
    page.wait(".problem", "none")
    go(page, "nowhere/at-all")
    page.wait(".problem", "nowhere")
    go(page, "")
    page.wait("h1", "Catalog")
    page.forgive("404")


def test_the_keyboard_reaches_everything(site: Site, opened: Open) -> None:
    page = opened(site.at("run/years-PageRank"))
    page.wait("td", "v10")
    settled(page)
    page.evaluate("document.body.focus()")
    seen: list[str] = []
    for _ in range(60):
        page.key("Tab")
        seen.append(page.evaluate(_FOCUS))
    for wanted in ("Skip to content", "range", "tab", "search"):
        assert any(wanted in one for one in seen), (wanted, seen)
    shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert shown != "none"


def test_everything_has_a_name(site: Site, opened: Open) -> None:
    page = opened(site.at())
    for place in ("", "collection/big", "run/years-PageRank", "gvdl", "jobs", f"live/{site.live}"):
        go(page, place)
        settled(page)
        assert page.evaluate(_NAMELESS) == [], place


_RANKS = "[...document.querySelectorAll('.table td.number')].map((one) => Number(one.textContent))"
_FOCUS = """(() => {
  const one = document.activeElement;
  const said = one.textContent.trim().slice(0, 40);
  return [said, one.type ?? "", one.getAttribute("role") ?? ""].join("|");
})()"""
_NAMELESS = """[...document.querySelectorAll(
  "button, a[href], input, select, textarea, [role=img], canvas")]
  .filter((one) => !one.closest("[aria-hidden=true], .hidden, .cm-editor, [role=img] *"))
  .filter((one) => !(one.textContent.trim() || one.title || one.getAttribute("aria-label")
    || one.getAttribute("aria-labelledby") || one.labels?.length || one.closest("[aria-label]")))
  .map((one) => one.outerHTML.slice(0, 120))"""
