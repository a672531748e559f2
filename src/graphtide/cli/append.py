"""`graphtide append` and `merge`: the next state of a graph, and one base of all its states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.options import GlobalOptions, flag
from graphtide.cli.reading_options import ReadingOptions, files, ingest_options
from graphtide.cli.table_arguments import tables_of


@dataclass(frozen=True, kw_only=True)
class AppendOptions(ReadingOptions):
    """What comes, what goes and what changes, and how the tables are read."""

    name: Annotated[str, typer.Argument(metavar="NAME", help="The graph.", show_default=False)]
    edges: Annotated[list[str] | None, files("Files of the edges that come.")] = None
    delete: Annotated[
        list[str] | None,
        files("Files of the edges that go: their ends, and properties to tell them apart."),
    ] = None
    vertices: Annotated[
        list[str] | None, files("Files of vertices that come, or get other values.")
    ] = None
    update: Annotated[list[str] | None, files("Files of edges that get other values.")] = None
    match: Annotated[
        list[str] | None,
        typer.Option(
            "--match", metavar="PROPERTY", help="Names the edges of --update, with their ends."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class MergeOptions(GlobalOptions):
    """Which graph to merge, and whether its edges may get other numbers."""

    name: Annotated[str, typer.Argument(metavar="NAME", help="The graph.", show_default=False)]
    renumber: Annotated[
        bool, flag("--renumber", "Leave deleted edges out, and number the others anew.")
    ] = False


def append(invocation: Invocation, options: AppendOptions) -> None:
    """Add edges and vertices to a graph, delete edges, and change properties, in one step.

    graphtide append Calls --edges calls-2021.csv --delete cancelled.csv
    """
    from graphtide.run.statements.answers import counted_answer

    graph = invocation.session.graph(options.name)
    counts = graph.append(
        edges=_tables("edges", options.edges),
        delete=_tables("edges", options.delete),
        vertices=_tables("vertices", options.vertices),
        update=_tables("edges", options.update),
        match=options.match or (),
        id=options.batch,
        hints="shell",
        **ingest_options(options),
    )
    invocation.printer.answer(counted_answer(graph._stored, counts))


def merge(invocation: Invocation, options: MergeOptions) -> None:
    """Make one base of a graph and all that was appended; an append does so when it pays.

    graphtide merge Calls
    """
    from graphtide.run.statements.answers import graph_answer
    from graphtide.store.graph import open_graph

    session = invocation.session
    session.graph(options.name).merge(renumber=options.renumber)
    invocation.printer.answer(graph_answer(open_graph(session.catalog, options.name)))


def _tables(kind: Any, given: list[str] | None) -> Any:
    return tables_of(kind, given) if given else None
