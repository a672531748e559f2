"""What a task tells of the results of its own vertices in a view: figures, and who leads.

All tasks tell together what the driver would otherwise have to read results for. Labels of
components are counted by the owners of the vertices that they name: everybody sends its counts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Values
from graphtide.engine.shards.exchange import Mesh
from graphtide.engine.shards.local_graph import LocalGraph
from graphtide.run.collection.partial_figures import (
    Partial,
    missing_end,
    partial_figure,
    partial_names,
)
from graphtide.run.collection.ranking import partial_leaders

Int64 = NDArray[np.int64]


class Summing:
    """The sums of a run by one task, in each view.

    `labels` is the result with components, and `naming` are all that name a vertex.
    """

    def __init__(
        self,
        graph: LocalGraph,
        mesh: Mesh,
        base: Values,
        labels: str | None,
        naming: Collection[str] = (),
    ) -> None:
        self._placement, self._own = graph.placement, graph.own
        self._mesh, self._base = mesh, base
        self._labels, self._naming = labels, {labels, *naming}
        ordered = {name: values for name, values in base.items() if name not in self._naming}
        self._far = {name: self._is_far(values) for name, values in ordered.items()}

    def told(self, values: Values, removed: Sequence[int] = ()) -> dict[str, dict[str, Partial]]:
        """Figures of each result, and leaders of those that have an order. All tasks call it.

        Vertices that are `removed` from the view count for no figure. They are among the leaders:
        whoever ranks leaves them out.
        """
        there = slice(None) if not removed else ~np.isin(self._own, removed)
        figures = {name: self._figure(name, column[there]) for name, column in values.items()}
        leaders = {
            name: partial_leaders(column, self._own, far=self._far[name])
            for name, column in values.items()
            if name in self._far and column.ndim == 1
        }
        return {"figures": figures, "leaders": leaders}

    def _figure(self, name: str, values: NDArray[Any]) -> Partial:
        if name == self._labels:
            return self._components(values)
        if name in self._naming:
            return partial_names(values)
        return partial_figure(values, self._base[name])

    def _is_far(self, base: NDArray[Any]) -> bool:
        """Whether the greatest value stands for no way, by the vertices of all tasks."""
        own = np.array(partial_figure(base, base).get("without", [0, 0, 0]), np.int64)
        told = self._mesh.exchange({task: [own] for task in self._others})
        sums = np.sum([own, *(item.view(np.int64) for item in told.values())], axis=0)
        return missing_end({"without": sums.tolist()}) == 0

    def _components(self, values: NDArray[Any]) -> Partial:
        """Of the components whose labels this task owns."""
        labels, counts = np.unique(values.astype(np.int64), return_counts=True)
        owners = self._placement.owners(labels)
        parts = {task: (labels[owners == task], counts[owners == task]) for task in self._others}
        told = self._mesh.exchange({task: list(part) for task, part in parts.items()})
        mine = owners == self._mesh.rank
        pairs = [(labels[mine], counts[mine])]
        pairs += [_halves(item.view(np.int64)) for item in told.values()]
        sizes = _sizes(*(np.concatenate(column) for column in zip(*pairs, strict=True)))
        single, largest = int(np.count_nonzero(sizes == 1)), int(sizes.max(initial=0))
        return {"components": len(sizes), "largest": largest, "single": single}

    @property
    def _others(self) -> list[int]:
        return [task for task in range(self._mesh.size) if task != self._mesh.rank]


def _halves(words: Int64) -> tuple[Int64, Int64]:
    return words[: len(words) // 2], words[len(words) // 2 :]


def _sizes(labels: Int64, counts: Int64) -> Int64:
    """How many vertices each label has in all."""
    distinct, places = np.unique(labels, return_inverse=True)
    sizes = np.zeros(len(distinct), np.int64)
    np.add.at(sizes, places.reshape(-1), counts)
    return sizes
