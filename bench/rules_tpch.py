"""TPC-H maintained: every answer equals duckdb's at first and after every batch.

`--part tpch` runs six queries at scale 1 beside Differential Dataflow, a Rust program of ours
(`bench/peers/relational`), on the same rows; `--part tpch-all` runs all 22 by themselves. The data,
the query texts and the answers come from duckdb 1.1.3, run by a Python of its own that the variable
GRAPHTIDE_DUCKDB names; without it there are no figures. GRAPHTIDE_TPCH_SCALE is another scale.

Each query has a dataflow of its own. A batch is timed from handing its rows over, as columns of
Arrow in memory, to having its changes; the peer's from handing over rows that it has in memory.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from bench.figures import Figure
from bench.peers import AbsentError, relational
from bench.rules_tpch_trial import Batches, Trial, few_rows
from examples.tpch import QUERIES

PYTHON = "GRAPHTIDE_DUCKDB"
SCALE = "GRAPHTIDE_TPCH_SCALE"
MAKER = Path(__file__).with_name("rules_tpch_peer.py")
LARGE, SMALL = 3, 40
SECTION = "TPC-H"


def tpch_figures(*, quick: bool) -> Iterator[Figure]:
    """Six queries beside Differential Dataflow: right answers, large batches and small ones."""
    yield from _figures(relational.QUERIES, quick=quick, beside=True)


def all_tpch_figures(*, quick: bool) -> Iterator[Figure]:
    """All 22 queries: right answers, and what batches take beside duckdb from scratch."""
    yield from _figures(tuple(QUERIES), quick=quick, beside=False)


def _figures(queries: tuple[int, ...], *, quick: bool, beside: bool) -> Iterator[Figure]:
    python = os.environ.get(PYTHON)
    if python is None:
        note = f"{PYTHON} does not name a Python with duckdb 1.1.3"
        yield Figure("queries equal to duckdb's", None, "at least", len(queries), "", note, SECTION)
        return
    scale = "0.01" if quick else os.environ.get(SCALE, "1")
    small = 4 if quick else SMALL
    with tempfile.TemporaryDirectory(prefix="graphtide-tpch-") as name:
        folder = Path(name)
        _make(python, folder, scale, small, queries)
        batches = Batches(folder, LARGE + small)
        answers = json.loads((folder / "answers.json").read_text())
        peer = _peer(batches, build=not quick) if beside else "no peer"
        trials = {}
        outcomes = {}
        for number in queries:
            trials[number] = trial = Trial(number, batches)
            wanted = [state[str(number)] for state in answers]
            trial.compare([rows for _, rows in wanted], same_rows)
            trial.scratch = [seconds for seconds, _ in wanted]
            if isinstance(peer, Path):
                outcomes[number] = _measured(peer, number, folder, batches.count, wanted)
            print(f"Q{number}: {_told(trial, outcomes.get(number))}", flush=True)
    yield _right(scale, trials, outcomes)
    for number, trial in trials.items():
        if beside:
            yield from _compared(number, trial, outcomes.get(number, str(peer)))
        else:
            yield _alone(number, trial)


def _make(python: str, folder: Path, scale: str, small: int, queries: Iterable[int]) -> None:
    """Let duckdb write tables, batches and answers."""
    listed = ",".join(map(str, queries))
    command = [python, str(MAKER), str(folder), scale, str(small), listed]
    plain = {key: item for key, item in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(command, check=True, env=plain)


def _peer(batches: Batches, *, build: bool) -> Path | str:
    """The peer, with its files beside those of duckdb; or why there is none."""
    try:
        peer = relational.find_peer(build=build)
    except AbsentError as reason:
        return str(reason)
    print("writing the rows for Differential Dataflow", flush=True)
    batches.write_rows()
    return peer


Answers = list[tuple[float, list[list[str]]]]


def _measured(
    peer: Path, number: int, folder: Path, count: int, wanted: Answers
) -> relational.Outcome | str:
    """What the peer takes for a query; or why that is not known, wrong answers included."""
    try:
        outcome = relational.measure(peer, number, folder, count)
    except AbsentError as reason:
        return str(reason)
    same = all(
        same_rows([tuple(row) for row in found], rows)
        for found, (_, rows) in zip(outcome.answers, wanted, strict=True)
    )
    return outcome if same else "Differential Dataflow answers something else"


def _right(scale: str, trials: dict[int, Trial], outcomes: dict[int, Any]) -> Figure:
    right = sum(trial.wrong == "" for trial in trials.values())
    wrong = [f"Q{number}: {trial.wrong}" for number, trial in trials.items() if trial.wrong]
    same = sum(not isinstance(item, str) for item in outcomes.values())
    if outcomes:
        wrong.append(f"{same} of {len(outcomes)} of Differential Dataflow's too")
    name = f"queries at scale {scale} equal to duckdb's after every batch"
    return Figure(name, right, "at least", len(trials), "", "; ".join(wrong), SECTION)


def _told(trial: Trial, outcome: Any) -> str:
    """One line of progress."""
    large, small = (1e3 * statistics.median(part) for part in _parts(trial.seconds))
    told = f"first {trial.seconds[0]:.2f} s, large {large:.1f} ms, small {small:.3f} ms"
    if isinstance(outcome, relational.Outcome):
        theirs = outcome.processor_seconds
        large, small = (1e3 * statistics.median(part) for part in _parts(theirs))
        told += f"; theirs {theirs[0]:.2f} s, {large:.1f} ms, {small:.3f} ms"
    return f"{told}{'; ' if trial.wrong else ''}{trial.wrong}"


def _parts(seconds: list[float]) -> tuple[list[float], list[float]]:
    """The seconds of large batches, and those of small ones."""
    return seconds[1 : 1 + LARGE], seconds[1 + LARGE :]


def _compared(number: int, trial: Trial, outcome: relational.Outcome | str) -> Iterator[Figure]:
    """The speed of large batches over the peer's, and the time of small ones over the peer's."""
    names = (
        (f"Q{number}, large batches, speed over theirs", "at least", 0.5),
        (f"Q{number}, ten rows, time over theirs", "below", 1),
    )
    if isinstance(outcome, str):
        for name, direction, bar in names:
            yield Figure(name, None, direction, bar, "x", outcome, SECTION)  # type: ignore[arg-type]
        return
    ours, theirs = _parts(trial.seconds), _parts(outcome.processor_seconds)
    rows = few_rows(trial.rows[1 : 1 + LARGE])
    speeds = [other / one for one, other in zip(ours[0], theirs[0], strict=True)]
    note = (
        f"{rows:,} rows: {_listed(ours[0])} ms, theirs {_listed(theirs[0])}; first run "
        f"{trial.seconds[0]:.2f} s, theirs {outcome.processor_seconds[0]:.2f}"
    )
    yield Figure(names[0][0], statistics.median(speeds), "at least", 0.5, "x", note, SECTION)
    one, other = (1e3 * statistics.median(part[1]) for part in (ours, theirs))
    note = f"{one:.3f} ms, theirs {other:.3f} ms"
    yield Figure(names[1][0], one / other, "below", 1, "x", note, SECTION)


def _listed(seconds: list[float]) -> str:
    return ", ".join(f"{1e3 * item:.0f}" for item in seconds)


def _alone(number: int, trial: Trial) -> Figure:
    large, small = (statistics.median(part) for part in _parts(trial.seconds))
    scratch = statistics.median(trial.scratch)
    note = (
        f"first run {trial.seconds[0]:.2f} s, a batch of {few_rows(trial.rows[1 : 1 + LARGE]):,} "
        f"rows {1e3 * large:.1f} ms, of ten {1e3 * small:.3f} ms, "
        f"duckdb from scratch {1e3 * scratch:.1f} ms"
    )
    speed = few_rows(trial.rows[1 : 1 + LARGE]) / large / 1e3
    name = f"Q{number}, rows a second in large batches"
    return Figure(name, speed, "at least", None, "thousand", note, SECTION)


def same_rows(found: list[tuple[Any, ...]], wanted: list[list[str]]) -> bool:
    """Rows in any order: numbers within a millionth of a millionth where they are not exact.

    A row of nothing but None, which a sum of no records is elsewhere, is no row.
    """
    there = [row for row in wanted if set(row) != {"None"}]
    if len(found) != len(there):
        return False
    ours = sorted(([_plain(item) for item in row] for row in found), key=_order)
    theirs = sorted(([_plain(item) for item in row] for row in there), key=_order)
    return all(
        len(a) == len(b) and all(_alike(x, y) for x, y in zip(a, b, strict=True))
        for a, b in zip(ours, theirs, strict=True)
    )


def _plain(item: Any) -> Any:
    """A value as a number where it is one, or else as a text."""
    if isinstance(item, Decimal | int | float):
        return float(item)
    try:
        return float(item)
    except (TypeError, ValueError):
        return str(item)


def _order(row: list[Any]) -> Any:
    rounded = [round(item, 2) if isinstance(item, float) else item for item in row]
    return [(isinstance(item, str), item) for item in rounded]


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
    return bool(one == other)
