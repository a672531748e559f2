"""`graphtide live`: graphs that change now, and are on disk after every batch.

Files are CSV with a header, or Parquet. No Spark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphtide.cli.invocation import Invocation
from graphtide.cli.options import GlobalOptions, flag
from graphtide.model.errors import InputError

if TYPE_CHECKING:
    from graphtide.lang.gvdl.live_statements import LiveStatement

GraphName = Annotated[
    str, typer.Argument(metavar="GRAPH", help="The live graph.", show_default=False)
]


def file(name: str, help: str) -> Any:
    """An option that takes one file."""
    return typer.Option(name, metavar="FILE", help=help)


def column(name: str, help: str, *others: str) -> Any:
    """An option that names a column or a property."""
    return typer.Option(name, *others, metavar="COLUMN", help=help)


Separator = Annotated[
    str | None, typer.Option("--separator", metavar="SIGN", help="Between columns; a comma.")
]


@dataclass(frozen=True, kw_only=True)
class CreateOptions(GlobalOptions):
    """What a live graph begins with."""

    name: GraphName
    edges: Annotated[str | None, file("--edges", "The edges that it begins with.")] = None
    vertices: Annotated[str | None, file("--vertices", "Its vertices, with a column id.")] = None
    separator: Separator = None
    id: Annotated[str | None, column("--id", "The id of a vertex, if it is called otherwise.")] = (
        None
    )
    src: Annotated[str | None, column("--src", "Where an edge begins, if not src.", "--source")] = (
        None
    )
    dst: Annotated[str | None, column("--dst", "Where an edge ends, if not dst.", "--target")] = (
        None
    )
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="PERIOD", help="Edges expire after it: '7 days', or 100."),
    ] = None
    time: Annotated[str | None, column("--time", "The time of an edge, for --keep.")] = None
    undirected: Annotated[bool, flag("--undirected", "Edges have no direction.")] = False


@dataclass(frozen=True, kw_only=True)
class AdvanceOptions(GlobalOptions):
    """One batch."""

    name: GraphName
    insert: Annotated[str | None, file("--insert", "Edges that come.")] = None
    delete: Annotated[
        str | None, file("--delete", "Edges that go: their ends, and what tells them apart.")
    ] = None
    vertices: Annotated[
        str | None, file("--vertices", "Vertices that come, or get other values; a column id.")
    ] = None
    update: Annotated[str | None, file("--update", "Edges that get other values.")] = None
    match: Annotated[
        list[str] | None, column("--match", "Names the edges of --update, with their ends.")
    ] = None
    remove: Annotated[
        str | None, file("--remove", "Vertices that go, with all their edges; a column id.")
    ] = None
    separator: Separator = None
    id: Annotated[
        str | None, typer.Option("--id", metavar="TEXT", help="A batch of this id is applied once.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class ShowLiveOptions(GlobalOptions):
    """Which live graphs to show."""

    name: Annotated[
        str | None, typer.Argument(metavar="[GRAPH]", help="One of them; all if left out.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class CheckpointOptions(GlobalOptions):
    """Which live graph to store, and whether to give room back."""

    name: GraphName
    compact: Annotated[bool, flag("--compact", "Give back the room of what was deleted.")] = False


@dataclass(frozen=True, kw_only=True)
class SetOptions(GlobalOptions):
    """What queries may take."""

    name: GraphName
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="BYTES", help="For all queries: '2 GB', or none."),
    ] = None
    landmarks: Annotated[
        int | None,
        typer.Option("--landmarks", metavar="COUNT", help="That bound paths; 0 is none."),
    ] = None
    far: Annotated[bool, flag("--far", "Landmarks far from each other, as roads need them.")] = (
        False
    )


def live_create(invocation: Invocation, options: CreateOptions) -> None:
    """Begin a live graph with the edges of a file, or make the graph of that name live.

    graphtide live create payments --edges payments.csv --keep '7 days' --time at
    """
    from graphtide.lang.gvdl.live_statements import CreateLive
    from graphtide.lang.gvdl.parse import parse_amount

    if options.edges is None and options.vertices is not None:
        raise InputError("there are vertices, and no edges", hint="give --edges FILE as well")
    if options.time is not None and options.keep is None:
        raise InputError("--time is for --keep", hint="say how long edges stay: --keep '7 days'")
    keep = None if options.keep is None else parse_amount(options.keep)
    said = ("edges", "vertices", "separator", "id", "src", "dst", "time")
    given = {name: getattr(options, name) for name in said}
    directed = not options.undirected
    carry_out_live(invocation, CreateLive(options.name, keep=keep, directed=directed, **given))


def live_advance(invocation: Invocation, options: AdvanceOptions) -> None:
    """Bring a live graph to its next version, by files; it is on disk when this ends.

    graphtide live advance payments --insert today.csv --id 2026-11-17
    """
    from graphtide.lang.gvdl.live_statements import AdvanceLive

    files = ("insert", "delete", "vertices", "update", "remove")
    given = {name: getattr(options, name) for name in (*files, "separator", "id")}
    if not any(given[name] for name in files):
        raise InputError("there is nothing to do", hint="give --insert FILE, --delete FILE, ...")
    match = tuple(options.match or ())
    carry_out_live(invocation, AdvanceLive(options.name, **given, match=match))


def live_show(invocation: Invocation, options: ShowLiveOptions) -> None:
    """Show live graphs: their version, size, and what is registered on them.

    graphtide live show
    """
    from graphtide.lang.gvdl.live_statements import ShowLive

    carry_out_live(invocation, ShowLive(options.name))


def live_checkpoint(invocation: Invocation, options: CheckpointOptions) -> None:
    """Store a live graph as it is, so that the next start has no log to read.

    graphtide live checkpoint payments --compact
    """
    from graphtide.lang.gvdl.live_statements import ShowLive

    statement = ShowLive(options.name)
    carry_out_live(invocation, statement, shown=False)
    graph = invocation.session.live_at_hand(options.name)
    graph.compact() if options.compact else graph.checkpoint()
    carry_out_live(invocation, statement)


def live_set(invocation: Invocation, options: SetOptions) -> None:
    """Say what the queries on a live graph may take, now and after every start.

    graphtide live set payments --budget '2 GB' --landmarks 10
    """
    from graphtide.lang.gvdl.live_statements import SetLive

    if options.budget is None and options.landmarks is None:
        raise InputError("there is nothing to set", hint="give --budget, --landmarks, or both")
    if options.far and not options.landmarks:
        raise InputError("--far is for --landmarks", hint="say how many: --landmarks 10 --far")
    if options.landmarks is not None:
        count = options.landmarks or None
        carry_out_live(invocation, SetLive(options.name, "landmarks", count, options.far))
    if options.budget is not None:
        budget = None if options.budget == "none" else options.budget
        carry_out_live(invocation, SetLive(options.name, "budget", budget))


def carry_out_live(invocation: Invocation, statement: LiveStatement, *, shown: bool = True) -> None:
    """Carry out a statement, and print its answer."""
    from graphtide.run.statements.execute import execute_statement

    answer = execute_statement(invocation.session, statement)
    if shown:
        invocation.printer.answer(answer)
