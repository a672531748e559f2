"""Use every program of the library once in each of its roles, so that its machine code is kept.

`tools/make_wheel.py` runs this with an empty cache and ships what is then in it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import graphtide as gt
from graphtide import algorithms
from graphtide.engine.lean.runs import LeanRun
from graphtide.engine.lean.workers import Workers
from graphtide.kernels.graph.adjacency import compress
from graphtide.model.errors import GraphtideError
from graphtide.plan.programs import ParameterKind
from graphtide.run.live.computation import CompiledProgram
from graphtide.run.live.programs import compiled_program, vertex_parameters

VALUES: dict[ParameterKind, Any] = {
    ParameterKind.VERTEX: 10,
    ParameterKind.VERTICES: [10, 20],
    ParameterKind.PAIRS: [(10, 20)],
    ParameterKind.INT: 2,
    ParameterKind.FLOAT: 0.5,
    ParameterKind.BOOL: True,
}
ENDS = [10, 10, 20, 30], [20, 30, 30, 40]
PROPERTIES = {
    "weight": [1.0, 2.0, 1.0, 3.0],
    "rating": [1.0, 2.0, 3.0, 4.0],
    "time": [1.0, 2.0, 3.0, 4.0],
}


@gt.program
class FirstAncestor:
    """The first vertex that leads here: a least whole number, which is no component's label."""

    first: int = 0
    found = gt.Min(int)

    def initialize(self, v: Any) -> None:
        v.first = v.id

    def traverse(self, u: Any, e: Any, v: Any) -> None:
        v.found(u.first)

    def update(self, v: Any) -> None:
        v.first = min(v.first, v.found)


def programs() -> Iterator[tuple[str, Any]]:
    """Programs with parameters where these have no defaults: the library's, and one more.

    Kernels are compiled without their program, so that what is shipped serves programs of users'
    own, one kernel for each type of value.
    """
    yield "FirstAncestor", FirstAncestor()
    for name in algorithms.__all__:
        found = getattr(algorithms, name)
        if not callable(found):
            continue
        try:
            yield name, found()
        except GraphtideError:
            wanted = {item.name: VALUES[item.kind] for item in found.parameters}
            yield name, found(**wanted)


def exercise(program: Any) -> None:
    """Maintain, advance, roll back and run over versions, in every mode that there is."""
    for mode in ("auto", "exact"):
        graph = gt.Graph(*ENDS, **PROPERTIES)
        try:
            live = graph.maintain(program, mode=mode)  # type: ignore[arg-type]
        except GraphtideError as error:
            print(f"  {mode}: {error.args[0]}", file=sys.stderr)
            continue
        live.advance(insert=[(40, 10, 1.0, 2.0, 5.0), (50, 10, 1.0, 2.0, 6.0)], delete=[(10, 20)])
        live.advance(insert=[(10, 20, 1.0, 2.0, 7.0)], delete=[(50, 10)])
        len(live.changes().to_arrow())
        graph.rollback()
        live.table()
    graph = gt.Graph(*ENDS, **PROPERTIES)
    versions = [np.arange(4) != out for out in range(4)] * 3
    for strategy in ("differential", "scratch", "adaptive"):
        run = graph.run(program, versions, strategy=strategy)  # type: ignore[arg-type]
        look_at(run)


def exercise_lean(program: Any) -> None:
    """Run a vertex program over a lean graph, in both ways where it has two."""
    compiled = compiled_program(program, "auto")
    if not isinstance(compiled, CompiledProgram) or compiled.sources:
        return
    known = gt.Graph(*ENDS, **PROPERTIES)._known
    ends = known.resident.ends(known.resident.live_edges())
    lean = compress(known.resident.vertices, *ends, known.resident.properties)
    given = vertex_parameters(compiled.bound, known.ids)
    for settles in {False, compiled.choice.mode == "fixpoint"}:
        with Workers(1) as workers:
            LeanRun(lean, compiled.bound.program, given, settles=settles).values(workers)


def look_at(run: gt.Run) -> None:
    """Everything that is computed from results by kernels."""
    run.summary()
    run.to_arrow()
    for field in run.fields:
        with contextlib.suppress(GraphtideError):
            run.top(2, field)
        with contextlib.suppress(GraphtideError):
            run.components(0)


def main() -> None:
    """Everything, or the programs that are named; what is not there yet is compiled."""
    for name, program in programs():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        print(name, file=sys.stderr, flush=True)
        try:
            exercise(program)
            exercise_lean(program)
        except GraphtideError as error:
            print(f"  {error}", file=sys.stderr)
    for workers in (1, 2):
        exercise_dataflow(workers)


def exercise_dataflow(workers: int) -> None:
    """One machine runs all dataflows: a loop with a join and a reduction has it compiled."""
    flow = gt.Dataflow(workers=workers)
    edges, roots = flow.input("edges", src=int, dst=int), flow.input("roots", node=int)

    def step(reached: Any) -> Any:
        further = reached.join_map(edges, on={"node": "src"}, node=gt.dataflow.col.dst)
        return further.concat(roots).distinct()

    output = roots.iterate(step).output()
    edges.insert([(1, 2), (2, 3)])
    roots.insert([(1,)])
    flow.advance()
    edges.remove([(1, 2)])
    flow.advance()
    print(sorted(output.records()), file=sys.stderr)


if __name__ == "__main__":
    main()
