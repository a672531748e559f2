"""Regular paths: which walks count, by the labels of their edges and the way they go along them.

A tree of six kinds of nodes. Property paths of SPARQL and patterns of Cypher both become it
(`lang.paths`), and `path_automaton` makes an automaton of it. A walk goes along an edge from its
source to its destination, or back; the word of a walk is the label and the way of each of its
edges. A regular path says which words there may be, and nothing of the vertices between.

Edges whose label is missing have no name: no label is theirs, and no set of others holds them. Only
`Except(())`, which excludes nothing, takes them.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.model.errors import InputError

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
    """The labels that a path names, be it to take or to exclude them."""
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
