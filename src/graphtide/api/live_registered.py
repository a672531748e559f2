"""Registered programs and queries of a live graph, which begin again after every start.

Users ask for changes by name, so a name stands for one program or one query. The log says what is
registered; the objects here are the programs and queries that run.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphtide.api.graph import Graph
from graphtide.api.live import Live
from graphtide.api.query import Query
from graphtide.engine.queries.landmark_settings import Landmarks
from graphtide.lang.python import AnyProgram
from graphtide.model.errors import GraphtideError, InputError, LimitError, NotFoundError
from graphtide.model.names import check_name
from graphtide.model.schema import name_hint
from graphtide.run.durable.asked import made_query, stored_query
from graphtide.run.durable.records import ASK, DROP, REGISTER, SET, UNREGISTER
from graphtide.run.durable.registered import (
    Trust,
    made_program,
    stored_program,
    told_program,
)
from graphtide.run.durable.shape import Shape
from graphtide.run.durable.state import LiveState
from graphtide.run.durable.writer import Writer
from graphtide.run.live.modes import Mode
from graphtide.run.live.programs import Bound, bound_program
from graphtide.run.queries.kept import KeptQueries
from graphtide.run.queries.kinds import QueryKind
from graphtide.run.turns import in_turn, uninterrupted
from graphtide.store.seal import well_formed

Stored = dict[str, Any]


class RegisteredGraph(Graph):
    """A graph in memory with programs and queries that its log remembers."""

    folder: Path
    """Where it is."""
    _name: str
    _what: str
    _writer: Writer | None
    _closed: bool
    _state: LiveState
    _shape: Shape
    _programs: dict[str, tuple[Live, Stored]]
    _lost: dict[str, GraphtideError]
    _trust: Trust
    _without_lost: bool
    _begun: dict[str, Stored]
    _followed: dict[str, Any]

    @in_turn
    def register(
        self,
        name: str,
        program: AnyProgram,
        *,
        mode: Mode = "auto",
        tolerance: float = 0.0,
        keep: int | None = None,
    ) -> Live:
        """Maintain a program under a name, now and after every start.

        The name is the program's until `unregister`; the rest is as in `maintain`. Vertices that
        its parameters name stay in the graph as long as it is registered.
        """
        writer = self._writing()
        self._check_free(check_name(name, "program"))
        bound = bound_program(program)
        stored = stored_program(bound)
        knobs = {"mode": mode, "tolerance": tolerance, "keep": keep}
        live = self.maintain(program, mode=mode, tolerance=tolerance, keep=keep)
        facts = {**stored, **knobs, "version": self._state.version}
        try:
            with uninterrupted():
                writer.remember(REGISTER, name=name, program=facts)
                self._trust = self._trust.also(bound)
                self._programs[name] = live, self._state.registered[name]
        except BaseException:
            if name not in self._programs:
                live.close()
            raise
        return live

    @in_turn
    def unregister(self, name: str) -> None:
        """Forget a registered program."""
        writer = self._writing()
        self._check_registered(name)
        with uninterrupted():
            writer.remember(UNREGISTER, name=name)
            self._end_program(name)

    @in_turn
    def registered(self) -> list[str]:
        """The names of the registered programs; those of queries are in `queries`."""
        return list(self._state.registered)

    @in_turn
    def program(self, name: str) -> Live:
        """The results of a registered program, those of the current version."""
        self._check_registered(name)
        if name in self._lost:
            raise self._lost[name]
        return self._programs[name][0]

    @in_turn
    def query(self, name: str, asked: QueryKind) -> Query:
        """Ask a query (`gt.queries`), and keep its answer current, now and after every start.

        It is in the log, and stays until `drop_query`. Vertices that it names stay in the graph as
        long. Where the graph only reads, the query is its own, and goes with it.
        """
        self._check_open()
        self._check_free(name)
        if self._writer is None:
            return super().query(name, asked)
        try:
            query = super().query(name, asked)
            stored = {**stored_query(asked), "version": self._state.version}
            with uninterrupted():
                self._writer.remember(ASK, name=name, query=stored)
                self._begun[name] = stored
        except BaseException as error:
            with uninterrupted():
                if not isinstance(error, InputError | LimitError):
                    self._queries().lose(self._kept_by)
                if name not in self._state.queries and name in self._queries().queries:
                    self._queries().drop(name)
            raise
        return query

    @in_turn
    def drop_query(self, name: str) -> None:
        """Give a query up, for good."""
        kept = self._queries()
        if name not in self._state.queries:
            kept.drop(name)
            return
        writer = self._writing()
        with uninterrupted():
            writer.remember(DROP, name=name)
            self._end_query(name)

    @in_turn
    def set_budget(self, budget: int | str | None, *, patience: float = 1.0) -> None:
        """Let all queries together take so many bytes, now and after every start.

        As `Graph.set_budget`; where the graph only reads, the budget is its own. Queries that did
        not fit when the graph was opened begin if they do now.
        """
        self._check_open()
        with self._settings_or_before():
            super().set_budget(budget, patience=patience)
            if len(self._begun) < len(self._state.queries):
                self._begin_queries(self._queries())
            self._remember({"budget": self._budget, "patience": self._patience})

    @in_turn
    def set_landmarks(self, landmarks: int | Landmarks | None) -> None:
        """Have so many landmarks for queries, now and after every start.

        As `Graph.set_landmarks`; where the graph only reads, they are its own.
        """
        self._check_open()
        with self._settings_or_before():
            super().set_landmarks(landmarks)
            now = self._landmarks
            self._remember({"landmarks": None if now is None else [now.count, now.choice]})

    @contextmanager
    def _settings_or_before(self) -> Iterator[None]:
        """Let the block change settings, here and on the disk; in neither if something stops it.

        What is refused has been undone by those who refuse it. Of anything else it is not known how
        far it has come: answers are then computed anew when somebody asks.
        """
        before, logged = (self._budget, self._patience, self._landmarks), self._state.settings
        try:
            yield
        except (InputError, LimitError):
            raise
        except BaseException:
            with uninterrupted():
                if self._state.settings is logged:
                    self._budget, self._patience, self._landmarks = before
                    if self._asked is not None:
                        self._asked.lose(self._kept_by)
            raise

    def _remember(self, settings: dict[str, Any]) -> None:
        if self._writer is not None:
            with uninterrupted():
                self._writer.remember(SET, settings=settings)
                self._followed = self._state.settings

    def _follow_settings(self) -> None:
        """Keep queries as the log says, if it says something else than it said before."""
        settings = self._state.settings
        if settings == self._followed:
            return
        self._followed = settings
        marks = settings.get("landmarks")
        with well_formed(f"what {self._what} says of its queries"):
            landmarks = None if marks is None else Landmarks(*marks)
        super().set_landmarks(landmarks)
        try:
            super().set_budget(settings.get("budget"), patience=settings.get("patience", 1.0))
        except LimitError as error:  # What a reader asks beside the writer may need more.
            warnings.warn(f"{self._what}: {error.what}", RuntimeWarning, stacklevel=4)

    def _queries(self) -> KeptQueries:
        if self._asked is None or self._asked.failed:
            self._begun = {}
            self._begin_queries(super()._queries())
        return super()._queries()

    def _begin_registered(self) -> None:
        """Maintain what is registered, and end what is not any more."""
        self._follow_settings()
        self._end_unregistered()
        for name, stored in self._state.registered.items():
            if name not in self._programs:
                self._begin_program(name, stored)
        if self._state.queries:
            self._begin_queries(self._queries())

    def _end_unregistered(self) -> None:
        """End what is not registered any more, or is something else by now."""
        for name, (_, stored) in list(self._programs.items()):
            if self._state.registered.get(name) != stored:
                self._end_program(name)
        for name, stored in list(self._begun.items()):
            if self._state.queries.get(name) != stored:
                self._end_query(name)

    def _begin_program(self, name: str, stored: Stored) -> None:
        """Maintain a program; one that cannot begin says so when it is used.

        Whoever writes leaves no program out that cannot be found, unless the caller has said so:
        its consumers would not hear of what it missed.
        """
        known = self._lost.pop(name, None)
        try:
            program = made_program(stored, self._trust)
        except GraphtideError as error:
            if self._writer is not None and not self._without_lost:
                raise
            self._lost[name] = error
            if known is None:
                what = f"{self._what} is open without its program '{name}': {error.what}"
                warnings.warn(what, RuntimeWarning, stacklevel=6)
            return
        try:
            self._programs[name] = self._maintained(program, stored), stored
        except GraphtideError as error:
            self._lost[name] = error

    def _maintained(self, program: Bound, stored: Stored) -> Live:
        with well_formed("a program"):
            knobs = {item: stored[item] for item in ("mode", "tolerance", "keep")}
            return self.maintain(program, **knobs)

    def _end_program(self, name: str) -> None:
        self._lost.pop(name, None)
        live, _ = self._programs.pop(name, (None, None))
        if live is not None:
            live.close()

    def _begin_queries(self, kept: KeptQueries) -> None:
        """Ask what is registered; a query of a reader's own gives way to one of its name."""
        for name, stored in self._state.queries.items():
            if name in self._begun:
                continue
            if name in kept.queries:
                kept.drop(name)
            try:
                kept.add(name, made_query(stored))
                self._begun[name] = stored
            except GraphtideError as error:
                warnings.warn(
                    f"the query '{name}' of {self._what} could not begin: {error.what}",
                    RuntimeWarning,
                    stacklevel=5,
                )

    def _end_query(self, name: str) -> None:
        self._begun.pop(name, None)
        if self._asked is not None and name in self._asked.queries:
            self._asked.drop(name)

    def _check_registered(self, name: str) -> None:
        _check_known(name, self._state.registered, "no program is registered as")

    def _check_free(self, name: str) -> None:
        """Refuse a name that a program or a query has."""
        if name in self._state.registered:
            told = told_program(self._state.registered[name])
            raise InputError(
                f"a program is registered as '{name}' already: {told}",
                hint=f"give another name, or live.unregister({name!r}) first",
            )
        if name in self._state.queries:
            raise InputError(
                f"there is a query '{name}' already",
                hint=f"give another name, or live.drop_query({name!r}) first",
            )

    def _writing(self) -> Writer:
        self._check_open()
        if self._writer is None:
            raise InputError(
                f"{self._what} was opened to be read",
                hint="open it without readonly=True, in one process",
            )
        return self._writer

    def _check_open(self) -> None:
        if self._closed:
            raise InputError(f"{self._what} was closed", hint="open it again: gt.live(folder)")


def _check_known(name: str, known: dict[str, Stored], what: str) -> None:
    if name not in known:
        names = ", ".join(known) or "none"
        raise NotFoundError(
            f"{what} '{name}'", hint=name_hint(name, known, f"there is: {names}", "'")
        )
