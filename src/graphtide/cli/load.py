"""`graphtide load`: tables of vertices and edges into a graph of the catalog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.reading_options import ReadingOptions, files, ingest_options
from graphtide.cli.table_arguments import tables_of


@dataclass(frozen=True, kw_only=True)
class LoadOptions(ReadingOptions):
    """Which tables to load, and how to read them."""

    name: Annotated[str, typer.Argument(metavar="NAME", help="The graph.", show_default=False)]
    edges: Annotated[
        list[str], files("Files, folders or quoted patterns (CSV or Parquet) of the edges.")
    ]
    vertices: Annotated[
        list[str] | None,
        files("The same of the vertices; left out, they are the ends of the edges."),
    ] = None
    undirected: Annotated[
        bool,
        typer.Option("--undirected", help="Edges have no direction."),
    ] = False
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a graph of the same name.")
    ] = False


def load(invocation: Invocation, options: LoadOptions) -> None:
    """Load a graph from CSV or Parquet files.

    graphtide load Calls --vertices customers.csv --edges calls-2019.csv calls-2020.csv

    graphtide load Friends --edges friends.csv --undirected

    graphtide load Social --vertices Person=person.csv --edges Person-knows-Person=knows.csv
    """
    from graphtide.run.statements.answers import counted_answer

    graph = invocation.session.load(
        options.name,
        edges=tables_of("edges", options.edges),
        vertices=tables_of("vertices", options.vertices) if options.vertices else None,
        directed=False if options.undirected else None,
        replace=options.replace,
        batch=options.batch,
        hints="shell",
        **ingest_options(options),
    )
    invocation.printer.answer(counted_answer(graph._stored, graph.loaded))
