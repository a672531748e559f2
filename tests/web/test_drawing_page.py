"""Drawn graphs in a real browser: what is drawn, what stays where, and what is without a mouse."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

import graphtide as gt
from graphtide.web.opening import open_page
from tests.web.browser import Browser, Page, installed

pytestmark = pytest.mark.xdist_group("browser")

ODD = "<script>alert(1)</script>"
STILL = "document.querySelector('.drawing-canvas')?.dataset.layout === 'still'"
AT = "document.querySelector('.drawing-canvas')?.dataset.view === '{}'"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Two rings with a bridge between them, which goes in the second view."""
    rings = [(f"a{at}", f"a{(at + 1) % 9}", 1) for at in range(9)]
    rings += [(f"b{at}", f"b{(at + 1) % 7}", 1) for at in range(7)]
    rings += [("a0", "b0", 2), ("b3", ODD, 3), (ODD, "\U0001f600", 3)]
    src, dst, kind = (list(column) for column in zip(*rings, strict=True))
    graph = gt.Graph(src, dst, kind=kind, directed=False)
    collection = graph.collection("rings", {"whole": "true", "cut": "kind <> 2"})
    with open_page(collection.run(gt.algorithms.WCC()), browser=False, report=_silent) as page:
        yield page.address


def _silent(line: str) -> None:
    """Nobody reads it."""


def at_graph(address: str, view: str, **options: str) -> str:
    """The address of the graph at a view."""
    chosen = "".join(f"&{name}={value}" for name, value in options.items())
    return f"{address}?tab=graph&view={view}{chosen}"


def places(browser: Browser, page: Page) -> dict[str, tuple[float, float]]:
    """Where names stand in the picture as it is saved."""
    svg = browser.downloaded(lambda: page.click_text(".drawing-tools button", "SVG")).read_text()
    found = re.findall(r'<text x="([-.0-9]+)" y="([-.0-9]+)"[^>]*>([^<]*)</text>', svg)
    return {name: (float(x), float(y)) for x, y, name in found}


def test_a_component_breaks_in_two_and_nothing_moves(
    opened: Callable[..., Page], browser: Browser, address: str
) -> None:
    page = opened(at_graph(address, "whole"))
    page.until(STILL)
    page.wait(".drawing-facts", "19 edges")
    before = places(browser, page)
    page.evaluate("location.hash = location.hash.replace('view=whole', 'view=cut')")
    page.until(AT.format("cut"))
    page.until(STILL)
    page.wait(".drawing-facts", "0 came and 1 went against whole")
    page.wait(".drawing-legend", "edge went")
    page.wait(".drawing-legend", "result changed")
    assert "was a0" in page.text(".drawing-table")
    after = places(browser, page)
    assert before.keys() == after.keys()
    for name, (x, y) in before.items():
        # A name stands beside its vertex, whose size may change with its edges.
        assert after[name] == (pytest.approx(x, abs=3), pytest.approx(y, abs=3))


def test_a_vertex_is_chosen_and_gone_on_from_by_keyboard(
    opened: Callable[..., Page], address: str
) -> None:
    page = opened(at_graph(address, "whole", g_around="a4", g_hops="1"))
    page.until(STILL)
    page.wait(".drawing-facts", "3 vertices")
    page.click_text(".drawing-table button", "a5")
    page.wait(".drawing-chosen", "degree 2")
    page.evaluate("document.querySelector('.drawing-chosen button').focus()")
    page.key("Enter")
    page.wait(".drawing-facts", "4 vertices")
    assert "g_more" in page.address


def test_odd_names_are_names(opened: Callable[..., Page], address: str) -> None:
    page = opened(at_graph(address, "whole"))
    page.until(STILL)
    page.click_text(".drawing-table button", ODD)
    page.wait(".drawing-chosen", ODD)
    assert page.count(".drawing script") == 0


def test_pictures_are_saved(opened: Callable[..., Page], browser: Browser, address: str) -> None:
    page = opened(at_graph(address, "cut"))
    page.until(STILL)
    svg = browser.downloaded(lambda: page.click_text(".drawing-tools button", "SVG")).read_text()
    assert svg.count("<circle") == 18
    assert "stroke-dasharray" in svg
    assert "&lt;script&gt;" in svg
    png = browser.downloaded(lambda: page.click_text(".drawing-tools button", "PNG")).read_bytes()
    assert png[:4] == b"\x89PNG"
    assert int.from_bytes(png[16:20], "big") > 500


def test_without_webgl_a_plain_canvas_draws(address: str) -> None:
    if installed() is None:
        pytest.skip("no browser is installed here: apt-get install chromium")
    with Browser("--disable-3d-apis") as plain:
        page = plain.open(at_graph(address, "cut"))
        page.until(STILL)
        assert page.count(".drawing-plain") == 1
        page.wait(".drawing-left", "no WebGL")
        assert not page.errors
