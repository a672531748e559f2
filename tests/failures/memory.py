"""Memory that ends at any allocation: `python -m tests.failures.memory --failures 5000 --seed 7`.

A graph with programs and queries takes random acts: advances of every kind, rollbacks, compactions,
checkpoints, new programs and queries, budgets, reads. In one of them an allocation fails that the
seed names, and the next few with it. Then memory is there again, and the graph must either refuse
every call, and be whole on disk where it is a live one, or be at the version before (behind the
act, where that was said to be done), with results that are those of plain Python; and so it must be
after more advances, a rollback, a compaction and another start.

Every graph lives in a process of its own, forked from one that has loaded all kernels. With
NUMBA_BOUNDSCHECK=1 and a GRAPHTIDE_CACHE of its own, indices are checked as well.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

import graphtide as gt
from graphtide.model.errors import GraphtideError, InputError, UnusableError
from tests.failures import allocations
from tests.failures.processes import forked
from tests.oracle import algorithms as plain
from tests.oracle.walk_algorithms import triangles

Row = tuple[Any, Any, float, str]
Act = tuple[str, Any]

VERTICES = 14
ROWS = 40
AFTER = 2
"""So many acts come behind the one in which memory ends."""


@dataclass(frozen=True)
class State:
    """What a graph must hold: plain Python, and nothing of the product."""

    rows: tuple[Row, ...]
    vertices: tuple[Any, ...]
    undo: tuple[tuple[tuple[Row, ...], tuple[Any, ...]], ...] = field(default=(), compare=False)

    def advanced(self, insert: list[Row], delete: list[Row]) -> State:
        rows = list(self.rows)
        for row in delete:
            rows.remove(row)
        ends = [end for row in insert for end in row[:2]]
        vertices = tuple(dict.fromkeys((*self.vertices, *ends)))
        return State((*rows, *insert), vertices, (*self.undo, (self.rows, self.vertices)))

    def rolled_back(self, *, live: bool) -> State:
        rows, vertices = self.undo[-1]
        return State(rows, self.vertices if live else vertices, self.undo[:-1])


@dataclass(frozen=True)
class Life:
    """A graph, what follows it, and its acts, of which one meets with failures."""

    live: bool
    texts: bool
    start: State
    programs: tuple[str, ...]
    queries: tuple[str, ...]
    acts: tuple[Act, ...]
    armed: int


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "distances": lambda id_: gt.algorithms.ShortestPaths(source=id_(0)),
    "components": lambda id_: gt.algorithms.WCC(),
    "rank": lambda id_: gt.algorithms.PageRank(iterations=4),
    "settled": lambda id_: gt.algorithms.ConvergedPageRank(tolerance=1e-3),
    "triangles": lambda id_: gt.algorithms.Triangles(),
    "strong": lambda id_: gt.algorithms.SCC(),
}
QUERIES: dict[str, Callable[[Any], Any]] = {
    "near": lambda id_: gt.queries.Hops(id_(0), 3),
    "reach": lambda id_: gt.queries.Reach(id_(1)),
    "pair": lambda id_: gt.queries.Path(id_(0), id_(3), weight="weight"),
}


def random_life(pick: random.Random, *, bare: bool = False) -> Life:
    """A graph and acts, the last but `AFTER` of which is the one that meets with failures.

    A `bare` one has neither programs nor queries, and so few kernels to load.
    """
    live, texts = pick.random() < 0.5, pick.random() < 0.4
    names = [str(at) if texts else at * (3 if pick.random() < 0.5 else 1) for at in range(400)]
    rows = tuple(_random_row(pick, names, VERTICES) for _ in range(ROWS))
    ends = tuple(dict.fromkeys((*names[:4], *(end for row in rows for end in row[:2]))))
    start = state = State(rows, ends)
    some = pick.sample(sorted(PROGRAMS), 0 if bare else pick.choice([0, 1, 2, 3]))
    asked = pick.sample(sorted(QUERIES), 0 if bare else pick.choice([0, 0, 1, 3]))
    acts: list[Act] = []
    count = pick.randrange(3)
    for number in range(count + 1 + AFTER):
        kind = "advance"
        if number == count:
            kinds = ["advance"] * 4 + ["grow"] * 3 + ["rollback"] * 2 + ["compact", "read"]
            kinds += ["many", "checkpoint"]
            kinds += [] if bare else ["maintain", "query", "budget", "run"]
            kind = pick.choice(kinds)
        if kind == "rollback" and not state.undo:
            kind = "grow"
        act, state = _random_act(pick, kind, state, names, live)
        acts.append(act)
    return Life(live, texts, start, tuple(some), tuple(asked), tuple(acts), count)


def _random_act(
    pick: random.Random, kind: str, state: State, names: list[Any], live: bool
) -> tuple[Act, State]:
    if kind in ("advance", "grow"):
        batch = _random_batch(pick, state, names, large=kind == "grow")
        return ("advance", batch), state.advanced(*batch)
    if kind == "many":
        batches = []
        for _ in range(3):
            batches.append(_random_batch(pick, state, names, large=False))
            state = state.advanced(*batches[-1])
        return ("many", batches), state
    if kind == "rollback":
        return ("rollback", None), state.rolled_back(live=live)
    if kind == "maintain":
        return ("maintain", pick.choice(sorted(PROGRAMS))), state
    if kind == "query":
        return ("query", pick.choice(sorted(QUERIES))), state
    if kind in ("compact", "checkpoint"):
        state = replace(state, undo=())
    return (kind, None), state


def _random_row(pick: random.Random, names: list[Any], most: int) -> Row:
    ends = names[pick.randrange(most)], names[pick.randrange(most)]
    return (*ends, pick.randrange(1, 5) / 2, pick.choice("abc"))


def _random_batch(
    pick: random.Random, state: State, names: list[Any], *, large: bool
) -> tuple[list[Row], list[Row]]:
    delete = pick.sample(state.rows, min(len(state.rows), pick.randrange(6)))
    count, most = (pick.choice([100, 300]), 400) if large else (pick.randrange(6), VERTICES + 2)
    return [_random_row(pick, names, most) for _ in range(count)], delete


class Held:
    """A graph and what a user holds of it."""

    def __init__(self, life: Life, folder: Path) -> None:
        self.life, self.folder = life, folder / "graph"
        names = ("src", "dst", "weight", "kind")
        table = pa.table(dict(zip(names, zip(*life.start.rows, strict=True), strict=True)))
        self.graph: Any = gt.Graph.from_frame(table, vertices=list(life.start.vertices))
        if life.live:
            self.graph = gt.live(self.folder, self.graph)
        self.programs: dict[str, Any] = {}
        for name in life.programs:
            self.maintain(name)
        for name in life.queries:
            self.graph.query(name, QUERIES[name](self.id))

    def id(self, number: int) -> Any:
        """One of the vertices that are there from the beginning."""
        return self.life.start.vertices[number]

    def maintain(self, name: str) -> None:
        if name not in self.programs:
            made = PROGRAMS[name](self.id)
            of = self.graph
            done = of.register(name, made) if self.life.live else of.maintain(made)
            self.programs[name] = done

    def carry_out(self, act: Act) -> None:
        """Do it on the graph."""
        graph = self.graph
        match act:
            case ("advance", (insert, delete)):
                graph.advance(insert=insert, delete=delete)
            case ("many", batches) if self.life.live:
                graph.advance_all([{"insert": come, "delete": gone} for come, gone in batches])
            case ("many", batches):
                for come, gone in batches:
                    graph.advance(insert=come, delete=gone)
            case ("rollback", _):
                graph.rollback()
            case ("compact", _):
                graph.compact()
            case ("checkpoint", _):
                graph.checkpoint() if self.life.live else graph.forget()
            case ("maintain", name):
                self.maintain(name)
            case ("query", name):
                if name not in graph.queries:
                    graph.query(name, QUERIES[name](self.id))
            case ("budget", _):
                graph.set_budget(200_000)
            case ("run", _):
                graph.run(gt.algorithms.WCC).table()
            case ("read", _):
                graph.edges(), graph.vertices()
                for query in graph.queries.values():
                    query.table()
                for live in self.programs.values():
                    live.table(), live.verify()

    def check(self, allowed: list[State], *, whole: bool = False) -> State:
        """The state that the graph is in, of those allowed; all results are those of plain Python.

        Programs may have ended where memory did; not any more where the graph is `whole`.
        """
        table, graph = self.graph.edges(), self.graph
        names = ("src", "dst", "weight", "kind")
        rows = Counter(zip(*(table[name].to_pylist() for name in names), strict=True))
        ids = graph.vertices()["id"].to_pylist()
        assert len(ids) == len(set(ids)), "an id is there twice"
        found = [item for item in allowed if Counter(item.rows) == rows and self._has(item, ids)]
        assert found, f"{len(ids)} vertices, {rows - Counter(allowed[0].rows)} too many, " + (
            f"{Counter(allowed[0].rows) - rows} too few; allowed {len(allowed)}"
        )
        place = {id_: at for at, id_ in enumerate(ids)}
        edges = [(place[src], place[dst], weight) for src, dst, weight, _ in found[0].rows]
        for name, live in self.programs.items():
            try:
                results = live.table()
            except InputError:
                assert not whole, f"{name} has ended"
                continue
            assert results["id"].to_pylist() == ids
            self._check_program(name, results.to_pydict(), place[self.id(0)], len(ids), edges)
            live.verify()
        if self.life.live:
            graph.verify()
        for name, query in graph.queries.items():
            self._check_query(name, query, place, edges)
            query.verify()
        return found[0]

    def _has(self, state: State, ids: list[Any]) -> bool:
        if not self.life.live:
            return set(ids) == set(state.vertices)
        ends = {end for row in state.rows for end in row[:2]}
        return ends <= set(ids) <= set(state.vertices)

    def _check_program(
        self, name: str, found: dict[str, list[Any]], source: int, count: int, edges: Any
    ) -> None:
        if name == "distances":
            told = [math.inf if item is None else item for item in found["dist"]]
            assert told == plain.bellman_ford(count, edges, [source])["dist"], name
        elif name == "components":
            expected = plain.components(count, edges)["component"]
            assert _groups(found["component"]) == _groups(expected), name
        elif name == "strong":
            reached = [plain.breadth_first(count, edges, [at]) for at in range(count)]
            expected = [
                min(o for o in range(count) if reached[o][at] < math.inf > reached[at][o])
                for at in range(count)
            ]
            assert _groups(found["component"]) == _groups(expected), name
        elif name == "triangles":
            assert found["triangles"] == list(triangles(count, edges)["triangles"]), name
        elif name == "rank":
            expected = plain.page_rank(count, edges, 0.85, 4)["rank"]
            assert all(abs(a - b) < 1e-9 * b for a, b in zip(found["rank"], expected, strict=True))
        else:
            expected = plain.converged_page_rank(count, edges, 0.85, 1e-3)["rank"]
            assert all(
                abs(a - b) < 1.1e-3 * b for a, b in zip(found["rank"], expected, strict=True)
            ), (found, expected)

    def _check_query(self, name: str, query: Any, place: dict[Any, int], edges: Any) -> None:
        table, count, ids = query.table(), len(place), list(place)
        if name == "pair":
            best = plain.bellman_ford(count, edges, [place[self.id(0)]])["dist"]
            expected = best[place[self.id(3)]]
            told = table["distance"].to_pylist()[0]
            assert (math.inf if told is None else told) == expected, (name, told, expected)
            return
        start, most = (0, 3) if name == "near" else (1, math.inf)
        hops = plain.breadth_first(count, edges, [place[self.id(start)]])
        expected = {ids[at] for at in range(count) if hops[at] <= min(most, count)}
        assert set(table["id"].to_pylist()) == expected, name

    def check_refuses(self) -> None:
        """Nothing is shown and nothing is stored."""
        graph = self.graph
        calls = [graph.edges, graph.vertices, graph.compact, graph.rollback, graph._snapshot]
        calls += [lambda: graph.advance(insert=[]), lambda: graph.version, lambda: graph.queries]
        calls += [live.table for live in self.programs.values()]
        if self.life.live:
            calls.append(graph.checkpoint)
        for call in calls:
            try:
                call()
            except UnusableError:
                continue
            raise AssertionError(f"{call} is not refused")

    def reopen(self) -> None:
        """Open the live graph again, with all that is registered."""
        self.graph.close()
        self.graph = gt.live(self.folder)
        self.programs = {name: self.graph.program(name) for name in self.graph.registered()}


def _groups(names: list[Any]) -> list[int]:
    return [names.index(item) for item in names]


def live_and_fail(life: Life, folder: Path, first: int, last: int, least: int) -> dict[str, Any]:
    """Let an act meet with failures, and look at what is left; what there is to tell."""
    held, state = Held(life, folder), life.start
    for act in life.acts[: life.armed]:
        held.carry_out(act)
        state = after(life, state, act)[-1]
    held.check([state], whole=True)
    allocations.replace_allocators()
    act = life.acts[life.armed]
    error = allocations.call_failing(lambda: held.carry_out(act), first, last, least)
    told = {"seen": int(allocations.STATE[allocations.SEEN]), "act": act[0]}
    told["failed"] = int(allocations.STATE[allocations.FAILED])
    told["ended"] = "done" if error is None else type(error).__name__
    if error is not None and not isinstance(error, MemoryError | GraphtideError):
        told["foreign"] = repr(error)
    states = after(life, state, act)
    if held.graph._turns.unusable:
        told["left"] = "unusable"
        held.check_refuses()
        if not life.live:
            return told
        held.reopen()
        state = held.check([states[-1]] if error is None else [state, *states])
    else:
        told["left"] = "usable"
        state = held.check([states[-1]] if error is None else [state, *states])
    if error is not None and state is states[-1] and act[0] in ("advance", "many", "rollback"):
        told["late"] = True
    go_on(held, state, life)
    return told


def after(life: Life, state: State, act: Act) -> list[State]:
    """The states behind each part of an act."""
    if act[0] == "advance":
        return [state.advanced(*act[1])]
    if act[0] == "many":
        states = []
        for batch in act[1]:
            state = state.advanced(*batch)
            states.append(state)
        return states
    if act[0] == "rollback":
        return [state.rolled_back(live=life.live)]
    return [state]


def go_on(held: Held, state: State, life: Life) -> None:
    """More of everything, with memory."""
    live, pick = life.live, random.Random(str(life))
    kinds = type(state.vertices[0])
    for _ in range(AFTER):
        names = [*state.vertices, *(kinds(at) for at in range(5_000, 5_020))]
        batch = _random_batch(pick, state, names, large=False)
        held.carry_out(("advance", batch))
        state = held.check([state.advanced(*batch)])
    held.graph.rollback()
    state = held.check([state.rolled_back(live=live)])
    held.graph.compact()
    state = held.check([state])
    if live:
        held.reopen()
        held.check([state], whole=True)
        held.graph.close()


def fail(life: Life, first: int, last: int, least: int) -> dict[str, Any]:
    """One life in a process of its own; what it told, or how it went wrong."""
    folder = Path(tempfile.mkdtemp(prefix="memory-"))

    def work(say: Callable[[str], None]) -> None:
        say("\n" + json.dumps(live_and_fail(life, folder, first, last, least)))

    ended, said = forked(work)
    if ended == 0:
        shutil.rmtree(folder)
        told: dict[str, Any] = json.loads(said.splitlines()[-1])
        return told
    if ended < 0 and life.live:  # The interpreter gave up; what is on disk must be whole.
        ended_again, said_again = forked(lambda _: look_again(life, folder))
        if ended_again:
            return {"wrong": said_again, "died": ended}
    shutil.rmtree(folder)
    return {"wrong": said} if ended > 0 else {"died": ended}


def look_again(life: Life, folder: Path) -> None:
    """The live graph of a process that has died: before the act, or behind a part of it."""
    state = life.start
    for act in life.acts[: life.armed]:
        state = after(life, state, act)[-1]
    held = Held.__new__(Held)
    held.life, held.folder = life, folder / "graph"
    held.graph = gt.live(held.folder)
    held.programs = {name: held.graph.program(name) for name in held.graph.registered()}
    held.check([state, *after(life, state, life.acts[life.armed])], whole=True)


def warm_up(*, bare: bool) -> None:
    """Load what all lives need, so that each process has it."""
    for seed in range(3):
        life = random_life(random.Random(f"warm {seed}"), bare=bare)
        if not bare:
            life = replace(life, programs=tuple(sorted(PROGRAMS)), queries=tuple(sorted(QUERIES)))
        with tempfile.TemporaryDirectory() as name:
            held, state = Held(life, Path(name)), life.start
            for act in life.acts:
                held.carry_out(act)
                state = after(life, state, act)[-1]
            held.check([state], whole=True)
            go_on(held, state, life)


def campaign(failures: int, seed: int, minutes: float = 1e9, *, bare: bool = False) -> Counter[str]:
    """Let memory end so often; what became of it. AssertionError at the first wrong state."""
    warm_up(bare=bare)
    began, tally, number = time.monotonic(), Counter[str](), 0
    while tally["failures"] < failures and time.monotonic() - began < 60 * minutes:
        pick = random.Random(f"{seed}:{number}")
        life = random_life(pick, bare=bare)
        for least in (0, 300, 2000):
            seen = _told(fail(life, 10**12, 10**12, least), f"{seed}:{number}").get("seen", 0)
            for _ in range(min(seen, 4)):
                first = pick.randrange(seen) + 1
                last = first + pick.choice([0, 0, 2, 40])
                where = f"seed {seed}:{number}, allocations {first} to {last} from {least} bytes"
                told = _told(fail(life, first, last, least), f"{where}, {life.acts[life.armed][0]}")
                tally["failures"] += 1
                for name in ("died", "foreign", "late"):
                    tally[name] += name in told
                tally[told.get("left", "died")] += 1
                if "ended" in told:
                    tally[told["ended"]] += 1
        number += 1
        print(f"{number} graphs, {dict(tally)}", flush=True)
    return tally


def _told(told: dict[str, Any], where: str) -> dict[str, Any]:
    assert "wrong" not in told, f"{where}: {told['wrong']}"
    return told


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--failures", type=int, default=5000)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    parser.add_argument("--bare", action="store_true", help="graphs without programs and queries")
    given = parser.parse_args()
    began = time.monotonic()
    tally = campaign(given.failures, given.seed, given.minutes, bare=given.bare)
    took = time.monotonic() - began
    print(f"seed {given.seed}: {dict(tally)} in {took:.0f} s, 0 wrong")


if __name__ == "__main__":
    main()
