"""`graphtide show`, `check`, `refresh` and `delete`: what is stored, looked at and looked after.

`show` lists things, shows one in full, or the edges of it. `check` reads every stored file and
reports what is not as it was written. `refresh` brings collections and views up to date with
their graphs. `delete` removes something, after asking.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from graphtide.cli.command import FAILURE, GlobalOptions, Invocation, flag, valued
from graphtide.model.errors import InputError, NotFoundError, StoreError
from graphtide.model.text import FIRST_ROWS, counted, sized

if TYPE_CHECKING:
    from graphtide.api.session import Session
    from graphtide.run.table import Table


_LISTED = 5


@dataclass(frozen=True)
class EdgeTable:
    """Edges that have a title and a size, and are read when they are asked for."""

    title: str
    size: int
    first: Callable[[int], Table]
    whole: Callable[[], Table]


def edge_table(
    session: Session, kind: Literal["graph", "view", "collection"], name: str, view: str | None
) -> EdgeTable:
    """The edges of a graph, of a view, or of one view of a collection."""
    from graphtide.run.table import Table

    if kind == "graph":
        graph = session.graph(name)
        if view is not None:
            raise InputError(f"'{name}' is a graph: it has no view '{view}'")
        return EdgeTable(f"graph '{name}'", graph.num_edges, graph.head, graph.edges)
    views = session.collection(name)
    if view is None and kind == "collection":
        listed = ", ".join(views.names[:_LISTED]) + (", ..." if len(views) > _LISTED else "")
        raise InputError(
            f"'{name}' is a collection of {len(views):,} views",
            hint=f"name one of them with --view: {listed}",
        )
    chosen = views[0 if view is None else view]
    title = f"view '{chosen.name}'" + (f" of {name}" if kind == "collection" else "")
    return EdgeTable(title, len(chosen), chosen.head, lambda: Table(chosen.to_arrow()))


Listed = Literal["graphs", "views", "collections", "runs"]
Kind = Literal["graph", "view", "collection"]
_FIRST_EDGES = 10


@dataclass(frozen=True, kw_only=True)
class ShowOptions(GlobalOptions):
    """What to show, and how much of it."""

    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[graphs|views|collections|runs|NAME]",
            help="What to show; everything if left out. 'graph NAME' and 'collection NAME' "
            "tell two things of one name apart.",
        ),
    ] = None
    view: Annotated[str | None, valued("VIEW", "The first edges of this view of NAME.")] = None
    rows: Annotated[int | None, valued("N", f"So many edges, not {_FIRST_EDGES}.", min=0)] = None
    csv: Annotated[Path | None, valued("FILE", "Write all the edges as CSV.")] = None
    parquet: Annotated[Path | None, valued("FILE", "Write all the edges as Parquet.")] = None
    picture: Annotated[
        Path | None,
        valued(
            "FILE",
            "Draw how alike the views of a collection are, or with --view the graph of one: "
            "PNG, SVG or PDF.",
        ),
    ] = None
    all: Annotated[bool, flag("--all", f"All steps of a collection, not {FIRST_ROWS} only.")] = (
        False
    )

    @property
    def wants_edges(self) -> bool:
        """True if edges are asked for."""
        return any(item is not None for item in (self.view, self.rows, self.csv, self.parquet))


def show(invocation: Invocation, options: ShowOptions) -> None:
    """Show what is stored: everything, one kind, or one thing by its name.

    A collection comes with its steps: each view or stepping stone, its parent and its delta.
    Runs are listed here, and looked at with 'graphtide results'.

    graphtide show years --view upto-2015 --rows 5

    graphtide show years --picture similarity.png
    """
    words = options.what or []
    named = bool(words) and not (len(words) == 1 and words[0] in get_args(Listed))
    if len(words) > 2 or (len(words) == 2 and words[0] not in get_args(Kind)):
        raise typer.BadParameter("name one thing: show NAME, or show collection NAME")
    if (options.wants_edges or options.picture is not None) and not named:
        raise typer.BadParameter(
            "--view, --rows, --csv, --parquet and --picture need the NAME of something"
        )
    if options.picture is not None:
        _draw(invocation, options.picture, words[-1], options.view)
        return
    if not named:
        _show_lists(invocation, cast(Listed, words[0]) if words else None)
    elif options.wants_edges:
        _show_edges(invocation, options, words)
    else:
        _show_named(invocation, options, words)


def _show_lists(invocation: Invocation, listed: Listed | None) -> None:
    """Print one list, or all; people see no empty lists."""
    from graphtide.lang.gvdl.statements import Show

    wanted = get_args(Listed) if listed is None else (listed,)
    answers = [invocation.execute(Show(one)) for one in wanted]
    if listed is None and not invocation.options.json:
        answers = [answer for answer in answers if answer.table is not None and len(answer.table)]
    if not answers:
        folder = invocation.session.catalog.root
        invocation.say(f"nothing in {folder} yet: 'graphtide load --help' says how to begin")
    for answer in answers:
        invocation.printer.answer(answer, rows=None)


def _show_named(invocation: Invocation, options: ShowOptions, words: list[str]) -> None:
    from graphtide.lang.gvdl.statements import Show

    rows = FIRST_ROWS if invocation.in_terminal and not options.all else None
    for kind in _kinds(invocation.session, words):
        answer = invocation.execute(Show(kind, words[-1]))
        invocation.printer.answer(answer, rows=rows)


def _show_edges(invocation: Invocation, options: ShowOptions, words: list[str]) -> None:
    from graphtide.model.text import VALUES

    kinds = _kinds(invocation.session, words)
    if len(kinds) > 1:
        hint = " or ".join(f"'graphtide show {kind} {words[-1]}'" for kind in kinds)
        raise InputError(f"'{words[-1]}' is a {' and a '.join(kinds)}", hint=f"say which: {hint}")
    edges = edge_table(invocation.session, kinds[0], words[-1], options.view)
    if options.csv is not None or options.parquet is not None:
        _write(invocation, options, edges)
    if options.rows is not None or (options.csv is None and options.parquet is None):
        shown = edges.first(_FIRST_EDGES if options.rows is None else options.rows)
        text = f"{edges.title}: {counted(edges.size, 'edge')}"
        if shown.num_rows < edges.size:
            text += f", the first {shown.num_rows:,}"
        invocation.say(text, shown, VALUES)


def _draw(invocation: Invocation, path: Path, name: str, view: str | None) -> None:

    views = invocation.session.collection(name)
    picture = views.picture(path) if view is None else views[view].draw(path)
    invocation.say(f"{picture.title}: drawn to {path}")


def _write(invocation: Invocation, options: ShowOptions, edges: EdgeTable) -> None:

    table = edges.whole()
    for path, write in ((options.csv, table.to_csv), (options.parquet, table.to_parquet)):
        if path is not None:
            write(path)
            text = f"{edges.title}: {counted(edges.size, 'edge')} written to {path}"
            invocation.say(text)


def _kinds(session: Session, words: list[str]) -> list[Kind]:
    """What has that name: a graph, a view or collection, or both."""
    from graphtide.store.catalog import not_found
    from graphtide.store.collection import collection_kind

    if len(words) == 2:
        return [cast(Kind, words[0])]
    name = words[0]
    kinds: list[Kind] = ["graph"] if name in session.graphs() else []
    if name in session.catalog.collections():
        kinds.append(collection_kind(session.catalog, name) or "collection")
    if not kinds:
        known = [*session.graphs(), *session.catalog.collections()]
        what = "graph, view or collection"
        raise not_found(what, name, known, session.catalog.root, "load a graph first")
    return kinds


@dataclass(frozen=True, kw_only=True)
class CheckOptions(GlobalOptions):
    """What to check."""

    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Graphs, views, collections and runs; everything if left out.",
        ),
    ] = None


def check(invocation: Invocation, options: CheckOptions) -> None:
    """Compare every stored file with the checksum that was kept of it.

    Says of each item whether it is whole, and of one that is not which file is damaged and what
    can be saved. The exit code is 1 if anything is damaged.

    graphtide check Calls years
    """
    from graphtide.model.text import counted

    table = invocation.session.check(*options.names or [])
    states = table.column("state").to_pylist()
    items = set(zip(*(table.column(name).to_pylist() for name in ("kind", "name")), strict=True))
    whole = states.count("ok")
    text = f"{counted(whole, 'item')} whole, {len(items) - whole:,} damaged"
    invocation.say(text, table)
    if whole < len(items):
        raise typer.Exit(FAILURE)


@dataclass(frozen=True, kw_only=True)
class RefreshOptions(GlobalOptions):
    """What to refresh."""

    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Collections and views; all that are stale if left out.",
        ),
    ] = None


def refresh(invocation: Invocation, options: RefreshOptions) -> None:
    """Bring collections and views to the state that their graphs are in now.

    Looks only at the edges that have come or changed since, where that is possible.

    graphtide refresh years
    """
    from graphtide.run.catalog.listings import stale_collections, table_of

    session = invocation.session
    names = options.names or stale_collections(session.catalog)
    rows = [(name, session.collection(name).refresh()) for name in names]
    text = f"{len(rows):,} refreshed" if rows else "nothing is stale"
    invocation.say(text, table_of(("collection", "done"), rows))


class Deletable(StrEnum):
    """What can be deleted."""

    GRAPH = "graph"
    VIEW = "view"
    COLLECTION = "collection"
    RUN = "run"


@dataclass(frozen=True, kw_only=True)
class DeleteOptions(GlobalOptions):
    """What to delete, and whether to ask."""

    what: Annotated[Deletable, typer.Argument(help="What it is.", show_default=False)]
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False


def delete(invocation: Invocation, options: DeleteOptions) -> None:
    """Delete a graph, a view, a collection, or a run with its results.

    Collections of a deleted graph stay, and so do runs of a deleted collection.

    graphtide delete run years-WCC
    """
    from graphtide.lang.gvdl.statements import Delete

    described = _description(invocation.session, options)
    if not options.yes:
        _ask(described)
    statement = Delete(options.what.value, options.name)
    invocation.printer.answer(invocation.execute(statement))


def _description(session: Session, options: DeleteOptions) -> str:
    """What would be deleted, in words; an error if it is not there or something else."""
    try:
        return _healthy(session, options)
    except (NotFoundError, InputError):
        raise
    except StoreError:
        return f"unreadable {options.what} '{options.name}'"


def _healthy(session: Session, options: DeleteOptions) -> str:
    from graphtide.run.catalog.listings import finished_views
    from graphtide.store.collection import collection_kind
    from graphtide.store.results import open_run

    name = options.name
    if options.what is Deletable.GRAPH:
        graph = session.graph(name)
        return f"graph '{name}' of {sized(graph.num_vertices, graph.num_edges, ' and ')}"
    if options.what is Deletable.RUN:
        finished, views = finished_views(open_run(session.catalog, name))
        return f"run '{name}' with the results of {finished:,} of {views:,} views"
    kind = collection_kind(session.catalog, name)
    if kind not in (options.what.value, None):
        raise InputError(f"'{name}' is a {kind}", hint=f"graphtide delete {kind} {name}")
    collection = session.collection(name)
    held = (len(collection[0]), "edge") if kind == "view" else (len(collection), "view")
    return f"{kind} '{name}' on {collection.graph} of {counted(*held)}"


def _ask(described: str) -> None:
    if not sys.stdin.isatty():
        raise InputError(
            f"{described} is deleted only after asking, and there is nobody to ask",
            hint="say --yes",
        )
    typer.confirm(f"delete {described}?", abort=True, err=True)
