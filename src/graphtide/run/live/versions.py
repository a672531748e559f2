"""The versions of a graph in memory, and the programs that follow it from one to the next.

An advance is checked first, then edges are flipped and every follower brings its results along; if
anything fails on the way, all of it is undone. So a graph and its followers are always at the same
version. A program that came after an advance which is rolled back begins anew on what was before.
What it takes to roll back is bounded: behind each advance, the oldest that are too much are
forgotten.

`GraphVersions` moves the graph, `Followers` knows who follows it and for how long, and
`MaintainedProgram` is one program: its maintainer, its conditions, and the changes of its last
advance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import WeakValueDictionary, ref

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes, change_between
from graphtide.engine.maintainer import Maintainer, UndoStack
from graphtide.engine.walks.matches import GlobalChange, WalkChanges, shown_changes
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import GraphtideError, InputError
from graphtide.run.limits import UNBOUNDED, Undo, UndoBounds
from graphtide.run.live.batches import (
    NOBODY,
    NOTHING,
    Advance,
    EnteringVertices,
    Side,
    bring_in,
    read_delete,
    read_insert,
    take_out,
)
from graphtide.run.live.computation import ModeChoice
from graphtide.run.live.conditions import Conditions, Fault
from graphtide.run.live.named_graph import NamedGraph, RowConditions
from graphtide.run.turns import CallLock, changing, uninterrupted


class EdgeConditions(RowConditions, Protocol):
    """What edges and vertices must satisfy so that a program, or all queries, can follow a graph.

    `Conditions` says what each method does.
    """

    @property
    def program(self) -> str: ...
    def faults(self, columns: Mapping[str, NDArray[Any]]) -> Iterator[Fault]: ...
    def refuses_bare(self) -> str | None: ...
    def check_vertices(self, known: NamedGraph, first: int = 0) -> None: ...
    def reads_vertices(self, names: Iterable[str]) -> bool: ...


class GraphFollower(Protocol):
    """What follows a graph: a program, or all its queries.

    `since` is the version from which on it can be rolled back, `vertices` how many vertices the
    graph must have for those that it names to be there; `failed` says that it has no results.
    `begin_again` is called instead of `follow` where vertices have got values that it reads.
    `MaintainedProgram` says what each method does.
    """

    failed: bool

    @property
    def since(self) -> int: ...
    @property
    def vertices(self) -> int: ...
    @property
    def conditions(self) -> EdgeConditions: ...
    @property
    def undo_bytes(self) -> int: ...
    def start(self, version: int, vertices: int) -> None: ...
    def follow(self, delta: Delta, before: int) -> None: ...
    def begin_again(self, version: int, before: int) -> None: ...
    def undo(self, vertices: int) -> None: ...
    def forget(self, version: int, keep: int = 0) -> None: ...
    def keep_told(self, *, forward: bool) -> None: ...


class LastingChanges(Protocol):
    """Changes of the last advance that a user still holds."""

    def keep(self, *, forward: bool) -> None:
        """Copy the values that the next version (`forward`), or the one before, will overwrite."""


def _one_value(change: Change) -> GlobalChange:
    old, new = (
        side[0].copy() if side.ndim > 1 else side[0].item() for side in (change.old, change.new)
    )
    return GlobalChange(old, new)


@dataclass
class MaintainedProgram:
    """A maintainer, why it is this one, and what its edges must satisfy.

    `fields` are the results of vertices or pairs, `globals` those of the whole graph.
    `vertices` is how many vertices the graph must have for those that parameters name to be there.
    `since` is the version from which on it can be rolled back; `before` is how many vertices the
    graph had before the last advance, of which `changes` tells. `failed` says that it could not
    begin anew, and has no results.
    """

    maintainer: Maintainer
    choice: ModeChoice
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
        return (*self.fields, *self.globals, *self.matches)

    def values(self, name: str) -> NDArray[Any]:
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
        whole = {name: _one_value(fields[name]) for name in self.globals if len(fields[name])}
        return WalkChanges(fields, whole, rows)

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
        return self._followed.nbytes + self.maintainer.undo_bytes

    def forget(self, version: int, keep: int = 0) -> None:
        """Give up the undoing of all advances up to a version; there are so many after it.

        A maintainer before this one goes as a whole, with the advance that ended it.
        """
        self._followed.forget(keep)
        self.maintainer.forget(keep)
        self.since = max(self.since, version)

    def hold(self, changes: LastingChanges) -> None:
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


class Followers:
    """The followers of a graph; they end when the objects that users hold of them are gone."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[ref[object], GraphFollower]] = {}
        self._listed: tuple[GraphFollower, ...] = ()

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, kept: GraphFollower) -> bool:
        return id(kept) in self._held

    def add(self, kept: GraphFollower, holder: object) -> None:
        """Let a program follow until its holder is garbage-collected, or it is removed."""
        key, held = id(kept), self._held
        held[key] = ref(holder, lambda _: held.pop(key, None)), kept
        self._listed = ()

    def remove(self, kept: GraphFollower) -> None:
        self._held.pop(id(kept), None)

    def holders(self) -> list[object]:
        """The objects whose followers these are, in the order in which they came."""
        return [holder for held, _ in list(self._held.values()) if (holder := held()) is not None]

    def all(self) -> tuple[GraphFollower, ...]:
        """All followers, in the order in which they came.

        The list is made anew when their number has changed: a holder may vanish at any moment.
        """
        if len(self._listed) != len(self._held):
            self._listed = tuple(kept for _, kept in list(self._held.values()))
        return self._listed


