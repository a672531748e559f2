"""`graphtide query`: what is asked of live graphs, and what it answers as they change."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.live import GraphName, carry_out_live
from graphtide.cli.options import GlobalOptions, flag

RegisteredName = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="The query, or the registered program.", show_default=False
    ),
]

_PAUSE = 0.2
"""Seconds between two looks of a follower."""


@dataclass(frozen=True, kw_only=True)
class RegisteredOptions(GlobalOptions):
    """Which query, or which program."""

    graph: GraphName
    name: RegisteredName


@dataclass(frozen=True, kw_only=True)
class AddOptions(RegisteredOptions):
    """What to ask."""

    asked: Annotated[
        str,
        typer.Argument(
            metavar="ASKED",
            help="In the words of GVDL: \"path from 'LHR' to 'SYD' weight km\".",
            show_default=False,
        ),
    ]
    replace: Annotated[bool, flag("--replace", "In the place of the query of that name.")] = False


@dataclass(frozen=True, kw_only=True)
class ListOptions(GlobalOptions):
    """What is registered on which graph."""

    graph: Annotated[
        str | None, typer.Argument(metavar="[GRAPH]", help="A live graph; all if left out.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class ChangesOptions(RegisteredOptions):
    """Since when, and until when."""

    since: Annotated[
        int | None,
        typer.Option("--since", metavar="VERSION", help="The version that is known already."),
    ] = None
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with those to come, until Ctrl-C.")
    ] = False
    until: Annotated[
        int | None,
        typer.Option("--until", metavar="VERSION", help="End with this version."),
    ] = None


def query_add(invocation: Invocation, options: AddOptions) -> None:
    """Ask a query on a live graph; its answer is kept current until it is dropped.

    graphtide query add flights trip "path from 'LHR' to 'SYD' weight km"

    graphtide query add people tips "regular 'knows+/likes' from 'ann' label kind"
    """
    from dataclasses import replace

    from graphtide.lang.gvdl.live_statements import CreateQuery
    from graphtide.lang.gvdl.parse import parse_statement

    # Parsed behind plain names: those that were given may have signs that GVDL would quote.
    read = parse_statement(f"create query q on live graph g {options.asked}")
    assert isinstance(read, CreateQuery)
    statement = replace(read, name=options.name, graph=options.graph, replace=options.replace)
    carry_out_live(invocation, statement)


def query_drop(invocation: Invocation, options: RegisteredOptions) -> None:
    """Give a query up, for good.

    graphtide query drop flights trip
    """
    from graphtide.lang.gvdl.live_statements import DropRegistered

    carry_out_live(invocation, DropRegistered("query", options.name, options.graph))


def query_list(invocation: Invocation, options: ListOptions) -> None:
    """List queries by what they ask.

    graphtide query list flights
    """
    from graphtide.lang.gvdl.live_statements import ShowRegistered

    carry_out_live(invocation, ShowRegistered("query", options.graph))


def query_answer(invocation: Invocation, options: RegisteredOptions) -> None:
    """The answer of a query, at the last version that is on disk.

    graphtide query answer flights trip --json
    """
    from graphtide.lang.gvdl.live_statements import ShowRegistered

    carry_out_live(invocation, ShowRegistered("query", options.graph, options.name))


def query_explain(invocation: Invocation, options: RegisteredOptions) -> None:
    """How a query is kept current, and what that takes.

    graphtide query explain flights trip
    """
    from graphtide.lang.gvdl.live_statements import ExplainRegistered

    carry_out_live(invocation, ExplainRegistered("query", options.name, options.graph))


def query_changes(invocation: Invocation, options: ChangesOptions) -> None:
    """What each version has changed in a query or a registered program, oldest first.

    Without --since, from the current version on. With --follow, another process may go on writing
    the graph: versions are told as they come.

    graphtide query changes flights trip --since 7

    graphtide query changes flights trip --follow
    """
    from graphtide.lang.gvdl.live_statements import ShowLive
    from graphtide.model.cells import VALUES
    from graphtide.model.wording import counted
    from graphtide.run.statements.answers import Answer

    carry_out_live(invocation, ShowLive(options.graph), shown=False)
    graph = invocation.session.live_at_hand(options.graph, readonly=True)
    last = graph.version if options.since is None else options.since
    while True:
        for version, table in graph.changes(options.name, last):
            if options.until is not None and version > options.until:
                return
            text = f"version {version:,}: {counted(table.num_rows, 'change')}"
            invocation.printer.answer(Answer(text, table, style=VALUES), rows=None)
            last = version
        last = max(last, graph.version)
        if not options.follow or (options.until is not None and last >= options.until):
            return
        time.sleep(_PAUSE)
        graph.refresh()
