"""Pairs that keep their cost and their path, and nothing else.

One compiled call tells which of them a batch concerns; these are asked anew, by two balls which
meet. Landmarks bound both, where the graph has some. A pair without a path keeps who could reach
its target, or whom its start could reach, where those are few: an edge that comes is then asked
whether it changes that.

What pairs keep lies in columns that kernels read. A pair that keeps more than before moves to the
end of the list; what is left behind is closed up once it is more than half.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, GrantedArray, one_more
from graphtide.engine.queries.fixpoint import Fixpoints
from graphtide.engine.queries.landmarks import LandmarkIndexes, bounds_of
from graphtide.engine.queries.searches import Search
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.queries.concerns import (
    A_PATH,
    WHO_IS_REACHED,
    WHO_REACHES,
    PairColumns,
    WalkShape,
    mark_broken,
    mark_helped,
)
from graphtide.kernels.queries.pairs import (
    BALL_LOOKED,
    NO_PATH,
    REACHED,
    SIZES,
    SLACK,
    Ball,
    Marks,
    complete_balls,
    find_pair,
)

MOST_LISTED = 256
"""A pair without a path keeps a list of at most this many vertices."""

_KINDS: tuple[Any, ...] = (
    *(np.int32, np.int32, np.int32, np.int32, np.float64, np.float64),
    *(np.int64, np.int32, np.int8, np.int8, np.int32),
)
SEARCH, SHAPE, START, TARGET, COST, LIMIT, FIRST, LENGTH, KEEPS, MARK, LEFT = range(11)
"""The columns of `Pairs` before its edges."""


class PairAnswer(NamedTuple):
    """What a pair keeps."""

    cost: float
    keeps: int
    kept: NDArray[np.int32]


class PairTable:
    """The columns of `Pairs`, by slot; a pair is known by its search and its target."""

    def __init__(self, budget: Budget) -> None:
        self._columns = [GrantedArray(budget, 0, kind) for kind in _KINDS]
        self._kept = GrantedArray(budget, 0, np.int32)
        self._slots: dict[tuple[int, int], int] = {}
        self._free: list[int] = []
        self._wasted = 0

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def nbytes(self) -> int:
        return sum(item.room.nbytes for item in (*self._columns, self._kept))

    @property
    def view(self) -> PairColumns:
        columns: list[Any] = [column.view for column in (*self._columns, self._kept)]
        return PairColumns(*columns)

    def bytes_of(self, pair: tuple[int, int]) -> int:
        width = sum(column.dtype.itemsize for column in self._columns)
        return width + 4 * int(self._columns[LENGTH].view[self._slots[pair]])

    def cost(self, pair: tuple[int, int]) -> float:
        return float(self._columns[COST].view[self._slots[pair]])

    def edges(self, pair: tuple[int, int]) -> NDArray[np.int32] | None:
        """The edges of the path of a pair, from the start; None without one."""
        slot = self._slots[pair]
        if self._columns[COST].view[slot] == np.inf:
            return None
        first, length = (int(self._columns[at].view[slot]) for at in (FIRST, LENGTH))
        edges: NDArray[np.int32] = self._kept.view[first : first + length]
        return edges

    def enter(self, pair: tuple[int, int], search: Search, shape: int) -> None:
        """Have a slot for a pair, which has no answer yet."""
        if not self._free:
            self._free.append(one_more(self._columns))
        self._slots[pair] = slot = self._free.pop()
        given = {SEARCH: pair[0], START: search.start, TARGET: pair[1], COST: np.inf}
        given |= {LIMIT: np.inf, FIRST: 0, LENGTH: 0, KEEPS: A_PATH, SHAPE: shape}
        for at, value in given.items():
            self._columns[at].view[slot] = value

    def leave(self, pair: tuple[int, int]) -> None:
        """Free the slot of a pair, if it has one; `close_up` comes next."""
        slot = self._slots.pop(pair, None)
        if slot is not None:
            self._wasted += int(self._columns[LENGTH].view[slot])
            self._columns[SEARCH].view[slot] = -1
            self._columns[LENGTH].view[slot] = 0
            self._free.append(slot)

    def write(self, pair: tuple[int, int], answer: PairAnswer, tells_cost: bool) -> None:
        """Write a pair's answer into its slot; LacksRoomError leaves the slot as it was."""
        slot = self._slots[pair]
        first, length = (int(self._columns[at].view[slot]) for at in (FIRST, LENGTH))
        if len(answer.kept) > length:
            first = self._kept.length
            self._kept.resize(first + len(answer.kept))
            self._wasted += length
        else:
            self._wasted += length - len(answer.kept)
        self._kept.view[first : first + len(answer.kept)] = answer.kept
        limit = answer.cost if tells_cost or answer.cost == np.inf else 0.0
        written = {COST: answer.cost, LIMIT: limit, FIRST: first, KEEPS: answer.keeps}
        for at, value in {**written, LENGTH: len(answer.kept)}.items():
            self._columns[at].view[slot] = value
        self.close_up()

    def reshape(self, before: int, now: int) -> None:
        """Let the pairs of one shape stand under another search."""
        shapes = self._columns[SHAPE].view
        shapes[shapes == before] = now

    def close_up(self) -> None:
        """Move what pairs list together where more than half of the room is wasted."""
        if 2 * self._wasted <= self._kept.length or self._kept.length < MOST_LISTED:
            return
        columns, end = self._columns, 0
        slots = sorted(self._slots.values(), key=lambda slot: int(columns[FIRST].view[slot]))
        for slot in slots:
            first, length = int(columns[FIRST].view[slot]), int(columns[LENGTH].view[slot])
            self._kept.view[end : end + length] = self._kept.view[first : first + length]
            columns[FIRST].view[slot] = end
            end += length
        self._kept.length, self._wasted = end, 0


