"""One class through one journey: all that a user can see, compared after every step."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

import graphtide as gt
from tests.equivalence.random_walks.journeys import NUMBERS, Journey, Version
from tests.equivalence.random_walks.twins import Twin
from tests.equivalence.random_walks.writing import write_class
from tests.oracle import walk_classes as oracle
from tests.unit.programs.sources import define

STRATEGIES = ("differential", "scratch", "adaptive")
ORDERS = ("auto", "chain", "tree", "manual")


class WrongError(Exception):
    """The product told something else than the oracle."""


@dataclass
class Case:
    """A class, its parameters, and a journey, all of one seed."""

    seed: int
    steps: int = 5

    def __post_init__(self) -> None:
        pick = random.Random(self.seed)
        written = write_class(pick)
        self.text = written.text
        self.journey = Journey(pick)
        self.random = pick
        self.loaded = oracle.load_class(self.text)
        first = self.journey.first.vertices
        given: dict[str, Any] = {
            **written.values,
            "source": pick.choice(first),
            "among": pick.sample(first, min(2, len(first))),
            "flag": pick.random() < 0.5,
            "town": pick.choice("abc"),
            "since": "2020-01-03",
            "until": "2020-01-01 00:00:02",
            "most": pick.choice((0, 1, 3, 1000)),
        }
        names = self.loaded.parameters
        self.values = {name: given[name] for name in names if name in given}
        self.twin: Twin | None = None
        if "self.all_" in self.text:
            self.twin = Twin(self.text, written.values["width"], self.seed)

    def program(self, text: str = "") -> Any:
        """The program as a user has it, or one of another text."""
        module = define(
            text or self.text, gt=gt, math=math, pairwise=pairwise, combinations=combinations
        )
        return module["Walked"](**self.values)

    def answer(self, version: Version) -> oracle.Outcome:
        """What Python says."""
        number = {name: at for at, name in enumerate(version.vertices)}
        values = dict(self.values)
        if "source" in values:
            values["source"] = number[values["source"]]
        if "among" in values:
            values["among"] = [number[name] for name in values["among"]]
        edges = [(number[row[0]], number[row[1]], self.journey.edge(row)) for row in version.edges]
        vertices = [self.journey.vertex(name) for name in version.vertices]
        directed = self.journey.directed
        return oracle.Graph(self.loaded, values, vertices, edges, directed=directed).run()

    def limit(self, name: str) -> int | None:
        """How many rows of some matches are shown."""
        line = next(one for one in self.text.splitlines() if one.strip().startswith(f"{name} ="))
        if "limit=" not in line:
            return None
        told = line.rpartition("limit=")[2].rstrip(")")
        return int(self.values["most"]) if "most" in told else int(told)


def check(case: Case) -> Counter[str]:
    """Follow a case to its end, and a run over versions of it; WrongError where something is."""
    found = Counter[str]()
    follower = Follower(case)
    found[f"mode {follower.live.mode}"] += 1
    found["steps"] += follower.follow()
    found["steps compared with a twin"] += 0 if case.twin is None else case.steps
    found["versions"] += check_run(case, follower.live._compiled)
    return found


class Follower:
    """A program on a graph that goes through its journey."""

    def __init__(self, case: Case) -> None:
        self.case, self.journey = case, case.journey
        self.version = case.journey.first
        self.graph = case.journey.graph(self.version)
        self.live = self.graph.maintain(case.program())
        self.all = [self.live]
        if case.twin is not None:
            # On a graph of its own: one more program on the same one would be another case.
            twin = case.journey.graph(self.version).maintain(case.program(case.twin.text))
            self.all.append(twin)
        self.before: list[Version] = []
        self.right = self.answer()
        self.compare("the start")

    def follow(self) -> int:
        """All steps; how many there were."""
        for at in range(self.case.steps):
            if self.before and self.case.random.random() < 0.3:
                self.roll_back(f"step {at}, back")
            else:
                self.advance(f"step {at}")
        for live in self.all:
            live.verify()
        while self.before:
            self.roll_back("on the way back")
        return self.case.steps

    def advance(self, what: str) -> None:
        """The next version, with what changed on the way."""
        following, inserted, deleted = self.journey.following(self.version)
        entering = following.vertices[len(self.version.vertices) :]
        for live in self.all:
            walks = getattr(live._kept.maintainer, "walks", None)
            if walks is not None and self.case.seed % 4:
                walks.anew_share = 0  # Terms, however large the batch.
        changes, *_ = [
            live.advance(
                insert=self.journey.edge_columns(inserted) if inserted else None,
                delete=list(self.named(deleted)) or None,
                vertices=self.journey.vertex_columns(entering) if entering else None,
            )
            for live in self.all
        ]
        self.before.append(self.version)
        self.version, old = following, self.right
        self.right = self.answer()
        self.compare(what)
        self.compare_changes(changes, old, what)

    def named(self, rows: list[Any]) -> Iterator[Any]:
        """Rows as they are deleted: every other one from its other end, where that is the same."""
        for at, row in enumerate(rows):
            ends = row[:2] if self.journey.directed or at % 2 else row[1::-1]
            yield *ends, *row[2 : 2 + len(NUMBERS)]

    def roll_back(self, what: str) -> None:
        """The version before."""
        for live in self.all:
            live.rollback()
        self.version = self.before.pop()
        self.right = self.answer()
        self.compare(what)

    def answer(self) -> oracle.Outcome:
        """What Python says of this version, with users' ids."""
        naming = self.live._compiled.naming
        return with_names(self.case.answer(self.version), naming, self.version)

    def compare(self, what: str) -> None:
        """Vertices, results of each and of all, and rows."""
        live, right = self.live, self.right
        told = tuple(self.graph.vertices().column("id").to_pylist())
        _expect(f"{what}: vertices", told, self.version.vertices)
        for name, column in right.state.items():
            _expect(f"{what}: {name}", live[name].tolist(), column)
        for name, value in right.globals.items():
            held = live.globals[name]
            _expect(f"{what}: {name}", held.tolist() if hasattr(held, "tolist") else held, value)
        if self.case.twin is not None:
            sums = self.case.twin.globals(
                {name: self.all[1][name].tolist() for name in self.case.twin.told}
            )
            sums = names_of(sums, live._compiled.naming, self.version)
            _expect(f"{what}: twin", sums, {name: _plain(live.globals[name]) for name in sums})
        for name, rows in right.rows.items():
            told_rows = rows_of(live.matches(name))
            _expect(f"{what}: {name}", told_rows, self.shown(name, rows))
            _expect(f"{what}: rows of {name}", live.match_count(name), len(rows))

    def shown(self, name: str, rows: list[Any]) -> list[Any]:
        """Rows with users' ids, as many as there may be."""
        plans = self.live._compiled.match_plans
        return with_ids(rows[: self.case.limit(name)], plans, name, self.version)

    def compare_changes(self, changes: Any, old: oracle.Outcome, what: str) -> None:
        """Globals, rows and vertices that changed, and no others."""
        right = self.right
        for name, value in right.globals.items():
            told = changes.globals.get(name)
            if told is None:
                _expect(f"{what}: {name} did not change", old.globals[name], value)
            else:
                _expect(
                    f"{what}: change of {name}", list(map(_plain, told)), [old.globals[name], value]
                )
        for name in right.rows:
            was, now = (Counter(self.shown(name, one.rows[name])) for one in (old, right))
            _expect(f"{what}: appeared", Counter(rows_of(changes.appeared(name))), now - was)
            _expect(f"{what}: disappeared", Counter(rows_of(changes.disappeared(name))), was - now)
        if right.state:
            self.compare_vertices(changes.to_pydict(), old, what)

    def compare_vertices(self, told: dict[str, Any], old: oracle.Outcome, what: str) -> None:
        """The vertices that changed, with what they were."""
        state = self.right.state
        count = len(next(iter(old.state.values())))
        changed = [
            at
            for at in range(len(self.version.vertices))
            if at >= count or any(state[name][at] != old.state[name][at] for name in state)
        ]
        ids = [self.version.vertices[at] for at in changed]
        _expect(f"{what}: changed vertices", told["id"], ids)
        for name in state:
            suffix = "" if len(state) == 1 else f"_{name}"
            before = [old.state[name][at] if at < count else None for at in changed]
            _expect(f"{what}: old {name}", told[f"old{suffix}"], before)
            _expect(
                f"{what}: new {name}", told[f"new{suffix}"], [state[name][at] for at in changed]
            )


