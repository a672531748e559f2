"""Memory that ends at any allocation: `python -m tests.failures.memory --failures 5000 --seed 7`.

A small graph with programs and queries takes random acts: advances of every kind, rollbacks,
compactions, checkpoints, new programs and queries, budgets, reads. In most of them an allocation
fails, and sometimes the next few with it. Then memory is there again, and the graph must either
refuse every call, and be whole on disk where it is a live one, or be at the version before (behind
the act, where that was said to be done), with results that are those of plain Python. It goes on
with the next act; where it refuses, a live graph is opened again and another one is made again.

Every graph lives in a process of its own, forked from one that has loaded all kernels. A seed and
the number of a graph are the same acts and the same failures: `--only` takes the number. With
NUMBA_BOUNDSCHECK=1 and a GRAPHTIDE_CACHE of its own, indices are checked as well.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import math
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

import graphtide as gt
from graphtide.engine import growing, resident
from graphtide.model.errors import GraphtideError, InputError, UnusableError
from tests.failures import allocations
from tests.failures.processes import forked
from tests.oracle import algorithms as plain
from tests.oracle.walk_algorithms import triangles

Row = tuple[Any, Any, float, str]
Act = tuple[str, Any]

VERTICES = 8
MOST = 40
ROWS = 10
STEPS = 30
SIZES = (0, 0, 300, 2000)
"""Failures are among allocations of so many bytes at least."""
LATER = 10**12
_ARROW_CHECK = re.compile(r"/arrow/.*Check failed.*\n.*Out of memory")


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
    """A graph, and what follows it."""

    live: bool
    texts: bool
    start: State
    programs: tuple[str, ...]
    queries: tuple[str, ...]


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


def random_life(pick: random.Random) -> Life:
    """A graph, and what follows it."""
    live, texts = pick.random() < 0.5, pick.random() < 0.4
    names = _names(texts)
    rows = tuple(_random_row(pick, names, VERTICES) for _ in range(ROWS))
    ends = tuple(dict.fromkeys((*names[:4], *(end for row in rows for end in row[:2]))))
    programs = pick.sample(sorted(PROGRAMS), pick.choice([0, 1, 2]))
    queries = pick.sample(sorted(QUERIES), pick.choice([0, 0, 1, 2]))
    return Life(live, texts, State(rows, ends), tuple(programs), tuple(queries))


def _names(texts: bool) -> list[Any]:
    return [f"n{at}" if texts else 3 * at for at in range(MOST)]


def random_act(pick: random.Random, life: Life, state: State) -> Act:
    """What may be done next."""
    kinds = ["advance"] * 4 + ["grow"] * 3 + ["rollback"] * 2 + ["compact", "read", "many"]
    kinds += ["checkpoint", "maintain", "query", "budget", "run"]
    kind, names = pick.choice(kinds), _names(life.texts)
    if kind in ("advance", "grow") or (kind == "rollback" and not state.undo):
        return "advance", _random_batch(pick, state, names, large=kind == "grow")
    if kind == "many":
        batches = []
        for _ in range(3):
            batches.append(_random_batch(pick, state, names, large=False))
            state = state.advanced(*batches[-1])
        return kind, batches
    named = {"maintain": PROGRAMS, "query": QUERIES}.get(kind)
    return kind, pick.choice(sorted(named)) if named else None


def _random_row(pick: random.Random, names: list[Any], most: int) -> Row:
    ends = names[pick.randrange(most)], names[pick.randrange(most)]
    return (*ends, pick.randrange(1, 5) / 2, pick.choice("abc"))


def _random_batch(
    pick: random.Random, state: State, names: list[Any], *, large: bool
) -> tuple[list[Row], list[Row]]:
    delete = pick.sample(state.rows, min(len(state.rows), pick.randrange(6)))
    count, most = (pick.choice([8, 24]), MOST) if large else (pick.randrange(6), VERTICES + 2)
    return [_random_row(pick, names, most) for _ in range(count)], delete


class Held:
    """A graph and what a user holds of it."""

    def __init__(self, life: Life, folder: Path, state: State) -> None:
        self.life, self.folder = life, folder
        columns = zip(*state.rows, strict=True) if state.rows else [[]] * 4
        made = {
            name: pa.array(values, type_)
            for (name, type_), values in zip(self._types().items(), columns, strict=True)
        }
        self.graph: Any = gt.Graph.from_frame(pa.table(made), vertices=list(state.vertices))
        if life.live:
            self.graph = gt.live(folder / "graph", self.graph)
        self.programs: dict[str, Any] = {}
        for name in life.programs:
            self.maintain(name)
        for name in life.queries:
            self.graph.query(name, QUERIES[name](self.id))

    def _types(self) -> dict[str, pa.DataType]:
        ids = pa.string() if self.life.texts else pa.int64()
        return {"src": ids, "dst": ids, "weight": pa.float64(), "kind": pa.string()}

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

    def ended(self) -> list[str]:
        """The programs that have ended."""
        ended = []
        for name, live in self.programs.items():
            try:
                live.table()
            except InputError:
                ended.append(name)
        return ended

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
        self.graph = gt.live(self.folder / "graph")
        self.programs = {name: self.graph.program(name) for name in self.graph.registered()}


def _groups(names: list[Any]) -> list[int]:
    return [names.index(item) for item in names]


def after(life: Life, state: State, act: Act) -> list[State]:
    """The states behind each part of an act."""
    match act:
        case ("advance", batch):
            return [state.advanced(*batch)]
        case ("many", batches):
            states = []
            for batch in batches:
                state = state.advanced(*batch)
                states.append(state)
            return states
        case ("rollback", _):
            return [state.rolled_back(live=life.live)]
        case ("compact" | "checkpoint", _):
            return [replace(state, undo=())]
    return [state]


class Campaign:
    """Failures of one seed, and how many allocations an act of each kind took so far."""

    def __init__(self, seed: int, sizes: Sequence[int]) -> None:
        self._seed, self._sizes = seed, sizes
        self._took: dict[tuple[str, int], int] = {}

    def warm_up(self) -> None:
        """Load what all lives need, so that each process has it."""
        allocations.replace_allocators()
        for module in (growing, resident):  # Arrays grow often.
            vars(module)["with_spare"] = lambda count: count + 2
        every: list[Act] = [(kind, None) for kind in ("read", "compact", "checkpoint", "budget")]
        every += [("run", None), *(("query", name) for name in QUERIES)]
        for live, texts in itertools.product([False, True], repeat=2):
            pick = random.Random("warm")
            life = replace(random_life(pick), live=live, programs=tuple(PROGRAMS))
            while life.texts != texts:
                life = replace(random_life(pick), live=live, programs=tuple(PROGRAMS))
            with tempfile.TemporaryDirectory() as name:
                held, state = Held(life, Path(name), life.start), life.start
                for act in every:
                    self._carry_out(held, act, LATER, LATER, 0)
                for number in range(12):
                    act = random_act(pick, life, state)
                    error = self._carry_out(held, act, LATER, LATER, SIZES[number % len(SIZES)])
                    assert error is None, error
                    state = held.check([after(life, state, act)[-1]], whole=True)
                if live:
                    held.reopen()
                    held.check([state], whole=True)
                    held.graph.close()

    def _carry_out(self, held: Held, act: Act, first: int, last: int, least: int) -> Any:
        error = allocations.call_failing(lambda: held.carry_out(act), first, last, least)
        if not allocations.STATE[allocations.FAILED]:
            self._took[act[0], least] = int(allocations.STATE[allocations.SEEN])
        return error

    def run(self, number: int, errors: int, say: Callable[[str], None]) -> None:
        """One graph: says what it is about to do, and then what became of it."""
        os.dup2(errors, 2)
        gc.freeze()
        pick = random.Random(f"{self._seed}:{number}")
        life = random_life(pick)
        with tempfile.TemporaryDirectory(prefix="memory-") as name:
            held, state = Held(life, Path(name), life.start), life.start
            for step in range(STEPS):
                act, least = random_act(pick, life, state), pick.choice(self._sizes)
                first = pick.randrange(self._took.get((act[0], least), 50) or 1) + 1
                last = first + pick.choice([0, 0, 2, 40])
                if step % 5 == 4:  # Now and then all is well.
                    first = last = LATER
                say(
                    f"seed {self._seed} --only {number}, step {step}, {act[0]}, allocations "
                    f"{first} to {last} from {least} bytes, {life.live=}, {life.programs}, "
                    f"{life.queries}\n"
                )
                error = self._carry_out(held, act, first, last, least)
                told = {"failed": int(allocations.STATE[allocations.FAILED]) > 0}
                if error is not None:
                    told["error"] = type(error).__name__
                    if not isinstance(error, MemoryError | GraphtideError):
                        told["foreign"] = "".join(traceback.format_exception(error))
                states = after(life, state, act)
                told["unusable"] = held.graph._turns.unusable
                state = self._look(held, state, states, error)
                told["late"] = error is not None and state is states[-1]
                say(json.dumps(told) + "\n")
            if life.live:
                held.reopen()
                held.check([state], whole=True)
                held.graph.close()

    def _look(self, held: Held, before: State, states: list[State], error: Any) -> State:
        """The state that the graph is in; it can go on from there."""
        allowed = states[-1:] if error is None else [before, *states]
        if held.graph._turns.unusable:
            held.check_refuses()
            if not held.life.live:
                held.__init__(held.life, held.folder, before)  # type: ignore[misc]
                return held.check([before], whole=True)
            held.reopen()
            return replace(held.check(allowed, whole=True), undo=())
        state = held.check(allowed)
        ended = held.ended()
        if ended and held.life.live:
            held.reopen()
            return replace(held.check([state], whole=True), undo=())
        for name in ended:
            del held.programs[name]
            held.maintain(name)
        # What made earlier versions unreachable may have done that part of its work.
        return state if error is None else replace(state, undo=())


def campaign(
    failures: int,
    seed: int,
    minutes: float = 1e9,
    *,
    only: int | None = None,
    sizes: Sequence[int] = SIZES,
) -> Counter[str]:
    """Let memory end so often; what became of it."""
    running, tally = Campaign(seed, sizes), Counter[str]()
    running.warm_up()
    deaths, began = allocations.Deaths(), time.monotonic()
    for number in itertools.count() if only is None else [only]:
        if tally["failures"] >= failures or time.monotonic() - began > 60 * minutes:
            break
        with tempfile.TemporaryFile() as errors:
            ended, said = forked(partial(running.run, number, errors.fileno()))
            errors.seek(0)
            heard = errors.read().decode()
        lines = said.splitlines()
        _count(tally, lines)
        if ended:
            # Libraries that use memory without a look whether they were given any.
            library = (ended == -signal.SIGSEGV and deaths.is_of_libraries()) or (
                ended == -signal.SIGABRT and _ARROW_CHECK.search(heard) is not None
            )
            tally["failures"] += 1
            tally["wrong" if ended > 0 else "died in a library" if library else "died"] += 1
            last = max(at for at, line in enumerate(lines or [""]) if at == 0 or "seed " in line)
            print(f"ended {ended}, {library=}:", "\n".join(lines[last:]), flush=True)
            print("\n".join(heard.splitlines()[:20]), flush=True)
        if number % 10 == 9:
            took = time.monotonic() - began
            print(f"{number + 1} graphs, {took:.0f} s, {dict(tally)}", flush=True)
    return tally


def _count(tally: Counter[str], lines: list[str]) -> None:
    for line in lines:
        if line.startswith("{"):
            told = json.loads(line)
            for name in ("failed", "unusable", "late"):
                tally["failures" if name == "failed" else name] += told[name]
            if "error" in told:
                tally[told["error"]] += 1
            if "foreign" in told:
                tally["foreign"] += 1
                print(told["foreign"], flush=True)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--failures", type=int, default=5000)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    parser.add_argument("--only", type=int, help="the number of one graph")
    given = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # Sets have one order.
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "PYTHONHASHSEED": "0"})
    began = time.monotonic()
    tally = campaign(given.failures, given.seed, given.minutes, only=given.only)
    took = time.monotonic() - began
    print(f"seed {given.seed}: {dict(tally)} in {took:.0f} s")
    sys.exit(bool(tally["wrong"] or tally["died"]))


if __name__ == "__main__":
    main()
