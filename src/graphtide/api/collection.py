"""A stored collection: named views of one graph of the catalog, arranged in a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from graphtide.api.view import View, graph_of
from graphtide.api.view_sequence import ViewSequence
from graphtide.run.live.modes import Mode
from graphtide.run.live.programs import compiled_program
from graphtide.store.collection import StoredCollection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from graphtide.api.run import Run
    from graphtide.api.session import Session
    from graphtide.api.stored_runs import RunRequest
    from graphtide.lang.python import AnyProgram
    from graphtide.run.collection.facts import Strategy


class Collection(ViewSequence[View]):
    """Views in the order in which they were given; `steps` follows the plan."""

    def __init__(self, session: Session, stored: StoredCollection) -> None:
        super().__init__(stored)
        self._session = session
        self._stored = stored

    @property
    def graph(self) -> str:
        """The name of the graph."""
        return self._stored.facts.graph

    @property
    def statement(self) -> str:
        """The GVDL that makes this collection."""
        return self._stored.facts.statement

    def to_spark(self) -> DataFrame:
        """Every difference as a Spark DataFrame: `step`, `_edge`, `sign` (+1 or -1)."""
        return self._session.gateway.delta_frame(self._stored, self._flips())

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
        compiled = compiled_program(program, mode)
        name = f"{self.name}-{compiled.bound.program.name}" if name is None else name
        settings = RunSettings(verify=verify)
        request = RunRequest(
            name, compiled, strategy, resume, settings, grid=grid, kept=results, replace=replace
        )
        try:
            return run_collection(self._session, self._stored, request)
        except KeyboardInterrupt as stop:
            stop.add_note(self._left_off(request))
            raise

    def explain_run(self, program: AnyProgram, *, mode: Mode = "auto") -> str:
        """What a run of the program would do: its mode and why, the plan, an estimate of the time.

        Reads the collection and runs the program on one view.
        """
        from graphtide.api.stored_runs import explain_run

        return explain_run(self._session, self._stored, compiled_program(program, mode))

    def check(self) -> None:
        """Raise if the graph is gone or has been loaded anew since."""
        graph_of(self._session, self._stored)

    def _view(self, position: int) -> View:
        return View(self._session, self._stored, position)

    def _left_off(self, request: RunRequest) -> str:
        """What an interrupted run has kept, and how to go on."""
        from graphtide.api.run_answers import left_off

        again = f"collection.run(..., name='{request.name}', resume=True)"
        return left_off(self._session.catalog, request.name, again if request.kept else None)

    def _flips(self) -> pa.Table:
        columns: dict[str, list[np.ndarray]] = {"step": [], "_class": [], "sign": []}
        for index, step in enumerate(self.plan.steps):
            for classes, sign in ((step.inserted, 1), (step.deleted, -1)):
                columns["step"].append(np.full(len(classes), index, np.int32))
                columns["_class"].append(classes.astype(np.int32))
                columns["sign"].append(np.full(len(classes), sign, np.int8))
        return pa.table({name: np.concatenate(parts) for name, parts in columns.items()})