def check_run(case: Case, compiled: Any) -> int:
    """The program over some versions of the first graph; how many."""
    pick, whole = case.random, case.journey.first
    if not whole.edges:
        return 0
    share = pick.choice((0.2, 0.6, 0.9))
    masks = {
        f"version {at}": [pick.random() < share for _ in whole.edges]
        for at in range(pick.randint(1, 5))
    }
    how: dict[str, Any] = {"strategy": pick.choice(STRATEGIES), "order": pick.choice(ORDERS)}
    given = {name: np.array(mask, np.bool_) for name, mask in masks.items()}
    run = case.journey.graph(whole).run(case.program(), given, verify=1, **how)
    for name, mask in masks.items():
        rows = zip(whole.edges, mask, strict=True)
        right = case.answer(Version(whole.vertices, tuple(row for row, held in rows if held)))
        right = with_names(right, compiled.naming, whole)
        what = f"{name} of {how}"
        for field, column in right.state.items():
            _expect(f"{what}: {field}", run.values(name, field).tolist(), column)
        at = list(masks).index(name)
        for field, value in right.globals.items():
            _expect(f"{what}: {field}", run.globals()[field].to_pylist()[at], value)
        for field, found in right.rows.items():
            shown = with_ids(found[: case.limit(field)], compiled.match_plans, field, whole)
            _expect(f"{what}: {field}", rows_of(run.matches(name, field)), shown)
    if case.twin is not None:
        check_twin(case, given, run, compiled.naming, how)
    return len(masks)


