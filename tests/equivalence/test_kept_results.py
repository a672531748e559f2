"""Results that tasks have written and told of: what is shown of them is what whole results show."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphtide.api.run import Run
from graphtide.engine.changes import change_between
from graphtide.engine.shards.local_graph import LocalGraph, Placement
from graphtide.run.collection.contents import StoredBase
from graphtide.run.collection.differences import RunDifferences
from graphtide.run.collection.steps import steps_from, steps_table
from graphtide.run.live.results import arrow_column
from graphtide.run.shards.mesh import Sockets
from graphtide.run.shards.runs import Taking
from graphtide.run.shards.tasks import Summing
from graphtide.store import results
from graphtide.store.catalog import Catalog
from graphtide.store.results import EmptyVersionTables, begin_run
from graphtide.store.shards import EMPTY
from tests.equivalence.sharded import pairs_of_sockets
from tests.equivalence.summary_cases import KINDS, _base, _changed
from tests.unit.pictures.made_runs import Made

pytestmark = pytest.mark.interpreted

SHARDS = 5
TOLD = {"worker": "w", "began": 1.0, "ended": 2.0, "processor": 0.5, "edges": 3, "follows": False}


class Attempt:
    """So many tasks, begun together."""

    def __init__(self, taking: Taking, name: str, tasks: int, base: np.ndarray) -> None:
        self._placed = Placement(len(base), SHARDS, tasks)
        self._taking, self._name, self._base = taking, name, base
        taking.kept.begin()

    def write(self, step: int, values: np.ndarray, labels: str | None) -> None:
        """The results of a view, and those of the empty version with the first."""
        sockets = pairs_of_sockets(self._placed.tasks)

        def go(task: int) -> None:
            graph = LocalGraph(self._placed, task, {}, {})
            own, mesh = graph.own, Sockets(task, sockets[task])
            summing = Summing(graph, mesh, {"value": self._base[own]}, labels)
            told = {**TOLD, **summing.told({"value": values[own]})}
            mesh.close()
            shards = self._placed.shards_of(task)
            ends = (int(shards[0]), int(shards[-1]) + 1) if len(shards) else (0, 0)
            files = self._taking.kept.attempt(self._name, *ends)
            if step == 0:
                columns = {"vertex": own.astype(np.int32), "value": arrow_column(self._base[own])}
                files.finish(EMPTY, {"value": pa.table(columns)}, {})
            files.finish(step, {"value": self._table(step, own, values)}, {**told, "changed": 1})

        with ThreadPoolExecutor(self._placed.tasks) as pool:
            list(pool.map(go, range(self._placed.tasks)))

    def _table(self, step: int, own: np.ndarray, values: np.ndarray) -> pa.Table:
        change = change_between(self._base[own], values[own])
        columns = {"step": np.full(len(change), step, np.int32)}
        columns["vertex"] = own.astype(np.int32)[change.vertices]
        both = {"old": arrow_column(change.old), "new": arrow_column(change.new)}
        return pa.table({**columns, **both})


@pytest.mark.parametrize("kind", [*KINDS, "arrays"])
def test_what_tasks_tell_is_what_whole_results_show(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Views by attempts with different numbers of tasks, in another order than they were given."""
    pick = random.Random(f"kept results {kind}")
    monkeypatch.setattr(results, "PAGE", 3)
    for vertices in (pick.choice((1, 7)), 40):
        base = _base("ranks" if kind == "arrays" else kind, vertices)
        values = [_changed(pick, kind, base) for _ in range(4)]
        if kind == "arrays":
            base, values = (
                np.stack([base] * 2, 1),
                [np.stack([item, -item], 1) for item in values],
            )
        labels = "value" if kind == "labels" else None
        made = Made([f"view {at}" for at in range(4)], {"value": np.stack(values)}, labels=labels)
        order = pick.sample(range(4), 4)
        there, whole = kept_and_whole(tmp_path / str(vertices), made, base, order, labels)
        check_same(there, whole, pick.randrange(vertices), "top" if base.ndim == 1 else "")


def kept_and_whole(
    folder: Path, made: Made, base: np.ndarray, order: list[int], labels: str | None
) -> tuple[Run, Run]:
    """The same run as tasks write it, and with whole results."""
    contents = made.run()._contents
    table = steps_table(contents.steps)
    table = table.set_column(1, "view", pa.array(order, pa.int32()))
    table = table.set_column(0, "name", pa.array([f"view {at}" for at in order]))
    steps = steps_from(table.set_column(3, "parent", pa.array([-1] * 4, pa.int32())))
    empty = EmptyVersionTables(pa.table({"value": arrow_column(base[:0])}), None, {})
    with begin_run(Catalog(folder), "made", {}, empty, table) as run:
        shards: Any = SimpleNamespace(vertices=len(base), shards=SHARDS)
        taking = Taking(steps, run.parts, shards)
        for step, view in enumerate(order):
            tasks = 1 + step % 3 if step else 2
            Attempt(taking, f"a{step}", tasks, base).write(step, made.values["value"][view], labels)
        taking.take_in()
        assert taking.finished == 4
        facts = replace(contents.facts, on_shards=True)
        differences = RunDifferences(run.parts, ("value",))
        kept = StoredBase({"value": base[:0]}, run.parts, len(base))
        there = replace(contents, facts=facts, steps=steps, differences=differences, base=kept)
        whole = replace(there, facts=contents.facts, base={"value": base})
        return Run(there), Run(whole)


def check_same(there: Run, whole: Run, vertex: int, top: str) -> None:
    read = results.READ_VERTICES.count
    summary = there.summary()
    assert results.READ_VERTICES.count == read, "a summary has read results"
    assert summary.equals(whole.summary())
    for view in range(4):
        assert there.values(view).tobytes() == whole.values(view).tobytes()
    assert str(there.history(f"v{vertex}")) == str(whole.history(f"v{vertex}"))
    if top and there._contents.facts.labels is None:
        for count in (1, 3, 100):
            assert str(there.top(count).to_pylist()) == str(whole.top(count).to_pylist())