Int32 = NDArray[np.int32]


class GraphVersions:
    """Moves a graph and its followers from version to version, all of them or none."""

    def __init__(
        self,
        known: NamedGraph,
        kept: Followers,
        turns: CallLock,
        forgotten: int = 0,
        undo: Undo = UNBOUNDED,
    ) -> None:
        self._turns = turns
        self._known = known
        self._resident = known.resident
        self._kept = kept
        self._done = UndoStack()
        self._forgotten = forgotten
        self._bounds = UndoBounds(undo)
        self.moves = 0
        """How often the graph has advanced or rolled back: what else may be the same twice."""

    @property
    def current(self) -> int:
        return self._forgotten + len(self._done)

    @property
    def last(self) -> Advance:
        """The delta of the last advance; edges by their inside numbers."""
        last: Advance = self._done.last
        return last

    @property
    def undo_bytes(self) -> int:
        return self._done.nbytes + sum(kept.undo_bytes for kept in self._kept.all())

    def advance(self, insert: Any, delete: Any, listed: EnteringVertices = NOBODY) -> int:
        """Go to the next version, or leave everything as it is; `vertices` enter with it.

        Returns how many rows came and went.
        """
        gone = NOTHING if delete is None else read_delete(self._known, delete)
        come = NOTHING if insert is None else read_insert(self._known, insert)
        self._check(come)
        with self._turns.moving:
            self._advance(come, gone, listed)
            self._keep_within_bounds()
        return come.size + gone.size

    def _advance(self, come: Side, gone: Side, listed: EnteringVertices) -> None:
        done: Advance | None = None
        followed: list[GraphFollower] = []
        turns, before = self._turns, self._turns.unusable
        try:
            with uninterrupted(), changing(turns):
                done = bring_in(self._known, come, gone, listed)
            if done.names or self._resident.vertices > done.vertices:
                self._check_vertices(done)
            for kept in self._kept.all():
                followed.append(kept)
                if kept.conditions.reads_vertices(done.names):
                    kept.begin_again(self.current + 1, done.vertices)
                else:
                    kept.follow(done.delta, done.vertices)
            self._done.append(done)
            self.moves += 1
        except BaseException as error:
            if done is not None:
                turns.unusable = True
                with uninterrupted():
                    anew = self._abandon(done, followed, isinstance(error, GraphtideError))
                    turns.unusable = before
                    self._begin_anew(anew)
            raise

    def rollback(self) -> None:
        """Go back to the version before, at the cost of what the last advance changed.

        A program that cannot begin anew there, or is interrupted while it does, is closed.
        """
        if not self._done:
            raise self._bounds.refusal()
        done = self.last
        kept = self._kept.all()
        late = [item for item in kept if item.since >= self.current]
        for item in late:
            self._check_named(item, done.vertices)
            self._check_edges(item, done.delta.deleted)
        turns, before = self._turns, self._turns.unusable
        with turns.moving:
            with uninterrupted():
                turns.unusable = True
                for item in kept:
                    if item.since < self.current:
                        item.undo(done.vertices)
                    else:
                        item.keep_told(forward=False)
                take_out(self._known, done)
                self._done.pop()
                self.moves += 1
                turns.unusable = before
            self._begin_anew(late)

    def _begin_anew(self, late: list[GraphFollower]) -> None:
        """Start all of these programs, and raise the first error afterwards."""
        failed: BaseException | None = None
        for item in late:
            try:
                item.start(self.current, self._resident.vertices)
            except BaseException as error:
                failed = failed or error
                self._close(item)
        if failed is not None:
            raise failed

    def _close(self, failed: GraphFollower) -> None:
        failed.failed = True
        self._kept.remove(failed)

    def forget(self) -> None:
        """Let no advance so far be rolled back any more, and free what that would need."""
        self._bounds.clear()
        self._forget(0)

    def set_bounds(self, undo: Undo) -> None:
        self._bounds = UndoBounds(undo)
        self._keep_within_bounds()

    def _keep_within_bounds(self) -> None:
        while self._bounds.exceeded(len(self._done), self.undo_bytes):
            self._forget(len(self._done) - 1)

    def _forget(self, keep: int) -> None:
        """Forget how to roll back all but the last `keep` advances."""
        with uninterrupted(), changing(self._turns):
            self._forgotten = self.current - keep
            self._done.forget(keep)
            for kept in self._kept.all():
                kept.forget(self._forgotten, keep)

    def _check(self, come: Side) -> None:
        if not come.size:
            return
        for kept in self._kept.all():
            if come.rows is None:
                self._check_edges(kept, come.edges)
            else:
                wanted = kept.conditions.properties
                columns = self._known.entering(wanted, come.rows)
                kept.conditions.check_rows(columns, come.rows.row)

    def _check_vertices(self, done: Advance) -> None:
        for kept in self._kept.all():
            if kept.conditions.reads_vertices(done.names):
                kept.conditions.check_vertices(self._known)
            elif self._resident.vertices > done.vertices:
                kept.conditions.check_vertices(self._known, done.vertices)

    def _check_named(self, kept: GraphFollower, vertices: int) -> None:
        if kept.vertices > vertices:
            raise InputError(
                f"the last advance brought a vertex that {kept.conditions.program} is given, "
                "so that it cannot be rolled back",
                hint="close the program first: live.close(), or graph.drop_query(name)",
            )

    def _check_edges(self, kept: GraphFollower, edges: Int32) -> None:
        columns = self._known.columns(kept.conditions.properties, edges)
        kept.conditions.check_rows(columns, lambda at: self._known.text(int(edges[at])))

    def _abandon(
        self, done: Advance, followed: list[GraphFollower], orderly: bool
    ) -> list[GraphFollower]:
        """Undo an advance that failed, and return the programs that must start from scratch."""
        if self._done and self.last is done:
            self._done.pop()
        anew = [follower for follower in followed if follower.conditions.reads_vertices(done.names)]
        for follower in followed[:-1]:
            if follower not in anew:
                follower.undo(done.vertices)
        take_out(self._known, done)
        if not orderly and followed and followed[-1] not in anew:
            anew.append(followed[-1])
        return anew
