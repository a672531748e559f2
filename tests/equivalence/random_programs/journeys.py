"""Random graphs and what happens to them: small and large changes, growth, emptying, undoing."""

from __future__ import annotations

import random
from typing import Any

from tests.equivalence.random_programs.cases import Row, Step

WEIGHTS = {
    "positive": (0.5, 1.0, 1.0, 2.0, 3.0, 4.0),
    "zero": (0.0, 0.0, 1.0, 2.0, 0.5),
    "mixed": (-2.0, -1.0, -0.5, 0.0, 1.0, 2.0, 3.0),
    "wild": (float("inf"), float("-inf"), 0.0, -1.0, 1e308, 2.0),
}
TOLLS = {
    "positive": (1, 1, 2, 3),
    "zero": (0, 0, 1, 2),
    "mixed": (-2, -1, 0, 1, 2),
    "wild": (2**62, -(2**63), 2**63 - 1, -1, 0, 3),
}


class Journey:
    """A graph that changes: begins with `rows`, and is told the steps one by one."""

    def __init__(
        self, pick: random.Random, style: str, *, texts: bool = False, large: bool = False
    ) -> None:
        self.pick, self.style, self.texts, self.large = pick, style, texts, large
        self.count = pick.choice((1, 2, 2, 3, 3, 4, 5, 6, 8) if not large else (20, 30))
        self.vertices = tuple(map(self.named, range(self.count)))
        self.rows: list[Row] = self._first_rows()
        self.gone: list[Row] = []
        self.undo: list[list[Row]] = []

    def named(self, number: int) -> Any:
        return f"n{number}" if self.texts else number

    def row(self, source: int, target: int) -> Row:
        pick, style = self.pick, self.style
        weight, toll = pick.choice(WEIGHTS[style]), pick.choice(TOLLS[style])
        return self.named(source), self.named(target), weight, toll, pick.random() < 0.7

    def _any_row(self) -> Row:
        return self.row(self.pick.randrange(self.count), self.pick.randrange(self.count))

    def _first_rows(self) -> list[Row]:
        shape = self.pick.choice(("random", "random", "path", "star", "empty", "dense"))
        count = self.count
        if shape == "path":
            return [self.row(at, at + 1) for at in range(count - 1)]
        if shape == "star":
            return [self.row(0, at) for at in range(count)] + [
                self.row(at, 0) for at in range(count)
            ]
        many = {"random": 2, "empty": 0, "dense": 5}[shape] * count
        return [self._any_row() for _ in range(many)]

    def steps(self, count: int) -> tuple[Step, ...]:
        """So many steps; the journey itself takes them, so that deletions name edges that are."""
        return tuple(self._step() for _ in range(count))

    def _step(self) -> Step:
        kind = self.pick.choices(
            (
                "one in",
                "one out",
                "few",
                "many",
                "empty",
                "grow",
                "again",
                "undo",
                "forget",
                "none",
            ),
            (5, 5, 4, 2, 1, 2, 2, 4, 0.3, 0.3),
        )[0]
        pick = self.pick
        insert: list[Row] = []
        delete: list[Row] = []
        match kind:
            case "undo":
                self.rows = self.undo.pop() if self.undo else self.rows
                return Step("rollback")
            case "forget":
                self.undo.clear()
                return Step("forget")
            case "one in":
                insert = [self._any_row()]
            case "one out":
                delete = self._some(1)
            case "few":
                insert = [self._any_row() for _ in range(pick.randrange(3))]
                delete = self._some(pick.randrange(4))
            case "many":
                insert = [
                    self._any_row()
                    for _ in range(
                        self.pick.randrange(*((6, 30) if not self.large else (150, 400)))
                    )
                ]
                delete = self._some(len(self.rows) // 2)
            case "empty":
                delete = list(self.rows)
            case "grow":
                insert = self._growth()
            case "again":
                insert = pick.sample(self.gone, min(len(self.gone), 2))
                delete = self._some(1)
        self.undo.append(list(self.rows))
        for row in delete:
            self.rows.remove(row)
        self.rows += insert
        self.gone = (self.gone + delete)[-12:]
        return Step("advance", tuple(insert), tuple(delete))

    def _some(self, count: int) -> list[Row]:
        return self.pick.sample(self.rows, min(count, len(self.rows)))

    def _growth(self) -> list[Row]:
        """New vertices: with an edge to or from the old ones, or by themselves."""
        old = self.count
        self.count += self.pick.choice((1, 1, 2))
        ways = ((old, old), (self.pick.randrange(old), old), (old, self.pick.randrange(old)))
        insert = [self.row(*self.pick.choice(ways))]
        if self.count > old + 1:
            insert.append(self.row(self.count - 1, self.pick.randrange(self.count)))
        return insert
