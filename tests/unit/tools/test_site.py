"""The site's own check finds what Zensical lets pass: pictures, files, the nav, other places."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="comes with zensical, of the development tools")

from tools.site import nav_faults, page_faults


def test_sound_pages_have_no_faults(tmp_path: Path) -> None:
    _write(tmp_path, "index.html", '<a href="sub/">x</a><a href="sub/index.html#top">y</a>')
    _write(tmp_path, "sub/index.html", '<h1 id="top">T</h1><img src="../a%20b.png"><a href="#top">')
    _write(tmp_path, "a b.png", "")
    _write(tmp_path, "404.html", '<link href="/a%20b.png"><a href="https://example.org/">z</a>')
    assert list(page_faults(tmp_path)) == []


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<img src="gone.png">', "<img> leads to gone.png, which is not there"),
        ('<a href="gone.html">', "<a> leads to gone.html, which is not there"),
        ('<a href="folder/">', "<a> leads to folder/, which is not there"),
        ('<a href="#gone">', "<a> leads to #gone, a heading that is not there"),
        ('<script src="https://cdn/x.js">', "<script> fetches https://cdn/x.js from elsewhere"),
        ('<link href="//fonts/x.css">', "<link> fetches //fonts/x.css from elsewhere"),
        (
            '<img src="http://other/x.png"/>',
            "<img> fetches http://other/x.png from elsewhere",
        ),
    ],
)
def test_a_fault_is_told(tmp_path: Path, html: str, fault: str) -> None:
    _write(tmp_path, "sub/page.html", html)
    _write(tmp_path, "sub/folder/other.html", "")
    assert list(page_faults(tmp_path)) == [f"sub/page.html: {fault}"]


def test_the_nav_is_compared_with_the_pages(tmp_path: Path) -> None:
    nav = "nav:\n  - a.md\n  - More:\n      - A again: a.md\n      - Deep: sub/gone.md\n"
    _write(tmp_path, "mkdocs.yml", nav)
    _write(tmp_path, "docs/a.md", "")
    _write(tmp_path, "docs/sub/b.md", "")
    assert list(nav_faults(tmp_path)) == [
        "mkdocs.yml: the nav lacks sub/b.md; add a line for it",
        "mkdocs.yml: the nav has sub/gone.md, which is not in docs",
        "mkdocs.yml: the nav has a.md twice",
    ]


def test_design_notes_stand_in_an_index_of_their_own(tmp_path: Path) -> None:
    _write(tmp_path, "mkdocs.yml", "nav:\n  - Notes: design/index.md\n")
    _write(tmp_path, "docs/design/index.md", "- [One](2026-01-01-one.md)")
    _write(tmp_path, "docs/design/2026-01-01-one.md", "")
    _write(tmp_path, "docs/design/2026-01-02-two.md", "")
    assert list(nav_faults(tmp_path)) == [
        "docs/design/index.md lacks design/2026-01-02-two.md; add a line for it"
    ]


def _write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
