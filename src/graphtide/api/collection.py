"""A collection: named views of one graph, arranged in a plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.view import View, graph_of
from graphtide.model.delta import Delta
from graphtide.model.errors import NotFoundError
from graphtide.model.schema import closest
from graphtide.plan.collection import CollectionPlan
from graphtide.run.live.chosen_program import chosen_program
from graphtide.run.live.modes import Mode
from graphtide.store.collection import StoredCollection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from graphtide.api.pictures.picture import Picture
    from graphtide.api.run import Run
    from graphtide.api.session import Session
    from graphtide.api.stored_runs import RunRequest
    from graphtide.lang.python import AnyProgram
    from graphtide.run.collection.facts import Strategy


@dataclass(frozen=True)
class Step:
    """One version of a collection's plan: a view, or a stepping stone (`view` is None).

    `parent` is the index of the step that `delta` starts from; -1 is the empty version.
    """

    index: int
    view: str | None
    stone: str | None
    parent: int
    delta: Delta


class Collection(Sequence[View]):
    """Views in the order in which they were given; `steps` follows the plan."""

    def __init__(self, session: Session, stored: StoredCollection) -> None:
        self._session = session
        self._stored = stored
        self._positions = {view.name: at for at, view in enumerate(stored.views)}

    @property
    def name(self) -> str:
        """The name in the catalog."""
        return self._stored.name

    @property
    def graph(self) -> str:
        """The name of the graph."""
        return self._stored.facts.graph

    @property
    def statement(self) -> str:
        """The GVDL that makes this collection."""
        return self._stored.facts.statement

    @property
    def plan(self) -> CollectionPlan:
        """The plan by classes; `plan.totals` says what the other arrangements would cost."""
        return self._stored.plan

    @property
    def weights(self) -> NDArray[np.int64]:
        """The number of edges of each class of the plan."""
        return self._stored.weights

    @property
    def differences(self) -> int:
        """All edges that enter or leave along the plan, loading the first version included."""
        return self.plan.differences(self._stored.weights)

    @property
    def names(self) -> list[str]:
        """The names of the views, in the order in which they were given."""
        return list(self._positions)

    def __len__(self) -> int:
        return len(self._stored.views)

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> View: ...
    @overload
    def __getitem__(self, key: slice) -> list[View]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> View | list[View]:
        if isinstance(key, slice):
            return [self[at] for at in range(*key.indices(len(self)))]
        if isinstance(key, SupportsIndex):
            return View(self._session, self._stored, self._place(key))
        if key not in self._positions:
            near = closest(str(key), self._positions)
            raise NotFoundError(
                f"the collection '{self.name}' has no view '{key}'",
                hint=f"did you mean '{near}'?" if near else "see its names: collection.names",
            )
        return View(self._session, self._stored, self._positions[key])

    def _place(self, key: SupportsIndex) -> int:
        """A position counted from the front; IndexError past the end, as sequences must."""
        try:
            return range(len(self))[key]
        except IndexError:
            raise IndexError(
                f"the collection '{self.name}' has {len(self):,} views, and none at {key!r}"
            ) from None

    def steps(self) -> Iterator[Step]:
        """The versions of the plan, depth first, each with the delta from its parent."""
        for index, step in enumerate(self.plan.steps):
            name = None if step.view is None else self._stored.views[step.view].name
            yield Step(index, name, step.stone, step.parent, self._stored.delta(index))

    def to_arrow(self) -> pa.Table:
        """A row a step of the plan: view or stone, size, parent, edges in and out."""
        steps, weights = self.plan.steps, self._stored.weights
        inserted = np.array([weights[step.inserted].sum() for step in steps], np.int64)
        deleted = np.array([weights[step.deleted].sum() for step in steps], np.int64)
        sizes: list[int] = []
        for at, step in enumerate(steps):
            before = 0 if step.parent < 0 else sizes[step.parent]
            sizes.append(before + int(inserted[at]) - int(deleted[at]))
        labels = [self._label(at) for at in range(len(steps))]
        parents = [None if step.parent < 0 else labels[step.parent] for step in steps]
        return pa.table(
            {
                "view": pa.array(labels, pa.string()),
                "stone": pa.array([step.view is None for step in steps], pa.bool_()),
                "edges": pa.array(sizes, pa.int64()),
                "parent": pa.array(parents, pa.string()),
                "inserted": inserted,
                "deleted": deleted,
            }
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_spark(self) -> DataFrame:
        """Every difference as a Spark DataFrame: `step`, `_edge`, `sign` (+1 or -1)."""
        return self._session.gateway.delta_frame(self._stored, self._flips())

    def explain(self) -> str:
        """The plan as text, with what chain and tree would cost and the lower bounds."""
        names = [view.name for view in self._stored.views]
        return self.plan.explain(names, self._stored.weights)

    def run(
        self,
        program: AnyProgram,
        *,
        name: str | None = None,
        strategy: Strategy = "adaptive",
        mode: Mode = "auto",
        verify: int | None = None,
        resume: bool = False,
        results: bool = True,
        grid: tuple[int, int] | None = None,
        replace: bool = True,
    ) -> Run:
        """Run a program on every view, and return its results. Needs no Spark.

        `strategy` is `differential` (share the work with the parent of each view), `scratch`, or
        `adaptive`: whichever is expected to be faster, view by view. `verify=n` compares every
        n-th view with a run by the program's definition, without proofs or compiled code, and stops
        at the first difference. Results are stored
        under `name` (default: collection and program) in place of an earlier run, or only if there
        is none (`replace=False`); what is finished
        when a run is interrupted is kept, and `resume=True` goes on from there. `results=False`
        writes nothing: the run has its record, and of pairs its results. `grid`, rows and columns,
        feeds the views to a dataflow as versions of two coordinates: for products.
        """
        from graphtide.api.stored_runs import RunRequest, run_collection
        from graphtide.run.collection.runner import RunSettings
        from graphtide.run.collection.start import check_kept, check_strategy, check_verify

        check_strategy(strategy, grid)
        check_verify(verify)
        check_kept(results, name, resume)
        chosen = chosen_program(program, mode)
        name = f"{self.name}-{chosen.bound.program.name}" if name is None else name
        settings = RunSettings(verify=verify)
        request = RunRequest(
            name, chosen, strategy, resume, settings, grid=grid, kept=results, replace=replace
        )
        try:
            return run_collection(self._session, self._stored, request)
        except KeyboardInterrupt as stop:
            stop.add_note(self._left_off(request))
            raise

    def picture(self, path: str | Path | None = None) -> Picture:
        """Draw how like the views are, in the given order and as arranged.

        To a PNG, SVG or PDF file if a path is given; a notebook shows what it returns.
        """
        from graphtide.api.pictures.draw import check_path, draw_collection

        check_path(path)
        drawn = draw_collection(self)
        if path is not None:
            drawn.save(path)
        return drawn

    def explain_run(self, program: AnyProgram, *, mode: Mode = "auto") -> str:
        """What a run of the program would do: its mode and why, the plan, an estimate of the time.

        Reads the collection and runs the program on one view.
        """
        from graphtide.api.stored_runs import explain_run

        return explain_run(self._session, self._stored, chosen_program(program, mode))

    def check(self) -> None:
        """Raise if the graph is gone or has been loaded anew since."""
        graph_of(self._session, self._stored)

    def __repr__(self) -> str:
        totals = self.plan.totals
        return (
            f"<collection '{self.name}' on {self.graph}: {len(self):,} views, "
            f"{self.plan.kind} of {self.differences:,} differences "
            f"({totals.given:,} in the given order)>"
        )

    def _repr_html_(self) -> str:
        from graphtide.api.notebook import collection_html

        return collection_html(self)

    def _left_off(self, request: RunRequest) -> str:
        """What an interrupted run has kept, and how to go on."""
        from graphtide.api.run_answers import left_off

        again = f"collection.run(..., name='{request.name}', resume=True)"
        return left_off(self._session.catalog, request.name, again if request.kept else None)

    def _label(self, step: int) -> str:
        item = self.plan.steps[step]
        return f"({item.stone})" if item.view is None else self._stored.views[item.view].name

    def _flips(self) -> pa.Table:
        columns: dict[str, list[np.ndarray]] = {"step": [], "_class": [], "sign": []}
        for index, step in enumerate(self.plan.steps):
            for classes, sign in ((step.inserted, 1), (step.deleted, -1)):
                columns["step"].append(np.full(len(classes), index, np.int32))
                columns["_class"].append(classes.astype(np.int32))
                columns["sign"].append(np.full(len(classes), sign, np.int8))
        return pa.table({name: np.concatenate(parts) for name, parts in columns.items()})
