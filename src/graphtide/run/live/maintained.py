"""A maintainer as its graph sees it: checked before, moved, and asked what changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from graphtide.engine.changes import Changes
from graphtide.engine.maintainer import Maintainer
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.modes import Choice


class EdgeConditions(Protocol):
    """What edges and vertices must satisfy so that something can follow the graph."""

    @property
    def program(self) -> str:
        """What follows, for errors."""

    @property
    def properties(self) -> Mapping[str, ValueType]:
        """The edge properties that it reads."""

    def check_rows(self, columns: Mapping[str, NDArray[Any]], text: Callable[[int], str]) -> None:
        """Refuse edges with values that cannot be taken; `text` tells a row."""

    def check_vertices(self, known: KnownEdges, first: int = 0) -> None:
        """Refuse vertices, from a number on, with values that cannot be taken."""


class Follower(Protocol):
    """What follows a graph: a program, or all its queries.

    `since` is the version from which on it can be rolled back, `vertices` how many vertices the
    graph must have for those that it names to be there; `failed` says that it has no results.
    """

    failed: bool

    @property
    def since(self) -> int: ...  # noqa: D102
    @property
    def vertices(self) -> int: ...  # noqa: D102
    @property
    def conditions(self) -> EdgeConditions: ...  # noqa: D102

    def start(self, version: int, vertices: int) -> None:
        """Begin anew on the graph as it is."""

    def follow(self, delta: Delta, before: int) -> None:
        """Follow the graph to its next version; `before` is how many vertices it had."""

    def undo(self, vertices: int) -> None:
        """Go back by one version; `vertices` is how many there are then."""

    def forget(self, version: int) -> None:
        """Give up the undoing of all advances up to a version."""


class LastingChanges(Protocol):
    """Changes that somebody holds."""

    def keep(self, *, forward: bool) -> None:
        """Read what will not be there any more in the next version, or in the one before."""


@dataclass
class Maintained:
    """A maintainer, why it is this one, and what its edges must satisfy.

    `fields` are the results of vertices or pairs, `globals` those of the whole graph.
    `vertices` is how many vertices the graph must have for those that parameters name to be there.
    `since` is the version from which on it can be rolled back; `before` is how many vertices the
    graph had before the last advance, of which `changes` tells. `failed` says that it could not
    begin anew, and has no results.
    """

    maintainer: Maintainer
    choice: Choice
    conditions: Conditions
    fields: tuple[str, ...]
    globals: tuple[str, ...] = ()
    vertices: int = 0
    since: int = 0
    before: int = 0
    failed: bool = False
    changes: Changes = field(default_factory=dict)
    matches: tuple[str, ...] = ()
    """Rows that a run keeps with the results; a graph asks the maintainer for them."""
    told: Callable[[], LastingChanges | None] = lambda: None
    """What was handed out of `changes`, as long as somebody holds it."""

    @property
    def results(self) -> tuple[str, ...]:
        """All that the maintainer has values of."""
        return (*self.fields, *self.globals, *self.matches)

    def values(self, name: str) -> NDArray[Any]:
        """The results of a field, not a copy; InputError if there are none."""
        self.check_results()
        return self.maintainer.values(name)

    def check_results(self) -> None:
        """InputError if there are none."""
        if self.failed:
            raise InputError(
                f"{self.conditions.program} has no results: it could not begin anew",
                hint="maintain the program on the graph again",
            )

    def start(self, version: int, vertices: int) -> None:
        """Run from scratch on the graph as it is."""
        self.keep_told(forward=False)
        self.maintainer.start()
        self.changes, self.before, self.since = {}, vertices, version

    def follow(self, delta: Delta, before: int) -> None:
        """Follow the graph to its next version; `before` is how many vertices it had."""
        self.keep_told(forward=True)
        self.changes = self.maintainer.follow(delta)
        self.before = before

    def undo(self, vertices: int) -> None:
        """Go back by one version; `vertices` is how many there are then."""
        self.keep_told(forward=False)
        self.maintainer.undo()
        self.changes, self.before = {}, vertices

    def forget(self, version: int) -> None:
        """Give up the undoing of all advances up to a version."""
        self.maintainer.forget()
        self.since = version

    def keep_told(self, *, forward: bool) -> None:
        """Before the version is left: let what was handed out take with it what it is about."""
        held = self.told()
        if held is not None:
            held.keep(forward=forward)
