"""Stored graphs, collections and runs whose system calls fail, in a process that goes on.

`python -m tests.failures.stored --failures 5000 --seed 7`

A session appends to a graph, merges it, refreshes a collection, runs a program over it, deletes the
run, reads everything. In most of these acts a call on files of the store fails, as in
`tests.failures.calls`. The act is done, or an error of ours leaves it; nothing else may. Then
another session finds all that there was before the act or all that there is behind it, in plain
Python; and what was not done can be done.

Nothing waits for a disk, so the campaign is best run in a folder in memory (TMPDIR=/dev/shm). A
seed repeats a failure.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.model.errors import NotFoundError
from graphtide.run.append import append
from graphtide.store import generation
from tests.changing import VIEWS, begin_graph, check_rows, check_views, make_views, random_append
from tests.failures.calls import hooked, try_while_calls_fail, unsynced
from tests.failures.campaigns import command, try_lives
from tests.oracle import algorithms
from tests.oracle.changing_graph import ChangingGraph

ACTS = 10
"""How many acts one store lives through before another one is begun."""
RUN = "r"


@dataclass(frozen=True)
class State:
    """What a store must hold: plain lists."""

    graph: ChangingGraph
    views_of: ChangingGraph
    """The graph when the collection was made, or brought up to date."""
    run_of: ChangingGraph | None = None
    """The graph of the collection that was run; None where there is no whole run."""

    def seen_in(self, root: Path) -> bool:
        """Whether a session that begins now finds it."""
        session = gt.session(root, progress=False)
        try:
            check_rows(session.graph("g"), self.graph)
            check_views(session.collection("c"), self.views_of)
            assert _run_results(session) == _components(self.run_of)
        except AssertionError:
            return False
        assert set(session.check().column("state").to_pylist()) == {"ok"}
        return True


def _run_results(session: gt.Session) -> Any:
    """What a whole run found, by view and vertex; None where there is none."""
    try:
        run = session.results(RUN)
    except NotFoundError:
        return None
    if not run.finished:
        return None
    rows = run.to_arrow().to_pylist()
    (field,) = run.fields
    return {(row["view"], row["id"]): row[field] for row in rows}


def _components(graph: ChangingGraph | None) -> Any:
    """The components of every view, by plain Python."""
    if graph is None:
        return None
    ids = [row["id"] for row in graph.vertices]
    rows, found = dict(zip(ids, graph.vertices, strict=True)), {}
    for name, (_, means) in VIEWS.items():
        edges = [
            (ids.index(row["src"]), ids.index(row["dst"]), 1.0)
            for row in graph.edges
            if means(row, rows[row["src"]], rows[row["dst"]])
        ]
        labels = algorithms.components(len(ids), edges)["component"]
        found |= {(name, id_): ids[label] for id_, label in zip(ids, labels, strict=True)}
    return found


class Life:
    """One store, from its beginning to its end, and what it must hold."""

    def __init__(self, folder: Path, pick: random.Random) -> None:
        self.root, self.pick = (root := folder / "store"), pick
        graph, known = begin_graph(root, pick)
        make_views(graph, "c")
        self.state = State(known, deepcopy(known))
        self.session = gt.session(root, progress=False)
        self.failures = 0
        self.story: list[str] = []
        self._longest = 64

    def live(self) -> None:
        """Act, see calls fail, look, and act again."""
        for _ in range(ACTS):
            if self.pick.random() < 0.3:
                self.session = gt.session(self.root, progress=False)
            told, act, allowed = self._act()
            raised = self._tried(told, act)
            if raised is None:
                allowed = allowed[-1:]
            elif told == "delete the run" and self._is_damaged():
                self.story.append("the run is damaged")
                act()
            found = next((item for item in allowed if item.seen_in(self.root)), None)
            assert found is not None, "neither as before nor as behind it"
            self.state = found
            if raised is not None and found is not allowed[-1] and self.pick.random() < 0.5:
                self.story.append("again, and nothing fails")
                act()
                assert allowed[-1].seen_in(self.root)
                self.state = allowed[-1]

    def _is_damaged(self) -> bool:
        """Whether a part of the run is gone, so that it is listed to be deleted again."""
        found = gt.session(self.root, progress=False).check(RUN) if self.session.runs() else None
        return found is not None and "damaged" in found.column("state").to_pylist()

    def _act(self) -> tuple[str, Callable[[], Any], list[State]]:
        """What is done, and the states that there may be behind it: the last one if it is done."""
        state, session = self.state, self.session
        kinds = ["append", "append", "merge", "refresh", "run", "run", "read"]
        kind = self.pick.choice([*kinds, *["delete the run"] * (state.run_of is not None)])
        stale = vars(state.views_of) != vars(state.graph)
        if kind == "merge" and stale:
            kind = "refresh"  # Views of rows that a merge has replaced would need Spark.
        if kind == "append":
            change = random_append(self.pick, state.graph)
            after = replace(state, graph=deepcopy(state.graph))
            after.graph.append(**change)
            return f"append {change}", lambda: session.graph("g").append(**change), [state, after]
        if kind == "merge":
            return kind, lambda: session.graph("g").merge(), [state]
        if kind == "refresh":
            after = replace(state, views_of=deepcopy(state.graph))
            return kind, lambda: session.collection("c").refresh(), [state, after]
        if kind == "run":
            # A run replaces the one before as soon as it begins.
            after = replace(state, run_of=state.views_of)
            before = [state, replace(state, run_of=None), after]
            return kind, lambda: session.collection("c").run(WCC, name=RUN), before
        if kind == "read":
            return kind, self._read, [state]
        after = replace(state, run_of=None)
        return kind, lambda: session.delete_run(RUN), [state, after]

    def _read(self) -> None:
        check_rows(self.session.graph("g"), self.state.graph)
        check_views(self.session.collection("c"), self.state.views_of)
        assert _run_results(self.session) == _components(self.state.run_of)

    def _tried(self, told: str, act: Callable[[], Any]) -> Exception | None:
        """Do something while calls fail; the error of ours that left it."""
        failing, raised = try_while_calls_fail(act, self.pick, self._longest, self.story, told)
        self._longest = max(self._longest, failing.calls)
        self.failures += bool(failing.failed)
        assert raised is None or failing.failed, raised
        return raised


def campaign(failures: int, seed: int, minutes: float = 1e9) -> str:
    """Let so many acts meet calls that fail; raises the first wrong one."""
    generation._PATIENCE = 1
    append.is_merge_due = lambda stored: False  # Acts merge; when it pays does not matter here.
    with hooked(unsynced):
        done, lives = try_lives("stored", Life, failures, seed, minutes)
    return f"{done:,} acts in {lives:,} stores met a failing call"


def main() -> None:
    """The command."""
    command(__doc__, "failures", campaign)


if __name__ == "__main__":
    main()
