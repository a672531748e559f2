"""The demo's answers in tables that need no knowledge of Graphtide."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow.compute as pc
from rich.table import Table

import graphtide as gt
from demo.questions import Answered


def connected(run: gt.Run) -> Table:
    """The groups of connected customers at the end of each year."""
    summary = run.summary().to_pylist()
    customers = len(run.values(0))
    table = Table(title="connected by a chain of calls")
    for name in ("calls until", "calls", "groups", "largest group", "without a call"):
        table.add_column(name, justify="left" if name == "calls until" else "right")
    year_ends = [row for row in summary if row["view"].endswith("-01-01")]
    for row in year_ends:
        share = f"{row['largest']:,} ({row['largest'] / customers:.0%})"
        numbers = f"{row['edges']:,}", f"{row['components']:,}", share, f"{row['single']:,}"
        table.add_row(row["view"].removeprefix("until-"), *numbers)
    return table


def central(run: gt.Run, every: int, note: str) -> Table:
    """The customers with the greatest ranks in some of the views."""
    table = Table(title=f"the most central customers, {note}")
    for name in ("calls of", "first", "second", "third"):
        table.add_column(name)
    chosen = {*run.views[every - 1 :: every], run.views[-1]}
    leaders: dict[str, list[str]] = {}
    for row in run.top(3).to_pylist():
        if row["view"] in chosen:
            leaders.setdefault(row["view"], []).append(f"{row['id']} ({row['rank']:.2f})")
    for view, names in leaders.items():
        table.add_row(view, *names)
    return table


def times(answers: Iterable[Answered]) -> Table:
    """What sharing gained, question by question."""
    table = Table(title="the same results, two ways (computation, measured just now)")
    columns = ("question", "views", "scratch", "shared", "sharing is")
    for name in columns:
        table.add_column(name, justify="left" if name == "question" else "right")
    for item in answers:
        question = item.question
        asked = f"{question.name} {question.collection}"
        took = f"{item.scratch.seconds:.2f} s", f"{item.shared.seconds:.2f} s"
        table.add_row(asked, f"{len(item.shared):,}", *took, verdict(item.gain))
    return table


def verdict(gain: float) -> str:
    """A ratio in words."""
    if gain >= 1.15:
        return f"{gain:.1f} times faster"
    return "no faster" if gain >= 0.95 else f"{1 / gain:.1f} times slower"


def chosen(run: gt.Run) -> str:
    """How the views of a run were reached, in a sentence; stepping stones are no views."""
    record = run.record()
    ways = record.filter(pc.invert(record.column("stone"))).column("strategy").to_pylist()
    scratch = ways.count("scratch")
    return f"views that shared work: {len(ways) - scratch:,}; run from scratch: {scratch:,}"
