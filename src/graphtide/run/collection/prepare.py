"""A program on the graph of a run: checked against all edges, and compiled.

Everything that can be refused is refused here, before a step is run: parameters that are no
vertices, properties that edges lack, values that the mode's proof does not allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Values, first_difference
from graphtide.engine.fixpoint.maintainer import FixpointMaintainer
from graphtide.engine.graph_data import FirstData
from graphtide.engine.lanes.runs import LaneGroups
from graphtide.engine.maintainer import Maintainer, PairsMaintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.stretches import Patience, no_steps
from graphtide.engine.synchronous.maintainer import SynchronousMaintainer
from graphtide.model.errors import DifferenceError, GraphtideError
from graphtide.optimize.strategy import Prices
from graphtide.plan.programs import ParameterKind
from graphtide.run.live.computation import SumSettings
from graphtide.run.live.named_graph import NamedGraph
from graphtide.run.live.programs import Compiled, checked_parameters, pair_numbers
from graphtide.run.live.results import arrow_column
from graphtide.run.live.versions import MaintainedProgram
from graphtide.run.live.vertex_ids import VertexIds

PATIENCE = 0.75
"""How much of the graph a repair looks at before it is broken off, where the steps are planned.

A state takes several times what a run from scratch takes, so that it is worth some trouble to keep
one. Over 252 planned views of com-dblp components took 68 ms a view with 0.25, 43 ms with this and
41 ms with twice as much; in random order 89, 106 and 119 ms.
"""

DATAFLOW_PRICES = Prices(state=400.0, step=25_000.0, edge=1_600.0)
"""A dataflow beside a search from scratch, measured for strongly connected components.

On RMAT 16, soc-Epinions1 and sx-mathoverflow: 2.4 to 6.6 ms from scratch, 320 to 440 times that to
begin, 0.15 ms and 10 microseconds an edge to follow.
"""


_COMPILING = Lock()
"""One of the threads of a run compiles what is compiled late; the others wait for it."""


class PreparedProgram:
    """Makes as many maintainers of a program as a run needs, all on one graph."""

    def __init__(
        self,
        compiled: Compiled,
        graph: ResidentGraph,
        parameters: tuple[Any, ...],
        ids: VertexIds | None = None,
    ) -> None:
        self.compiled = compiled
        self.graph = graph
        self.parameters = parameters
        self._ids = ids

    def on_pairs(self, places: NDArray[np.int64]) -> PreparedProgram:
        """The same program on some of its pairs, by their places, on the same graph."""
        kinds = [item.kind for item in self.compiled.bound.program.parameters]
        parameters = tuple(
            tuple(value[at] for at in places) if kind is ParameterKind.PAIRS else value
            for kind, value in zip(kinds, self.parameters, strict=True)
        )
        return PreparedProgram(self.compiled, self.graph, parameters, self._ids)

    def twin(self) -> PreparedProgram:
        """The same program on a graph of the same edges that another thread may change.

        Whatever the program reads of edges and vertices is at hand when this returns.
        """
        made = PreparedProgram(self.compiled, self.graph.twin(), self.parameters, self._ids)
        assert made.stateless
        return made

    def maintained(self) -> MaintainedProgram:
        """A new maintainer, not started."""
        compiled, maintainer = self.compiled, self._maintainer()
        if isinstance(maintainer, FixpointMaintainer):
            maintainer.patience = PATIENCE
        assert maintainer.kernels
        kinds = compiled.fields, compiled.globals
        rows = compiled.matches
        return MaintainedProgram(maintainer, compiled.choice, compiled.needed, *kinds, matches=rows)

    def scratch(self) -> Mapping[str, NDArray[Any]]:
        """The results of the version that the graph is at, by a run from scratch."""
        return self.stateless.scratch()

    def plainly(self) -> Values:
        """The results by the program's definition, to verify others: without proofs or kernels."""
        return self.compiled.plainly(self.graph, self.parameters, self.stateless)

    def check_same(self, values: Values, scratch: Values, place: str, without: str) -> None:
        """Raise DifferenceError if results at `place` differ from those of a run from scratch."""
        difference = first_difference(
            values, scratch, self.rounding, self.stateless.beside_values()
        )
        if difference is None:
            return
        field, row = difference
        if field in self.compiled.matches:
            raise DifferenceError(
                f"{self.compiled.bound}: {field} has other rows than from scratch",
                where=f"the view '{place}'",
                hint=f"please report it; {without} does without what went wrong",
            )
        who = self._row_name(field, row)
        raise DifferenceError(
            f"{self.compiled.bound}: {who} has {field} = {values[field][row]}, "
            f"from scratch {scratch[field][row]}",
            where=f"the view '{place}'",
            hint=f"please report it; {without} does without what went wrong",
        )

    def _row_name(self, field: str, row: int) -> str:
        """The vertex or pair that a result stands for, by the users' ids; or the graph."""
        if field in self.compiled.globals:
            return "the graph"
        pairs = pair_numbers(self.compiled.bound, self.parameters)
        ends = (row,) if pairs is None else pairs[row]
        names = [repr(end if self._ids is None else self._ids[end]) for end in ends]
        return f"vertex {names[0]}" if pairs is None else f"the pair {' to '.join(names)}"

    @property
    def has_lanes(self) -> bool:
        """True where several versions can be run from scratch at once."""
        return _lanes_of(self) is not None

    @cached_property
    def lanes(self) -> LaneGroups:
        """What runs several versions at once; compiled when it is first asked for."""
        with _COMPILING:
            small, groups = _lanes_of(_small(self)), _lanes_of(self)
            assert small is not None
            assert groups is not None
            small.begin()
            small.flip(np.arange(2, dtype=np.int32))
            small.take()
            with suppress(GraphtideError):
                small.run()
        return groups

    @property
    def rounding(self) -> float:
        """The share by which results may differ from a run from scratch: only what is rounded."""
        return self.compiled.allowed_share(self.stateless)

    @property
    def adds_up(self) -> bool:
        """True for a program that takes all messages in, so that changes spread everywhere."""
        maintainer = self.stateless
        one = maintainer.parts[0] if isinstance(maintainer, PairsMaintainer) else maintainer
        return isinstance(one, SynchronousMaintainer)

    @property
    def prices(self) -> Prices | None:
        """What a state costs, where that is far more than a run from scratch."""
        return DATAFLOW_PRICES if self.compiled.searched else None

    @cached_property
    def stateless(self) -> Maintainer:
        """A maintainer that is never started."""
        return self._maintainer()

    def _maintainer(self) -> Maintainer:
        return self.compiled.maintainer(self.graph, self.parameters, SumSettings())


