"""The page of runs: charts, the slider, tabs, comparing; answers of a small run, and odd ones.

Odd answers come from the test itself: `answers` in the page stands before the server's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from graphtide.web.opening import open_page
from tests.web import things
from tests.web.browser import Browser, Page

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

Open = Callable[..., Page]
NAME = ".at-view .name-box input"
ANSWERED = """(() => {
  const before = window.fetch, answers = %s;
  window.fetched = [];
  window.fetch = (path, options) => {
    const found = answers[String(path).replace("api/", "")];
    window.fetched.push(String(path));
    if (found === undefined) return before(path, options);
    return Promise.resolve(new Response(JSON.stringify(found)));
  };
})()"""


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    years = things.collection()
    page = open_page(things.parts(years), browser=False, report=lambda _: None)
    open_page(things.ranks(years), browser=False, report=lambda _: None)
    yield page.address.split("#")[0]
    page.close()


@pytest.fixture
def shown(base: str, opened: Open) -> Callable[..., Page]:
    """Opens a place, with some answers that stand before the server's."""

    def show(place: str, answers: dict[str, Any] | None = None) -> Page:
        page = opened(f"{base}#/")
        page.wait("h1")
        page.evaluate(ANSWERED % json.dumps(answers or {}))
        page.evaluate(f"void (location.hash = {json.dumps('#/' + place)})")
        return page

    return show


def column(name: str, values: list[Any], kind: str = "number") -> dict[str, Any]:
    return {"name": name, "kind": kind, "values": values}


def table(*columns: dict[str, Any]) -> dict[str, Any]:
    return {"columns": list(columns), "rows": len(columns[0]["values"]), "start": 0}


def facts(views: list[str], **more: Any) -> dict[str, Any]:
    plain = dict.fromkeys(("of_pairs", "globals", "drawable", "resumable"), False)
    made: dict[str, Any] = {
        "name": "odd",
        "program": "WCC()",
        "collection": "c",
        "fields": ["component"],
    }
    made |= {"kept": True, "finished": True, "done": len(views), "views": views}
    made |= {"mode": "fixpoint", "strategy": "adaptive", "seconds": 1.5, "matches": []}
    return made | plain | {"naming": [], "explain": "explained", "job": None} | more


def odd_answers(views: list[str], summary: dict[str, Any]) -> dict[str, Any]:
    ids = table(column("id", ["x"], "text"), column("component", ["x"], "text"))
    answers: dict[str, Any] = {"run/odd": facts(views), "run/odd/summary?count=10000": summary}
    for view in views:
        answers["run/odd/table?" + urlencode({"count": 100, "view": view})] = ids
    return answers


def module(page: Page, path: str, use: str) -> Any:
    """What an expression makes of a module of the page, `m`."""
    return page.evaluate(f"import('gt/{path}').then((m) => {use})")


def pressed(page: Page, key: str) -> None:
    page.evaluate("document.activeElement.blur()")
    page.key(key)


# Axes


def test_days_stand_at_their_time_and_other_names_at_equal_distances(shown: Open) -> None:
    page = shown("")
    axis = "m.axisOf(%s)"
    days = json.dumps(["d-2010-01-01", "d-2010-01-02", "d-2010-03-01"])
    assert module(page, "parts/axis.js", axis % days)["time"]
    for names in (
        ["2010-01-02", "2010-01-01", "2010-01-03"],  # not upwards
        ["2010-01-01", "2010-01-02", "2010-02-30"],  # no such day
        ["10-11-12", "11-11-12", "12-11-12"],  # which is the year?
        ["2010-01-01", "2010-01-02", "all"],
    ):
        made = module(page, "parts/axis.js", axis % json.dumps(names))
        assert not made["time"], names
        assert made["xs"] == [0, 1, 2]


def test_names_below_an_axis_are_thinned_until_they_fit(shown: Open) -> None:
    page = shown("")
    use = (
        "m.ticksOf(m.axisOf(Array.from({ length: 100000 }, (_, n) => `view-${n}`)), 0, 99999, 600)"
    )
    ticks = module(page, "parts/axis.js", use)
    assert 3 < len(ticks) < 9
    assert [tick["label"] for tick in ticks] == [f"view-{int(tick['x'])}" for tick in ticks]


