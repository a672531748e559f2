"""`graphtide show`: what there is, one thing in full, or the edges of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from graphtide.cli.edge_tables import EdgeTable, edge_table
from graphtide.cli.invocation import Invocation
from graphtide.cli.options import GlobalOptions, flag, valued
from graphtide.model.errors import InputError, NotFoundError
from graphtide.model.schema import name_hint
from graphtide.model.table_text import FIRST_ROWS
from graphtide.model.wording import counted

if TYPE_CHECKING:
    from graphtide.api.session import Session

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
        """True if the edges are asked for, and not what is known of the whole."""
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
    """One list, or all of them; for people, without those that are empty."""
    from graphtide.lang.gvdl.statements import Show
    from graphtide.run.statements.answers import Answer
    from graphtide.run.statements.execute import execute_statement

    wanted = get_args(Listed) if listed is None else (listed,)
    answers = [execute_statement(invocation.session, Show(one)) for one in wanted]
    if listed is None and not invocation.options.json:
        answers = [answer for answer in answers if answer.table is not None and len(answer.table)]
    if not answers:
        folder = invocation.session.catalog.root
        answers = [Answer(f"nothing in {folder} yet: 'graphtide load --help' says how to begin")]
    for answer in answers:
        invocation.printer.answer(answer, rows=None)


def _show_named(invocation: Invocation, options: ShowOptions, words: list[str]) -> None:
    from graphtide.lang.gvdl.statements import Show
    from graphtide.run.statements.execute import execute_statement

    rows = FIRST_ROWS if invocation.in_terminal and not options.all else None
    for kind in _kinds(invocation.session, words):
        answer = execute_statement(invocation.session, Show(kind, words[-1]))
        invocation.printer.answer(answer, rows=rows)


def _show_edges(invocation: Invocation, options: ShowOptions, words: list[str]) -> None:
    from graphtide.model.cells import VALUES
    from graphtide.run.statements.answers import Answer

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
        invocation.printer.answer(Answer(text, shown, style=VALUES), rows=None)


def _draw(invocation: Invocation, path: Path, name: str, view: str | None) -> None:
    from graphtide.run.statements.answers import Answer

    views = invocation.session.collection(name)
    picture = views.picture(path) if view is None else views[view].draw(path)
    invocation.printer.answer(Answer(f"{picture.title}: drawn to {path}"))


def _write(invocation: Invocation, options: ShowOptions, edges: EdgeTable) -> None:
    from graphtide.run.statements.answers import Answer

    table = edges.whole()
    for path, write in ((options.csv, table.to_csv), (options.parquet, table.to_parquet)):
        if path is not None:
            write(path)
            text = f"{edges.title}: {counted(edges.size, 'edge')} written to {path}"
            invocation.printer.answer(Answer(text))


def _kinds(session: Session, words: list[str]) -> list[Kind]:
    """What goes by the name: a graph, a view or collection, or both."""
    from graphtide.store.collection import collection_kind

    if len(words) == 2:
        return [cast(Kind, words[0])]
    name = words[0]
    kinds: list[Kind] = ["graph"] if name in session.graphs() else []
    if name in session.catalog.collections():
        kinds.append(collection_kind(session.catalog, name) or "collection")
    if not kinds:
        raise _nothing_named(session, name)
    return kinds


def _nothing_named(session: Session, name: str) -> NotFoundError:
    known = [*session.graphs(), *session.catalog.collections()]
    there = f"there is: {', '.join(known[:10])}" if known else "load a graph first"
    return NotFoundError(
        f"there is no graph, view or collection named '{name}'",
        where=str(session.catalog.root),
        hint=name_hint(name, known, there, "'"),
    )
