"""A figure: what was measured, the bar it has to reach, and whether it does.

A figure that could not be measured is skipped with its reason, and never counts as held.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

Direction = Literal["at most", "at least", "below"]


@dataclass(frozen=True)
class Figure:
    """One line of a benchmark. `measured` is None where it was skipped, and `note` says why."""

    name: str
    measured: float | None
    direction: Direction
    bar: float
    unit: str
    note: str = ""

    @property
    def held(self) -> bool:
        """True only if it was measured and reaches the bar."""
        if self.measured is None:
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
        """held, missed or skipped."""
        if self.measured is None:
            return "skipped"
        return "held" if self.held else "missed"


def print_figures(title: str, figures: list[Figure]) -> None:
    """A table for people."""
    table = Table(title=title)
    for column in ("figure", "measured", "bar", "", "note"):
        table.add_column(column, justify="right" if column == "measured" else "left")
    colours = {"held": "green", "missed": "red", "skipped": "yellow"}
    for item in figures:
        measured = "-" if item.measured is None else number(item.measured, item.unit)
        verdict = f"[{colours[item.verdict]}]{item.verdict}[/]"
        bar = f"{item.direction} {number(item.bar, item.unit)}"
        table.add_row(item.name, measured, bar, verdict, item.note)
    Console(width=None if Console().is_terminal else 160).print(table)
    held = sum(item.held for item in figures)
    skipped = sum(item.measured is None for item in figures)
    print(f"{held} of {len(figures)} figures held, {skipped} skipped")


def write_json(path: Path, title: str, figures: list[Figure]) -> None:
    """The same for machines."""
    rows = [{**asdict(item), "verdict": item.verdict, "held": item.held} for item in figures]
    path.write_text(json.dumps({"benchmark": title, "figures": rows}, indent=1) + "\n")


def number(value: float, unit: str) -> str:
    """A number with its unit, as short as it can be told."""
    text = f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.2f}"
    return f"{text} {unit}".strip()
