"""Programs from text, as if it stood in a file: read through the same door as a user's class."""

from __future__ import annotations

import itertools
import linecache
import textwrap
from typing import Any

import graphtide.lang.python as gt

_NUMBERS = itertools.count(1)


def define(text: str, name: str | None = None, **around: Any) -> dict[str, Any]:
    """Run the text as a module of its own, with `gt` and `inf` and what else is given."""
    text = textwrap.dedent(text)
    file = name or f"<program {next(_NUMBERS)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module: dict[str, Any] = {"gt": gt, "inf": gt.inf, "__name__": "written", **around}
    exec(compile(text, file, "exec"), module)
    return module


def read(text: str, name: str | None = None, **around: Any) -> gt.Program:
    """The one program that the text defines."""
    found = [item for item in define(text, name, **around).values() if isinstance(item, gt.Program)]
    assert len(found) == 1
    return found[0]
