"""Histories split into advances in several ways: `python -m tests.live.splits_campaign --seed 7`.

    --minutes 10                     # the seed is printed with what was found
    NUMBA_DISABLE_JIT=0 python ...   # compiled: the first history takes minutes

A history is a list of single acts: a row comes, goes or changes, a vertex comes, changes or is
taken out. However it is split into advances, the graph ends with the same edges, vertices and
results: one act at a time, as many at a time as one advance can take, or anything in between, with
`advance_all`, rollbacks, checkpoints, compactions, starts and readers at any place. Results are
those of plain Python, and so is what every consumer holds that has followed the changes.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import SCC, WCC, PageRank, Rings, ShortestPaths, Triangles
from tests.live.graphs import leave
from tests.oracle import algorithms, walk_algorithms
from tests.oracle.regular_paths import Edge, answers

Row = tuple[Any, Any, float, float, str]
Act = tuple[str, Any, Any]
"""What happens to what: `update` has the row and its new weight, `vertex` the id and its limit."""
NAMES = ("src", "dst", "weight", "time", "kind")
MATCH = ("time", "kind")
ACTS = 30
SPLITS = 4
ITERATIONS = 3


class Rows:
    """What the acts so far make: plain lists."""

    def __init__(self, rows: list[Row], ids: list[Any]) -> None:
        self.rows, self.ids = list(rows), list(ids)
        self.removed: set[Any] = set()
        self.limits: dict[Any, int | None] = dict.fromkeys(ids)

    def copy(self) -> Rows:
        """The same, for itself."""
        other = Rows(self.rows, self.ids)
        other.removed, other.limits = set(self.removed), dict(self.limits)
        return other

    def do(self, act: Act) -> None:
        """Carry an act out."""
        kind, what, given = act
        if kind == "insert":
            self.rows.append(what)
            for end in what[:2]:
                self._enter(end)
        elif kind == "delete":
            self.rows.remove(what)
        elif kind == "update":
            self.rows.remove(what)
            self.rows.append(changed(what, given))
        elif kind == "vertex":
            self._enter(what)
            self.limits[what] = given
        else:
            self.rows = [row for row in self.rows if what not in row[:2]]
            self.removed.add(what)
            self.limits.pop(what, None)  # Until somebody says it, it may be lost.

    def _enter(self, id_: Any) -> None:
        if id_ not in self.ids:
            self.ids.append(id_)
            self.limits[id_] = None
        self.removed.discard(id_)

    def there(self) -> list[Any]:
        """The vertices that have not been taken out."""
        return [id_ for id_ in self.ids if id_ not in self.removed]


def changed(row: Row, weight: float) -> Row:
    """A row with another weight."""
    return (*row[:2], weight, *row[3:])


def key(row: Row) -> tuple[Any, ...]:
    """What an update names an edge by."""
    return (*row[:2], *row[3:])


class Batch:
    """Acts that one advance takes: what goes goes first, and then comes what comes."""

    def __init__(self, before: Rows) -> None:
        self.acts: list[Act] = []
        self._before = before
        self._left = Counter(before.rows)
        self._keys = Counter(map(key, before.rows))
        self._updated: set[Any] = set()
        self._named: dict[str, set[Any]] = {"insert": set(), "vertex": set(), "remove": set()}

    def takes(self, act: Act) -> bool:
        """Whether it means the same at the end of this batch as behind it."""
        kind, what, _ = act
        named = self._named
        if kind == "delete":
            gone = named["remove"] & {*what[:2]}
            return not gone and self._left[what] > 0 and key(what) not in self._updated
        if kind == "update":
            gone = named["remove"] & {*what[:2]}
            return not gone and self._left[what] > 0 and self._keys[key(what)] == 1
        if kind == "vertex":
            # A batch brings those in first that are listed.
            new = what in self._before.ids or named["insert"] <= {*self._before.ids}
            return new and what not in named["vertex"] | named["remove"]
        if kind == "remove":
            ends = {end for row in self._updated for end in row[:2]}
            return what not in ends.union(*named.values())
        return True

    def add(self, act: Act) -> None:
        """One more, which it takes."""
        kind, what, _ = act
        self.acts.append(act)
        if kind == "insert":
            self._named["insert"] |= {*what[:2]}
        elif kind in self._named:
            self._named[kind].add(what)
        else:
            self._left[what] -= 1
            if kind == "update":
                self._updated.add(key(what))
                self._keys[key(what)] = 2
            else:
                # One that was one of two is not named alone: a batch looks at what was there.
                self._keys[key(what)] = 2

    def given(self) -> dict[str, Any]:
        """As an advance takes it."""
        of: dict[str, list[Any]] = {kind: [] for kind in ("insert", "delete", "remove")}
        updates, listed = [], []
        for kind, what, value in self.acts:
            if kind == "update":
                named = dict(zip(NAMES, what, strict=True))
                updates.append({**named, "weight": value})
            elif kind == "vertex":
                listed.append((what, value))
            else:
                of[kind].append(what)
        batch: dict[str, Any] = {kind: rows for kind, rows in of.items() if rows}
        if updates:
            batch |= {"update": updates, "match": MATCH}
        if listed:
            ids, limits = zip(*listed, strict=True)
            batch["vertices"] = pa.table({"id": list(ids), "limit": pa.array(limits, pa.int64())})
        return batch


class History:
    """A graph to begin with, and what happens to it."""

    def __init__(self, seed: int, acts: int) -> None:
        pick = self._pick = random.Random(f"history {seed}")
        self._all: list[Any] = [f"v{at}" for at in range(14)]
        if pick.random() < 0.5:
            self._all = [3 * at - 7 for at in range(14)]
        pick.shuffle(self._all)
        self._takes_out = pick.random() < 0.5
        self.start = Rows([], self._all[:3])
        for _ in range(pick.randrange(1, 6)):
            self.start.do(("insert", self._row(), None))
        self.end, self.acts = self.start.copy(), list[Act]()
        while len(self.acts) < acts:
            act = self._act()
            self.end.do(act)
            self.acts.append(act)
        self.named_alike = not any(kind == "remove" for kind, *_ in self.acts)
        """A vertex that comes back may come to stand behind others: components have other names."""
        programs = {
            "components": WCC, "paths": ShortestPaths(source=self._all[0]),
            "ranks": PageRank(iterations=ITERATIONS), "triangles": Triangles,
            "strong": SCC, "rings": Rings(length=3),
        }  # fmt: skip
        self.programs = {name: programs[name] for name in pick.sample(list(programs), 3)}
        first, last = self._all[0], self._all[2]
        self.queries = {
            "near": gt.queries.Hops(first, 2),
            "way": gt.queries.Path(first, last, weight="weight"),
            "along": gt.queries.Regular("a+/b?", first, label="kind", weight="weight"),
            "reached": gt.queries.Reach(first),
        }

    def _row(self) -> Row:
        pick = self._pick
        known = 14 if pick.random() < 0.1 else 8
        ends = pick.choice(self._all[:known]), pick.choice(self._all[:known])
        return (*ends, pick.randrange(1, 9) / 4, float(pick.randrange(3)), pick.choice("ab"))

    def _act(self) -> Act:
        pick, now = self._pick, self.end
        kind = pick.choices(
            ("insert", "delete", "update", "vertex", "remove"), (10, 5, 3, 2, 1.5 * self._takes_out)
        )[0]
        keys = Counter(map(key, now.rows))
        alone = [row for row in now.rows if keys[key(row)] == 1]
        if kind == "delete" and now.rows:
            return kind, pick.choice(now.rows), None
        if kind == "update" and alone:
            return kind, pick.choice(alone), pick.randrange(1, 9) / 4
        if kind == "vertex":
            return kind, pick.choice(self._all), pick.choice([None, 1, 2, 3])
        if kind == "remove" and now.there():
            return kind, pick.choice(now.there()), None
        return "insert", self._row(), None

    def batches(self, pick: random.Random | None, most: int) -> list[Batch]:
        """The acts in batches: as large as can be, up to so many acts, or of any size."""
        now, batches = self.start.copy(), list[Batch]()
        room = 0
        for act in self.acts:
            if room < 1 or not batches[-1].takes(act):
                batches.append(Batch(now.copy()))
                room = most if pick is None else pick.randrange(1, most)
            batches[-1].add(act)
            now.do(act)
            room -= 1
        return batches

    def answers(self, listed: list[Any]) -> dict[str, dict[Any, Any]]:
        """What programs and queries say at the end, of vertices in this order."""
        number = {id_: at for at, id_ in enumerate(listed)}
        rows, n = self.end.rows, len(listed)
        edges = [(number[row[0]], number[row[1]], row[2]) for row in rows]
        start = self._all[0]
        times = [(number[row[0]], number[row[1]], row[3]) for row in rows]
        paths = algorithms.bellman_ford(n, edges, [number[start]])["dist"]
        hops = algorithms.breadth_first(n, edges, [number[start]])
        of_vertices = {
            "components": [listed[at] for at in algorithms.components(n, edges)["component"]],
            "paths": paths,
            "ranks": list(algorithms.page_rank(n, edges, 0.85, ITERATIONS)["rank"]),
            "triangles": walk_algorithms.triangles(n, edges)["triangles"],
            "strong": [listed[at] for at in _strong(n, edges)],
            "near": [None if value > 2 else int(value) for value in hops],
            "reached": [None if value == float("inf") else True for value in hops],
        }
        found = {name: dict(zip(listed, item, strict=True)) for name, item in of_vertices.items()}
        rings = walk_algorithms.rings(times, 3, float("inf"))
        named = Counter((tuple(listed[at] for at in row[:3]), *row[3:]) for row in rings)
        way = paths[number[self._all[2]]]
        found["rings"] = dict(named)
        found["way"] = {(start, self._all[2]): None if way == float("inf") else way}
        labelled = [Edge(row[0], row[1], row[4], row[2]) for row in rows]
        more = ("repeat", ("step", "a"), 1, None), ("repeat", ("step", "b"), 0, 1)
        found["along"] = answers(("sequence", more), labelled, listed, start, None)
        return {name: _without_missing(found[name]) for name in (*self.programs, *self.queries)}


def _strong(n: int, edges: list[tuple[int, int, float]]) -> list[int]:
    """The first vertex that each reaches and is reached from."""
    reached = [algorithms.breadth_first(n, edges, [at]) for at in range(n)]
    far = float("inf")
    return [
        next(at for at in range(n) if reached[at][v] < far and reached[v][at] < far)
        for v in range(n)
    ]


def _without_missing(answer: dict[Any, Any]) -> dict[Any, Any]:
    return {what: value for what, value in answer.items() if value is not None}


class Follower:
    """Whoever holds an answer and follows its changes, by plain Python."""

    def __init__(self, answer: dict[Any, Any]) -> None:
        self.answer, self.version = dict(answer), 0

    def hear(self, version: int, table: pa.Table) -> None:
        """The changes of the next version, or again of one that it knows."""
        assert version <= self.version + 1, (version, self.version)
        if version <= self.version:
            return
        self.version = version
        for row in table.to_pylist():
            if "change" in row:
                ring = tuple(row["member"]), row["first"], row["last"]
                count = self.answer.get(ring, 0) + (1 if row["change"] == "appeared" else -1)
                self._put(ring, count or None)
                continue
            whose = row["id"] if "id" in row else (row["source"], row["target"])
            old = None if row["old"] is False else row["old"]
            assert self.answer.get(whose) == old, (version, row, self.answer)
            self._put(whose, row["new"])

    def _put(self, whose: Any, value: Any) -> None:
        self.answer.pop(whose, None)
        if value is not None and value is not False:
            self.answer[whose] = value

    def forget(self, listed: set[Any]) -> None:
        """A compaction drops those that have been taken out; nobody is told."""
        for whose in [item for item in self.answer if not isinstance(item, tuple)]:
            if whose not in listed:
                del self.answer[whose]


class Split:
    """A live graph that a history happens to, in advances of its own."""

    def __init__(self, folder: Path, history: History, pick: random.Random) -> None:
        self.folder, self.history, self.pick = folder, history, pick
        start = history.start
        columns = zip(*start.rows, strict=True)
        edges = pa.table(dict(zip(NAMES, columns, strict=True)))
        limits = pa.array([None] * len(start.ids), pa.int64())
        vertices = pa.table({"id": start.ids, "limit": limits})
        self.graph = gt.live(folder, gt.Graph.from_frame(edges, vertices=vertices))
        for name, program in history.programs.items():
            self.graph.register(name, program)
        for name, query in history.queries.items():
            self.graph.query(name, query)
        self.reader = gt.live(folder, readonly=True)
        names = (*history.programs, *history.queries)
        self.told = {name: Follower(self.answer(name)) for name in names}
        self.asked = {name: Follower(self.answer(name)) for name in names}
        self.story: list[str] = []
        self._deliver()

    def answer(self, name: str) -> dict[Any, Any]:
        """What the graph says now."""
        if name in self.history.queries:
            rows = self.graph.queries[name].table().to_pylist()
        else:
            live = self.graph.program(name)
            if name == "rings":
                found = live.matches().to_pylist()
                return dict(Counter((tuple(r["member"]), r["first"], r["last"]) for r in found))
            rows = live.table().to_pylist()
        answer = {}
        for row in rows:
            row.pop("path", None)
            value = True if name == "reached" else row.popitem()[1]
            answer[row["id"] if "id" in row else (row["source"], row["target"])] = value
        return _without_missing(answer)

    def happen(self, batches: list[Batch], *, busy: bool) -> None:
        """All of it; where busy, with other things in between."""
        left = list(batches)
        while left:
            count = self.pick.randrange(1, 6) if busy and self.pick.random() < 0.3 else 1
            part, left = left[:count], left[count:]
            self._advance(part)
            if busy:
                self._something()
                if self.pick.random() < 0.15 and self._can_go_back:
                    self.story.append("rollback")
                    self.graph.rollback()
                    self._something()
                    self._advance(part[-1:])
        self._check_asked()

    def _advance(self, batches: list[Batch]) -> None:
        given = [batch.given() for batch in batches]
        self.story.append("\n  ".join(map(str, given)))
        before = {name: Follower(self.answer(name)) for name in self.told}
        if len(given) > 1:
            self.graph.advance_all(given)
        else:
            self.graph.advance(**given[0])
            changes = self.graph.query_changes()
            for name, follower in before.items():
                if name in self.history.queries:
                    table = changes.get(name)
                else:
                    table = self.graph.program(name).changes().delivered()
                if table is not None:
                    follower.hear(1, table)
                assert follower.answer == self.answer(name), f"changes of {name}"
        self._can_go_back = True

    def _something(self) -> None:
        act = self.pick.choices(
            ("nothing", "checkpoint", "compact", "start", "read", "ask"), (8, 1, 1, 1, 1, 1)
        )[0]
        if act != "nothing":
            self.story.append(act)
            getattr(self, f"_{act}")()

    def _checkpoint(self) -> None:
        self._check_asked()  # The log reaches back no further than the checkpoint before.
        self.graph.checkpoint()
        self._can_go_back = False

    def _compact(self) -> None:
        self._check_asked()
        self.graph.compact()
        listed = set(self.graph.vertices()["id"].to_pylist())
        for follower in (*self.told.values(), *self.asked.values()):
            follower.forget(listed)
        self._can_go_back = False

    def _start(self) -> None:
        self.graph.close() if self.pick.random() < 0.5 else leave(self.graph)
        self.graph = gt.live(self.folder)
        self._deliver()
        self._can_go_back = False

    def _read(self) -> None:
        self.reader.refresh()
        assert _rows_of(self.reader) == _rows_of(self.graph)

    def _ask(self) -> None:
        graph = self.pick.choice([self.graph, self.reader])
        self.reader.refresh()
        for name, follower in self.asked.items():
            for version, table in graph.changes(name, follower.version):
                follower.hear(version, table)

    def _deliver(self) -> None:
        for name, follower in self.told.items():
            self.graph.deliver(name, follower.hear, consumer=f"of-{name}")

    def _check_asked(self) -> None:
        """Those who follow hold what the graph says."""
        self._ask()
        for name in self.told:
            answer = self.answer(name)
            assert self.told[name].answer == answer, f"told of {name}"
            assert self.asked[name].answer == answer, f"asked for {name}"

    def check(self) -> None:
        """The end of the history, as plain Python has it."""
        end, graph = self.history.end, self.graph
        assert _rows_of(graph) == Counter(end.rows)
        vertices = {row["id"]: row["limit"] for row in graph.vertices().to_pylist()}
        assert set(end.there()) <= vertices.keys() <= set(end.ids)
        assert all(vertices[id_] == limit for id_, limit in end.limits.items() if id_ in vertices)
        if self.history.named_alike:
            assert list(vertices) == end.ids
        for name, answer in self.history.answers(list(vertices)).items():
            found = self.answer(name)
            if name == "ranks":
                found = {id_: pytest.approx(value, rel=1e-12) for id_, value in found.items()}
            assert answer == found, name
        self._read()
        graph.verify()
        graph.close()


def _rows_of(graph: gt.Graph) -> Counter[Row]:
    table = graph.edges()
    columns = (table.column(name).to_pylist() for name in NAMES)
    return Counter(zip(*columns, strict=True))


def play(folder: Path, seed: int, *, acts: int = ACTS, splits: int = SPLITS) -> int:
    """One history in so many splits; how many advances there were."""
    history = History(seed, acts)
    advances = 0
    for number in range(splits):
        pick = random.Random(f"split {seed}:{number}")
        batches = history.batches(*((None, 1), (None, acts), (pick, 4), (pick, 12))[number % 4])
        split = Split(folder / f"{number}", history, pick)
        try:
            split.happen(batches, busy=number > 1)
            split.check()
        except Exception:
            story = "\n".join(split.story)
            told = f"seed {seed}, split {number}: {history.start.rows}\n{story}"
            raise AssertionError(f"{told}\n{traceback.format_exc()}") from None
        advances += len(batches)
    return advances


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    given = parser.parse_args()
    end, seed, advances = time.monotonic() + 60 * given.minutes, given.seed, 0
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            advances += play(Path(folder), seed)
        seed += 1
    print(f"{seed - given.seed} histories from seed {given.seed}, {advances:,} advances, 0 wrong")


if __name__ == "__main__":
    main()
