"""What can be asked: the ends of walks from a start, by the edges that they go along.

Every kind is a regular path from one or several starts, with a cost: so one engine answers all.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from graphtide.lang.paths import parse_path, unparse_path
from graphtide.model.errors import InputError
from graphtide.plan.regular_paths import ANY, ANY_BACK, EITHER, RegularPath, Repeat, reads_labels

Direction = Literal["out", "in", "both"]
_STEPS: dict[str, RegularPath] = {"out": ANY, "in": ANY_BACK, "both": EITHER}


class SearchRequest(NamedTuple):
    """Walks of a path from one start, by id, to any of the targets; None is every vertex."""

    start: Any
    path: RegularPath
    targets: tuple[Any, ...] | None


class QueryKind(ABC):
    """What all kinds have: a cost for each edge, a bound for walks, and what is asked."""

    weight: str | None = None
    bound: float | None = None
    label: str | None = None
    tells_path: ClassVar[bool] = False
    tells_cost: ClassVar[bool] = True

    @property
    @abstractmethod
    def asked(self) -> tuple[SearchRequest, ...]:
        """One for each start."""

    @property
    def pairs(self) -> tuple[tuple[Any, Any], ...] | None:
        """The pairs of start and target that are asked for, in order; None without targets."""
        pairs = [(item.start, end) for item in self.asked for end in item.targets or ()]
        return None if self.asked[0].targets is None else tuple(pairs)

    @property
    def cost(self) -> str:
        """What the column of costs is called."""
        if not self.tells_cost:
            return "reached"
        return "hops" if self.weight is None else "distance"

    def _check(self) -> None:
        for name in ("weight", "label"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, str):
                raise InputError(f"{name} cannot be {given!r}", hint="name an edge property")
        bound = self.bound
        if bound is None:
            return
        number = isinstance(bound, int | float) and not isinstance(bound, bool)
        if not number or math.isnan(bound) or bound < 0:
            raise InputError(f"bound cannot be {bound!r}", hint="give a number from 0 on")


@dataclass(frozen=True)
class Path(QueryKind):
    """The shortest path from one vertex to another: what it costs, and the path itself.

    An edge costs 1, or what the property `weight` says, which must not be negative. A path that
    costs more than `bound` does not count. `direction` is `out` (along edges), `in` or `both`.
    """

    source: Any
    target: Any
    weight: str | None = None
    bound: float | None = None
    direction: Direction = "out"
    tells_path: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check()
        _step(self.direction)

    @property
    def asked(self) -> tuple[SearchRequest, ...]:
        """From the source to the target."""
        return (SearchRequest(self.source, Repeat(_step(self.direction), 0, None), (self.target,)),)


@dataclass(frozen=True)
class Paths(QueryKind):
    """The shortest paths of pairs `(source, target)`; pairs of one source share a search."""

    pairs_asked: tuple[tuple[Any, Any], ...]
    weight: str | None = None
    bound: float | None = None
    direction: Direction = "out"
    tells_path: ClassVar[bool] = True

    def __init__(
        self,
        pairs: Iterable[tuple[Any, Any]],
        weight: str | None = None,
        bound: float | None = None,
        direction: Direction = "out",
    ) -> None:
        given: Any = pairs
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InputError(f"pairs cannot be {pairs!r}", hint="list pairs (source, target)")
        listed = tuple(_pair(item) for item in given)
        if not listed:
            raise InputError("there are no pairs", hint="list pairs (source, target)")
        object.__setattr__(self, "pairs_asked", tuple(dict.fromkeys(listed)))
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "bound", bound)
        object.__setattr__(self, "direction", direction)
        self._check()
        _step(direction)

    def __repr__(self) -> str:
        given = f"{self.pairs_asked!r}, weight={self.weight!r}, bound={self.bound!r}"
        return f"Paths({given}, direction={self.direction!r})"

    @property
    def asked(self) -> tuple[SearchRequest, ...]:
        """One search for each source."""
        targets: dict[Any, list[Any]] = {}
        for source, target in self.pairs_asked:
            targets.setdefault(source, []).append(target)
        path = Repeat(_step(self.direction), 0, None)
        return tuple(SearchRequest(source, path, tuple(ends)) for source, ends in targets.items())

    @property
    def pairs(self) -> tuple[tuple[Any, Any], ...]:
        """The pairs in the order in which they were given, each once."""
        return self.pairs_asked


@dataclass(frozen=True)
class Hops(QueryKind):
    """The vertices within `k` edges of a start, itself among them, and how many edges it takes."""

    start: Any
    k: int
    direction: Direction = "out"

    def __post_init__(self) -> None:
        if not isinstance(self.k, int) or isinstance(self.k, bool) or self.k < 0:
            raise InputError(f"k cannot be {self.k!r}", hint="give a whole number from 0 on")
        _step(self.direction)

    @property
    def bound(self) -> float:  # type: ignore[override]
        """A walk has at most k edges."""
        return self.k

    @property
    def asked(self) -> tuple[SearchRequest, ...]:
        """Any number of edges; the bound ends it."""
        return (SearchRequest(self.start, Repeat(_step(self.direction), 0, None), None),)


@dataclass(frozen=True)
class Reach(QueryKind):
    """The vertices that can be reached from a start, which is one of them; or whether one can."""

    start: Any
    target: Any = None
    direction: Direction = "out"
    tells_cost: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _step(self.direction)

    @property
    def asked(self) -> tuple[SearchRequest, ...]:
        """Any number of edges."""
        targets = None if self.target is None else (self.target,)
        return (SearchRequest(self.start, Repeat(_step(self.direction), 0, None), targets),)


@dataclass(frozen=True)
class Regular(QueryKind):
    """The vertices to which a walk of a regular path leads from a start, or one of them.

    `path` is a property path of SPARQL (`knows/likes*`) or a pattern of Cypher that means walks
    (`(a)-[:KNOWS*1..3]->(b)`). Labels are the values of the edge property `label`: texts or whole
    numbers. The answer has the fewest edges of such a walk, or the least cost by `weight`.
    """

    path: str
    start: Any
    target: Any = None
    label: str | None = "label"
    weight: str | None = None
    bound: float | None = None
    tree: RegularPath = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check()
        tree = parse_path(self.path)
        object.__setattr__(self, "tree", tree)
        object.__setattr__(self, "path", unparse_path(tree))
        if not reads_labels(tree):
            object.__setattr__(self, "label", None)
        elif self.label is None:
            raise InputError(
                "the path names labels, and there is no property that they are values of",
                hint='name the edge property: label="kind"',
            )

    @property
    def asked(self) -> tuple[SearchRequest, ...]:
        """From the start."""
        targets = None if self.target is None else (self.target,)
        return (SearchRequest(self.start, self.tree, targets),)


def _step(direction: str) -> RegularPath:
    if not isinstance(direction, Hashable) or direction not in _STEPS:
        raise InputError(
            f"the direction cannot be {direction!r}", hint="it is 'out', 'in' or 'both'"
        )
    return _STEPS[direction]


def _pair(given: Any) -> tuple[Any, Any]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(f"{given!r} is no pair", hint="give (source, target) by their ids")
    for end in given:
        try:
            hash(end)
        except TypeError:
            raise InputError(
                f"{end!r} cannot be the id of a vertex",
                where=f"the pair {given!r}",
                hint="an id is a whole number, a text or a tuple of them",
            ) from None
    return given[0], given[1]
