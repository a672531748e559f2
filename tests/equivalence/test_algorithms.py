"""Every algorithm, maintained through the Python interface, equals its naive twin at every step.

Edits are rows with the users' ids: insertions with new vertices among them, deletions with and
without weights, and rollbacks. Vertices stand in the graph's own order for the twin.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.run.live.computation import Mode
from tests.compiled import few_compiled
from tests.equivalence.algorithm_cases import CASES, WALKS, Case
from tests.equivalence.campaigns import SHAPES, Campaign, Shape, make_campaign
from tests.examples import repeats

ROUNDS = repeats(2)
Row = tuple[str, str, float]


@dataclass
class Rows:
    """A graph as a list of rows, with the vertices that have ever been named."""

    rows: list[Row]
    ids: list[str]
    undo: list[tuple[list[Row], list[str]]] = field(default_factory=list)

    def edit(self, pick: random.Random) -> tuple[list[Row], list[Row]]:
        """Some rows to insert and some to delete, done to the list."""
        names = [*self.ids, f"new {len(self.undo)}", f"newer {len(self.undo)}"]
        deleted = [row for row in self.rows if pick.random() < 0.25]
        inserted = [
            (pick.choice(names), pick.choice(names), pick.choice([0.0, 0.5, 1.0, 2.0]))
            for _ in range(pick.randrange(5))
        ]
        self.undo.append((list(self.rows), list(self.ids)))
        for row in deleted:
            self.rows.remove(row)
        self.rows += inserted
        named = dict.fromkeys(end for row in inserted for end in row[:2])
        self.ids += [name for name in named if name not in self.ids]
        return inserted, deleted


def rows_of(campaign: Campaign) -> Rows:
    ids = [f"v{vertex}" for vertex in range(campaign.vertices)]
    rows = [(ids[src], ids[dst], data["weight"]) for src, dst, data in campaign.edges()]
    return Rows(rows, ids)


def graph_of(rows: Rows, reads: str = "weight") -> gt.Graph:
    src, dst, given = zip(*rows.rows, strict=True) if rows.rows else ((), (), ())
    values = {reads: np.array(given, float)}
    return gt.Graph(list(src), list(dst), vertices=rows.ids, **values)


def named(case: Case, parameters: dict[str, Any], ids: list[str]) -> dict[str, Any]:
    """Parameters with vertices by id."""
    kinds = {item.name: item.kind for item in case.program.plan.parameters}
    found = {}
    for name, value in parameters.items():
        if kinds[name] == "pairs":
            found[name] = [(ids[one], ids[other]) for one, other in value]
        elif kinds[name] == "vertices":
            found[name] = [ids[vertex] for vertex in value]
        else:
            found[name] = ids[value] if kinds[name] == "vertex" else value
    return found


def check(live: gt.Live, case: Case, parameters: dict[str, Any], rows: Rows) -> None:
    ids = live.graph.vertices()["id"].to_pylist()
    assert sorted(ids) == sorted(rows.ids)
    number = {name: at for at, name in enumerate(ids)}
    edges = [(number[src], number[dst], weight) for src, dst, weight in rows.rows]
    for name, wanted in case.twin_results(parameters, len(ids), edges).items():
        if name == case.names:
            assert live[name].tolist() == case.shown(name, wanted, ids), case.name
            continue
        np.testing.assert_allclose(
            np.asarray(live[name], float),
            np.array(wanted, float),
            rtol=case.within,
            atol=1e-9 if case.within else 0,
            err_msg=f"{case.name} {name}",
        )


def check_changes(before: dict[str, Any], live: gt.Live) -> None:
    """The table of changes tells exactly where results differ, for programs of one result."""
    after = results(live)
    told = {(*ids,): (old, new) for *ids, old, new in rows_in(live.changes())}
    assert told == {
        row: (before.get(row), value)
        for row, value in after.items()
        if row not in before or before[row] != value
    }


SETTLING = [case for case in CASES if case.name in ("NearestSource", "PairDistances", "WCC")]


def rows_in(table: Any) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def results(live: gt.Live) -> dict[tuple[Any, ...], Any]:
    """The first result of every vertex or pair, by whatever tells it apart."""
    names = len(live.table().column_names) - len(live.fields)
    return {row[:names]: row[names] for row in rows_in(live.table())}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case", few_compiled(CASES))
def test_every_step_equals_the_twin(case: Case, shape: Shape) -> None:
    run_campaigns(case, shape, "auto")


@pytest.mark.parametrize("case", few_compiled(WALKS))
def test_every_step_of_a_walk_program_equals_the_twin(case: Case) -> None:
    for shape in ("random", "dense", "star"):
        run_campaigns(case, shape, "auto")


@pytest.mark.interpreted
@pytest.mark.parametrize("case", SETTLING, ids=lambda case: case.name)
def test_exact_mode_gives_the_same(case: Case) -> None:
    run_campaigns(case, "random", "exact")


def run_campaigns(case: Case, shape: Shape, mode: Mode) -> None:
    for seed in range(ROUNDS):
        pick = random.Random(f"{case.name} {shape} {seed}")
        campaign = make_campaign(pick, shape)
        rows = rows_of(campaign)
        parameters = case.parameters(pick, campaign.vertices)
        program = case.program(**named(case, parameters, rows.ids))
        live = graph_of(rows, case.reads).maintain(program, mode=mode)
        check(live, case, parameters, rows)
        for _ in range(6):
            before = results(live) if live.fields else {}
            if rows.undo and pick.random() < 0.3:
                rows.rows, rows.ids = rows.undo.pop()
                live.rollback()
            else:
                inserted, deleted = rows.edit(pick)
                live.advance(insert=inserted, delete=deleted)
                if len(live.fields) == 1:
                    check_changes(before, live)
            check(live, case, parameters, rows)
        live.verify()


@pytest.mark.interpreted
def test_all_programs_of_one_graph_are_brought_along() -> None:
    pick = random.Random("together")
    campaign = make_campaign(pick, "random")
    rows = rows_of(campaign)
    graph = graph_of(rows)
    together = []
    for case in (*CASES, *(case for case in WALKS if case.reads == "weight")):
        parameters = case.parameters(pick, campaign.vertices)
        program = case.program(**named(case, parameters, rows.ids))
        together.append((graph.maintain(program), case, parameters))
    for _ in range(5):
        inserted, deleted = rows.edit(pick)
        graph.advance(insert=inserted, delete=deleted)
        for live, case, parameters in together:
            check(live, case, parameters, rows)
    while rows.undo:
        rows.rows, rows.ids = rows.undo.pop()
        graph.rollback()
        for live, case, parameters in together:
            check(live, case, parameters, rows)
