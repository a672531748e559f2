"""The versions of a graph in memory: one advance after the other, each done or not at all.

An advance is checked first, then edges are flipped and every program follows; if anything fails
on the way, all of it is undone. Programs come and go: one that came after an advance which is
rolled back begins anew on what was before. What it takes to roll back is bounded: behind each
advance, the oldest are forgotten that are too much.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.undo_stack import UndoStack
from graphtide.model.errors import GraphtideError, InputError
from graphtide.run.live.batches import NOTHING, Side, read_delete, read_insert
from graphtide.run.live.entering import NOBODY, Advance, EnteringVertices, bring_in, take_out
from graphtide.run.live.followers import Followers
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.maintained import Follower
from graphtide.run.turns import Turns, changing, uninterrupted
from graphtide.run.undo import UNBOUNDED, Undo, UndoBounds

Int32 = NDArray[np.int32]


class Versions:
    """Moves a graph and its followers from version to version, all of them or none."""

    def __init__(
        self,
        known: KnownEdges,
        kept: Followers,
        turns: Turns,
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
        """The number of advances that lie behind the current version."""
        return self._forgotten + len(self._done)

    @property
    def last(self) -> Advance:
        """The delta of the last advance; edges by their inside numbers."""
        last: Advance = self._done.last
        return last

    @property
    def undo_bytes(self) -> int:
        """The memory of what it takes to roll back."""
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
        followed: list[Follower] = []
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

    def _begin_anew(self, late: list[Follower]) -> None:
        """Start all of these programs; afterwards raise the first error that one of them raised."""
        failed: BaseException | None = None
        for item in late:
            try:
                item.start(self.current, self._resident.vertices)
            except BaseException as error:
                failed = failed or error
                self._close(item)
        if failed is not None:
            raise failed

    def _close(self, failed: Follower) -> None:
        failed.failed = True
        self._kept.remove(failed)

    def forget(self) -> None:
        """Let no advance so far be rolled back any more, and free what that would need."""
        self._bounds.clear()
        self._forget(0)

    def set_bounds(self, undo: Undo) -> None:
        """Keep what it takes to roll back within other bounds from now on."""
        self._bounds = UndoBounds(undo)
        self._keep_within_bounds()

    def _keep_within_bounds(self) -> None:
        while self._bounds.exceeded(len(self._done), self.undo_bytes):
            self._forget(len(self._done) - 1)

    def _forget(self, keep: int) -> None:
        """Let no advance be rolled back but the last so many."""
        with uninterrupted(), changing(self._turns):
            self._forgotten = self.current - keep
            self._done.forget(keep)
            for kept in self._kept.all():
                kept.forget(self._forgotten, keep)

    def _check(self, come: Side) -> None:
        """Refuse edges that a program on the graph cannot take."""
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
        """Refuse vertices that came, or got other values, that a program cannot take."""
        for kept in self._kept.all():
            if kept.conditions.reads_vertices(done.names):
                kept.conditions.check_vertices(self._known)
            elif self._resident.vertices > done.vertices:
                kept.conditions.check_vertices(self._known, done.vertices)

    def _check_named(self, kept: Follower, vertices: int) -> None:
        if kept.vertices > vertices:
            raise InputError(
                f"the last advance brought a vertex that {kept.conditions.program} is given, "
                "so that it cannot be rolled back",
                hint="close the program first: live.close(), or graph.drop_query(name)",
            )

    def _check_edges(self, kept: Follower, edges: Int32) -> None:
        columns = self._known.columns(kept.conditions.properties, edges)
        kept.conditions.check_rows(columns, lambda at: self._known.text(int(edges[at])))

    def _abandon(self, done: Advance, followed: list[Follower], orderly: bool) -> list[Follower]:
        """Undo an advance that failed; the programs that must begin anew behind it."""
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