_LOOKS = 1_000.0
"""How many edges a pair is expected to look at, before any was computed."""

Shared = tuple[Any, ...]


class PairAnswers:
    """A table of pairs, by the numbers of their searches and their targets."""

    def __init__(
        self,
        graph: ResidentGraph,
        fixpoints: Fixpoints,
        landmarks: LandmarkIndexes,
        budget: Budget,
    ) -> None:
        self._graph, self._fixpoints, self._budget = graph, fixpoints, budget
        self._landmarks = landmarks
        self._table = PairTable(budget)
        self._searches: dict[int, Search] = {}
        self._shapes: dict[Shared, dict[int, None]] = {}
        self._weighted = 0
        self._balls: tuple[Ball, Ball] | None = None
        self._looks: dict[int, float] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._searches

    def __len__(self) -> int:
        return len(self._searches)

    @property
    def nbytes(self) -> int:
        return self._table.nbytes + sum(array.nbytes for array in self._ball_arrays())

    def bytes_of(self, number: int) -> int:
        targets = self._searches[number].targets or ()
        return sum(self._table.bytes_of((number, target)) for target in targets)

    def keep(self, number: int, search: Search, known: dict[int, PairAnswer] | None = None) -> int:
        """Keep the pairs of a search, as they are known or else from scratch; edges looked at.

        LacksRoomError leaves none of them.
        """
        self._searches[number] = search
        self._shapes.setdefault(_shape(search), {})[number] = None
        self._weighted += search.weight is not None
        looked = 0
        try:
            for target in search.targets or ():
                self._table.enter((number, target), search, self._first(number))
                answer = None if known is None else known[target]
                if answer is None:
                    answer, looks = self._ask(number, target)
                    looked += looks
                self._table.write((number, target), answer, search.tells_cost)
        except BaseException:
            self.drop(number)
            raise
        return looked

    def drop(self, number: int) -> None:
        search = self._searches.pop(number)
        for target in search.targets or ():
            self._table.leave((number, target))
        self._weighted -= search.weight is not None
        self._leave_shape(number, search)
        if not self._searches:
            self._give_balls()
        self._table.close_up()

    def cost(self, number: int, target: int) -> float:
        return self._table.cost((number, target))

    def edges(self, number: int, target: int) -> NDArray[np.int32] | None:
        """The edges of the path to a target, from the start; None without one."""
        return self._table.edges((number, target))

    def concerned(self, delta: Delta) -> tuple[list[tuple[int, int]], int]:
        """The pairs (search, target) that a batch may concern; edges looked at."""
        if not len(self._table):
            return [], 0
        looked, pairs = 0, self._table.view
        with self._budget.lent(4 * len(delta.deleted)):
            mark_broken(pairs, np.sort(delta.deleted))
        if len(delta.inserted):
            balls, count = self._ready_balls(), len(delta.inserted)
            ends = delta.sources[:count], delta.targets[:count]
            words = self._fixpoints.words()
            for numbers in self._shapes.values():
                first = next(iter(numbers))
                looks = self._looks.get(first, _LOOKS)
                shape = WalkShape(first, self._slack(first), looks, self._marks(first))
                looked += mark_helped(words, pairs, balls, shape, delta.inserted, ends)
        marked = np.flatnonzero(pairs.mark)
        pairs_marked = zip(
            pairs.search[marked].tolist(), pairs.target[marked].tolist(), strict=True
        )
        return list(pairs_marked), looked

    def again(self, number: int, target: int) -> tuple[float, int]:
        """Ask a pair anew; what it cost before, and how many edges that looked at."""
        before = self.cost(number, target)
        answer, looked = self._ask(number, target)
        self._table.write((number, target), answer, self._searches[number].tells_cost)
        return before, looked

    def prepare(self) -> None:
        """Let landmarks begin for all pairs; LacksRoomError where others must make room."""
        for numbers in self._shapes.values():
            first = next(iter(numbers))
            self._landmarks.prepare(first, self._searches[first], self._slack(first))

    def expected_looks(self, search: Search) -> int:
        """How many edges a pair of such a search looks at from scratch, as those before it did."""
        first = next(iter(self._shapes.get(_shape(search), ())), -1)
        return int(self._looks.get(first, _LOOKS)) * len(search.targets or ())

    def bounds(self, number: int, target: int) -> tuple[float, float] | None:
        """What a path costs at least and at most by landmarks; None without any."""
        marks = self._marks(self._first(number))
        if not marks.size:
            return None
        return bounds_of(marks, self._searches[number].start, target)

    def path(self, number: int, target: int) -> NDArray[np.int32] | None:
        """The edges of a shortest path to any vertex, from scratch; None without one."""
        answer, _ = self._ask(number, target)
        return None if answer.cost == np.inf else answer.kept

    def _ask(self, number: int, target: int) -> tuple[PairAnswer, int]:
        """A pair from scratch, and how many edges that looked at; to be read before the next."""
        start, shape = self._searches[number].start, self._first(number)
        marks = self._marks(shape)
        forward, backward = balls = self._ready_balls()
        length = find_pair(self._fixpoints.words(), balls, marks, number, start, target)
        looked = int(forward.sizes[BALL_LOOKED] + backward.sizes[BALL_LOOKED])
        self._looks[shape] = 0.9 * self._looks.get(shape, _LOOKS) + 0.1 * looked
        if length >= 0:
            listed = backward.reached[:length]
            return PairAnswer(float(forward.best[0]), A_PATH, listed), looked
        keeps, listed = A_PATH, np.empty(0, np.int32)
        whole = complete_balls(forward, backward) if length == NO_PATH else 0
        for at, ball, kind in ((1, backward, WHO_REACHES), (0, forward, WHO_IS_REACHED)):
            if whole >> at & 1 and int(ball.sizes[REACHED]) <= MOST_LISTED and keeps == A_PATH:
                keeps, listed = kind, np.sort(ball.reached[: int(ball.sizes[REACHED])])
        return PairAnswer(np.inf, keeps, listed), looked

    def _leave_shape(self, number: int, search: Search) -> None:
        """Let the pairs of the same shape stand under a search that is still there."""
        numbers = self._shapes[_shape(search)]
        del numbers[number]
        if not numbers:
            del self._shapes[_shape(search)]
        else:
            self._table.reshape(number, next(iter(numbers)))
        self._landmarks.move(number, next(iter(numbers), None))

    def _first(self, number: int) -> int:
        """The number of the first search whose walks are the same."""
        return next(iter(self._shapes[_shape(self._searches[number])]))

    def _marks(self, shape: int) -> Marks:
        return self._landmarks.marks(shape)

    def _slack(self, number: int) -> float:
        """The share by which rounding may change costs; 0 where they are whole numbers."""
        weight = self._searches[number].weight
        return 0.0 if weight is None or self._graph.dtypes[weight].kind == "i" else SLACK

    def _ball_arrays(self) -> list[NDArray[Any]]:
        return [] if self._balls is None else [part for ball in self._balls for part in ball]

    def _ready_balls(self) -> tuple[Ball, Ball]:
        """Two balls with room for all vertices, and heaps if a search needs them."""
        vertices = self._graph.vertices
        heaped = self._weighted > 0
        if self._balls is not None:
            ball = self._balls[0]
            if len(ball.value) >= vertices and (len(ball.heap) >= vertices or not heaped):
                return self._balls
        self._give_balls()
        room = vertices + vertices // 8
        self._budget.take(2 * _ball_bytes(room, heaped))
        self._balls = _make_ball(room, heaped), _make_ball(room, heaped)
        return self._balls

    def _give_balls(self) -> None:
        for array in self._ball_arrays():
            self._budget.give(array.nbytes)
        self._balls = None


def _ball_bytes(room: int, heaped: bool) -> int:
    return room * (28 if heaped else 20) + 8 + 8 * SIZES


def _make_ball(room: int, heaped: bool) -> Ball:
    heap = room if heaped else 0
    return Ball(
        value=np.empty(room),
        stamp=np.zeros(room, np.int32),
        came=np.empty(room, np.int32),
        reached=np.empty(room, np.int32),
        heap=np.empty(heap, np.int32),
        place=np.empty(heap, np.int32),
        best=np.empty(1),
        sizes=np.zeros(SIZES, np.int64),
    )


def _shape(search: Search) -> Shared:
    """What two searches must have in common for their walks to be the same."""
    return search.automaton, search.codes, search.label, search.weight
