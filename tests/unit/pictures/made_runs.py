"""Runs put together by hand: values of every view given, nothing computed and nothing compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.run import Run
from graphtide.optimize.strategy import Move
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.differences import CurrentResults, PartBuffer, RunDifferences
from graphtide.run.collection.facts import RunFacts
from graphtide.run.collection.steps import steps_from
from graphtide.store.parts import PartsInMemory


class Vertices:
    """Vertices whose ids are texts."""

    def __init__(self, ids: list[str]) -> None:
        self._ids = pa.array(ids, pa.string())

    def columns(self, numbers: NDArray[Any] | None = None) -> dict[str, pa.Array]:
        return {"id": self._ids if numbers is None else self._ids.take(pa.array(numbers))}

    @property
    def vertices(self) -> Vertices:
        return self

    def listed(self, numbers: NDArray[Any]) -> list[Any]:
        return self.columns(numbers)["id"].to_pylist()

    def number(self, vertex: Any) -> int:
        return int(self._ids.to_pylist().index(vertex))


@dataclass(frozen=True)
class Edges:
    """The ends of the edges of each view."""

    views: list[list[tuple[int, int]]]
    directed: bool = True

    def edges(self, view: int) -> NDArray[np.int64]:
        return np.array(self.views[view], np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class Made:
    """What a run found: a row a view and a column a vertex for each field."""

    names: list[str]
    values: dict[str, NDArray[Any]]
    program: str = "Made()"
    labels: str | None = None
    base: float = 0.0
    finished: int | None = None
    name: str = "made"
    edges: list[list[tuple[int, int]]] | None = None
    collection: str = "views"

    def run(self, moves: list[Move] | None = None, seconds: Any = None, scratch: Any = None) -> Run:
        """The run, its views in a chain; edges of view n: 10 times n."""
        count = len(self.names)
        moves = moves or [Move.SPLIT, *[Move.FOLLOW] * (count - 1)]
        seconds = np.full(count, 1e-3) if seconds is None else seconds
        scratch = np.full(count, 5e-3) if scratch is None else scratch
        fields = tuple(self.values)
        base = {name: np.full_like(rows[0], self.base) for name, rows in self.values.items()}
        buffer, current = PartBuffer(fields), CurrentResults(base)
        for at in range(count if self.finished is None else self.finished):
            changes = current.differences({name: rows[at] for name, rows in self.values.items()})
            current.apply(changes)
            row = (at, moves[at], float(seconds[at]), 1e-3, float(scratch[at]), 1, 1)
            buffer.add(row, changes)
        parts = PartsInMemory()
        if len(buffer):
            parts.append(buffer.take())
        vertices = Vertices([f"v{at}" for at in range(len(next(iter(base.values()))))])
        differences = RunDifferences(parts, fields)
        rows, facts = cast(Any, vertices), self._facts(fields)
        touched = None if self.edges is None else lambda: cast(Any, Edges(self.edges or []))
        return Run(RunContents(facts, self._steps(), differences, base, rows, touched))

    def _steps(self) -> Any:
        count = len(self.names)
        table = pa.table(
            {
                "name": self.names,
                "view": pa.array(range(count), pa.int32()),
                "stone": pa.nulls(count, pa.string()),
                "parent": pa.array(range(-1, count - 1), pa.int32()),
                "edges": pa.array(range(count), pa.int64()),
                "inserted": pa.array([0, *[10] * (count - 1)], pa.int64()),
                "deleted": pa.array([0] * count, pa.int64()),
            }
        )
        return steps_from(table)

    def _facts(self, fields: tuple[str, ...]) -> RunFacts:
        return RunFacts(
            name=self.name,
            program=self.program,
            fields=fields,
            labels=self.labels,
            naming=() if self.labels is None or self.edges is None else (self.labels,),
            mode="fixpoint",
            reason="made by hand",
            strategy="adaptive",
            collection=self.collection,
            graph="G",
            graph_identity="",
            identity="",
            created="2026-11-16T00:00:00+00:00",
        )


def components(views: int, vertices: int = 30, **more: Any) -> Made:
    """Components that grow together view by view, and now and then fall apart."""
    rng = np.random.default_rng(views)
    least = np.linspace(vertices - 1, 0, views).astype(np.int64)
    least[rng.random(views) < 0.01] = vertices // 2
    labels = np.minimum(np.arange(vertices)[None, :], least[:, None])
    names = more.pop("names", [f"upto-{2000 + at}" for at in range(views)])
    return Made(names, {"component": labels}, "WCC()", "component", **more)


def distances(views: int, vertices: int = 30, **more: Any) -> Made:
    """Hops from vertex 0, unreached ones infinite; the first view reaches the source alone."""
    hops = np.arange(vertices, dtype=np.float64)[None, :].repeat(views, axis=0)
    reach = np.linspace(0, vertices - 1, views)
    hops[hops > reach[:, None]] = np.inf
    names = more.pop("names", [f"day {at}" for at in range(views)])
    return Made(names, {"hops": hops}, "BFS(source='v0')", base=np.inf, **more)


def ranks(views: int, vertices: int = 30, **more: Any) -> Made:
    """Ranks that wander."""
    rng = np.random.default_rng(7)
    steps = rng.normal(0, 0.03, (views, vertices)).cumsum(axis=0)
    values = np.abs(1.0 + steps + np.arange(vertices) / vertices)
    names = more.pop("names", [f"window-{at}" for at in range(views)])
    return Made(names, {"rank": values}, "PageRank(damping=0.85, iterations=10)", **more)
