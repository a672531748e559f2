"""The least deterministic automaton of a regular path: what a query steps through beside a walk.

Positions become sets of positions (subset construction), states that lead nowhere go, and states
that no word tells apart become one (Moore's refinement: as many passes as the longest word that is
needed to tell two states apart). Two paths that mean the same have the same automaton.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from graphtide.model.errors import LimitError
from graphtide.plan.path_words import Letters, Positions, letters_of, positions_of
from graphtide.plan.regular_paths import RegularPath

MOST_STATES = 4_096
NOWHERE = -1


@dataclass(frozen=True)
class Automaton:
    """States are numbered as they are met from the first, 0; `NOWHERE` ends a walk.

    `steps[state][letter]` is the next state, `accepting` the states in which a walk may end. A path
    that no walk is on has one state, and accepts nothing.
    """

    letters: Letters
    steps: tuple[tuple[int, ...], ...]
    accepting: frozenset[int]

    @property
    def states(self) -> int:
        """How many states there are, without the one that leads nowhere."""
        return len(self.steps)

    def goes(self, *, back: bool) -> bool:
        """Whether some edge is taken along its way, or against it."""
        return any(step != NOWHERE for row in self.steps for step in row[back::2])


@lru_cache(256)
def automaton_of(path: RegularPath) -> Automaton:
    """The automaton of a path; LimitError where it would have too many states."""
    letters = letters_of(path)
    steps, accepting = _determined(positions_of(path, letters), letters.count)
    alive = _leading_on(steps, accepting)
    classes = _told_apart(steps, accepting, alive)
    return _numbered(letters, steps, accepting, classes)


_Rows = list[list[int]]


def _determined(positions: Positions, letters: int) -> tuple[_Rows, set[int]]:
    """Sets of positions that words lead to, each a state; the first is where nothing was read."""
    start = frozenset({NOWHERE})
    numbers = {start: 0}
    order, steps = [start], _Rows()
    for places in order:
        row = []
        for reached in _moves(positions, places, letters):
            if reached and reached not in numbers:
                numbers[reached] = len(numbers)
                order.append(reached)
                _check_count(len(order))
            row.append(numbers[reached] if reached else NOWHERE)
        steps.append(row)
    accepting = {at for at, places in enumerate(order) if places & positions.last}
    return steps, accepting | ({0} if positions.empty else set())


def _moves(positions: Positions, places: frozenset[int], letters: int) -> list[frozenset[int]]:
    """Where each letter leads from a set of positions; `NOWHERE` stands for the beginning."""
    moves: list[set[int]] = [set() for _ in range(letters)]
    following: set[int] = set()
    for place in places:
        following |= positions.first if place == NOWHERE else positions.follow[place]
    for place in following:
        for letter in positions.letters[place]:
            moves[letter].add(place)
    return [frozenset(item) for item in moves]


def _check_count(states: int) -> None:
    if states > MOST_STATES:
        raise LimitError(
            f"the automaton of the path has more than {MOST_STATES:,} states",
            hint="ask for fewer repetitions, or split the path in two queries",
        )


def _leading_on(steps: _Rows, accepting: set[int]) -> set[int]:
    """The states from which a walk can still end well."""
    before: list[list[int]] = [[] for _ in steps]
    for state, row in enumerate(steps):
        for reached in row:
            if reached != NOWHERE:
                before[reached].append(state)
    alive, todo = set(accepting), list(accepting)
    while todo:
        for state in before[todo.pop()]:
            if state not in alive:
                alive.add(state)
                todo.append(state)
    return alive


def _told_apart(steps: _Rows, accepting: set[int], alive: set[int]) -> list[int]:
    """A class for each state, the same for those that no word tells apart; dead ones NOWHERE."""
    classes = [
        int(state in accepting) if state in alive else NOWHERE for state in range(len(steps))
    ]
    count = len(set(classes))
    while True:
        seen: dict[tuple[int, ...], int] = {}
        refined = []
        for state, row in enumerate(steps):
            signature = (classes[state], *(NOWHERE if to < 0 else classes[to] for to in row))
            dead = classes[state] == NOWHERE
            refined.append(NOWHERE if dead else seen.setdefault(signature, len(seen)))
        if len(set(refined)) == count:
            return refined
        classes, count = refined, len(set(refined))


def _numbered(letters: Letters, steps: _Rows, accepting: set[int], classes: list[int]) -> Automaton:
    """Classes as states, numbered as they are met from that of the first state."""
    if classes[0] == NOWHERE:
        return Automaton(letters, ((NOWHERE,) * letters.count,), frozenset())
    members = {kind: state for state, kind in reversed(list(enumerate(classes)))}
    numbers, order, rows = {classes[0]: 0}, [classes[0]], []
    for kind in order:
        row = []
        for to in steps[members[kind]]:
            reached = NOWHERE if to < 0 else classes[to]
            if reached != NOWHERE and reached not in numbers:
                numbers[reached] = len(numbers)
                order.append(reached)
            row.append(NOWHERE if reached == NOWHERE else numbers[reached])
        rows.append(tuple(row))
    ends = frozenset(numbers[classes[state]] for state in accepting)
    return Automaton(letters, tuple(rows), ends)