def test_what_has_no_height_is_a_gap_with_a_sign(shown: Open) -> None:
    page = shown("")
    cells = json.dumps([1.5, "inf", "-inf", None, "nan", True, "9007199254740993"])
    heights = module(page, "parts/axis.js", f"{cells}.map(m.heightOf)")
    assert heights == [1.5, None, None, None, None, 1, 2**53]
    gaps = module(page, "parts/axis.js", f"{cells}.map(m.gapOf)")
    assert gaps[1:5] == ["up", "down", "none", "none"]


# The slider and the keyboard


def test_arrow_keys_step_the_view_anywhere(shown: Open) -> None:
    page = shown("run/years-WCC?view=upto-2001")
    page.wait(".table tbody tr")
    pressed(page, "ArrowRight")
    page.until(f"document.querySelector('{NAME}').value === 'upto-2002'")
    page.until("location.hash.includes('upto-2002')")
    pressed(page, "ArrowLeft")
    page.until("location.hash.includes('upto-2001')")
    assert "view upto-2001, 1 of 6" in page.text("p[role=status].hidden")


def test_digits_and_letters_pick_tabs_and_back_comes_back(shown: Open) -> None:
    page = shown("run/years-WCC")
    page.wait(".table tbody tr")
    for key, tab in (("2", "Changes"), ("t", "Cost"), ("o", "Components")):
        pressed(page, key)
        page.wait("[role=tab][aria-selected=true]", tab)
    page.back()
    page.wait("[role=tab][aria-selected=true]", "Cost")


def test_a_name_is_typed(shown: Open) -> None:
    page = shown("run/years-WCC")
    page.wait(NAME)
    page.type(NAME, "TRAM &")
    page.key("Enter")
    page.until(f"document.querySelector('{NAME}').value === {json.dumps(things.TRAM)}")
    page.type(NAME, "nowhere")
    page.key("Enter")
    page.wait(".at-view [role=status]", "no view has 'nowhere'")


def test_a_dragged_slider_asks_for_one_answer_at_a_time_and_the_last(shown: Open) -> None:
    views = [f"v{n}" for n in range(50)]
    answers = odd_answers(views, table(column("view", views, "text"), column("edges", [1] * 50)))
    page = shown("run/odd", answers)
    page.wait(".table tbody tr")
    page.evaluate(
        """(() => {
          const before = window.fetch;
          window.open = 0; window.most = 0; window.tables = 0;
          window.fetch = async (...asked) => {
            window.open += 1; window.tables += 1; window.most = Math.max(window.most, window.open);
            const answer = await before(...asked);
            for (let frame = 0; frame < 5; frame += 1) await new Promise(requestAnimationFrame);
            window.open -= 1;
            return answer;
          };
          const slider = document.querySelector('.at-view input[type=range]');
          window.dragged = (async () => {
            for (let place = 1; place < 50; place += 1) {
              slider.value = String(place);
              slider.dispatchEvent(new Event('input', { bubbles: true }));
              await new Promise(requestAnimationFrame);
            }
          })();
        })()"""
    )
    page.evaluate("window.dragged")
    page.until("window.fetched.at(-1).includes('view=v49') && window.open === 0")
    assert page.evaluate("window.most") == 1
    assert page.evaluate("window.tables") < 40
    page.until("location.hash.includes('view=v49')")


# The summary


def test_odd_names_and_values_are_shown_as_they_are(shown: Open) -> None:
    views = [things.EVIL, things.ARABIC, things.TRAM]
    summary = table(
        column("view", views, "text"),
        column("edges", [1, "inf", None]),
        column("word", [things.IMAGE, "b", "c"], "text"),
    )
    page = shown("run/odd", odd_answers(views, summary))
    page.wait(".multiples figure")
    assert page.value(NAME) == things.EVIL
    assert page.count("main script, main img") == 0
    page.wait(".figures dd", things.IMAGE)
    page.wait(".chart table td", "inf")
    page.wait(".chart table td", "missing")


