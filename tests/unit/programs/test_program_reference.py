"""The reference is executed: every example runs and prints what the page says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

from tests.unit.programs.sources import define

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "programs.md"
BLOCKS = re.findall(
    r"```py\n(.*?)```\n(?:\n```text\n(.*?)```)?", PAGE.read_text(encoding="utf-8"), re.DOTALL
)


def test_examples_print_what_the_page_says() -> None:
    assert len(BLOCKS) >= 4
    names: dict[str, Any] = {}
    for code, expected in BLOCKS:
        # The language alone is tried here, without the rest of the package.
        code = code.replace("import graphtide as gt", "import graphtide.lang.python as gt")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            names |= define(code, name="programs.md", **names)
        assert printed.getvalue() == expected
