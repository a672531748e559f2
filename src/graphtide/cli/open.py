"""`graphtide open`: the page on what is stored, in the browser, until Ctrl-C."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphtide.cli.command import DEFAULT_DATA, GlobalOptions, Invocation, flag, valued
from graphtide.model.errors import NotFoundError
from graphtide.model.schema import name_hint

if TYPE_CHECKING:
    from graphtide.api.session import Session


@dataclass(frozen=True, kw_only=True)
class OpenOptions(GlobalOptions):
    """What to open, and for whom."""

    store: Annotated[
        str | None,
        typer.Argument(
            metavar="[STORE]",
            help=f"Folder of all that is stored; as --data, or {DEFAULT_DATA}, if left out.",
        ),
    ] = None
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="A run, a collection or a graph; the catalog if left out."
        ),
    ] = None
    port: Annotated[
        int | None,
        valued("PORT", "Port of the page; a free one if left out.", min=1, max=65_535),
    ] = None
    host: Annotated[
        str, valued("ADDRESS", "Address of this machine that others may reach the page at.")
    ] = "127.0.0.1"
    allow_changes: Annotated[
        bool, flag("--allow-changes", "The page may carry out statements of GVDL.")
    ] = False
    no_browser: Annotated[bool, flag("--no-browser", "Print the address only.")] = False


def open(invocation: Invocation, options: OpenOptions) -> None:
    """Look at collections, runs and live graphs in the browser, until Ctrl-C.

    The address that is printed is for you alone: whoever has it can read what is stored.

    graphtide open graphtide-data years-WCC
    """
    from graphtide.web.opening import open_page

    if options.no_browser and invocation.options.quiet:
        raise typer.BadParameter("with --quiet and --no-browser nobody learns the address")
    folder, name = _chosen(invocation, options)

    def say(line: str) -> None:
        invocation.say(line)
        sys.stdout.flush()

    chosen = Invocation(replace(invocation.options, data=folder))
    with chosen:
        page = open_page(
            session=chosen.session,
            place=[] if name is None else _place(chosen.session, name),
            allow_changes=options.allow_changes,
            port=options.port,
            host=options.host,
            browser=not options.no_browser,
            debug=invocation.options.debug,
            report=say,
        )
        if invocation.in_terminal:
            say("Ctrl-C ends it")
        with page, suppress(KeyboardInterrupt):
            page.wait()


def _chosen(invocation: Invocation, options: OpenOptions) -> tuple[Path, str | None]:
    """The folder and the name that are meant. One word that is no folder may be a name."""
    usual = invocation.options.folder
    if options.store is None:
        return _existing(usual), None
    given = Path(options.store)
    if options.name is None and not given.is_dir() and usual.is_dir() and _is_name(options.store):
        return usual, options.store
    if invocation.options.data is not None:
        raise typer.BadParameter("give the folder as STORE or as --data, not as both")
    return _existing(given), options.name


def _is_name(word: str) -> bool:
    return "/" not in word and "\\" not in word and word not in (".", "..")


def _existing(folder: Path) -> Path:
    if folder.is_dir():
        return folder
    raise NotFoundError(
        f"there is no folder '{folder}'",
        where=str(folder.absolute()),
        hint="name the one of --data, or begin one: graphtide load NAME --edges FILE",
    )


def _place(session: Session, name: str) -> list[str]:
    """The place of the page for a name: a run first, then a collection, then a graph."""
    from graphtide.store.log import has_log

    if name in session.runs():
        return ["run", name]
    if name in session.catalog.collections():
        return ["collection", name]
    if name in session.graphs():
        live = has_log(session.catalog.existing_graph(name))
        return ["live" if live else "graph", name]
    known = [*session.runs(), *session.catalog.collections(), *session.graphs()]
    there = f"there is: {', '.join(known[:10])}" if known else "nothing is stored there yet"
    raise NotFoundError(
        f"nothing that is stored is named '{name}'",
        where=str(session.catalog.root),
        hint=name_hint(name, known, there, "'"),
    )
