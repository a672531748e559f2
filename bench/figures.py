"""A figure: what was measured, the bar it has to reach, and whether it does.

A figure that could not be measured is skipped with its reason, and never counts as held. One
without a bar is there to be read, and never counts as held either.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

Direction = Literal["at most", "at least", "below"]
COLOURS = {"held": "green", "missed": "red", "skipped": "yellow", "shown": "blue"}


@dataclass(frozen=True)
class Figure:
    """One line of a benchmark. `measured` is None where it was skipped, and `note` says why."""

    name: str
    measured: float | None
    direction: Direction
    bar: float | None
    unit: str
    note: str = ""
    section: str = ""

    @property
    def held(self) -> bool:
        """True only if it was measured, has a bar and reaches it."""
        if self.measured is None or self.bar is None:
            return False
        match self.direction:
            case "at most":
                return self.measured <= self.bar
            case "below":
                return self.measured < self.bar
            case "at least":
                return self.measured >= self.bar

    @property
    def verdict(self) -> str:
        """held, missed, skipped, or shown where there is no bar."""
        if self.measured is None:
            return "skipped"
        if self.bar is None:
            return "shown"
        return "held" if self.held else "missed"

    @property
    def missed(self) -> bool:
        """True if it was measured and does not reach its bar."""
        return self.verdict == "missed"


def print_figures(title: str, figures: list[Figure]) -> None:
    """Tables for people, one a section, and a count."""
    console = Console(width=None if Console().is_terminal else 160)
    for section in dict.fromkeys(item.section for item in figures):
        heading = f"{title}: {section}" if section else title
        console.print(_table(heading, [item for item in figures if item.section == section]))
    counts = {word: sum(item.verdict == word for item in figures) for word in COLOURS}
    barred = len(figures) - counts["shown"]
    print(
        f"{counts['held']} of {barred} figures held, {counts['missed']} missed, "
        f"{counts['skipped']} skipped; {counts['shown']} without a bar"
    )


def write_json(path: Path, title: str, figures: list[Figure]) -> None:
    """The same for machines, with what it was measured on."""
    rows = [{**asdict(item), "verdict": item.verdict, "held": item.held} for item in figures]
    found = {"benchmark": title, "machine": _machine(), "figures": rows}
    path.write_text(json.dumps(found, indent=1) + "\n")


def number(value: float, unit: str) -> str:
    """A number with its unit, as short as it can be told."""
    if value == int(value) or abs(value) >= 1000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"
    return f"{text} {unit}".strip()


def _table(heading: str, figures: list[Figure]) -> Table:
    table = Table(title=heading)
    for column in ("figure", "measured", "bar", "", "note"):
        table.add_column(column, justify="right" if column == "measured" else "left")
    for item in figures:
        measured = "-" if item.measured is None else number(item.measured, item.unit)
        bar = "" if item.bar is None else f"{item.direction} {number(item.bar, item.unit)}"
        verdict = f"[{COLOURS[item.verdict]}]{item.verdict}[/]"
        table.add_row(item.name, measured, bar, verdict, item.note)
    return table


def _machine() -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        **{name: metadata.version(name) for name in ("numpy", "numba")},
    }


def say(what: str) -> None:
    """Show that a long run goes on, and where it is."""
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)
