"""GVDL of the page: what is wrong with it, what it would do, and which files it may reach.

Checking a text needs no Spark and carries nothing out. Each statement is read by itself, so that
a mistake in one hides none of the others; then names are looked up in the catalog, and every view
is resolved against its graph. What an earlier statement of the text makes is taken to be there.

GVDL typed by whoever has a terminal reads and writes any file of theirs, and executes Python
files to find programs. A page is no terminal: what is typed there may come from a link or from
somebody else's screen. So a statement of the page names no program file, writes nothing outside
the store, and reads only files that lie within it. Everything else that GVDL can do, it can do
here.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

from graphtide.lang.diagnostics import Source, Span, language_error, render_span
from graphtide.lang.gvdl import statements as s
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.generate import Ground, generate_item, loop_values
from graphtide.lang.gvdl.lower import lower_groups, lower_view, lower_views
from graphtide.lang.gvdl.parse import parse_script
from graphtide.lang.gvdl.resolve import PredicateScope, resolve
from graphtide.model.errors import (
    GraphtideError,
    InputError,
    LanguageError,
    LimitError,
    NotFoundError,
)
from graphtide.model.names import given_path
from graphtide.model.schema import name_hint
from graphtide.plan.predicates import EVERYTHING, Predicate, PropertyRef, Value
from graphtide.run.catalog.build import base_of, stored_request
from graphtide.run.catalog.workspace import Workspace
from graphtide.store.collection import collection_names, view_names
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_bounds
from graphtide.web.json_values import problem_of
from graphtide.web.shelf import Shelf

_ODD = frozenset("*?[]{}:")


def check_reach(statement: s.Statement, root: Path) -> None:
    for error in refusals(statement, root):
        raise error


def refusals(statement: s.Statement, root: Path) -> Iterator[LanguageError]:
    """Why the page does not carry out a statement: an error for each file that is out of reach."""
    if isinstance(statement, s.Explain):
        yield from refusals(statement.statement, root)
        return
    for use, name in s.files_of(statement):
        path = getattr(statement, name)
        if path is None or (use == "ReadFile" and _within(path, root)):
            continue
        what, hint = _REFUSED[use]
        yield language_error(what, place_of(statement, path), hint.format(root=root))


_REFUSED = {
    "ProgramFile": (
        "the page takes no program from a file",
        "files of Python are carried out to find a program: run it on the command line or in "
        "Python, and look at the run here",
    ),
    "WrittenFile": (
        "the page writes no file outside the store",
        "leave it out, and save tables and pictures with the buttons of the page",
    ),
    "ReadFile": (
        "the page reads no file outside the store",
        "put the file into {root}, or load it on the command line: graphtide load",
    ),
}


def place_of(statement: s.Statement, text: str) -> Span | None:
    """Where a text stands in a statement; the whole statement if it is not found."""
    span = statement.span
    if span is None or not text:
        return span
    word = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
    found = word.search(span.source.text, span.start)
    return span if found is None else Span(span.source, *found.span())


def _within(text: str, root: Path) -> bool:
    """Whether this is one file or folder of the store.

    Patterns and addresses are not: what reads them may find something else behind them.
    """
    if _ODD & set(text):
        return False
    try:
        path = given_path(text).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return False
    return path.is_relative_to(root.resolve())


MOST_CHARACTERS = 200_000
SECONDS = 15.0
"""How long an explanation may take."""

_MOST_PROBLEMS = 50
_MOST_LISTED = 500
_LINE = re.compile(r"line (\d+), column (\d+)")
_TOKEN = re.compile(
    r"'(?:[^'\\\n]|\\.)*'|\"[^\"\n]*\"|`[^`\n]*`|--[^\n]*|/\*.*?\*/|(?P<end>;)", re.DOTALL
)
_EXPLAINING = threading.Lock()
_NOTHING = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)


def check(shelf: Shelf, body: dict[str, Any]) -> dict[str, Any]:
    """All mistakes of a text, with their places."""
    return {"problems": problems(given_text(body, "text"), shelf.session)}


def given_text(body: dict[str, Any], name: str) -> str:
    text = body.get(name)
    if not isinstance(text, str):
        raise InputError(f"'{name}' is no text", hint=f'send {{"{name}": "..."}}')
    if len(text) > MOST_CHARACTERS:
        raise InputError(
            f"this text has {len(text):,} characters, and {MOST_CHARACTERS:,} are taken here",
            hint="carry it out on the command line: graphtide script FILE",
        )
    return text


def problems(text: str, space: Workspace | None) -> list[dict[str, Any]]:
    """The mistakes of a text, in order."""
    statements, found = _read(text)
    if space is not None:
        names = _Names(space.reporting_to(False))
        for first, statement in statements:
            found += [_placed(text, first, error, statement) for error in names.mistakes(statement)]
    found.sort(key=lambda item: item["from"])
    return found[:_MOST_PROBLEMS]


def _read(text: str) -> tuple[list[tuple[int, s.Statement]], list[dict[str, Any]]]:
    """The statements of a text with the places where their pieces begin; and its mistakes."""
    with suppress(GraphtideError):
        return [(0, item) for item in parse_script(text)], []
    statements: list[tuple[int, s.Statement]] = []
    found: list[dict[str, Any]] = []
    for first, end in _pieces(text):
        try:
            statements += [(first, item) for item in parse_script(text[first:end])]
        except GraphtideError as error:
            found.append(_placed(text, first, error))
            if "not closed" in error.what or len(found) == _MOST_PROBLEMS:
                break
    return statements, found


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each statement of a text, up to its semicolon."""
    first = 0
    for token in _TOKEN.finditer(text):
        if token["end"]:
            yield first, token.end()
            first = token.end()
    rest = _NOTHING.match(text, first)
    if rest is None or rest.end() < len(text):
        yield first, len(text)


