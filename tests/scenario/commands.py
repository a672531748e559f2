"""Running `graphtide` inside the test's own process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from graphtide.cli.main import app


def graphtide(*arguments: object, typed: str | None = None) -> Result:
    """The result of a command; an exception that leaves it is a failure of the test."""
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(app, words, input=typed, catch_exceptions=False)


def objects(result: Result) -> list[dict[str, Any]]:
    """The JSON objects that a command printed, one a line."""
    return [json.loads(line) for line in result.stdout.splitlines()]


def write_calls(folder: Path) -> tuple[Path, Path]:
    """People and their calls, as CSV files."""
    people, calls = folder / "people.csv", folder / "calls.csv"
    people.write_text("id,state\nann,CA\nZoë,NY\nbob,CA\n", encoding="utf-8")
    rows = [f"{src},{dst},{2010 + at}" for at, (src, dst) in enumerate(_PAIRS)]
    calls.write_text("\n".join(["src,dst,year", *rows, ""]), encoding="utf-8")
    return people, calls


_PAIRS = [("ann", "bob"), ("bob", "Zoë"), ("Zoë", "ann"), ("ann", "Zoë"), ("bob", "ann")]
