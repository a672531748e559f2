"""Runs put together at random: trees and chains of steps, stones among them, in several parts."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.run import Run
from graphtide.optimize.strategy import Move
from graphtide.run.collection.differences import CurrentResults, PartBuffer, RunDifferences
from graphtide.run.collection.steps import RunSteps, ViewVertices, steps_from
from graphtide.store.parts import PartsInMemory
from tests.unit.pictures.made_runs import Made

MOST, LEAST = 2**63 - 1, -(2**63)
NUMBERS = ("hops", "distances", "widths", "odd", "huge", "whole", "large", "ranks")
NUMBERS += ("least sent", "greatest sent", "ends")
KINDS = ("labels", "truths", *NUMBERS)
_WHOLE = ("labels", "whole", "large", "least sent", "greatest sent", "ends")
_TYPES = {"truths": np.bool_} | dict.fromkeys(_WHOLE, np.int64)
_BASES = {"hops": math.inf, "distances": math.inf, "widths": -math.inf, "huge": -math.inf}
_BASES |= {"least sent": MOST, "greatest sent": LEAST}


@dataclass(frozen=True)
class MadeRun:
    """A run, and the values of each finished view in the order of the views."""

    run: Run
    values: list[list[Any]]
    missing: float | None
    removed: list[tuple[int, ...]]

    def there(self, view: int) -> list[Any]:
        """The values of the vertices that are not taken out of a view."""
        values = self.values[view]
        return [values[at] for at in range(len(values)) if at not in self.removed[view]]


def make_run(pick: random.Random, kind: str) -> MadeRun:
    """Steps that each change a few values of their parent, or nearly all.

    In half of the runs, vertices are taken out of some views.
    """
    vertices, count = pick.choice((1, 2, 7, 40, 300)), pick.randrange(1, 40)
    steps = _steps(pick, count)
    base = _base(kind, vertices)
    found = [_changed(pick, kind, base)]
    for step in range(1, count):
        found.append(_changed(pick, kind, found[steps.parent[step]]))
    finished = count if pick.random() < 0.7 else pick.randrange(1, count + 1)
    parts = _parts(pick, steps, [base, *found], finished)
    made = Made(["one"], {"value": base[None, :]}, labels="value" if kind == "labels" else None)
    contents = replace(
        made.run()._contents,
        steps=steps,
        base={"value": base},
        differences=RunDifferences(parts, ("value",)),
    )
    removed = _removed(pick, vertices, len(steps.names))
    steps = replace(steps, vertices=ViewVertices(removed))
    contents = replace(contents, steps=steps)
    order = np.argsort(np.where(steps.view < 0, count, steps.view))[: len(steps.names)]
    values = [found[step].tolist() for step in order.tolist() if step < finished]
    away = [removed.get(view, ()) for view in contents.finished_views()]
    return MadeRun(Run(contents), values, _BASES.get(kind), away)


def _removed(pick: random.Random, vertices: int, views: int) -> dict[int, tuple[int, ...]]:
    """Vertices by view, ascending: one, two or all of the few that there are."""
    if pick.random() < 0.5:
        return {}
    share = pick.choice((0.2, 1.0))
    chosen = [view for view in range(views) if pick.random() < share]
    most = min(vertices, 2)
    return {
        view: tuple(sorted(pick.sample(range(vertices), pick.randrange(1, most + 1))))
        for view in chosen
    }


def _steps(pick: random.Random, count: int) -> RunSteps:
    """A chain, or a tree in depth-first order; views in any order, the first step one of them."""
    path, parents = [0], [-1]
    for step in range(1, count):
        if pick.random() < 0.5:
            del path[pick.randrange(1, len(path) + 1) :]
        parents.append(path[-1])
        path.append(step)
    if pick.random() < 0.3:
        parents = list(range(-1, count - 1))
    stone = [step > 0 and pick.random() < 0.2 for step in range(count)]
    views = list(range(count - sum(stone)))
    pick.shuffle(views)
    names = [f"({step})" if stone[step] else f"step {step}" for step in range(count)]
    table = {
        "name": names,
        "view": pa.array([-1 if stone[step] else views.pop() for step in range(count)], pa.int32()),
        "stone": pa.array(["s" if item else None for item in stone], pa.string()),
        "parent": pa.array(parents, pa.int32()),
        "edges": pa.array(range(count), pa.int64()),
        "inserted": pa.array([1] * count, pa.int64()),
        "deleted": pa.array([0] * count, pa.int64()),
    }
    return steps_from(pa.table(table))


def _base(kind: str, vertices: int) -> NDArray[Any]:
    if kind == "labels":
        return np.arange(vertices)
    return np.full(vertices, _BASES.get(kind, 0), _TYPES.get(kind, np.float64))


def _changed(pick: random.Random, kind: str, before: NDArray[Any]) -> NDArray[Any]:
    found = before.copy()
    share = pick.choice((0.0, 0.02, 0.1, 0.9))
    for vertex in range(len(found)):
        if pick.random() < share or (share and pick.random() < 1 / len(found)):
            found[vertex] = _value(pick, kind, len(found))
    return found


def _value(pick: random.Random, kind: str, vertices: int) -> Any:
    match kind:
        case "labels":
            return pick.randrange(pick.choice((1, vertices)), vertices + 1) - 1
        case "truths":
            return pick.random() < 0.5
        case "hops":
            return pick.choice((math.inf, float(pick.randrange(6))))
        case "widths":
            return pick.choice((-math.inf, pick.random()))
        case "distances":
            return pick.choice((math.inf, pick.random() * 10.0 ** pick.randrange(-8, 9)))
        case "odd":
            return pick.choice((math.nan, -math.inf, 5e-324, -1e308, 1.5e308, 0.1, -0.3, 1e-300))
        case "huge":
            return pick.choice((math.nan, math.inf, -math.inf, -1.7e308, 1.7e308, 1e308, -0.0))
        case "least sent" | "greatest sent" | "ends":
            return pick.choice((MOST, LEAST, MOST - 1, LEAST + 1, 0, -1, pick.randrange(1 << 40)))
        case "whole":
            return pick.randrange(-(1 << 50), 1 << 50)
        case "large":
            return pick.choice((1, -1)) * (1 << 62) + pick.randrange(4)
        case _:
            return pick.choice((0.15, pick.random()))


def _parts(
    pick: random.Random, steps: RunSteps, found: list[NDArray[Any]], finished: int
) -> PartsInMemory:
    """The differences of the finished steps, in parts of any length. `found[0]` is the base."""
    parts, buffer = PartsInMemory(), PartBuffer(("value",))
    for step in range(finished):
        before = CurrentResults({"value": found[int(steps.parent[step]) + 1]})
        changes = before.differences({"value": found[step + 1]})
        buffer.add((step, Move.FOLLOW, 0.0, 0.0, 0.0, 0, len(changes["value"])), changes)
        if pick.random() < 0.15 or step == finished - 1:
            parts.append(buffer.take())
    return parts
