"""The examples of a documentation page, as programs that can be run and compared.

A page is one program: its python blocks share their variables, and its sh blocks (of which the
lines that call `graphtide` are carried out) share the folder. A page without a python block makes
no data of its own, and is not a program. A text block that follows an example, with nothing but
blank lines between, is what the example prints. Times and the name of the folder differ from run
to run and are left out of the comparison.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HOME = "/home/ann"
"""The folder in which the pages are read, as they show it."""

_FENCE = re.compile(
    r"^```(?P<language>\w*)\n(?P<code>.*?)^```$(?P<behind>\s*)", re.DOTALL | re.MULTILINE
)
_TIME = re.compile(r"\b\d+(\.\d+)? s\b")


@dataclass(frozen=True)
class Example:
    """A block of a page, the line it starts on, and what it prints if the page says so."""

    language: str
    code: str
    line: int
    printed: str | None


def pages() -> list[Path]:
    """README and everything under docs but the dated design notes."""
    found = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "design"]
    return [ROOT / "README.md", *sorted(found)]


def examples(page: Path) -> list[Example]:
    """The python and sh blocks of a page, in order; none if there is no python among them."""
    text = page.read_text(encoding="utf-8")
    blocks = list(_FENCE.finditer(text))
    found = []
    for at, block in enumerate(blocks):
        if block["language"] in ("python", "sh"):
            line = text.count("\n", 0, block.start("code")) + 1
            found.append(Example(block["language"], block["code"], line, _printed(blocks, at)))
    return found if any(example.language == "python" for example in found) else []


def run(page: Path) -> Iterator[tuple[Example, str]]:
    """Each example with what it printed, run one after the other in the working folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for example in examples(page):
        if example.language == "python":
            yield example, _run_python(example, page, names)
        else:
            yield example, "".join(map(_run_command, _commands(example.code)))


def comparable(text: str, folder: Path) -> str:
    """The text without what differs from run to run."""
    lines = text.replace(str(folder), HOME).rstrip().splitlines()
    return _TIME.sub("N s", "\n".join(line.rstrip() for line in lines))


def _printed(blocks: list[re.Match[str]], at: int) -> str | None:
    if at + 1 == len(blocks) or blocks[at].end() != blocks[at + 1].start():
        return None
    return blocks[at + 1]["code"] if blocks[at + 1]["language"] == "text" else None


def _run_python(example: Example, page: Path, names: dict[str, Any]) -> str:
    # Blank lines in front make the lines of a traceback those of the page.
    code = compile("\n" * (example.line - 1) + example.code, str(page), "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue()


def _commands(code: str) -> list[list[str]]:
    lines = code.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("graphtide ")]


def _run_command(words: list[str]) -> str:
    from typer.testing import CliRunner

    from graphtide.cli.main import app

    result = CliRunner().invoke(app, words, input="", catch_exceptions=False)
    assert result.exit_code == 0, f"graphtide {shlex.join(words)}: {result.output}"
    return result.stdout
