"""Regular paths: which walks count, by the labels of their edges and the way along them.

A path is a tree of six kinds of nodes. Property paths of SPARQL and patterns of Cypher both become
it (`lang.paths`). A walk follows an edge from its source to its destination, or back; the word of
a walk is the label and the way of each of its edges. A regular path says which words there may be,
and nothing of the vertices between. Edges whose label is missing have no name: no label is theirs,
and no set of others holds them. Only `Except(())`, which excludes nothing, takes them.

A query steps through the least deterministic automaton of its path. The letters of the automaton
are classes of labels with a way: each label that the path names, all other labels, or a missing
label; along the edge or against it. So it is a table with a column for each letter, however many
labels there are in the graph. The path is written out as positions (Glushkov), sets of positions
become states (subset construction), states that lead nowhere are removed, and states that no word
tells apart become one (Moore's refinement: as many passes as the longest word that is needed to
tell two states apart). Two paths that mean the same have the same automaton.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from graphtide.model.errors import InputError, LimitError

Label = str | int


@dataclass(frozen=True)
class Step:
    """One edge with a label, along its way."""

    label: Label


@dataclass(frozen=True)
class Except:
    """One edge with any label but some: along its way, against it (`back`), or either.

    None says that edges are not taken that way. To exclude nothing, `Except(())`, is said of the
    edges' own way alone; `Inverse` turns it round.
    """

    labels: tuple[Label, ...] | None
    back: tuple[Label, ...] | None = None

    def __post_init__(self) -> None:
        if self.back == () or (self.labels == () and self.back is not None):
            raise InputError("nothing is excluded one way: use Except(()), or its Inverse")
        if self.labels is None and self.back is None:
            raise InputError("a step must go along an edge, or against it")


@dataclass(frozen=True)
class Inverse:
    """The same walks from their ends to their beginnings."""

    path: RegularPath


def _check_several(parts: tuple[RegularPath, ...]) -> None:
    if len(parts) < 2:
        raise InputError("a path of several parts has two at least")


@dataclass(frozen=True)
class Sequence:
    """One part after the other; two at least."""

    parts: tuple[RegularPath, ...]

    def __post_init__(self) -> None:
        _check_several(self.parts)


@dataclass(frozen=True)
class Alternative:
    """Any one of the parts; two at least."""

    parts: tuple[RegularPath, ...]

    def __post_init__(self) -> None:
        _check_several(self.parts)


@dataclass(frozen=True)
class Repeat:
    """A path from `least` to `most` times; None is without end."""

    path: RegularPath
    least: int
    most: int | None

    def __post_init__(self) -> None:
        if self.least < 0 or (self.most is not None and self.most < self.least):
            raise InputError(f"a path cannot be repeated from {self.least} to {self.most} times")


RegularPath = Step | Except | Inverse | Sequence | Alternative | Repeat

ANY = Except(())
"""Any edge along its way, be its label missing or not."""

ANY_BACK = Inverse(ANY)
EITHER = Alternative((ANY, ANY_BACK))


def labels_of(path: RegularPath) -> frozenset[Label]:
    match path:
        case Step(label):
            return frozenset({label})
        case Except(labels, back):
            return frozenset((*(labels or ()), *(back or ())))
        case Inverse(inner) | Repeat(inner):
            return labels_of(inner)
        case Sequence(parts) | Alternative(parts):
            return frozenset[Label]().union(*map(labels_of, parts))


def reads_labels(path: RegularPath) -> bool:
    """False where any edge is as good as any other."""
    return bool(labels_of(path))


MOST_POSITIONS = 20_000
"""A path with its repetitions written out has at most this many places for an edge,"""
MOST_FOLLOWS = 2_000_000
"""and pairs of places of which one may follow the other: `a{0,2000}` has as many, in 200 MB."""


@dataclass(frozen=True)
class Alphabet:
    """The labels that are distinguished. Letter 2 * class + 1 is the class against an edge."""

    labels: tuple[Label, ...]

    @property
    def missing(self) -> int:
        """The class of edges without a label; 0 is that of labels that the path does not name."""
        return len(self.labels) + 1

    @property
    def count(self) -> int:
        """How many letters there are, both ways."""
        return 2 * (len(self.labels) + 2)

    def of(self, label: Label | None, *, back: bool) -> int:
        kind = self.missing if label is None else self._class(label)
        return 2 * kind + back

    def _class(self, label: Label) -> int:
        return self.labels.index(label) + 1 if label in self.labels else 0

    def taken(self, step: Step | Except, *, back: bool) -> frozenset[int]:
        """The letters that a step takes, or its inverse."""
        if isinstance(step, Step):
            return frozenset({self.of(step.label, back=back)})
        along = self._without(step.labels, back)
        return along | self._without(step.back, not back)

    def _without(self, labels: tuple[Label, ...] | None, back: bool) -> frozenset[int]:
        if labels is None:
            return frozenset()
        last = self.missing if labels else self.missing + 1
        left = set(range(last)) - {self._class(label) for label in labels}
        return frozenset(2 * kind + back for kind in left)


def letters_of(path: RegularPath) -> Alphabet:
    """The letters of a path; labels in an order that does not depend on how it is written."""
    return Alphabet(tuple(sorted(labels_of(path), key=lambda label: (str(type(label)), label))))


@dataclass(frozen=True)
class Positions:
    """A path written out: the letters of each place for an edge, and how places follow another.

    Every word of the path is a way from one of `first` along `follow` to one of `last`, or is empty
    and `empty` says so.
    """

    letters: tuple[frozenset[int], ...]
    first: frozenset[int]
    last: frozenset[int]
    empty: bool
    follow: tuple[frozenset[int], ...]


def positions_of(path: RegularPath, letters: Alphabet) -> Positions:
    """The positions of a path; LimitError where repetitions make too many of them."""
    writer = _Writer(letters)
    part = writer.written(path, back=False)
    follow = tuple(map(frozenset, writer.follow))
    return Positions(tuple(writer.letters), part.first, part.last, part.empty, follow)


@dataclass(frozen=True)
class _Part:
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    empty: bool = True


class _Writer:
    """Writes a path out, position by position; inverses are pushed down to the steps."""

    def __init__(self, letters: Alphabet) -> None:
        self._alphabet = letters
        self.letters: list[frozenset[int]] = []
        self.follow: list[set[int]] = []
        self._follows = 0

    def written(self, path: RegularPath, *, back: bool) -> _Part:
        match path:
            case Inverse(inner):
                return self.written(inner, back=not back)
            case Sequence(parts):
                order = reversed(parts) if back else parts
                return self._joined(self.written(part, back=back) for part in order)
            case Alternative(parts):
                written = [self.written(part, back=back) for part in parts]
                first = frozenset[int]().union(*(part.first for part in written))
                last = frozenset[int]().union(*(part.last for part in written))
                return _Part(first, last, any(part.empty for part in written))
            case Repeat(inner, least, most):
                return self._repeated(inner, least, most, back)
            case Step() | Except():
                return self._place(self._alphabet.taken(path, back=back))

    def _place(self, letters: frozenset[int]) -> _Part:
        if len(self.letters) == MOST_POSITIONS:
            raise _too_long(f"{MOST_POSITIONS:,} steps")
        self.letters.append(letters)
        self.follow.append(set())
        here = frozenset({len(self.letters) - 1})
        return _Part(here, here, empty=False)

    def _joined(self, parts: Iterable[_Part]) -> _Part:
        done = _Part()
        for part in parts:
            self._follow(done, part)
            first = done.first | part.first if done.empty else done.first
            last = done.last | part.last if part.empty else part.last
            done = _Part(first, last, done.empty and part.empty)
        return done

    def _repeated(self, path: RegularPath, least: int, most: int | None, back: bool) -> _Part:
        """a{2,4} is a/a/a?/a?, and a{2,} is a/a/a*."""
        parts: list[_Part] = []
        for at in range(least + 1 if most is None else most):
            before = len(self.letters)
            part = self.written(path, back=back)
            if len(self.letters) == before:  # The empty word, which repeated is what it was.
                return part
            if at < least:
                parts.append(part)
                continue
            if most is None:
                self._follow(part, part)
            parts.append(_Part(part.first, part.last, empty=True))
        return self._joined(parts)

    def _follow(self, before: _Part, part: _Part) -> None:
        """The first places of a part come behind the last ones of another."""
        self._follows += len(before.last) * len(part.first)
        if self._follows > MOST_FOLLOWS:
            raise _too_long(f"{MOST_FOLLOWS:,} pairs of steps that may follow each other")
        for place in before.last:
            self.follow[place] |= part.first


def _too_long(what: str) -> LimitError:
    return LimitError(
        f"the path has more than {what} with its repetitions written out",
        hint="ask for fewer repetitions, or for any number: `*`",
    )


MOST_STATES = 4_096
NOWHERE = -1


@dataclass(frozen=True)
class Automaton:
    """States are numbered as they are met from the first, 0; `NOWHERE` ends a walk.

    `steps[state][letter]` is the next state, `accepting` the states in which a walk may end. A path
    that no walk is on has one state, and accepts nothing.
    """

    letters: Alphabet
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


def _numbered(
    letters: Alphabet, steps: _Rows, accepting: set[int], classes: list[int]
) -> Automaton:
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