def test_no_view_and_one_view(shown: Open) -> None:
    answers = {"run/odd": facts(["a"], finished=False, done=0, resumable=True)}
    answers["run/odd/summary?count=10000"] = table(column("view", [], "text"))
    page = shown("run/odd", answers)
    page.wait(".empty", "No view is finished yet")
    page.wait(".progress", "0 of 1 view finished")
    one = table(column("view", ["a"], "text"), column("edges", [7]))
    page = shown("run/odd", odd_answers(["a"], one))
    page.wait(".figures dd", "7")


def test_a_click_on_a_chart_picks_its_view(shown: Open) -> None:
    page = shown("run/years-WCC")
    page.wait(".multiples .u-over")
    page.click(".multiples .u-over")
    page.until("location.hash.includes('view=')")
    assert page.value(NAME) not in {"upto-2001", "all"}


def test_charts_are_drawn_again_in_the_dark(shown: Open) -> None:
    page = shown("run/years-WCC")
    page.wait(".multiples canvas")
    page.evaluate("document.querySelector('.multiples canvas').id = 'light'")
    page.prefers(color_scheme="dark")
    page.gone("#light")
    page.wait(".multiples canvas")


# Tabs


def test_costs_are_summed_by_strategy(shown: Open) -> None:
    views = ["a", "(b)", "c"]
    answers = odd_answers(["a", "c"], table(column("view", ["a", "c"], "text")))
    record = table(
        column("view", views, "text"), column("stone", [False, True, False], "truth"),
        column("parent", [None, "a", "(b)"], "text"), column("edges", [9, 8, 9]),
        column("inserted", [9, 0, 1]), column("deleted", [0, 1, 0]),
        column("strategy", ["scratch", "differential", "differential"], "text"),
        column("state", ["fresh", "kept", "kept"], "text"), column("seconds", [3.0, 0.5, 0.25]),
        column("predicted_differential", [None, 1.0, 1.0]),
        column("predicted_scratch", [3.0, 3.0, 3.0]),
        column("touched", [90, 5, 5]), column("changed", [9, 1, 1]),
    )  # fmt: skip
    answers |= {f"run/odd/record?count={count}": record for count in (100, 10_000)}
    page = shown("run/odd?tab=cost", answers)
    page.wait(".totals tbody tr")
    rows = page.texts(".totals tbody tr")
    assert "followed the delta (1 stepping stone)" in rows[0]
    assert "750 ms" in rows[0]
    assert "split" in rows[1]
    page.wait("[role=tabpanel] p", "sharing made it 2.4 times faster")


def test_changes_are_against_any_view(shown: Open) -> None:
    page = shown("run/years-WCC?tab=changes&view=all")
    page.wait("[role=tabpanel] .table tbody")
    page.type("[role=tabpanel] .name-box input", "upto-2001")
    page.key("Enter")
    page.until("location.hash.includes('against=upto-2001')")
    page.wait("[role=tabpanel] p", "old is that of upto-2001, new that of all")


def test_a_click_on_an_id_opens_its_history(shown: Open) -> None:
    page = shown("run/years-WCC?view=all")
    page.click("[role=tabpanel] td a")
    page.wait("[role=tab][aria-selected=true]", "Vertex")
    page.until("location.hash.includes('vertex=') && location.hash.includes('view=all')")
    page.wait("[role=tabpanel] .table tbody tr")


def test_two_runs_are_beside_each_other(shown: Open, browser: Browser) -> None:
    page = shown("compare?one=years-WCC&other=years-PageRank&view=upto-2002&tab=tables")
    page.wait("h2", "years-WCC, upto-2002")
    page.wait("h2", "years-PageRank, upto-2002")
    page.until("document.querySelectorAll('[role=tabpanel] .table tbody').length === 2")
    page.click_text("button", "⇄ Swap")
    page.until("location.hash.includes('one=years-PageRank')")