def _placed(
    text: str, first: int, error: GraphtideError, statement: s.Statement | None = None
) -> dict[str, Any]:
    """An error of the piece that begins at `first`, with its place in the whole text."""
    start, end = _place(text[first:], error, statement)
    start, end = first + start, first + end
    if end <= start:  # So that there is something to draw a line under.
        start, end = max(0, start - 1), max(end, min(len(text), 1))
    span = Span(Source(text), start, end)
    return {**problem_of(error), "where": render_span(span), "from": start, "to": end}


def _place(piece: str, error: GraphtideError, statement: s.Statement | None) -> tuple[int, int]:
    if isinstance(error, LanguageError) and error.place is not None:
        return error.place
    said = _LINE.match(error.where or "")
    if said is not None:
        lines = piece.split("\n")
        line, column = int(said[1]) - 1, int(said[2]) - 1
        start = sum(len(item) + 1 for item in lines[:line]) + column
        return start, min(start + 1, len(piece))
    span = None if statement is None else statement.span
    return (0, len(piece)) if span is None else (span.start, span.end)


class _UnknownError(Exception):
    """What only the rows of the graph can tell."""


@dataclass(frozen=True)
class _Footers:
    """The facts of a graph that the footers of its files tell."""

    graph: StoredGraph

    def bounds(self, property: PropertyRef, where: Predicate) -> tuple[Value, Value] | None:
        """The bounds of an edge property, if all edges count and the footers of the files tell."""
        declared = {item.name for item in self.graph.schema.edge}
        if where == EVERYTHING and property.owner == "edge" and property.name in declared:
            bounds = edge_bounds(self.graph, property.name)
            if bounds is not None and not hasattr(bounds[0], "tzinfo"):
                return bounds
        raise _UnknownError

    def edges(self, where: Predicate, limit: int) -> Any:
        raise _UnknownError

    def vertices(self, where: Predicate, limit: int) -> Any:
        raise _UnknownError

    def values(self, property: PropertyRef, where: Predicate, limit: int) -> Any:
        raise _UnknownError


