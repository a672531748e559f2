"""Program analysis by rules: `python -m bench rules --part analysis`.

The facts are SQLite's, 250,000 lines of C: cargo brings the source (the crate libsqlite3-sys),
libclang reads it, and the table is kept in the cache folder. The programs are those of
`examples/analysis`. Aliases are compared with those that ascent finds, where it is built, and with
the same rules by hand. A quick run takes made-up facts. Seconds are of the processor.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import graphtide as gt
from bench.figures import Figure
from bench.peers import AbsentError
from bench.peers.rules import find_peer, measure
from bench.rules_sharing import Columns, apart, first_run, shared
from bench.timing import seconds_of, without_collector
from examples.analysis import RULES, rules_table
from examples.analysis.facts import edge_table
from graphtide.model.errors import GraphtideError
from graphtide.model.machine import cache_root

RELEASE = "0.30.1"
PART = "sqlite3(Vdbe|Btree|Pager|Where|Expr)|vdbe|btree|pager|where|expr"
"""Functions whose facts the rules as published are run on: all of them would be too many."""
SECTION = "analysis"
Edge = tuple[int, int, str, int]
Figures = list[Figure]


def analysis_figures(*, quick: bool) -> Figures:
    """All figures of this part; skipped, with the reason, where there are no facts."""
    if quick:
        table = made_up(40)
    else:
        try:
            table = sqlite_table()
        except (ImportError, GraphtideError) as reason:
            note = f"skipped: no facts of SQLite: {str(reason).splitlines()[0]}"
            return [Figure("points-to", None, "at least", 1.2, "x", note, SECTION)]
    rounds = 3 if quick else 60
    figures = [*program_figures("nulls", "null", "warning", table, rounds, None)]
    figures += program_figures("points_restricted", "assign", "memory_alias", table, rounds, 25)
    figures += published_figures(table if quick else part_of(table))
    return [*figures, *sharing_figures(table, 1 if quick else 3, build=not quick)]


def sqlite_table() -> pa.Table:
    """The facts of SQLite, from the cache or made now; ImportError where libclang is not there."""
    folder = cache_root() / "analysis"
    kept = folder / f"sqlite-{RELEASE}.parquet"
    if not kept.is_file():
        from examples.analysis.sqlite import source, sqlite_facts

        pq.write_table(sqlite_facts(source(folder, RELEASE)), kept)
    return pq.read_table(kept)


def made_up(functions: int) -> pa.Table:
    """Facts of functions that were never written."""
    chance = np.random.default_rng(1)
    kinds = ("assign", "assign", "assign", "assign", "deref", "address", "null", "field")
    rows = []
    for number in range(functions):
        for kind in kinds:
            one, other = chance.integers(0, 5, 2).tolist()
            near = int(chance.integers(0, functions))
            rows.append((f"f{number}:{one}", f"f{near}:{other}", kind, f"f{number}", number))
    return edge_table(rows)


def part_of(table: pa.Table) -> pa.Table:
    """The facts that are written in some functions."""
    return table.filter(pc.match_substring_regex(table["function"], f"^({PART})"))


def program_figures(
    name: str, kind: str, relation: str, table: pa.Table, rounds: int, bar: float | None
) -> Figures:
    """A first run of a program, and what it takes when one fact of a kind is removed."""
    rules, first = started(name, table)
    told = f"{len(table):,} facts, {rules.size(relation):,} of {relation}"
    removed = [rows for key, rows in grouped(table).items() if key[2] == kind]
    times = []
    with without_collector():
        for at in np.random.default_rng(3).integers(0, len(removed), rounds).tolist():
            rules.delete("edge", removed[at])
            times.append(seconds_of(rules.advance))
            rules.insert("edge", removed[at])
            rules.advance()
    rules.close()
    median = 1e3 * statistics.median(times)
    late = sum(1e3 * taken > 25 for taken in times)
    note = f"greatest {1e3 * max(times):,.0f} ms; {late} of {len(times)} above 25 ms"
    removal = f"{name}, one {kind} removed"
    return [
        Figure(f"{name}, from its facts", first, "at most", None, "s", told, SECTION),
        Figure(removal, median, "at most", bar, "ms", note, SECTION),
    ]


def published_figures(table: pa.Table) -> Figures:
    """The rules as published over those that restrict, on the same facts."""
    seconds, found = {}, {}
    for name in ("points", "points_restricted"):
        rules, seconds[name] = started(name, table)
        found[name] = [rules.facts(relation) for relation in rules.outputs]
        rules.close()
    title = "points-to as published, over restricted"
    if found["points"] != found["points_restricted"]:
        return [Figure(title, None, "at least", None, "x", "skipped: answers differ", SECTION)]
    ratio = seconds["points"] / seconds["points_restricted"]
    note = f"{len(table):,} facts; {seconds['points']:.2f} and {seconds['points_restricted']:.2f} s"
    return [Figure(title, ratio, "at least", None, "x", note, SECTION)]


def sharing_figures(table: pa.Table, rounds: int, *, build: bool) -> Figures:
    """Arrangements of one's own over shared ones, with the answer that ascent has."""
    assign, deref = pairs_of(table, "assign"), pairs_of(table, "deref", "address")
    ways = {"shared": shared, "apart": apart}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    held: dict[str, int] = {}
    answers = set()
    with without_collector():
        for _ in range(rounds):
            for name, use in ways.items():
                taken, pairs, held[name] = first_run(assign, deref, use)
                seconds[name].append(taken)
                answers.add(pairs)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    title = "points-to without sharing, over with"
    if len(answers) != 1:
        return [Figure(title, None, "at least", 1.2, "x", "skipped: answers differ", SECTION)]
    note = f"{medians['apart']:.1f} and {medians['shared']:.1f} s; {answers.copy().pop():,} aliases"
    rows = held["apart"] / held["shared"]
    counted = f"{held['apart']:,} and {held['shared']:,} rows held"
    return [
        Figure(title, medians["apart"] / medians["shared"], "at least", 1.2, "x", note, SECTION),
        Figure(f"{title}, rows", rows, "at least", None, "x", counted, SECTION),
        beside_ascent(assign, deref, answers.pop(), medians["shared"], build=build),
    ]


