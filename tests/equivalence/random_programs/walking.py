"""One program in one mode through a journey, by the public interface, compared after every step.

Refusals count as right answers where the documentation promises them, and leave all as it was.
"""

from __future__ import annotations

import time
from typing import Any

from graphtide.model.errors import GraphtideError
from tests.equivalence.random_programs.cases import Case, Row, Step
from tests.equivalence.random_programs.given_vertices import vertex_columns
from tests.equivalence.random_programs.judging import (
    Ids,
    Judge,
    Version,
    WrongError,
    same,
)
from tests.equivalence.random_programs.running import graph_of

SLOW = 20.0


def _alike(told: list[Any], right: list[Any]) -> bool:
    return same(right, told, 0.0)


class Walk:
    """One program in one mode on one graph, taken through a journey."""

    def __init__(self, case: Case, judge: Judge, mode: str) -> None:
        self.case, self.judge, self.mode, self.tally = case, judge, mode, judge.tally
        self.version = Version(tuple(case.vertices), case.edges)
        self.graph = graph_of(self.version, case)
        self.before: list[Version] = []
        self.live: Any = None
        self.hasty = False

    def run(self) -> bool:
        """All steps; False where the program has no such mode, or cannot be judged any further."""
        if not self._begin():
            return False
        for at, step in enumerate(self.case.steps):
            try:
                if not self._step(step):
                    return False
            except WrongError as wrong:
                raise WrongError(f"step {at} ({step.kind}), mode {self.mode}: {wrong}") from wrong
        self._verify()
        return True

    def _begin(self) -> bool:
        program = self.judge.program(**self.case.parameters)
        right = self.judge.answer(self.version)
        try:
            self.live = self.graph.maintain(program, mode=self.mode, **self._knobs())
        except GraphtideError as error:
            if "has no fixpoint mode" in str(error) or "without sums" in str(error):
                return False
            self.judge.check_refusal(error, right, self.version)
            return False
        except Exception as error:
            raise WrongError(f"the start in mode {self.mode} ended in {error!r}") from error
        self.tally.note(f"mode {self.live.mode} {type(self.live._kept.maintainer).__name__}")
        return self._compare(right, "the start")

    def _knobs(self) -> dict[str, Any]:
        return self.case.knobs if self.mode == "exact" else {}

    def _step(self, step: Step) -> bool:
        if step.kind == "forget":
            self.graph.forget()
            self.before.clear()
            return True
        if step.kind == "rollback":
            return self._roll_back()
        return self._advance(step)

    def _roll_back(self) -> bool:
        if not self.before:
            return True
        self.graph.rollback()
        self.version = self.before.pop()
        self.tally.note("steps")
        return self._compare(self.judge.answer(self.version), "the rollback")

    def _advance(self, step: Step) -> bool:
        edges, delete = list(self.version.edges), list[Row]()
        for row in step.delete:
            if row in edges:
                edges.remove(row)
                turned = not self.case.directed and len(delete) % 2
                delete.append((row[1], row[0], *row[2:]) if turned else row)
        edges += step.insert
        vertices = list(self.version.vertices)
        for row in step.insert:
            vertices += [end for end in dict.fromkeys(row[:2]) if end not in vertices]
        following = Version(tuple(vertices), tuple(edges))
        self.tally.note("steps")
        right = self.judge.answer(following)
        self._hasten()
        was, old = self.graph.version, self._results()
        began = time.process_time()
        try:
            self.graph.advance(list(step.insert) or None, delete or None, self._entering(vertices))
        except GraphtideError as error:
            self.judge.check_refusal(error, right, following)
            if self.graph.version != was:
                raise WrongError("a refused advance has moved the graph") from error
            return self._compare(self.judge.answer(self.version), "the refusal")
        except Exception as error:
            raise WrongError(f"the advance ended in {error!r}") from error
        if time.process_time() - began > SLOW:
            self._check_again(step, delete, vertices)
        self.before.append(self.version)
        self.version = following
        self._check_vertices()
        goes_on = self._compare(right, "the advance")
        self._check_changes(old)
        return goes_on

    def _entering(self, vertices: list[Any]) -> dict[str, list[Any]] | None:
        """What the data say of the vertices that an advance brings; None where it brings none."""
        new = vertices[len(self.version.vertices) :]
        return vertex_columns(self.case.seed, new) if new else None

    def _check_again(self, step: Step, delete: list[Row], vertices: list[Any]) -> None:
        """An advance that took long may have compiled; the same once more must not."""
        self.graph.rollback()
        began = time.process_time()
        self.graph.advance(list(step.insert) or None, delete or None, self._entering(vertices))
        if time.process_time() - began > SLOW:
            raise WrongError(f"the advance took {time.process_time() - began:.0f} s")

    def _hasten(self) -> None:
        """Every other advance of a hasty case gives up at once and runs anew."""
        self.hasty = self.case.hasty and not self.hasty
        maintainer = self.live._kept.maintainer
        for one in getattr(maintainer, "parts", [maintainer]):
            if hasattr(one, "budget"):
                one.budget = 0 if self.hasty else None
            elif self.hasty:
                one.patience = -1e6
            else:
                vars(one).pop("patience", None)

    def _check_vertices(self) -> None:
        found = tuple(self.graph.vertices().column("id").to_pylist())
        if found != self.version.vertices:
            raise WrongError(f"vertices {found}, expected {self.version.vertices}")

    def _compare(self, right: Any, what: str) -> bool:
        ids = Ids(self.live._compiled.naming, self.version.vertices)
        return self.judge.compare(right, self._results(), what, ids)

    def _check_changes(self, old: dict[str, Any]) -> None:
        """Told are the rows whose results changed, with what they were, and the new ones."""
        new, told = self._results(), self.live.changes().to_pydict()
        count = len(next(iter(old.values())))
        rows = len(next(iter(new.values())))
        changed = [
            at
            for at in range(rows)
            if at >= count or any(not same(new[name][at], old[name][at], 0.0) for name in new)
        ]
        for name in new:
            suffix = "" if len(new) == 1 else f"_{name}"
            before = [old[name][at] if at < count else None for at in changed]
            after = [new[name][at] for at in changed]
            if not (_alike(told[f"old{suffix}"], before) and _alike(told[f"new{suffix}"], after)):
                raise WrongError(f"changes told {told}, right is {before} to {after}")

    def _results(self) -> dict[str, Any]:
        return {name: self.live[name].tolist() for name in self.live.fields}

    def _verify(self) -> None:
        right = self.judge.answer(self.version)
        if self.judge.decides(right):
            try:
                self.live.verify()
            except Exception as error:
                raise WrongError(f"verify ended in {error!r}") from error