@dataclass
class _Names:
    """What there is by name: in the catalog, and made by the statements before."""

    space: Workspace
    made: dict[str, set[str]] = field(default_factory=dict)

    def mistakes(self, statement: s.Statement) -> Iterator[GraphtideError]:
        """The mistakes of a statement that could be parsed. What it makes is there from then on."""
        yield from refusals(statement, self.space.catalog.root)
        try:
            yield from self._mistakes(statement)
        except _UnknownError:
            pass
        except GraphtideError as error:
            yield error
        self._note(statement)

    def _mistakes(self, statement: s.Statement) -> Iterator[GraphtideError]:
        match statement:
            case s.Explain():
                yield from self._mistakes(statement.statement)
            case s.CreateView() | s.CreateCollection() | s.CreateGrouped():
                base = self._base(statement)
                if base is not None:
                    yield from _view_mistakes(statement, *base)
            case s.Run():
                yield from self._run_mistakes(statement)
            case s.UseGraph(name):
                yield from self._missing(statement, "graph", name)
            case s.Show(what, name) | s.Delete(what, name) | s.Refresh(what, name):
                kind = "collection" if what == "data" else what
                if name is not None and kind in _LISTS:
                    yield from self._missing(statement, kind, name)
            case s.SaveCollection(name):
                yield from self._missing(statement, "collection", name)
            case _:
                yield from self._live_mistakes(statement)

    def _base(
        self, statement: s.CreateView | s.CreateCollection | s.CreateGrouped
    ) -> tuple[StoredGraph, Predicate] | None:
        """The graph and predicate that views are made of; None if an earlier statement makes it."""
        name = statement.base or self.space.current
        if name is None and self.made.get("graph"):
            return None
        if name is not None and any(name in self.made.get(kind, ()) for kind in ("graph", "view")):
            return None
        try:
            return base_of(self.space, statement.base)
        except LanguageError:
            raise
        except GraphtideError as error:
            raise _at(error, place_of(statement, statement.base or "")) from None

    def _run_mistakes(self, statement: s.Run) -> Iterator[GraphtideError]:
        # Imported here: the programs of the library, which other statements do not need.
        from graphtide.run.statements.computations import PAIRS, chosen_computation
        from graphtide.run.statements.run_statement import check_run

        name = statement.collection
        whole = statement.on == "shards" and name in self._there("graph")
        if not whole and name not in self._there("view"):
            missing = list(self._missing(statement, "collection", name))
            yield from (_at(item, statement.place("collection")) for item in missing)
        try:
            check_run(statement)
            if statement.library is None and statement.computation.lower() not in PAIRS:
                chosen_computation(statement)
        except GraphtideError as error:
            yield error

    def _live_mistakes(self, statement: Any) -> Iterator[GraphtideError]:
        name = statement.name if isinstance(statement, _ON_THEIR_OWN) else None
        name = getattr(statement, "graph", None) if name is None else name
        if (
            name is None
            or isinstance(statement, s.CreateLive)
            or not isinstance(statement, get_args(s.LiveStatement))
        ):
            return
        if name in self.made.get("live", ()):
            return
        # Imported here: live graphs, which other statements do not need.
        from graphtide.run.statements.live import check_live

        try:
            check_live(self.space, name, place_of(statement, name))
        except GraphtideError as error:
            yield error

    def _missing(self, statement: s.Statement, kind: str, name: str) -> Iterator[GraphtideError]:
        known = self._there(kind)
        if name not in known:
            listed = ", ".join(known[:10]) or "none yet"
            error = NotFoundError(
                f"there is no {kind} '{name}'",
                hint=name_hint(name, known, f"there is: {listed}", "'"),
            )
            yield _at(error, place_of(statement, name))

    def _there(self, kind: str) -> list[str]:
        return [*_LISTS[kind](self.space), *sorted(self.made.get(kind, ()))]

    def _note(self, statement: s.Statement) -> None:
        match statement:
            case s.LoadGraph(name=name):
                self._made("graph", name or "graph")
                self.space.current = name or "graph"
            case s.CreateGrouped(name):
                self._made("graph", name)
            case s.Deserialize(what="graph"):
                self.space.current = None
            case s.CreateView(name):
                self._made("view", name)
            case s.CreateCollection(name):
                self._made("collection", name)
            case s.Run(name=name) if name is not None:
                self._made("run", name)
            case s.UseGraph(name):
                self.space.current = name
            case s.CreateLive(name):
                self._made("live", name)
                self._made("graph", name)

    def _made(self, kind: str, name: str) -> None:
        self.made.setdefault(kind, set()).add(name)


_LISTS: dict[str, Callable[[Workspace], list[str]]] = {
    "graph": lambda space: space.catalog.graphs(),
    "view": lambda space: view_names(space.catalog),
    "collection": lambda space: collection_names(space.catalog),
    "run": lambda space: space.catalog.runs(),
}
_ON_THEIR_OWN = s.AdvanceLive, s.ShowLive


def _at(error: GraphtideError, span: Span | None) -> GraphtideError:
    """The same error with its place in the text."""
    placed = LanguageError(error.what, where=None, hint=error.hint)
    placed.place = None if span is None else (span.start, span.end)
    return placed