def prepare(compiled: Compiled, known: NamedGraph) -> PreparedProgram:
    """A program on a graph, all of whose edges have been checked; compiled when this returns."""
    edges = np.arange(known.resident.edges, dtype=np.int32)
    parameters = checked_parameters(compiled, known, edges)
    prepared = PreparedProgram(compiled, known.resident, parameters, known.ids)
    _compile(prepared)
    return prepared


def _compile(prepared: PreparedProgram) -> None:
    """Run everything once on two vertices: what takes seconds to compile is not to be measured.

    What fails there, such as an index that is right in the data alone or a run that never ends,
    says nothing about the graph of the run, and is passed over. Lanes are left to the first group
    that is run in them.
    """
    small = _small(prepared)
    with suppress(GraphtideError):
        _follow_both(small)
    with suppress(GraphtideError):
        # Arrow's first array brings pandas in, where it is installed.
        values = small.scratch()
        for name in prepared.compiled.arrays:
            arrow_column(values[name])


def _follow_both(small: PreparedProgram) -> None:
    """Start a program on a graph of two edges, let one come and then change places with the other,
    and undo that.
    """
    kept, both, none = small.maintained(), np.arange(2, dtype=np.int32), np.empty(0, np.int32)
    kept.start(0, 2)
    for inserted, deleted in ((both[:1], none), (both[1:], both[:1])):
        kept.follow(small.graph.flip(inserted, deleted), 2)
    kept.undo(2)
    maintainer: Any = kept.maintainer
    if maintainer.follows_stretches:
        maintainer.follow_stretch(no_steps(), Patience())


def _lanes_of(prepared: PreparedProgram) -> LaneGroups | None:
    maintainer = prepared.stateless
    return maintainer.lanes if isinstance(maintainer, SynchronousMaintainer) else None


def _small(prepared: PreparedProgram) -> PreparedProgram:
    """The same program on a graph of two vertices and two edges, none of them live."""
    ends = np.array([0, 1], np.int32), np.array([1, 0], np.int32)
    properties = {
        name: np.ones(2, column.dtype) for name, column in prepared.graph.properties.items()
    }
    directed = prepared.graph.directed
    graph = ResidentGraph(2, *ends, properties, live=False, directed=directed)
    graph.vertex_data = FirstData(prepared.graph.vertex_data, 2)
    graph.edge_data = prepared.graph.edge_data
    return PreparedProgram(prepared.compiled, graph, _small_parameters(prepared))


def _small_parameters(prepared: PreparedProgram) -> tuple[Any, ...]:
    """Parameters of the same types for a graph of two vertices."""
    kinds = [item.kind for item in prepared.compiled.bound.program.parameters]
    stand_ins: dict[ParameterKind, Any] = {
        ParameterKind.VERTEX: 0,
        ParameterKind.VERTICES: (0,),
        ParameterKind.PAIRS: ((0, 1),),
    }
    return tuple(
        stand_ins.get(kind, value) for kind, value in zip(kinds, prepared.parameters, strict=True)
    )