def beside_ascent(
    assign: Columns, deref: Columns, pairs: int, seconds: float, *, build: bool
) -> Figure:
    """What we take to keep aliases current, over what ascent takes to find them once."""
    title = "points-to kept current, over ascent once"
    try:
        peer: Path = find_peer(build=build)
        kinds = [(assign, 0), (deref, 1)]
        edges = [
            (*row, k) for side, k in kinds for row in zip(*map(list, side.values()), strict=True)
        ]
        outcome = measure(peer, "ascent", "aliases", edges)
    except AbsentError as reason:
        return Figure(title, None, "at most", None, "x", str(reason), SECTION)
    if outcome.results[0] != pairs:
        return Figure(title, None, "at most", None, "x", "skipped: answers differ", SECTION)
    note = f"{seconds:.1f} and {outcome.first_processor_seconds:.1f} s"
    ratio = seconds / outcome.first_processor_seconds
    return Figure(title, ratio, "at most", None, "x", note, SECTION)


def started(name: str, table: pa.Table) -> tuple[gt.Datalog, float]:
    """A program with its facts, and the seconds of its first run."""
    rules = gt.datalog(RULES / f"{name}.dl")
    rules.insert("edge", rules_table(table))
    return rules, seconds_of(rules.advance)


def grouped(table: pa.Table) -> dict[tuple[int, int, str], list[Edge]]:
    """The facts of each two expressions and kind: they are the same on several lines."""
    given = rules_table(table)
    rows: Any = zip(*(np.asarray(column).tolist() for column in given.values()), strict=True)
    found: dict[tuple[int, int, str], list[Edge]] = {}
    for row in rows:
        found.setdefault(row[:3], []).append(row)
    return found


def pairs_of(table: pa.Table, *kinds: str) -> Columns:
    """The edges of some kinds, each once."""
    given = rules_table(table)
    chosen = np.isin(np.array(given["kind"]), kinds)
    pairs = np.unique(np.stack([given["u"][chosen], given["v"][chosen]], axis=1), axis=0)
    return {"x": pairs[:, 0].copy(), "y": pairs[:, 1].copy()}
