"""The letters that an automaton of a regular path tells apart, and the path in terms of them.

A letter is a class of labels with a way: each label that the path names, all other labels, or a
missing label; along the edge or against it. Every edge is one letter each way, so that an automaton
is a table with a column for each letter, however many labels there are in the graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphtide.model.errors import LimitError
from graphtide.plan import regular_paths as paths

MOST_POSITIONS = 20_000
"""A path with its repetitions written out has at most this many places for an edge,"""
MOST_FOLLOWS = 2_000_000
"""and pairs of places of which one may follow the other: `a{0,2000}` has as many, in 200 MB."""


@dataclass(frozen=True)
class Letters:
    """Which labels are told apart. Letter 2 * class + 1 is the class against the edges' way."""

    labels: tuple[paths.Label, ...]

    @property
    def missing(self) -> int:
        """The class of edges without a label; 0 is that of labels that the path does not name."""
        return len(self.labels) + 1

    @property
    def count(self) -> int:
        """How many letters there are, both ways."""
        return 2 * (len(self.labels) + 2)

    def of(self, label: paths.Label | None, *, back: bool) -> int:
        """The letter of an edge."""
        kind = self.missing if label is None else self._class(label)
        return 2 * kind + back

    def _class(self, label: paths.Label) -> int:
        return self.labels.index(label) + 1 if label in self.labels else 0

    def taken(self, step: paths.Step | paths.Except, *, back: bool) -> frozenset[int]:
        """The letters that a step takes, or its inverse."""
        if isinstance(step, paths.Step):
            return frozenset({self.of(step.label, back=back)})
        along = self._without(step.labels, back)
        return along | self._without(step.back, not back)

    def _without(self, labels: tuple[paths.Label, ...] | None, back: bool) -> frozenset[int]:
        if labels is None:
            return frozenset()
        last = self.missing if labels else self.missing + 1
        left = set(range(last)) - {self._class(label) for label in labels}
        return frozenset(2 * kind + back for kind in left)


def letters_of(path: paths.RegularPath) -> Letters:
    """The letters of a path; labels in an order that does not depend on how it is written."""
    return Letters(
        tuple(sorted(paths.labels_of(path), key=lambda label: (str(type(label)), label)))
    )


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


def positions_of(path: paths.RegularPath, letters: Letters) -> Positions:
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

    def __init__(self, letters: Letters) -> None:
        self._alphabet = letters
        self.letters: list[frozenset[int]] = []
        self.follow: list[set[int]] = []
        self._follows = 0

    def written(self, path: paths.RegularPath, *, back: bool) -> _Part:
        match path:
            case paths.Inverse(inner):
                return self.written(inner, back=not back)
            case paths.Sequence(parts):
                order = reversed(parts) if back else parts
                return self._joined(self.written(part, back=back) for part in order)
            case paths.Alternative(parts):
                written = [self.written(part, back=back) for part in parts]
                first = frozenset[int]().union(*(part.first for part in written))
                last = frozenset[int]().union(*(part.last for part in written))
                return _Part(first, last, any(part.empty for part in written))
            case paths.Repeat(inner, least, most):
                return self._repeated(inner, least, most, back)
            case paths.Step() | paths.Except():
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

    def _repeated(self, path: paths.RegularPath, least: int, most: int | None, back: bool) -> _Part:
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
