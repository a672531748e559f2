"""`graphtide live`, `query` and `program`: live graphs, and what is kept current on them.

A live graph is on disk after every batch. Files are CSV with a header, or Parquet. No Spark.

Each command makes a statement of GVDL and carries it out, so that both say the same. An option has
the name of the field of the statement that it fills in (`statement_of`). What queries and programs
have in common stands in one table, `REGISTERED`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from graphtide.cli.command import GlobalOptions, Invocation, flag
from graphtide.model.errors import InputError

if TYPE_CHECKING:
    from graphtide.lang.gvdl.statements import LiveStatement


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
    from graphtide.lang.gvdl.parse import parse_amount

    if options.edges is None and options.vertices is not None:
        raise InputError("there are vertices, and no edges", hint="give --edges FILE as well")
    if options.time is not None and options.keep is None:
        raise InputError("--time is for --keep", hint="say how long edges stay: --keep '7 days'")
    keep = None if options.keep is None else parse_amount(options.keep)
    directed = not options.undirected
    carry_out_live(invocation, statement_of("CreateLive", options, keep=keep, directed=directed))


def live_advance(invocation: Invocation, options: AdvanceOptions) -> None:
    """Bring a live graph to its next version, by files; it is on disk when this ends.

    graphtide live advance payments --insert today.csv --id 2026-11-17
    """
    from graphtide.lang.gvdl.statements import files_of

    statement = statement_of("AdvanceLive", options, match=tuple(options.match or ()))
    if not any(getattr(options, name) for _, name in files_of(statement)):
        raise InputError("there is nothing to do", hint="give --insert FILE, --delete FILE, ...")
    carry_out_live(invocation, statement)


def live_show(invocation: Invocation, options: ShowLiveOptions) -> None:
    """Show live graphs: their version, size, and what is registered on them.

    graphtide live show
    """
    carry_out_live(invocation, statement_of("ShowLive", options))


def live_checkpoint(invocation: Invocation, options: CheckpointOptions) -> None:
    """Store a live graph as it is, so that the next start has no log to read.

    graphtide live checkpoint payments --compact
    """
    statement = statement_of("ShowLive", options)
    carry_out_live(invocation, statement, shown=False)
    graph = invocation.session.live_at_hand(options.name)
    graph.compact() if options.compact else graph.checkpoint()
    carry_out_live(invocation, statement)


def live_set(invocation: Invocation, options: SetOptions) -> None:
    """Say what the queries on a live graph may take, now and after every start.

    graphtide live set payments --budget '2 GB' --landmarks 10
    """
    from graphtide.lang.gvdl.statements import SetLive

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


def statement_of(kind: str, options: GlobalOptions, /, **values: Any) -> Any:
    """A statement of GVDL, by the name of its class, of the options that are called as its fields.

    `values` are for fields that no option has, or has in another form.
    """
    from graphtide.lang.gvdl import statements

    node = getattr(statements, kind)
    names = [item.name for item in fields(node) if hasattr(options, item.name)]
    return node(**{name: getattr(options, name) for name in names} | values)


def carry_out_live(invocation: Invocation, statement: LiveStatement, *, shown: bool = True) -> None:

    answer = invocation.execute(statement)
    if shown:
        invocation.printer.answer(answer)


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

    text: Annotated[
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


def query_changes(invocation: Invocation, options: ChangesOptions) -> None:
    """What each version has changed in a query or a registered program, oldest first.

    Without --since, from the current version on. With --follow, another process may go on writing
    the graph: versions are told as they come.

    graphtide query changes flights trip --since 7

    graphtide query changes flights trip --follow
    """
    from graphtide.model.text import VALUES, counted

    shown = statement_of("ShowLive", options, name=options.graph)
    carry_out_live(invocation, shown, shown=False)
    graph = invocation.session.live_at_hand(options.graph, readonly=True)
    last = graph.version if options.since is None else options.since
    while True:
        for version, table in graph.changes(options.name, last):
            if options.until is not None and version > options.until:
                return
            text = f"version {version:,}: {counted(table.num_rows, 'change')}"
            invocation.say(text, table, VALUES)
            last = version
        last = max(last, graph.version)
        if not options.follow or (options.until is not None and last >= options.until):
            return
        time.sleep(_PAUSE)
        graph.refresh()


@dataclass(frozen=True, kw_only=True)
class AddProgramOptions(RegisteredOptions):
    """What to run."""

    text: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help='In the words of GVDL: "page_rank(iterations=10)", "rings from \'mine.py\'".',
            show_default=False,
        ),
    ]
    replace: Annotated[
        bool, typer.Option("--replace", help="In the place of the program of that name.")
    ] = False


class Verb(NamedTuple):
    """A command on queries or programs: its name, the class of its statement, options and help."""

    name: str
    statement: str
    options: type[GlobalOptions]
    help: str

    def action(self, what: str) -> Callable[[Invocation, Any], None]:
        """The function that carries the command out, for queries or for programs."""

        def carry_out(invocation: Invocation, options: Any) -> None:
            statement = statement_of(self.statement, options, what=what)
            carry_out_live(invocation, statement)

        def create(invocation: Invocation, options: AddOptions | AddProgramOptions) -> None:
            from graphtide.lang.gvdl.parse import parse_statement

            # Parsed behind plain names: those that were given may have signs that GVDL would quote.
            verb = "run " if what == "program" else ""
            read: Any = parse_statement(f"create {what} q on live graph g {verb}{options.text}")
            names: Any = {"name": options.name, "graph": options.graph, "replace": options.replace}
            carry_out_live(invocation, replace(read, **names))

        return create if self.name == "add" else carry_out


REGISTERED: dict[Literal["query", "program"], tuple[Verb, ...]] = {
    "query": (
        Verb(
            "add",
            "CreateQuery",
            AddOptions,
            """Ask a query on a live graph; its answer is kept current until it is dropped.

            graphtide query add flights trip "path from 'LHR' to 'SYD' weight km"

            graphtide query add people tips "regular 'knows+/likes' from 'ann' label kind"
            """,
        ),
        Verb(
            "drop",
            "DropRegistered",
            RegisteredOptions,
            """Give a query up, for good.

            graphtide query drop flights trip
            """,
        ),
        Verb(
            "list",
            "ShowRegistered",
            ListOptions,
            """List queries by what they ask.

            graphtide query list flights
            """,
        ),
        Verb(
            "answer",
            "ShowRegistered",
            RegisteredOptions,
            """The answer of a query, at the last version that is on disk.

            graphtide query answer flights trip --json
            """,
        ),
        Verb(
            "explain",
            "ExplainRegistered",
            RegisteredOptions,
            """How a query is kept current, and what that takes.

            graphtide query explain flights trip
            """,
        ),
    ),
    "program": (
        Verb(
            "add",
            "CreateProgram",
            AddProgramOptions,
            """Register a program on a live graph; its results are kept current until it is dropped.

            graphtide program add payments ranks "page_rank(iterations=10)"

            graphtide program add payments rings "rings from 'mine.py' tolerance 0.01"
            """,
        ),
        Verb(
            "drop",
            "DropRegistered",
            RegisteredOptions,
            """Forget a registered program.

            graphtide program drop payments ranks
            """,
        ),
        Verb(
            "list",
            "ShowRegistered",
            ListOptions,
            """List registered programs by what they run.

            graphtide program list payments
            """,
        ),
        Verb(
            "results",
            "ShowRegistered",
            RegisteredOptions,
            """The results of a program, at the last version that is on disk.

            graphtide program results payments ranks --json
            """,
        ),
        Verb(
            "explain",
            "ExplainRegistered",
            RegisteredOptions,
            """What was proved of a program, and how it is kept current.

            graphtide program explain payments ranks
            """,
        ),
    ),
}
