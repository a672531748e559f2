"""Every picture that a page with examples shows is one that the page draws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.scenario.pages import examples, pages


@pytest.mark.parametrize(
    "page", [page for page in pages() if examples(page)], ids=lambda page: page.stem
)
def test_a_page_draws_what_it_shows(page: Path) -> None:
    code = "".join(example.code for example in examples(page))
    for shown in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        assert f'"{shown.rpartition("/")[2]}"' in code, shown