def check_twin(
    case: Case, given: dict[str, Any], run: Any, naming: Sequence[str], how: dict[str, Any]
) -> None:
    """A run of the twin over the same versions."""
    assert case.twin is not None
    twins = case.journey.graph(case.journey.first).run(case.program(case.twin.text), given, **how)
    for at, name in enumerate(given):
        sums = case.twin.globals(
            {field: twins.values(name, field).tolist() for field in case.twin.told}
        )
        for field, value in names_of(sums, naming, case.journey.first).items():
            _expect(f"{name} of {how}: twin: {field}", value, run.globals()[field].to_pylist()[at])


def with_names(right: oracle.Outcome, naming: Sequence[str], version: Version) -> oracle.Outcome:
    """An outcome whose results that name vertices are told by the ids of users."""
    state, globals_ = (names_of(held, naming, version) for held in (right.state, right.globals))
    return replace(right, state=state, globals=globals_)


def names_of(results: dict[str, Any], naming: Sequence[str], version: Version) -> dict[str, Any]:
    """Results by their names, numbers of vertices as ids; nobody has any other number."""

    def named(value: Any) -> Any:
        if isinstance(value, list):
            return [named(item) for item in value]
        return version.vertices[value] if 0 <= value < len(version.vertices) else None

    return {name: named(held) if name in naming else held for name, held in results.items()}


def with_ids(rows: list[Any], plans: Any, name: str, version: Version) -> list[Any]:
    """Rows whose vertices are told by the ids of users."""
    plan = next(one for one in plans if one.name == name)
    vertices = [kind == "vertex" for _, kind in plan.columns]
    return [
        tuple(
            version.vertices[value] if is_vertex else value
            for value, is_vertex in zip(row, vertices, strict=True)
        )
        for row in rows
    ]


def rows_of(table: Any) -> list[Any]:
    """The rows of a table, in their order."""
    return [tuple(row.values()) for row in table.to_pylist()]


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _expect(what: str, told: Any, right: Any) -> None:
    if told != right:
        raise WrongError(f"{what}: told {told}, right is {right}")
