"""Random live graphs with queries of all kinds: `python -m tests.live.query_campaign --minutes 5`.

    --seed 7                         # any, if none is given; it is printed with what was found
    NUMBA_DISABLE_JIT=1 python ...   # interpreted, a graph takes a second

Everything that can happen to a live graph happens: rows that come, go, change and expire, vertices
that are taken out and come back, rollbacks, budgets, landmarks, programs beside queries,
checkpoints, compactions, starts, readers. After each act all answers are those of the oracle.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import graphtide as gt
from graphtide.algorithms import BFS
from graphtide.kernels.queries import rows
from graphtide.model.errors import LimitError
from tests.compiled import interpreted
from tests.equivalence.query_cases import COSTS, LABELS, Watched, anything, ask
from tests.live.graphs import leave
from tests.oracle.regular_paths import Edge, answers
from tests.property.random_paths import random_path

Row = tuple[int, int, str | None, float, int]
COLUMNS = ("src", "dst", "kind", "cost", "at")
TYPES = (pa.int64(), pa.int64(), pa.string(), pa.float64(), pa.int64())
KEEP = 12


def table_of(rows: list[Row]) -> pa.Table:
    """Rows as a graph takes them."""
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    given = zip(columns, TYPES, strict=True)
    return pa.table([pa.array(list(values), kind) for values, kind in given], names=list(COLUMNS))


class Played:
    """A live graph and what it must be; has what `ask` and `Watched` take of a graph beside it."""

    def __init__(self, folder: Path, pick: random.Random) -> None:
        self.folder, self.pick = folder, pick
        self.costs = COSTS
        self.keep = pick.choice([None, KEEP])
        self.latest, self.vertices = 0, pick.randrange(3, 9)
        self.rows = [(0, self.vertices - 1, "a", 1.0, 0), *self._some(pick.randrange(12))]
        self.ids = list(range(self.vertices))
        self.directed = random.Random(f"directed {self.rows}").random() < 0.7
        vertices = pa.table({"id": self.ids})
        start = gt.Graph.from_frame(table_of(self.rows), vertices=vertices, directed=self.directed)
        self.graph = self._opened(start)
        self.reader = gt.live(folder, readonly=True)
        self.watched: dict[str, Watched] = {}
        self.programs: dict[str, int] = {}
        self.undoable: list[list[Row]] = []
        self.acts: Counter[str] = Counter()
        self.beyond = False
        """Whether answers that were to be read again may take more than the budget."""

    def _opened(self, start: gt.Graph | None = None) -> gt.LiveGraph:
        if self.keep is None:
            return gt.live(self.folder, start)
        return gt.live(self.folder, start, keep=self.keep, time="at")

    @property
    def edges(self) -> list[Edge]:
        """The edges as the oracle of queries has them: two for one without a direction."""
        back = [] if self.directed else [(*row[1::-1], *row[2:]) for row in self.rows]
        return [Edge(*row[:4]) for row in (*self.rows, *back)]

    def _some(self, count: int) -> list[Row]:
        pick = self.pick
        return [
            (
                pick.randrange(self.vertices),
                pick.randrange(self.vertices),
                pick.choice((*LABELS, "d", "e")),  # Of which queries name three.
                pick.choice(self.costs),
                max(0, self.latest + pick.randrange(-KEEP - 3, 4)),
            )
            for _ in range(count)
        ]

    def act(self, step: int) -> None:
        """One random act, and a look at everything behind it."""
        name = self.pick.choices(list(_ACTS), list(_ACTS.values()))[0]
        self.acts[name] += 1
        self.advanced = False
        getattr(self, f"_{name}")(step)
        self.check()

    def _advance(self, step: int) -> None:
        pick, before = self.pick, list(self.rows)
        if pick.random() < 0.15:
            self.vertices += 1
        come, table = self._some(pick.randrange(5)), self.graph.edges().to_pylist()
        gone = pick.sample(table, min(len(table), pick.randrange(6)))
        left: list[Row] = [tuple(row[name] for name in COLUMNS) for row in gone]  # type: ignore[misc]
        removed = pick.sample(self.graph.vertices()["id"].to_pylist(), pick.random() < 0.1)
        for row in left:
            before.remove(row)
        self._do(come, [row for row in before if not {*row[:2]} & {*removed}], {
            "insert": table_of(come) if come else None,
            "delete": [row["edge"] for row in gone] or None,
            "remove": removed or None,
        })  # fmt: skip

    def _update(self, step: int) -> None:
        """One edge, known by its ends and its time, gets another cost."""

        def name(row: Row) -> tuple[int, ...]:
            return *(row[:2] if self.directed else sorted(row[:2])), row[4]

        known = Counter(map(name, self.rows))
        alone = [row for row in self.rows if known[name(row)] == 1]
        if alone:
            row = self.pick.choice(alone)
            changed = (*row[:3], self.pick.choice(self.costs), row[4])
            ends = name(row)
            given = {"src": ends[0], "dst": ends[1], "at": row[4], "cost": changed[3]}
            rest = [item for item in self.rows if item != row]
            self._do([changed], rest, {"update": [given], "match": ["at"]})

    def _do(self, come: list[Row], rest: list[Row], batch: dict[str, Any]) -> None:
        """An advance that leaves the rest and brings what comes, as far as it has not expired."""
        version = self.graph.version
        try:
            self.graph.advance(**batch)
        except LimitError:  # What is there can be read, and gone back from.
            assert self.graph.version == version
            self.beyond = True
            self.acts["refused"] += 1
            return
        self.undoable.append(self.rows)
        self.rows = rest + come
        if self.keep is not None:
            self.latest = max([self.latest, *(row[4] for row in come)])
            self.rows = [row for row in self.rows if row[4] >= self.latest - self.keep]
        else:
            self.latest += 1
        self.advanced = True

    def _rollback(self, step: int) -> None:
        if self.undoable:
            self.graph.rollback()
            self.beyond = True
            self.rows = self.undoable.pop()
            self.advanced = True

    def _query(self, step: int) -> None:
        self.ids = self.graph.vertices()["id"].to_pylist()
        name = f"q{step}"
        try:
            watched = ask(self, name, random_path(self.pick, self.pick.randrange(1, 6)))  # type: ignore[arg-type]
        except LimitError:
            assert name not in self.graph.queries
        else:
            self.watched[name] = watched

    def _drop(self, step: int) -> None:
        if self.watched:
            name = self.pick.choice(list(self.watched))
            self.graph.drop_query(name)
            del self.watched[name]

    def _register(self, step: int) -> None:
        source = self.pick.choice(self.graph.vertices()["id"].to_pylist())
        if len(self.programs) < 2:
            self.graph.register(f"p{step}", BFS(source=source))
            self.programs[f"p{step}"] = source

    def _unregister(self, step: int) -> None:
        if self.programs:
            name = self.pick.choice(list(self.programs))
            self.graph.unregister(name)
            del self.programs[name]

    def _budget(self, step: int) -> None:
        used = self.graph.query_bytes
        share = self.pick.choice([None, 0.5, 0.7, 0.9, 1.0, 1.2, 2.0])
        most = None if share is None else int(share * used) + 1
        try:
            self.graph.set_budget(most, patience=self.pick.choice([0.0, 0.3, 9.0]))
        except LimitError:
            self.acts["refused"] += 1
        else:
            self.beyond = False

    def _landmarks(self, step: int) -> None:
        few = [None, 1, 3, gt.queries.Landmarks(2, "far")]
        self.graph.set_landmarks(self.pick.choice(few))

    def _checkpoint(self, step: int) -> None:
        self.graph.checkpoint()
        self.undoable = []

    def _compact(self, step: int) -> None:
        self.graph.compact()
        self.undoable = []
        self.beyond = True

    def _start(self, step: int) -> None:
        self.undoable = []
        self._reopen()
        if len(self.graph.queries) < len(self.watched):  # What fitted may not fit from scratch.
            self.acts["begins again"] += 1
            self.graph.set_budget(None)

    def _reopen(self) -> None:
        self.graph.close() if self.pick.random() < 0.5 else leave(self.graph)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*could not begin.*")
            self.graph = self._opened()

    def _read(self, step: int) -> None:
        """A reader keeps other states than the writer: what fits there may not fit here.

        Every budget that it meets in the log may be too small, so it may be refused again.
        """
        while not self._refreshed():
            self.acts["reader refused"] += 1
            self.reader.set_budget(None)
        if len(self.reader.queries) < len(self.watched):
            self.acts["reader begins again"] += 1
            self.reader.set_budget(None)
        self._check_graph(self.reader)
        for name in self.watched:
            self.reader.queries[name].verify()

    def _refreshed(self) -> bool:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=".*(could not begin|too small).*")
                self.reader.refresh()
        except LimitError:
            return False
        return True

    def check(self) -> None:
        """All that is there, and what the last advance changed of queries."""
        self._check_graph(self.graph)
        self.ids = self.graph.vertices()["id"].to_pylist()
        for name, item in self.watched.items():
            item.query = self.graph.queries[name]
            item.check(advanced=True if self.advanced else None)
            item.query.verify()
        if self.watched:
            kept = self.graph._queries()
            budget = kept.engine.budget
            assert budget.used == kept.nbytes
            assert self.beyond or budget.most is None or budget.used <= budget.most

    def _check_graph(self, graph: gt.LiveGraph) -> None:
        found = [tuple(row[name] for name in COLUMNS) for row in graph.edges().to_pylist()]
        assert Counter(found) == Counter(self.rows), "edges"
        assert set(graph.queries) == set(self.watched)  # One that begins again is the last.
        assert graph.registered() == list(self.programs)
        edges = [Edge(e.source, e.target) for e in self.edges]
        known = graph.vertices()["id"].to_pylist()
        for name, source in self.programs.items():
            hops = answers(anything("out"), edges, known, source, None)
            values = graph.program(name).table().to_pylist()
            reached = {row["id"]: row["hops"] for row in values if np.isfinite(row["hops"])}
            assert reached == hops, (name, source)


_ACTS = {
    "advance": 30, "update": 3, "rollback": 5, "query": 8, "drop": 3, "register": 2,
    "unregister": 1, "budget": 6, "landmarks": 2, "checkpoint": 2, "compact": 3, "start": 4,
    "read": 4,
}  # fmt: skip


def play(folder: Path, seed: int, steps: int) -> Counter[str]:
    """One graph from its beginning to its end; what happened how often."""
    played = Played(folder, random.Random(seed))
    signs = rows.SIGNS
    if interpreted() and seed % 2:
        rows.SIGNS = seed % 8 >> 1  # Few edges, of which many have the same sign.
    try:
        for step in range(steps):
            played.act(step)
    finally:
        rows.SIGNS = signs
    played.graph.close()
    return played.acts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--steps", type=int, default=40)
    given = parser.parse_args()
    first = random.SystemRandom().randrange(2**32) if given.seed is None else given.seed
    end, seed, acts = time.monotonic() + 60 * given.minutes, first, Counter[str]()
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            try:
                acts += play(Path(folder) / "g", seed, given.steps)
            except BaseException:
                print(f"--seed {seed} --steps {given.steps}", flush=True)
                raise
        seed += 1
    print(f"{seed - first} graphs from seed {first}: {dict(acts)}")


if __name__ == "__main__":
    main()
