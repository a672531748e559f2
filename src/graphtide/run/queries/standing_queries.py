"""All queries of a graph as their graph sees them: they come and go, follow, and go back.

One engine has the state of all. A query that came after an advance which is rolled back begins anew
on what was before, and so does one that is rolled back further than the engine's logs reach; the
others go back by what was noted.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, TypeVar

import pyarrow as pa

from graphtide.engine.histories.engine import HistoryEngine
from graphtide.engine.queries.budget import Budget, LacksRoomError
from graphtide.engine.queries.engine import QueryEngine
from graphtide.engine.queries.landmark_settings import Landmarks
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import MEMORY_ENDED, InputError, LimitError, NotFoundError, SetupError
from graphtide.model.machine import in_words
from graphtide.model.schema import name_hint
from graphtide.run.limits import QuerySettings
from graphtide.run.live.ids import plain_id
from graphtide.run.live.named_graph import NamedGraph
from graphtide.run.queries.kinds import QueryKind
from graphtide.run.queries.standing_query import (
    EdgeLabels,
    QueryConditions,
    StandingQuery,
    check_costs,
)

Result = TypeVar("Result")


class StandingQueries:
    """The queries of one graph, by name; a `Follower` of it."""

    def __init__(
        self,
        known: NamedGraph,
        kept: Callable[[], pa.Table],
        version: int,
        kept_by: QuerySettings,
    ) -> None:
        self._kept_by = kept_by
        self.conditions = QueryConditions(())
        self.failed = False
        self.queries: dict[str, StandingQuery] = {}
        self._kept = kept
        self._highest = 0
        self._stand_on(known, version)
        self._begin_engine(Budget(kept_by.most))

    def _stand_on(self, known: NamedGraph, version: int) -> None:
        self.known = known
        self.fresh = False
        """Whether the last act was an advance, which changes can be told of."""
        self._forgot = False
        """Whether what that advance changed went with a state that memory ended in."""
        self._version = version
        self._awaited: set[Any] = set()
        """Vertices that queries name and that are not there yet."""
        self.labels = EdgeLabels(known.resident, self._kept)
        self._engine: QueryEngine | HistoryEngine | None = None

    def _begin_engine(self, budget: Budget) -> None:
        """Replace the engine by one without searches, within a budget of which nothing is used."""
        self._engine = None
        budget.highest = self._highest
        try:
            self.labels.take_from(budget)
            self._engine = self._new_engine(budget)
        except LacksRoomError as lacking:
            raise LimitError(
                f"a budget of {in_words(budget.most or 0)} is too small for queries on this graph",
                hint="it takes some bytes for each vertex: graph.set_budget('100 MB')",
            ) from lacking
        for query in self.queries.values():
            query.numbers = []

    def _new_engine(self, budget: Budget) -> QueryEngine | HistoryEngine:
        """What keeps the searches: fixpoints, or histories where the graph was told so."""
        given = self.known.resident, self.labels.column, budget
        if self._kept_by.histories is not None:
            return HistoryEngine(*given, self._kept_by.histories)
        engine = QueryEngine(*given)
        engine.patience = self._kept_by.patience
        engine.set_landmarks(self._kept_by.landmarks)
        return engine

    @property
    def engine(self) -> QueryEngine | HistoryEngine:
        """The state of all queries, on the version that the graph is at.

        LimitError where there is none, because the budget does not allow for one without queries. A
        state that memory ended in is given up, and made anew.
        """
        if isinstance(self._engine, QueryEngine) and self._engine.room.in_disorder:
            self._give_up()
        if self._engine is None:
            self._begin_lost()
        assert self._engine is not None
        if self._engine.lost:
            try:
                self._engine.settle()
            except MEMORY_ENDED:
                self._give_up()
                raise
        return self._engine

    def _give_up(self) -> None:
        """Drop the state, since nobody knows how far it came. That takes no memory."""
        self._engine, self._forgot = None, True

    def check_told(self) -> None:
        """Refuse to tell what the last advance changed where that is not known any more."""
        if self.fresh and self._forgot:
            raise SetupError(
                "what the last advance changed is forgotten: memory has ended since",
                hint="answers are those of the current version: query.table()",
            )

    def numbers_of(self, query: StandingQuery) -> list[int]:
        """The searches of a query in the engine; makes the engine if there is none."""
        self.engine  # noqa: B018
        return query.numbers

    def set_budget(self, most: int | None, patience: float) -> None:
        """Have another budget from now on; LimitError, and the one before, if it is too small."""
        kept_by = self._kept_by._replace(most=most, patience=patience)
        if self._engine is None and not self.queries:
            self._begin_engine(Budget(most))
        engine = self.engine
        if isinstance(engine, QueryEngine):  # Histories have no budget, so that it is None already.
            try:
                engine.set_budget(most)
            except MEMORY_ENDED:
                self._give_up()
                raise
            engine.patience = patience
        self._kept_by = kept_by

    def set_landmarks(self, landmarks: Landmarks | None) -> None:
        engine = self.engine
        assert isinstance(engine, QueryEngine)
        try:
            engine.set_landmarks(landmarks)
            self._kept_by = self._kept_by._replace(landmarks=landmarks)
        except MEMORY_ENDED:
            self._give_up()
            raise

    def lose(self, kept_by: QuerySettings) -> None:
        """Change how queries are kept; all answers are computed anew when somebody asks."""
        self._kept_by, self._engine = kept_by, None

    @property
    def version(self) -> int:
        return self._version

    @property
    def since(self) -> int:
        """The version from which on all of them can be rolled back."""
        came = (query.since for query in self.queries.values())
        engine = self.engine
        loses = self._version if engine.loses else -1
        return max(self._version - engine.undoable, loses, *came, -1)

    vertices = 0
    """No vertex must be there: a query that names one which is not has no answer."""

    @property
    def nbytes(self) -> int:
        return self.engine.nbytes + self.labels.nbytes

    def add(self, name: str, kind: QueryKind) -> StandingQuery:
        self._check_new(name, kind)
        if kind.weight is not None and kind.weight not in self.conditions.properties:
            check_costs(self.known, kind.weight)
        query = StandingQuery(name, kind, self._version, directed=self.known.resident.directed)
        try:
            self._find(query)
            self._start(query)
        except MEMORY_ENDED:
            self._give_up()
            raise
        self.queries[name] = query
        self._awaited.update(query.absent)
        if kind.weight is not None:
            self.conditions = QueryConditions({*self.conditions.properties, kind.weight})
        return query

    def _find(self, query: StandingQuery) -> None:
        """Find what a query names, and make room for labels that are new."""
        self._within(lambda: query.find(self.known.ids, self.labels))

    def _within(self, call: Callable[[], Result]) -> Result:
        engine = self.engine
        return engine.room.within(call) if isinstance(engine, QueryEngine) else call()

    def move(self, known: NamedGraph, version: int) -> None:
        """Let all queries stand where vertices and edges have other numbers; `begin` comes next.

        A query whose vertices are gone is dropped; what it lacks is raised when the others stand.
        What has followed within a budget may not fit from scratch: then it has no state yet.
        """
        self._stand_on(known, version)
        failed: InputError | None = None
        for name, query in list(self.queries.items()):
            try:
                query.find(known.ids, self.labels)
                self._awaited.update(query.absent)
            except InputError as error:
                failed = failed or error
                del self.queries[name]
        self.conditions = QueryConditions(self._weights())
        if failed is not None:
            raise failed

    def begin(self) -> None:
        """Compute all queries, behind `move`."""
        with suppress(LimitError):  # Who asks for an answer is told, and may set another budget.
            self.engine  # noqa: B018

    def _begin_lost(self) -> None:
        """Let a new engine know all queries, none of which has a state.

        Beyond the budget where it does not allow for them: queries that exist can be read. What has
        followed within a budget may not fit from scratch.
        """
        budget = Budget(self._kept_by.most)
        try:
            self._begin_engine(budget)
            self._enter_lost()
        except LimitError:
            self._engine = None
            if not self.queries:
                raise
            budget = Budget(self._kept_by.most)
            with budget.lifted():
                self._begin_engine(budget)
                self._enter_lost()
        except BaseException:
            self._engine = None
            raise

    def _enter_lost(self) -> None:
        engine = self._engine
        assert engine is not None
        for query in self.queries.values():
            query.numbers = [engine.add_lost(search) for search in query.searches]
            query.since = min(query.since, self._version)

    def drop(self, name: str) -> None:
        """Give a query up."""
        query = self.get(name)
        del self.queries[name]
        self._await()
        try:
            self._stop(query)
        except MEMORY_ENDED:
            self._give_up()
            raise
        if query.kind.weight is not None:
            self.conditions = QueryConditions(self._weights())

    def get(self, name: str) -> StandingQuery:
        """A query by its name; NotFoundError if there is none."""
        if name not in self.queries:
            told = ", ".join(list(self.queries)[:10]) or "none"
            hint = name_hint(name, list(self.queries), f"there are: {told}", "'")
            raise NotFoundError(f"there is no query '{name}'", hint=hint)
        return self.queries[name]

    def follow(self, delta: Delta, before: int) -> None:
        self._settle_before(delta)
        try:
            self.engine.follow(delta, lambda: self.labels.refresh(delta.inserted))
        except MEMORY_ENDED:
            self._give_up()
            raise
        self._version += 1
        self.fresh, self._forgot = True, False
        if self._awaited and self.known.resident.vertices > before:
            self._take_in(before)

    def _take_in(self, before: int) -> None:
        """Begin what queries ask of vertices that have come; all or nothing."""
        ids = self.known.ids
        came = (plain_id(ids[number]) for number in range(before, self.known.resident.vertices))
        if self._awaited.isdisjoint(came):
            return
        try:
            for query in self.queries.values():
                if query.absent:
                    self._begin_parts(query)
        except MEMORY_ENDED:
            self._version -= 1
            self._give_up()
            self._leave_out(self._version, before)
            raise
        except (LimitError, InputError):
            self.undo(before)
            raise
        self._await()

    def _begin_parts(self, query: StandingQuery) -> None:
        ids, labels, now = self.known.ids, self.labels, self._version
        found = self._within(lambda: query.parts_of(ids, labels, now))
        query.parts += found
        for part in found:
            query.numbers.append(self.engine.add(part.search))
        query.note_absent(ids, self.known.resident.vertices)

    def _leave_out(self, version: int, vertices: int) -> None:
        """Drop the parts of queries that came behind a version."""
        for query in self.queries.values():
            if not query.absent and all(part.since <= version for part in query.parts):
                continue
            for number in query.cut(version, self.labels):
                if self._engine is not None:
                    self._engine.remove(number)
            query.note_absent(self.known.ids, vertices)
        self._await()

    def _await(self) -> None:
        self._awaited = {item for query in self.queries.values() for item in query.absent}

    def _settle_before(self, delta: Delta) -> None:
        """Compute anew what a failed advance has lost, on the version that it left as it was."""
        engine = self._engine
        disorder = isinstance(engine, QueryEngine) and engine.room.in_disorder
        if engine is None or engine.lost or disorder:
            resident = self.known.resident
            resident.flip(delta.deleted, delta.inserted)
            try:
                self.engine  # noqa: B018
            finally:
                resident.flip(delta.inserted, delta.deleted)

    def beyond_budget(self) -> AbstractContextManager[None]:
        """Refuse no advance for lack of room meanwhile: one that goes back is never refused."""
        return self.engine.budget.lifted()

    def begin_again(self, version: int, before: int) -> None:
        """Never called: queries read no properties of vertices."""
        raise AssertionError

    def keep_told(self, *, forward: bool) -> None:
        """Changes are handed out as tables, which need nothing of their version."""

    def undo(self, vertices: int) -> None:
        """Go back by one version; queries that no log covers are lost."""
        self.engine.undo(vertices)
        self._version -= 1
        self.fresh = False
        self._leave_out(self._version, vertices)

    def start(self, version: int, vertices: int) -> None:
        """Begin anew where logs do not lead back to the version that the graph is at now."""
        engine, noted = self._engine, version == self._version - 1
        self._version, self.fresh = version, False
        if engine is not None and noted and engine.undoable > 0:
            engine.undo(vertices)
        elif engine is not None:
            self._highest, engine, self._engine = engine.budget.highest, None, None
        self._leave_out(version, vertices)
        for query in self.queries.values():
            if query.since > version:
                query.since = version
                query.parts = query.parts_of(self.known.ids, self.labels, version)
                if engine is not None:
                    query.numbers = [engine.add_lost(part.search) for part in query.parts]
        with suppress(LimitError):  # Who asks for an answer is told, and may set another budget.
            self.engine  # noqa: B018

    @property
    def undo_bytes(self) -> int:
        return 0 if self._engine is None else self._engine.undo_bytes

    def forget(self, version: int, keep: int = 0) -> None:
        if self._engine is not None:
            self._engine.forget(keep)

    def _start(self, query: StandingQuery) -> None:
        query.numbers, query.since = [], self._version
        try:
            for search in query.searches:
                query.numbers.append(self.engine.add(search))
        except BaseException:
            self._stop(query)
            raise

    def _stop(self, query: StandingQuery) -> None:
        if self._engine is not None:
            for number in query.numbers:
                self._engine.remove(number)
        query.numbers = []
        query.forget(query.parts, self.labels)

    def _check_new(self, name: str, kind: QueryKind) -> None:
        if not isinstance(name, str) or not name:
            raise InputError(f"a query cannot be named {name!r}", hint="give it a text for a name")
        if name in self.queries:
            raise InputError(
                f"there is a query '{name}' already",
                hint=f"take another name, or drop that one: graph.drop_query({name!r})",
            )
        if not isinstance(kind, QueryKind):
            raise InputError(
                f"{kind!r} is no query",
                hint="gt.queries has Path, Paths, Hops, Reach and Regular",
            )

    def _weights(self) -> set[str]:
        kinds = (query.kind for query in self.queries.values())
        return {kind.weight for kind in kinds if kind.weight is not None}
