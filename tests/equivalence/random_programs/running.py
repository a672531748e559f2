"""A program over versions of a graph, by every strategy: the results of each against the oracle."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import graphtide as gt
from graphtide.model.errors import GraphtideError
from graphtide.run.live.programs import compiled_program, vertex_parameters
from tests.equivalence.random_programs.cases import TYPES, Case, pasteable_run
from tests.equivalence.random_programs.given_vertices import vertex_columns
from tests.equivalence.random_programs.judging import Ids, Judge, Version, WrongError
from tests.lean_graphs import lean_of, small_parts, values_by_all
from tests.oracle.class_runs import Outcome

STRATEGIES = ("differential", "scratch", "adaptive")
ORDERS = ("auto", "chain", "tree", "manual")


class VersionRun:
    """Every edge of a case in one graph, and some versions of it on which the program settles."""

    def __init__(self, case: Case, judge: Judge) -> None:
        self.case, self.judge = case, judge
        self.pick = random.Random(case.seed)
        inserted = [row for step in case.steps for row in step.insert]
        rows = (*case.edges, *inserted)[:60]
        vertices = dict.fromkeys((*case.vertices, *(end for row in rows for end in row[:2])))
        self.whole = Version(tuple(vertices), rows)
        self.versions = self._versions()
        self.how: dict[str, Any] = {
            "strategy": self.pick.choice(STRATEGIES),
            "order": self.pick.choice(ORDERS),
            "mode": self.pick.choice(("auto", "auto", "exact")),
        }

    def __str__(self) -> str:
        graph = self.whole.vertices, self.whole.edges
        return pasteable_run(self.case, graph, self.versions, self.how)

    def _versions(self) -> dict[str, list[bool]]:
        found, style = {}, self.pick.choice((0.1, 0.5, 0.8, 0.95))
        for at in range(self.pick.randrange(1, 7)):
            held = [self.pick.random() < style for _ in self.whole.edges]
            if isinstance(self.judge.answer(self._version(held)), Outcome):
                found[f"version {at}"] = held
        return found

    def _version(self, held: list[bool]) -> Version:
        rows = zip(self.whole.edges, held, strict=True)
        return Version(self.whole.vertices, tuple(row for row, there in rows if there))

    def run(self) -> None:
        """One strategy and one order, chosen by the case."""
        if not self.versions or not self.whole.edges:
            return
        program = self.judge.program(**self.case.parameters)
        masks = {name: np.array(held, np.bool_) for name, held in self.versions.items()}
        try:
            graph = graph_of(self.whole, self.case)
            run = graph.run(program, masks, verify=1, **self.how)
        except GraphtideError as error:
            self.judge.check_refusal(error, None, self.whole)
            return
        except Exception as error:
            raise WrongError(f"the run {self.how} ended in {error!r}") from error
        ids = Ids(compiled_program(program, "auto").naming, self.whole.vertices)
        for name, held in self.versions.items():
            self.judge.tally.note("versions run")
            right = self.judge.answer(self._version(held))
            found = {field: run.values(name, field).tolist() for field in self.judge.loaded.state}
            self.judge.compare(right, found, f"{name} of the run {self.how}", ids)
        self._run_lean(program, self._version(held), right)

    def _run_lean(self, program: Any, version: Version, right: Any) -> None:
        """A version over a lean graph, in one part and in many; settling where that is proved."""
        graph = graph_of(version, self.case)
        compiled = compiled_program(program, "auto", directed=self.case.directed)
        if program.program.pairs is not None or not version.vertices:
            return
        parameters = vertex_parameters(program, graph._known.ids)
        data = {"vertex_data": graph._resident.vertex_data}
        lean = lean_of(graph._resident)
        for settles in {False, compiled.choice.mode == "fixpoint"}:
            with small_parts():
                found = values_by_all(
                    lean, compiled.bound.program, parameters, settles=settles, **data
                )
            self.judge.tally.note("lean graphs run")
            listed = {name: values.tolist() for name, values in found.items()}
            self.judge.compare(right, listed, f"a lean graph, settles={settles}")


def graph_of(version: Version, case: Case) -> gt.Graph:
    """A graph in memory, its properties of the declared types even where there are no edges."""
    columns = list(zip(*version.edges, strict=True)) or [()] * 5
    properties = {
        name: np.array(column, kind)
        for (name, kind), column in zip(TYPES.items(), columns[2:], strict=True)
    }
    src, dst = list(columns[0]), list(columns[1])
    vertices = vertex_columns(case.seed, version.vertices)
    return gt.Graph(src, dst, vertices=vertices, directed=case.directed, **properties)