def _view_mistakes(
    statement: s.CreateView | s.CreateCollection | s.CreateGrouped,
    graph: StoredGraph,
    base: Predicate,
) -> Iterator[GraphtideError]:
    """The mistakes of views of a graph: at most one for each view."""
    known: dict[str, Any] = {"base": base, "timezone": graph.timezone}
    if isinstance(statement, s.CreateView):
        lower_view(statement, graph.schema, **known)
        return
    if isinstance(statement, s.CreateGrouped):
        lower_groups(statement, graph.schema, **known)
        return
    facts = _Footers(graph)
    plain = all(isinstance(item, tree.View) for item in statement.items)
    error: GraphtideError | None = None
    if plain:  # The quick way, and the only one that compares names.
        try:
            lower_views(statement, graph.schema, facts, **known)
            return
        except GraphtideError as raised:
            error = raised
    scope = PredicateScope.of(graph.schema, graph.timezone)
    if statement.within is not None:
        resolve(statement.within, scope)
    ground = Ground(facts, base)
    found = [one for item in statement.items for one in _item_mistakes(item, scope, ground)]
    yield from found or ([] if error is None else [error])


def _item_mistakes(
    item: tree.Item, scope: PredicateScope, ground: Ground
) -> Iterator[GraphtideError]:
    """The mistakes of an item; of a loop, those that its first value shows."""
    match item:
        case tree.Loop(variable, values, body):
            try:
                value = next(iter(loop_values(values, scope)), None)
            except GraphtideError as error:
                yield error
                return
            if value is not None:
                for part in body:
                    yield from _item_mistakes(part, scope.bind(variable, value), ground)
        case tree.Group(items) | tree.Product(items) | tree.Combinations(items=items):
            for part in items:
                yield from _item_mistakes(part, scope, ground)
        case _:
            try:
                for _ in zip(range(_MOST_LISTED), generate_item(item, scope, ground), strict=False):
                    pass
            except _UnknownError:
                pass
            except GraphtideError as error:
                yield error


def explain(shelf: Shelf, body: dict[str, Any]) -> dict[str, Any]:
    """What a text would do, and the size of the plan of its first collection; changes nothing.

    Spark is asked where it runs already, and not started. What takes longer than `SECONDS` is left
    out, or refused if there is nothing to show yet.
    """
    text = given_text(body, "text")
    if shelf.session is None:
        raise InputError("there is no store", hint="open one: graphtide open STORE")
    space = shelf.session.reporting_to(False)
    statements = parse_script(text)
    for statement in statements:
        check_reach(statement, space.catalog.root)
    found: dict[str, Any] = {"text": "", "size": None}
    _in_time(lambda: _explain(space, statements, found))
    if not found["text"] and statements:
        raise LimitError(
            f"to explain this takes more than {SECONDS:.0f} seconds",
            hint="explain fewer statements at once, or do it in Python: session.explain(...)",
        )
    return dict(found)


def _explain(space: Workspace, statements: tuple[s.Statement, ...], found: dict[str, Any]) -> None:
    # Imported here: Spark's sources and the planner, which checking does not need.
    from graphtide.run.catalog.plan_sizes import LocalFacts, plan_size
    from graphtide.run.statements.execute import explain_statement

    known: dict[Any, LocalFacts] = {}

    def facts_of(graph: StoredGraph) -> LocalFacts:
        return known.setdefault((graph.name, graph.identity), LocalFacts(graph))

    runs = space._gateway is not None
    texts = []
    for statement in map(_explained, statements):
        text = explain_statement(space, statement, spark=runs, facts_of=facts_of)
        if not runs and isinstance(statement, _PLANNED):
            text += "\n\nSpark plan\n  left out: Spark has not been started"
        texts.append(text)
        found["text"] = "\n\n".join(texts)
    for item in map(_explained, statements):
        if isinstance(item, s.CreateCollection) and item.items:
            request = stored_request(space, item, facts_of=facts_of)
            size = {"views": len(request.views), "differences": None, "kind": item.ordering.value}
            found["size"] = {**size, "note": "the differences are not known yet"}
            found["size"] = asdict(plan_size(request))
            return


def _explained(statement: s.Statement) -> s.Statement:
    return statement.statement if isinstance(statement, s.Explain) else statement


_PLANNED = s.CreateView, s.CreateCollection, s.CreateGrouped


def _in_time(work: Callable[[], None]) -> None:
    """Do work within `SECONDS`, one piece at a time: a thread cannot be stopped."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            _EXPLAINING.release()

    if not _EXPLAINING.acquire(timeout=SECONDS):
        raise LimitError(
            "an explanation that was asked for before is not done yet", hint="wait for a moment"
        )
    thread = threading.Thread(target=run, name="explain", daemon=True)
    thread.start()
    thread.join(SECONDS)
    if raised:
        raise raised[0]


POSTS = {"gvdl/check": (check, False), "gvdl/explain": (explain, False)}
