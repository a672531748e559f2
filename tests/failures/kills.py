"""Writers of live graphs killed anywhere: `python -m tests.failures.kills --kills 1000 --seed 7`.

A writer opens a graph and takes random acts: advances of every kind, rollbacks, checkpoints,
compactions, queries, programs, a consumer of changes. It says after each that it is done, and kills
itself, by SIGKILL, at a call that the seed names: any call of a function of the product or of the
system, in any act, opening included. The next process must find the graph after the last act that
was said to be done, or after the one that was under way, whole; the answers of queries and programs
must be those of plain Python; and what the consumer was told must add up to them.

Interpreted, and every writer is forked from one process that has imported everything: some ten
kills a second. A seed repeats a failure.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import pyarrow as pa
import pyarrow.parquet as pq

import graphtide as gt
from graphtide.algorithms import WCC
from tests.failures.campaigns import command
from tests.failures.processes import forked

Row = tuple[int, int, float, str]
Act = dict[str, Any]

VERTICES = 12
START: tuple[Row, ...] = ((0, 1, 1.0, "a"), (1, 2, 0.5, "b"), (0, 1, 1.0, "a"))
LIVES = 8
"""How often one graph loses its writer before another one is begun."""


@dataclass(frozen=True)
class State:
    """What a live graph must be: plain Python, and nothing of the product."""

    rows: tuple[Row, ...]
    version: int = 0
    queries: frozenset[str] = frozenset({"near"})
    programs: frozenset[str] = frozenset()
    undo: tuple[tuple[Row, ...], ...] = field(default=(), compare=False)

    def advanced(self, rows: tuple[Row, ...]) -> State:
        return replace(self, rows=rows, version=self.version + 1, undo=(*self.undo, self.rows))

    def seen(self) -> tuple[Any, ...]:
        return Counter(self.rows), self.version, self.queries, self.programs


def random_acts(pick: random.Random, state: State, count: int) -> list[tuple[Act, list[State]]]:
    """Acts, and the states after each part of each: the last one is that after all of it."""
    acts = []
    for _ in range(count):
        act, states = _random_act(pick, state)
        acts.append((act, states))
        state = states[-1]
    return acts


def _random_act(pick: random.Random, state: State) -> tuple[Act, list[State]]:
    kinds = ["advance"] * 6 + ["advance_all", "checkpoint", "compact", "query", "program", "budget"]
    kind = pick.choice(kinds + ["rollback"] * 2 * bool(state.undo))
    if kind == "advance":
        batch, after = _random_batch(pick, state)
        return {"kind": kind, "batches": [batch]}, [after]
    if kind == "advance_all":
        batches, states = [], []
        for _ in range(pick.randrange(2, 6)):
            batch, state = _random_batch(pick, state)
            batches.append(batch)
            states.append(state)
        return {"kind": kind, "batches": batches}, states
    if kind == "rollback":
        undone = replace(
            state, rows=state.undo[-1], version=state.version + 1, undo=state.undo[:-1]
        )
        return {"kind": kind}, [undone]
    if kind in ("checkpoint", "compact"):
        return {"kind": kind}, [replace(state, undo=())]
    if kind == "budget":
        return {"kind": kind, "bytes": pick.choice([None, 1 << 20, 1 << 24])}, [state]
    if kind == "program":
        programs = state.programs ^ {"components"}
        return {"kind": kind, "on": bool(programs)}, [replace(state, programs=programs)]
    queries = state.queries ^ {"more"}
    return {"kind": kind, "on": "more" in queries}, [replace(state, queries=queries)]


def _random_batch(pick: random.Random, state: State) -> tuple[dict[str, Any], State]:
    """Rows in and out, by their whole rows; at times a vertex goes with all its edges."""
    gone = pick.sample(state.rows, min(len(state.rows), pick.randrange(4)))
    rows = list(state.rows)
    for row in gone:
        rows.remove(row)
    removed = []
    if pick.random() < 0.15:
        removed = [pick.randrange(1, VERTICES)]
        there = {end for row in state.rows for end in row[:2]}
        removed = [vertex for vertex in removed if vertex in there]
    if removed:
        gone = []
        rows = [row for row in state.rows if not {row[0], row[1]} & set(removed)]
    come = [
        (pick.randrange(VERTICES), pick.randrange(VERTICES), pick.randrange(1, 4) / 2, "ab"[at % 2])
        for at in range(pick.randrange(5))
    ]
    if removed:
        come = [row for row in come if not {row[0], row[1]} & set(removed)]
    rows += come
    batch = {"insert": come, "delete": gone, "remove": removed}
    return batch, state.advanced(tuple(rows))


def carry_out(graph: gt.LiveGraph, act: Act) -> None:
    """Do it on the graph."""
    match act["kind"]:
        case "advance":
            graph.advance(**_given(act["batches"][0]))
        case "advance_all":
            graph.advance_all([_given(batch) for batch in act["batches"]])
        case "rollback":
            graph.rollback()
        case "checkpoint":
            graph.checkpoint()
        case "compact":
            graph.compact()
        case "budget":
            graph.set_budget(act["bytes"])
        case "program" if act["on"]:
            graph.register("components", WCC)
        case "program":
            graph.unregister("components")
        case "query" if act["on"]:
            graph.query("more", gt.queries.Hops(0, 3))
        case "query":
            graph.drop_query("more")


def _given(batch: dict[str, Any]) -> dict[str, Any]:
    return {name: rows for name, rows in batch.items() if rows}


def begin(folder: Path) -> None:
    """A live graph with one query, and a consumer of its changes."""
    names = ("src", "dst", "weight", "kind")
    table = pa.table(dict(zip(names, zip(*START, strict=True), strict=True)))
    with gt.live(folder / "graph", gt.Graph.from_frame(table)) as graph:
        graph.query("near", gt.queries.Hops(0, VERTICES))
        graph.deliver("near", folder / "out", consumer="files")


def live_until_killed(
    folder: Path, acts: list[Act], armed: int, events: int, say: Callable[[str], None]
) -> None:
    """Open the graph and act; die at an event, counted from the beginning of an act on."""
    left = events

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal left
        if "/graphtide/" in frame.f_code.co_filename:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    if armed == 0:
        sys.setprofile(count)
    graph = gt.live(folder / "graph")
    graph.deliver("near", folder / "out", consumer="files")
    for number, act in enumerate(acts, 1):
        if number == armed:
            sys.setprofile(count)
        carry_out(graph, act)
        say(f"{number}\n")
    os.kill(os.getpid(), signal.SIGKILL)


def check(folder: Path, allowed: list[State]) -> State:
    """The graph is in one of the states, and all that follows it says what plain Python says."""
    with gt.live(folder / "graph") as graph:
        state = found_state(graph, allowed)
        check_told(graph, folder, state)
    return replace(state, undo=())


def found_state(graph: gt.LiveGraph, allowed: list[State]) -> State:
    """The state that a graph is in; its queries and programs answer what plain Python says."""
    found = (
        Counter(_rows_of(graph)),
        graph.version,
        frozenset(graph.queries),
        frozenset(graph.registered()),
    )
    state = next((item for item in allowed if item.seen() == found), None)
    assert state is not None, f"{found}\nis none of\n" + "\n".join(map(str, allowed))
    _check_answers(graph, state)
    graph.queries["near"].verify()
    return state


def check_told(graph: gt.LiveGraph, folder: Path, state: State) -> None:
    """What the consumer of the graph has been told of adds up to the answer."""
    graph.deliver("near", folder / "out", consumer="files")
    told = _folded(folder / "out")
    assert told == _hops(state.rows, VERTICES), (told, state)


def _rows_of(graph: gt.LiveGraph) -> list[Row]:
    table = graph.edges()
    columns = (table.column(name).to_pylist() for name in ("src", "dst", "weight", "kind"))
    return list(zip(*columns, strict=True))


def _check_answers(graph: gt.LiveGraph, state: State) -> None:
    for name, hops in (("near", VERTICES), ("more", 3)):
        if name in state.queries:
            table = graph.queries[name].table()
            answer = dict(zip(table["id"].to_pylist(), table.column(1).to_pylist(), strict=True))
            assert answer == _hops(state.rows, hops), (name, answer, state)
    if "components" in state.programs:
        table = graph.program("components").table()
        groups: dict[Any, set[int]] = {}
        for vertex, name in zip(
            table["id"].to_pylist(), table["component"].to_pylist(), strict=True
        ):
            groups.setdefault(name, set()).add(vertex)
        ids = {vertex for group in groups.values() for vertex in group}
        assert sorted(map(sorted, groups.values())) == _components(state.rows, ids)


def _hops(rows: tuple[Row, ...], most: int) -> dict[int, int]:
    reached, frontier = {0: 0}, [0]
    for hop in range(1, most + 1):
        following = []
        for src, dst, *_ in rows:
            if src in frontier and dst not in reached:
                reached[dst] = hop
                following.append(dst)
        frontier = following
    return reached


def _components(rows: tuple[Row, ...], ids: set[int]) -> list[list[int]]:
    groups = {vertex: {vertex} for vertex in ids}
    for src, dst, *_ in rows:
        joined = groups[src] | groups[dst]
        for vertex in joined:
            groups[vertex] = joined
    return sorted(map(list, {tuple(sorted(group)) for group in groups.values()}))


def _folded(folder: Path) -> dict[int, int]:
    """What a consumer holds that has followed all changes since the graph began."""
    held = _hops(START, VERTICES)
    for path in sorted(folder.glob("*.parquet")):
        for row in pq.read_table(path).to_pylist():
            assert held.get(row["id"]) == row["old"], (path, row, held)
            if row["new"] is None:
                held.pop(row["id"], None)
            else:
                held[row["id"]] = row["new"]
    return held


def run_kill(folder: Path, state: State, pick: random.Random) -> State:
    """Let a writer live and die, and the next one look."""
    acts = random_acts(pick, state, pick.randrange(1, 7))
    armed, events = pick.randrange(len(acts) + 1), int(2 ** pick.uniform(0, 14))
    plain = [act for act, _ in acts]
    ended, said = forked(lambda say: live_until_killed(folder, plain, armed, events, say))
    assert ended == -signal.SIGKILL, said
    done = len(said.split())
    allowed = [state, *(states[-1] for _, states in acts[:done])][-1:]
    if done < len(acts):
        allowed += acts[done][1]

    def look(say: Callable[[str], None]) -> None:
        found = check(folder, allowed)
        say(json.dumps(allowed.index(next(s for s in allowed if s.seen() == found.seen()))))

    ended, said = forked(look)
    assert ended == 0, f"acts: {plain}\narmed at act {armed}, event {events}, {done} done\n{said}"
    return replace(allowed[int(said)], undo=())


@cache
def warm_up() -> None:
    """Import and make everything that the writers to come would each import and make."""
    with tempfile.TemporaryDirectory() as name:
        folder, pick, state = Path(name), random.Random(0), State(START)
        begin(folder)
        with gt.live(folder / "graph") as graph:
            graph.deliver("near", folder / "out", consumer="files")
            for act, states in random_acts(pick, state, 40):
                carry_out(graph, act)
                state = states[-1]
        check(folder, [state])


def campaign(kills: int, seed: int, minutes: float = 1e9) -> str:
    """Kill so many writers. Raises what the first wrong one shows."""
    warm_up()
    began, killed = time.monotonic(), 0
    while killed < kills and time.monotonic() - began < 60 * minutes:
        folder = Path(tempfile.mkdtemp(prefix="kills-"))
        pick = random.Random(f"{seed}:{killed}")
        state = State(START)
        ended, said = forked(lambda _: begin(folder))  # noqa: B023
        assert ended == 0, said
        for _ in range(min(LIVES, kills - killed)):
            try:
                state = run_kill(folder, state, pick)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, kill {killed} in {folder}: {error}") from error
            killed += 1
        shutil.rmtree(folder)
    return f"{killed:,} writers killed"


def main() -> None:
    """The command."""
    command(__doc__, "kills", campaign)


if __name__ == "__main__":
    main()
