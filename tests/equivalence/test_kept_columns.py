"""Texts of edges in memory through random advances and rollbacks, beside a plain model of them."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

import graphtide as gt
from tests.examples import repeats

CAMPAIGNS = repeats(4)
TEXTS = ["a", "b", None]
Row = dict[str, Any]


class Model:
    """Every edge there ever was by its number, which of them are live, and what can be undone."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.live = set(range(len(rows)))
        self.before: list[tuple[list[Row], set[int]]] = []

    def advance(self, inserted: list[Row], deleted: set[int], revived: set[int]) -> None:
        self.before.append((list(self.rows), set(self.live)))
        first = len(self.rows)
        self.rows = self.rows + inserted
        self.live = (self.live - deleted) | revived | set(range(first, len(self.rows)))

    def rollback(self) -> None:
        self.rows, self.live = self.before.pop()

    def edges(self) -> list[Row]:
        return [{"edge": number, **self.rows[number]} for number in sorted(self.live)]


def random_row(pick: random.Random) -> Row:
    row = {"src": pick.randrange(6), "dst": pick.randrange(6), "weight": float(pick.randrange(2))}
    return row | {"kind": pick.choice(TEXTS), "size": pick.choice([1, 2**53 + 1, None])}


def given_rows(pick: random.Random, rows: list[Row]) -> Any:
    """Rows in one of the forms that an advance takes."""
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else None
    names = ("src", "dst", "weight", "size", "kind")
    tuples = [tuple(row[name] for name in names) for row in rows]
    return pick.choice([rows, columns, tuples])


@pytest.mark.parametrize("seed", range(CAMPAIGNS))
def test_texts_stay_with_their_edges(seed: int) -> None:
    pick = random.Random(f"kept-{seed}")
    rows = [random_row(pick) for _ in range(12)]
    rows[0] |= {"kind": "a", "size": None}
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    graph = gt.Graph(columns.pop("src"), columns.pop("dst"), vertices=6, **columns)
    model = Model(rows)
    for step in range(60):
        if pick.random() < 0.25 and model.before:
            graph.rollback()
            model.rollback()
        elif pick.random() < 0.5:
            new = [random_row(pick) for _ in range(pick.randrange(1, 4))]
            gone = set(pick.sample(sorted(model.live), min(len(model.live), pick.randrange(3))))
            graph.advance(insert=given_rows(pick, new), delete=sorted(gone) or None)
            model.advance(new, gone, set())
        elif away := sorted(set(range(len(model.rows))) - model.live):
            back = pick.sample(away, 1)
            graph.advance(insert=back)
            model.advance([], set(), set(back))
        if pick.random() < 0.1:
            graph, model.before = copy.copy(graph), []
        order = ["edge", "src", "dst", "weight", "size", "kind"]
        assert graph.edges().column_names == order
        assert graph.edges().to_pylist() == model.edges(), step
        wanted = [row["edge"] for row in model.edges() if row["kind"] == "a"]
        assert graph.view("kind = 'a'").edge_ids.tolist() == wanted
        exact = [row["edge"] for row in model.edges() if row["size"] == 2**53 + 1]
        assert graph.view(f"size = {2**53 + 1}").edge_ids.tolist() == exact
    assert graph._columns.edges.column("kind").num_chunks < 12
