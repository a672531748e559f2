"""What a graph knows of a maintainer: its conditions, its last changes, and how to move it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import WeakValueDictionary, ref

from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes, change_between
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.undo_stack import UndoStack
from graphtide.engine.walks.changes import GlobalChange
from graphtide.engine.walks.matches import RowChange, shown_changes
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import InputError
from graphtide.run.live.conditions import Conditions, Fault
from graphtide.run.live.known_edges import KnownEdges, RowConditions
from graphtide.run.live.modes import Choice


class EdgeConditions(RowConditions, Protocol):
    """What edges and vertices must satisfy so that something can follow the graph."""

    @property
    def program(self) -> str:
        """What follows, for errors."""

    def faults(self, columns: Mapping[str, NDArray[Any]]) -> Iterator[Fault]:
        """What is wrong with edges of which some cannot be taken."""

    def refuses_bare(self) -> str | None:
        """Why vertices without properties cannot be taken; None where they can."""

    def check_vertices(self, known: KnownEdges, first: int = 0) -> None:
        """Refuse vertices, from a number on, with values that cannot be taken."""

    def reads_vertices(self, names: Iterable[str]) -> bool:
        """Whether it reads one of these properties of vertices."""


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

    def begin_again(self, version: int, before: int) -> None:
        """Begin anew on the next version, whose vertices have other values, and say what changed.

        Only called where its conditions say that it reads them.
        """

    def undo(self, vertices: int) -> None:
        """Go back by one version; `vertices` is how many there are then."""

    @property
    def undo_bytes(self) -> int:
        """The memory of what could be undone."""

    def forget(self, version: int, keep: int = 0) -> None:
        """Give up the undoing of all advances up to a version; there are so many after it."""

    def keep_told(self, *, forward: bool) -> None:
        """Let changes that users hold copy what they need, before the graph leaves this version."""


class LastingChanges(Protocol):
    """Changes of the last advance that a user still holds."""

    def keep(self, *, forward: bool) -> None:
        """Copy the values that the next version (`forward`), or the one before, will overwrite."""


class SizedChanges(dict[str, Change]):
    """Changes of a program that began anew; `globals` are those of the whole graph among them,
    `matches` those of rows that walks report.
    """

    def __init__(
        self,
        fields: Mapping[str, Change],
        whole: tuple[str, ...],
        matches: Mapping[str, RowChange],
    ) -> None:
        super().__init__(fields)
        self.globals = {name: _one_value(fields[name]) for name in whole if len(fields[name])}
        self.matches = matches


def _one_value(change: Change) -> GlobalChange:
    old, new = (
        side[0].copy() if side.ndim > 1 else side[0].item() for side in (change.old, change.new)
    )
    return GlobalChange(old, new)


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
    of_size: Callable[[], Maintainer] | None = None
    """Where the program reads how many vertices there are: a maintainer, not started, for as many
    as there are now. An advance that brings vertices begins anew with it."""
    _followed: UndoStack = field(default_factory=UndoStack)
    """The maintainers before each advance that began anew, None where one followed."""
    told: Callable[[], LastingChanges | None] = lambda: None
    """A weak reference to the changes that a user holds of the last advance."""
    _lasting: WeakValueDictionary[int, LastingChanges] = field(default_factory=WeakValueDictionary)
    """All changes that users hold and that read ids of vertices when somebody looks."""

    @property
    def results(self) -> tuple[str, ...]:
        """The names of all results that the maintainer has."""
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
        if self.of_size is not None:
            self.maintainer = self.of_size()
        self._followed.forget()
        self.maintainer.start()
        self.changes, self.before, self.since = {}, vertices, version

    def begin_again(self, version: int, before: int) -> None:
        """Start on a version whose vertices have other values, and note what that changed."""
        self.keep_told(forward=True)
        self.changes = self.maintainer.begin_again()
        self._followed.forget()
        self.before, self.since = before, version

    def follow(self, delta: Delta, before: int) -> None:
        """Follow the graph to its next version; `before` is how many vertices it had."""
        self.keep_told(forward=True)
        if self.of_size is None:
            self.changes = self.maintainer.follow(delta)
        else:
            self.changes = self._follow_sized(self.of_size, delta, before)
        self.before = before

    def _follow_sized(self, make: Callable[[], Maintainer], delta: Delta, before: int) -> Changes:
        """Follow, or begin anew if the advance changed the number of vertices."""
        old = self.maintainer
        if old.graph.vertices == before:
            changes = old.follow(delta)
            self._followed.append(None)
            return changes
        new = make()
        new.start()
        self.maintainer = new
        self._followed.append(old)
        known = {name: old.values(name) for name in old.fields}
        fields = {
            name: change_between(values, new.values(name)[: len(values)])
            for name, values in known.items()
        }
        rows = shown_changes(*(getattr(one, "matches", {}) for one in (old, new)))
        return SizedChanges(fields, self.globals, rows)

    def undo(self, vertices: int) -> None:
        """Go back by one version; `vertices` is how many there are then."""
        self.keep_told(forward=False)
        earlier = self._followed.pop() if self.of_size is not None else None
        if earlier is None:
            self.maintainer.undo()
        else:
            self.maintainer = earlier
        self.changes, self.before = {}, vertices

    @property
    def undo_bytes(self) -> int:
        """The memory of what could be undone."""
        return self._followed.nbytes + self.maintainer.undo_bytes

    def forget(self, version: int, keep: int = 0) -> None:
        """Give up the undoing of all advances up to a version; there are so many after it.

        A maintainer before this one goes as a whole, with the advance that ended it.
        """
        self._followed.forget(keep)
        self.maintainer.forget(keep)
        self.since = max(self.since, version)

    def hold(self, changes: LastingChanges) -> None:
        """Know the changes of the last advance, which a user holds from now on."""
        self.told = ref(changes)
        self._lasting[id(changes)] = changes

    def keep_told(self, *, forward: bool) -> None:
        """Let changes that users hold copy what they need, before the graph leaves this version.

        Who goes back may give the numbers of vertices to others, so that changes of all versions
        need their ids.
        """
        if forward:
            held = self.told()
            if held is not None:
                held.keep(forward=True)
            return
        for held in list(self._lasting.values()):
            held.keep(forward=False)
        self._lasting.clear()
