"""Pictures that pages show are drawn by them; the chart of speeds has the measured figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.scenario.pages import ROOT, examples, pages
from tools.pictures import _DRAWN, _SHOTS, draw_speeds, speeds


@pytest.mark.parametrize(
    "page", [page for page in pages() if examples(page)], ids=lambda page: page.stem
)
def test_a_page_draws_what_it_shows(page: Path) -> None:
    code = "".join(example.code for example in examples(page))
    for shown in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        name = shown.rpartition("/")[2]
        assert f'"{name}"' in code or name in _DRAWN or name in _SHOTS, shown


def test_the_chart_of_speeds_has_the_measured_figures() -> None:
    measured = (ROOT / "docs" / "benchmarks" / "runs.md").read_text(encoding="utf-8")
    rows = speeds(measured)
    assert len(rows) == 4
    for row in rows:
        assert row.scratch / row.shared == pytest.approx(row.times, rel=0.02)
        for page in ("README.md", "docs/index.md"):
            words = re.sub(r"\s+", " ", (ROOT / page).read_text(encoding="utf-8"))
            assert f"{row.shared:g} and {row.scratch:g}" in words, (page, row)
    axes = draw_speeds().figure.axes[0]
    dots = [line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() == "o"]
    assert dots == [value for row in rows for value in (row.shared, row.scratch)]
